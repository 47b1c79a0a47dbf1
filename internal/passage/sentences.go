package passage

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Lengths in bytes. Below the first, what a blank line ends belongs to what follows, as a heading does; from the second on a
// sentence also ends with its line, and from the third on with a word.
const (
	headingRoom  = 120
	lineRoom     = 400
	sentenceRoom = 800
)

// Sentences are those of a text. A sentence that another one follows stays as it is, whatever is added to the text.
func Sentences(text string) []Span { return sentences(text, 0, nil) }

// sentences cuts a text from an offset on, and at starts. White space at their ends is left out.
func sentences(text string, from int, starts []int) (list []Span) {
	start, said := from, from // said is behind the last character that is no white space
	for at := from; at < len(text); {
		until := min(len(text), start+sentenceRoom)
		if len(starts) > 0 {
			until = min(until, starts[0]-1)
		}
		if at < until {
			if n := within(text[at:until]); n > 0 {
				at += n
				if said = at; text[at-1] == ' ' {
					said--
				}
			}
			if at == len(text) {
				break
			}
		}
		r, size := rune(text[at]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[at:])
		}
		at += size
		if size > 1 || !isSpace(text[at-1]) {
			said = at
		}
		for len(starts) > 0 && starts[0] < at {
			starts = starts[1:]
		}
		if len(starts) > 0 && starts[0] == at || ends(text, start, max(start, said), at, r) {
			list = appendTrimmed(list, text, start, at)
			start = at
		}
	}
	return appendTrimmed(list, text, start, len(text))
}

// within gives the length of what a text begins with in which no sentence ends: letters, and spaces behind a letter.
func within(text string) (n int) {
	for n < len(text) && text[n] < utf8.RuneSelf && (plainWord[text[n]] || text[n] == ' ' && n > 0 && text[n-1] != ' ') {
		n++
	}
	return n
}

func appendTrimmed(list []Span, text string, start, end int) []Span {
	for start < end && isSpace(text[start]) {
		start++
	}
	for end > start && isSpace(text[end-1]) {
		end--
	}
	if start == end {
		return list
	}
	return append(list, Span{start, end})
}

func isSpace(b byte) bool { return b == ' ' || b == '\n' || b == '\t' || b == '\r' || b == '\f' }

// ends tells whether a sentence that began at start ends behind r, at an offset. Behind what it has said so far is white space alone.
func ends(text string, start, said, at int, r rune) bool {
	size := at - start
	switch {
	case r >= utf8.RuneSelf && strings.ContainsRune("。！？｡", r):
		next, _ := utf8.DecodeRuneInString(text[at:])
		return !strings.ContainsRune("。！？｡」』”’）】》", next)
	case r == '\n':
		return lineEnds(text, start, said, at)
	case r == ' ' || r == '\t':
		next, _ := utf8.DecodeRuneInString(text[at:])
		return size > sentenceRoom || next != ' ' && !unicode.IsLower(next) && ended(text[start:said])
	}
	return size > 2*sentenceRoom
}

// lineEnds tells whether a sentence ends with its line: it is over, a blank line or an item of a list or a table follows, or it
// has become long.
func lineEnds(text string, start, said, at int) bool {
	rest, size := text[at:], at-start
	switch {
	case size > lineRoom, ended(text[start:said]):
		return true
	case strings.HasPrefix(rest, "\n"):
		return false // the second line end decides
	case strings.HasSuffix(text[start:at], "\n\n"):
		return size > headingRoom
	}
	return item(rest) || strings.Contains(text[start:at], "\t")
}

// item tells whether a line begins like an item of a list.
func item(line string) bool {
	line = strings.TrimLeft(line, " ")
	r, size := utf8.DecodeRuneInString(line)
	if strings.ContainsRune("-*•‣–—", r) {
		return strings.HasPrefix(line[size:], " ")
	}
	digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
	return digits > 0 && digits < 4 && len(line) > digits+1 && (line[digits] == '.' || line[digits] == ')') && line[digits+1] == ' '
}

// ended tells whether a text, whose last character is no white space, ends like a sentence. Most words do not, which their last letter tells.
func ended(text string) bool {
	if n := len(text); n > 0 && text[n-1] < utf8.RuneSelf && plainWord[text[n-1]] {
		return false
	}
	r, size := utf8.DecodeLastRuneInString(text)
	for range maxClosing {
		if !strings.ContainsRune(" \t\n\r\"')]}’”»", r) {
			break
		}
		text = text[:len(text)-size]
		r, size = utf8.DecodeLastRuneInString(text)
	}
	return strings.ContainsRune(".!?…。！？｡", r) && !abbreviated(text)
}

// maxClosing is how many quotes, brackets and spaces may stand behind the end of a sentence as its own.
const maxClosing = 16

// abbreviated tells an initial or a short abbreviation, such as "Dr." or "e.g.", from the end of a sentence.
func abbreviated(text string) bool {
	body, dot := strings.CutSuffix(text, ".")
	if !dot {
		return false
	}
	last := body[strings.LastIndexAny(body, " \t\n(")+1:]
	r, size := utf8.DecodeRuneInString(last)
	return size > 0 && size == len(last) && unicode.IsLetter(r) || strings.Contains(last, ".") && len(last) <= 4 || shortForms[strings.ToLower(last)]
}

var shortForms = map[string]bool{
	"dr": true, "mr": true, "mrs": true, "ms": true, "st": true, "no": true, "nr": true, "vs": true, "fig": true, "abb": true, "etc": true, "bzw": true, "ca": true, "art": true, "sr": true, "prof": true,
}
