package lexical

import (
	"strings"
	"unicode/utf8"
)

// piece is a word of a text, with what joins it within a code (VX2291-B, 1234,56, max_count).
type piece struct {
	text string
	// lower is the text in lower case, of plain pieces alone.
	lower string
	// plain are words of small ASCII letters, but for the first, which are most words of most texts; unspaced those of a script that writes no
	// spaces.
	plain, unspaced bool
}

// joints are what joins the parts of a code.
const joints = "-_./,:"

// cut cuts a text into its pieces, and tells its language on the way.
func (f *features) cut(text string) {
	f.pieces = f.pieces[:0]
	told := beginning(text)
	votes := ballot{}
	lower, script := text, (*tongue)(nil)
	ascii := isASCII(text)
	if ascii {
		lower = strings.ToLower(text) // as long as the text
	} else {
		script = scriptOf(told)
	}
	for at := 0; at < len(text); {
		size, plain, unspaced := nextPiece(text[at:])
		if size == 0 {
			at = wordAt(text, at)
			continue
		}
		p := piece{text: text[at : at+size], plain: plain, unspaced: unspaced}
		switch {
		case !plain:
		case ascii:
			p.lower = lower[at : at+size]
		default:
			p.lower = strings.ToLower(p.text)
		}
		f.pieces = append(f.pieces, p)
		switch end := at + size; {
		case at >= len(told) || script != nil:
		case plain && end <= len(told):
			votes.count(p.lower)
		default:
			votes.countAll(text[at:min(end, len(told))])
		}
		at += size
	}
	if f.tongue = script; script == nil {
		f.tongue = votes.winner()
	}
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// wordAt gives the place of the next word from a place on at which none begins.
func wordAt(text string, at int) int {
	for at < len(text) && text[at] < utf8.RuneSelf {
		if asciiSorts[text[at]] == letter {
			return at
		}
		at++
	}
	if at < len(text) {
		if word, rest, _ := nextWord(text[at:]); word == "" {
			return len(text) - len(rest)
		}
	}
	return at
}

// nextPiece gives the length of the piece that a text begins with, 0 for none.
func nextPiece(text string) (size int, plain, unspaced bool) {
	for size < len(text) && text[size] >= 'a' && text[size] <= 'z' || size == 0 && size < len(text) && text[size] >= 'A' && text[size] <= 'Z' {
		size++
	}
	if size > 0 && (size == len(text) || text[size] < utf8.RuneSelf && asciiSorts[text[size]] != letter && !isJoint(text[size])) {
		return size, true, false
	}
	word, _, unspaced := nextWord(text)
	plain = size == len(word)
	size = len(word)
	for size > 0 && !unspaced && size < len(text) && isJoint(text[size]) {
		if end := size + 1; end == len(text) || sortOf(firstRune(text[end:])) != letter {
			break
		}
		more, _, _ := nextWord(text[size+1:])
		size, plain = size+1+len(more), false
	}
	return size, plain && size > 0, unspaced
}

func isJoint(b byte) bool { return strings.IndexByte(joints, b) >= 0 }
