package lexical

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxStemmed is the longest word that is stemmed, in bytes; no English word is longer.
const maxStemmed = 48

// Term is one indexed feature of a text.
type Term struct {
	Text string // a stem, a word of another language, or a pair of ideographs
	// Ideographic terms come from scripts that write no spaces.
	Ideographic bool
}

// Terms yields the terms of a text in their order: its words, compatibility-composed (NFKC) and in
// lower case, without English stop words, English words stemmed (Snowball); in scripts that write
// no spaces, each pair of neighbouring characters, or a character that stands alone.
func Terms(text string) iter.Seq[Term] {
	return func(yield func(Term) bool) {
		text = norm.NFKC.String(text)
		for text != "" {
			word, rest, ideographic := nextWord(text)
			text = rest
			switch {
			case word == "":
			case ideographic:
				if !pairs(word, yield) {
					return
				}
			default:
				if term := stem(strings.ToLower(word)); term != "" && !yield(Term{Text: term}) {
					return
				}
			}
		}
	}
}

// nextWord cuts the next run of one sort of characters from a text; an empty word for characters
// that belong to none.
func nextWord(text string) (word, rest string, ideographic bool) {
	first, end := utf8.DecodeRuneInString(text)
	sort := sortOf(first)
	for end < len(text) {
		if b := text[end]; b < utf8.RuneSelf {
			if asciiSorts[b] != sort {
				break
			}
			end++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[end:])
		if next := sortOf(r); next != sort && (next != mark || sort == outside) {
			break
		}
		end += size
	}
	if sort != letter && sort != unspaced {
		return "", text[end:], false
	}
	return text[:end], text[end:], sort == unspaced
}

// sort is what a character is to a word.
type sort uint8

const (
	outside  sort = iota // an apostrophe too: the stop words hold what English leaves behind it
	letter               // or digit, of a script that separates words
	unspaced             // letter of a script that does not
	mark                 // goes on with the word before it
)

// unspacedScripts write no spaces between words, or, as Korean, join much to them.
var unspacedScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// asciiSorts are those of ASCII.
var asciiSorts = func() (table [utf8.RuneSelf]sort) {
	for r := range table {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			table[r] = letter
		}
	}
	return table
}()

func sortOf(r rune) sort {
	switch {
	case r < utf8.RuneSelf:
		return asciiSorts[r]
	case unicode.IsMark(r):
		return mark
	case r == 'ー' || unicode.In(r, unspacedScripts...): // the long-vowel mark belongs to no one script
		return unspaced
	case unicode.IsLetter(r), unicode.IsNumber(r):
		return letter
	}
	return outside
}

// stem returns the indexed form of a word in lower case, "" for a stop word. Only words of ASCII
// letters are taken for English.
func stem(word string) string {
	if len(word) > maxStemmed || strings.IndexFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }) >= 0 {
		return word
	}
	return stemEnglish(word)
}

// pairs yields each pair of neighbouring characters of a word.
func pairs(word string, yield func(Term) bool) bool {
	_, first := utf8.DecodeRuneInString(word)
	if first == len(word) {
		return yield(Term{Text: word, Ideographic: true})
	}
	for begin, end := 0, first; end < len(word); {
		_, size := utf8.DecodeRuneInString(word[end:])
		if !yield(Term{Text: word[begin : end+size], Ideographic: true}) {
			return false
		}
		begin, end = end, end+size
	}
	return true
}
