package cl100k

// trie finds the longest token that a text begins with. A node is a number, its children are in one
// hash table with linear probing.
type trie struct {
	first [256]uint32 // nodes of single bytes
	keys  []uint32    // node<<8 | byte of a child; none where the slot is free
	child []uint32
	token []uint32 // of each node; none where it is no token's end
}

// slots is the size of the table, more than twice the nodes that the vocabulary takes.
const slots = 1 << 19

func newTrie() *trie {
	t := &trie{keys: make([]uint32, slots), child: make([]uint32, slots)}
	for i := range t.keys {
		t.keys[i] = none
	}
	for i := range t.first {
		t.first[i] = none
	}
	return t
}

func (t *trie) add(token string, id uint32) {
	node := t.first[token[0]]
	if node == none {
		node = t.node()
		t.first[token[0]] = node
	}
	for i := 1; i < len(token); i++ {
		key := node<<8 | uint32(token[i])
		at := t.slot(key)
		if t.keys[at] == none {
			t.keys[at], t.child[at] = key, t.node()
		}
		node = t.child[at]
	}
	t.token[node] = id
}

func (t *trie) node() uint32 {
	t.token = append(t.token, none)
	return uint32(len(t.token) - 1)
}

// slot gives the place of a key, or the free one where it would be.
func (t *trie) slot(key uint32) uint32 {
	at := key * 2654435769 >> 13 // Fibonacci hashing to 19 bits
	for t.keys[at] != key && t.keys[at] != none {
		at = (at + 1) % slots
	}
	return at
}

// longest gives the longest token that a text begins with; none for an empty text.
func (t *trie) longest(text string) uint32 {
	if text == "" {
		return none
	}
	node := t.first[text[0]]
	best := t.token[node]
	for i := 1; i < len(text); i++ {
		at := t.slot(node<<8 | uint32(text[i]))
		if t.keys[at] == none {
			break
		}
		node = t.child[at]
		if t.token[node] != none {
			best = t.token[node]
		}
	}
	return best
}
