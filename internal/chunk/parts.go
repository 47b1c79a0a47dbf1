package chunk

import (
	"strings"
	"unicode/utf8"
)

// partBytes is about how long a part is: some 150 words of English.
const partBytes = 850

// Parts cuts the content of a chunk into pieces of about the same length, most at most, which end with a line or a sentence where they can. What is
// looked for stands in a few sentences: beside all the others of a large chunk it would count for little.
func (c Chunk) Parts(most int) []string {
	n := min(most, (len(c.Content)+partBytes/2)/partBytes)
	if n < 2 {
		return []string{c.Content}
	}
	parts, rest := make([]string, 0, n), c.Content
	for ; n > 1; n-- {
		at := border(rest, len(rest)/n)
		parts, rest = append(parts, rest[:at]), rest[at:]
	}
	return append(parts, rest)
}

// border gives where to cut a text near a place: behind the last line or sentence within a fifth of what is before it, else behind a blank, else between
// two characters.
func border(text string, near int) int {
	low, high := near-near/5, min(len(text)-1, near+near/5)
	window := text[low:high]
	for _, end := range []string{"\n", ". ", " "} {
		if i := strings.LastIndex(window, end); i >= 0 {
			return low + i + len(end)
		}
	}
	for near > 1 && !utf8.RuneStart(text[near]) {
		near--
	}
	return near
}
