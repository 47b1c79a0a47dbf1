package chunk

import (
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"

	"canopy/internal/cl100k"
)

const (
	// segment is how much text is encoded at a time, in bytes.
	segment = 16 << 10
	// stretch is how far beyond a segment a safe place to end it is looked for, in bytes.
	stretch = 4 << 10
)

// Count returns the number of cl100k_base tokens of a text.
func Count(text string) (int, error) {
	encoder, err := cl100k.Load()
	if err != nil {
		return 0, fmt.Errorf("chunk: %w", err)
	}
	return encoder.Count(text), nil
}

// truncate cuts a text to at most n tokens, between two characters.
func truncate(encoder *cl100k.Encoder, text string, n int) string {
	w := &window{text: text, encoder: encoder}
	for budget := n; ; budget-- {
		w.fill(0, budget+1)
		end := w.reach(0, budget)
		if end < len(text) {
			end = lastCharacter(text, 0, end)
		}
		if encoder.Count(text[:end]) <= n {
			return text[:end]
		}
	}
}

// window holds the token borders of a moving part of the text. The text is encoded once, segment
// by segment; segments end at sync points, where the encoding of the left side cannot depend on the
// right one, or by force where none is near.
type window struct {
	text    string
	encoder *cl100k.Encoder
	ends    []int // byte offsets at which tokens end, from the oldest kept one on
	encoded int   // how much of the text has been encoded, in bytes
	forced  []int // ends of segments that are no sync points
}

// fill encodes until n tokens after the offset from are there or the text ends, and forgets tokens
// before from.
func (w *window) fill(from, n int) {
	for w.encoded < len(w.text) && len(w.ends)-w.index(from) < n {
		w.ends = slices.Delete(w.ends, 0, w.index(from))
		w.encode()
	}
}

// encode appends the tokens of the next segment.
func (w *window) encode() {
	end, sync := w.segmentEnd()
	w.ends = w.encoder.AppendEnds(w.ends, w.text[w.encoded:end], w.encoded)
	if !sync {
		w.forced = append(w.forced, end)
	}
	w.encoded = end
}

// move takes the place of the text on by some bytes.
func (w *window) move(text string, by int) {
	w.text = text
	w.encoded -= by
	for i := range w.ends {
		w.ends[i] -= by
	}
	past, _ := slices.BinarySearch(w.forced, by)
	w.forced = slices.Delete(w.forced, 0, past)
	for i := range w.forced {
		w.forced[i] -= by
	}
}

func (w *window) segmentEnd() (end int, sync bool) {
	if len(w.text)-w.encoded <= segment {
		return len(w.text), true
	}
	low := w.encoded + segment
	high := min(low+stretch, len(w.text))
	if p := nextSync(w.text, low, high); p < high || p == len(w.text) {
		return p, true
	}
	return runeStart(w.text, high), false
}

// index returns how many of the kept tokens end at or before an offset.
func (w *window) index(offset int) int {
	i, found := slices.BinarySearch(w.ends, offset)
	if found {
		i++
	}
	return i
}

// between returns the number of tokens between two offsets, near enough to plan with.
func (w *window) between(a, b int) int { return w.index(b) - w.index(a) }

// reach returns the last offset between characters that lies at most n tokens after from.
func (w *window) reach(from, n int) int {
	i := w.index(from) + n
	switch {
	case n <= 0:
		return from
	case i > len(w.ends):
		return w.encoded
	}
	return max(from, runeStart(w.text, w.ends[i-1]))
}

// back returns the first offset between characters that lies at most n tokens before end, as far as
// tokens are kept.
func (w *window) back(end, n int) int {
	i := w.index(end) - n
	if i <= 0 {
		return 0
	}
	p := max(0, w.ends[i-1]) // a token may have ended in what has been let go of
	for p < end && !utf8.RuneStart(w.text[p]) {
		p++
	}
	return p
}

// exact counts the tokens of header+text[from:end] as a tokenizer would that sees only this. What
// lies between two sync points has the same tokens as in the whole text, so only the bits
// outside of them are encoded anew.
func (w *window) exact(header string, from, end int) int {
	low := from
	if header != "" {
		low++ // at from itself another character comes before than in the text
	}
	first := nextSync(w.text, low, end)
	last := prevSync(w.text, first, end)
	if first >= last || w.isForced(first, last) {
		return w.encoder.Count(header + w.text[from:end])
	}
	return w.encoder.Count(header+w.text[from:first]) + w.between(first, last) + w.encoder.Count(w.text[last:end])
}

// isForced tells whether a segment was ended by force between two offsets.
func (w *window) isForced(first, last int) bool {
	i, _ := slices.BinarySearch(w.forced, first)
	return i < len(w.forced) && w.forced[i] <= last
}

// nextSync returns the first sync point at or after low, or high.
func nextSync(text string, low, high int) int {
	for low < high && !isSync(text, low) {
		low++
	}
	return low
}

// prevSync returns the last sync point at or before high, or low.
func prevSync(text string, low, high int) int {
	for high > low && !isSync(text, high) {
		high--
	}
	return high
}

// isSync tells whether the encoding splits at p whatever stands around: cl100k_base first cuts a
// text into words by a regular expression without look-behind, whose only look-ahead concerns words
// that end in white space without a line break. No word goes on from a letter to anything else, nor
// from a digit; a space goes on from nothing but white space, and after a line break a letter or
// digit begins anew.
func isSync(text string, p int) bool {
	if p == 0 || p == len(text) {
		return true
	}
	if !utf8.RuneStart(text[p]) {
		return false
	}
	prev, _ := utf8.DecodeLastRuneInString(text[:p])
	next, _ := utf8.DecodeRuneInString(text[p:])
	switch {
	case unicode.IsLetter(prev):
		return !unicode.IsLetter(next)
	case unicode.IsNumber(prev):
		return !unicode.IsNumber(next)
	case next == ' ':
		return !unicode.IsSpace(prev) && !unicode.Is(unicode.Z, prev)
	case prev == '\n' || prev == '\r':
		return unicode.IsLetter(next) || unicode.IsNumber(next)
	}
	return false
}

// runeStart returns the last offset at or before p that lies between two runes.
func runeStart(text string, p int) int {
	for p > 0 && p < len(text) && !utf8.RuneStart(text[p]) {
		p--
	}
	return p
}
