package cl100k

// trie finds the longest token that a text begins with. A node is a number, its children are in one
// hash table with linear probing.
type trie struct {
	first [256]uint32 // nodes of single bytes
	// children have node<<8 | byte in the higher half, and the child in the lower one, which is none where the slot is free.
	children []uint64
	token    []uint32 // of each node; none where it is no token's end
}

// slots is the size of the table, more than twice the nodes that the vocabulary takes.
const slots = 1 << 19

func newTrie() *trie {
	t := &trie{children: make([]uint64, slots)}
	for i := range t.children {
		t.children[i] = uint64(none)
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
		at, child := t.slot(key)
		if child == none {
			child = t.node()
			t.children[at] = uint64(key)<<32 | uint64(child)
		}
		node = child
	}
	t.token[node] = id
}

func (t *trie) node() uint32 {
	t.token = append(t.token, none)
	return uint32(len(t.token) - 1)
}

// slot gives the place of a key, or the free one where it would be, and the child there.
func (t *trie) slot(key uint32) (at, child uint32) {
	at = key * 2654435769 >> 13 // Fibonacci hashing to 19 bits
	for {
		found := t.children[at]
		if child = uint32(found); child == none || uint32(found>>32) == key {
			return at, child
		}
		at = (at + 1) % slots
	}
}

// longest gives the longest token that a text begins with; none for an empty text.
func (t *trie) longest(text string) uint32 {
	if text == "" {
		return none
	}
	node := t.first[text[0]]
	best := t.token[node]
	for i := 1; i < len(text); i++ {
		_, child := t.slot(node<<8 | uint32(text[i]))
		if child == none {
			break
		}
		node = child
		if t.token[node] != none {
			best = t.token[node]
		}
	}
	return best
}
