package passage

import (
	"strings"
	"unicode"
)

// joints are what joins the words of a code, and a code has maxJoined words and maxCode bytes at most.
const (
	joints    = "-_./,:"
	maxJoined = 4
	maxCode   = 64
)

// codes gives the codes of a text from an offset on that are several words, of which one has a digit: VX2291-B, 1234,56, ISO 9001. A row of
// them, such as bolt-150,red, has each.
func codes(text string, from int) func(func(Span) bool) {
	return func(yield func(Span) bool) {
		var run []Span // words that are joined
		for word := range each(text, from) {
			if n := len(run); n > 0 && !joins(text, run[n-1], word) {
				run = run[:0]
			}
			for _, first := range run {
				if code := (Span{first.Start, word.End}); isCode(text, code) && !yield(code) {
					return
				}
			}
			if len(run) == maxJoined-1 {
				run = run[:copy(run, run[1:])]
			}
			run = append(run, word)
		}
	}
}

// joins tells whether two neighbours belong to one code: a joint is between them, or a space between capitals and a number.
func joins(text string, a, b Span) bool {
	if b.Start != a.End+1 {
		return false
	}
	if strings.IndexByte(joints, text[a.End]) >= 0 {
		return true
	}
	return text[a.End] == ' ' && isHead(text[a.Start:a.End]) && '0' <= text[b.Start] && text[b.Start] <= '9'
}

// isHead tells letters that may belong to a number behind them.
func isHead(word string) bool {
	return len(word) >= 2 && len(word) <= 5 && strings.IndexFunc(word, func(r rune) bool { return !unicode.IsUpper(r) }) < 0
}

func isCode(text string, code Span) bool {
	return code.End-code.Start <= maxCode && strings.IndexFunc(text[code.Start:code.End], unicode.IsDigit) >= 0
}

// joined is a code without what joins it, folded.
func joined(code string) string {
	return fold(strings.Map(func(r rune) rune {
		if r == ' ' || strings.ContainsRune(joints, r) {
			return -1
		}
		return r
	}, code))
}
