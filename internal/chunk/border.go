package chunk

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Levels of the borders that the characters of a text make, weakest first. The borders of its
// outline (headings, pages, rows) are stronger than all of them.
const (
	levelNone = iota
	levelSpace
	levelLine
	levelSentence
	levelParagraph
)

// lookBack is how far before a forced cut the beginning of a grapheme cluster is looked for, in
// bytes. Clusters of real languages and emoji are far shorter.
const lookBack = 128

// Punctuation that ends a sentence, and what may follow it before the sentence is over.
const (
	enders     = ".!?…"
	wideEnders = "。！？｡"
	closers    = "\"')]}’”»"
	wideClose  = "」』”’）】》"
	widePauses = "、，；："
)

// level returns how strong a border lies before the byte at p, with 0 < p < len(text).
func level(text string, p int) int {
	switch b := text[p-1]; {
	case b == '\n':
		return lineLevel(text, p)
	case b == '\f':
		return levelParagraph
	case b == ' ' || b == '\t':
		return spaceLevel(text, p)
	case b >= utf8.RuneSelf && utf8.RuneStart(text[p]):
		return wideLevel(text, p)
	}
	return levelNone
}

// lineLevel is the level of a place after a line break.
func lineLevel(text string, p int) int {
	line := strings.TrimRight(text[lineBefore(text, p-1):p-1], " \t\r")
	switch {
	case text[p] == '\n' || text[p] == '\r':
		return levelNone // the blank line's end is the better place
	case line == "":
		return levelParagraph
	case endsSentence(line):
		return levelSentence
	}
	return levelLine
}

// lineBefore returns where the line that ends at p begins, looking no further back than a word.
func lineBefore(text string, p int) int {
	low := max(0, p-lookBack)
	return low + strings.LastIndexByte(text[low:p], '\n') + 1
}

// spaceLevel is the level of a place after a space; the last one of a run counts.
func spaceLevel(text string, p int) int {
	if strings.IndexByte(" \t\r\n", text[p]) >= 0 {
		return levelNone
	}
	line := strings.TrimRight(text[max(0, p-lookBack):p], " \t")
	next, _ := utf8.DecodeRuneInString(text[p:])
	if endsSentence(line) && !unicode.IsLower(next) {
		return levelSentence
	}
	return levelSpace
}

func endsSentence(line string) bool {
	r, size := utf8.DecodeLastRuneInString(line)
	if strings.ContainsRune(closers, r) {
		r, _ = utf8.DecodeLastRuneInString(line[:len(line)-size])
	}
	return r != utf8.RuneError && (strings.ContainsRune(enders, r) || strings.ContainsRune(wideEnders, r))
}

// wideLevel is the level of a place after a character outside of ASCII, for scripts that write no
// spaces.
func wideLevel(text string, p int) int {
	r, size := utf8.DecodeLastRuneInString(text[:p])
	next, _ := utf8.DecodeRuneInString(text[p:])
	if strings.ContainsRune(wideEnders+wideClose, next) {
		return levelNone // the sentence is not over
	}
	switch {
	case strings.ContainsRune(wideEnders, r):
		return levelSentence
	case strings.ContainsRune(wideClose, r) && endsSentence(text[max(0, p-size-utf8.UTFMax):p-size]):
		return levelSentence
	case strings.ContainsRune(widePauses, r), unicode.IsSpace(r) && !unicode.IsSpace(next):
		return levelSpace
	}
	return levelNone
}

// lastCharacter returns the last place in (low, high] between two grapheme clusters (UAX 29), or,
// where one cluster is longer than that, between two runes. high lies between two runes.
func lastCharacter(text string, low, high int) int {
	begin := runeStart(text, max(low, high-lookBack))
	stop := runeStart(text, min(len(text), high+lookBack))
	best, at, state := high, begin, -1
	rest := text[begin:stop]
	for rest != "" {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		at += len(cluster)
		if at > high {
			break
		}
		best = at
		if at == high {
			break
		}
	}
	if best <= low {
		return high
	}
	return best
}
