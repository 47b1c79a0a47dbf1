package cl100k

// build makes an encoder of the tokens in the order of their ranks.
func build(tokens []string) *Encoder {
	e := &Encoder{
		trie: newTrie(), lengths: make([]uint8, len(tokens)), prefix: make([]uint32, len(tokens)),
		left: make([]uint32, len(tokens)), right: make([]uint32, len(tokens)), merges: newMerges(),
	}
	for i, token := range tokens {
		e.trie.add(token, uint32(i))
		e.lengths[i] = uint8(len(token))
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
		b, ok := e.token(token[e.lengths[a]:])
		if ok && a < id && b < id && e.compatible(a, b) {
			e.left[id], e.right[id] = a, b
			e.merges.add(a, b, id)
			return
		}
	}
}

// token gives the token of some bytes, if they are one.
func (e *Encoder) token(text string) (uint32, bool) {
	t := e.trie.longest(text)
	return t, t != none && int(e.lengths[t]) == len(text)
}
