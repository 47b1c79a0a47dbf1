package cl100k

// build makes an encoder of the tokens in the order of their ranks.
func build(tokens []string) *Encoder {
	e := &Encoder{
		ids: make(map[string]uint32, len(tokens)), trie: newTrie(),
		lengths: make([]uint8, len(tokens)), prefix: make([]uint32, len(tokens)),
		left: make([]uint32, len(tokens)), right: make([]uint32, len(tokens)),
		merged: make(map[uint64]uint32, len(tokens)),
	}
	for i, token := range tokens {
		id := uint32(i)
		e.ids[token] = id
		e.trie.add(token, id)
		e.lengths[id] = uint8(len(token))
	}
	for i, token := range tokens {
		e.prefix[i] = e.trie.longest(token[:len(token)-1])
	}
	for i, token := range tokens {
		e.split(uint32(i), token)
	}
	return e
}

// split finds the two tokens that a token was merged from: of those that make it, both of lower
// ranks, the ones that are compatible while it is not there yet. All of lower rank are split before.
func (e *Encoder) split(id uint32, token string) {
	e.left[id], e.right[id] = id, id
	for a := e.prefix[id]; a != none; a = e.prefix[a] {
		b, ok := e.ids[token[e.lengths[a]:]]
		if ok && a < id && b < id && e.compatible(a, b) {
			e.left[id], e.right[id] = a, b
			e.merged[pair(a, b)] = id
			return
		}
	}
}
