package extract

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/bidi"
)

// Text from right to left stands in a PDF as it is drawn, and is read here in the order in which it is spoken: the Unicode
// Bidirectional Algorithm (UAX #9) backwards. What two orders are drawn alike, a word with its number follows as one is read.

// token is what stands at one place of a line: a letter with its marks, a ligature, a space.
type token struct {
	text  string
	class bidi.Class
}

// wide is the class of a gap that sets two cells off. No run of a direction reaches over it.
const wide = bidi.S

func (t token) rightToLeft() bool { return t.class == bidi.R || t.class == bidi.AL }
func (t token) number() bool      { return t.class == bidi.EN || t.class == bidi.AN }

// classOf is the class of a character.
func classOf(r rune) bidi.Class {
	p, _ := bidi.LookupRune(r)
	return p.Class()
}

// isRightToLeft tells letters of Arabic, Hebrew and the like.
func isRightToLeft(r rune) bool {
	return r >= 0x590 && (classOf(r) == bidi.R || classOf(r) == bidi.AL)
}

// isArabic tells letters of Arabic and its marks.
func isArabic(r rune) bool { return classOf(r) == bidi.AL || classOf(r) == bidi.NSM }

// spoken is a line, given from its left to its right, in the order in which it is read.
func spoken(line []token, fromRight bool) string {
	rightBrackets(line)
	var b strings.Builder
	if fromRight {
		fromTheRight(&b, line)
		return b.String()
	}
	for at := 0; at < len(line); {
		next := at
		if line[at].rightToLeft() {
			next = foreign(line, at)
			fromTheRight(&b, line[at:next])
		} else {
			b.WriteString(line[at].text)
			next++
		}
		at = next
	}
	return b.String()
}

// foreign is the end of what is read from right to left in a line that is not: numbers and signs between two such words belong to it.
func foreign(line []token, at int) (end int) {
	end = at + 1
	for i := at; i < len(line) && line[i].class != bidi.L && line[i].class != wide; i++ {
		if line[i].rightToLeft() {
			end = i + 1
		}
	}
	return end
}

// fromTheRight writes a line from its right to its left, and what is in it of words and numbers from left to right as it is.
func fromTheRight(b *strings.Builder, line []token) {
	for end := len(line); end > 0; {
		begin := fromTheLeft(line, end)
		if begin == end {
			end--
			b.WriteString(mirrored(line[end].text))
			continue
		}
		for _, t := range line[begin:end] {
			b.WriteString(t.text)
		}
		end = begin
	}
}

// fromTheLeft is where the words and numbers begin that end at a place of a line; the place itself where there are none.
func fromTheLeft(line []token, end int) (begin int) {
	begin = end
	if !endsWords(line[:end]) {
		return begin
	}
	var open brackets
	for i := end - 1; i >= 0 && !parts(line[:end], i) && open.before(line[i]); i-- {
		if line[i].class == bidi.L && open.paired() {
			begin = i
		}
	}
	return numbers(line, begin, end, afterArabic(line[end:]))
}

// parts tells whether no words from left to right reach over a place.
func parts(line []token, at int) bool {
	switch t := line[at]; {
	case t.rightToLeft(), t.class == wide:
		return true
	case t.class == bidi.AN: // which are no numbers of a word before them (W7)
		return (at == 0 || line[at-1].class != bidi.L) && (at+1 == len(line) || line[at+1].class != bidi.L)
	}
	return false
}

// endsWords tells whether a line ends with words, or with what can follow them: numbers, their signs, or a bracket that closes (N0, W5, W7).
func endsWords(line []token) bool {
	switch last := line[len(line)-1]; last.class {
	case bidi.L, bidi.EN, bidi.AN:
		return true
	case bidi.ET:
		return len(line) > 1 && line[len(line)-2].class == bidi.EN
	default:
		return last.text != "" && strings.Contains(closers, last.text)
	}
}

// brackets counts those of each kind that close and have not been opened yet, from the right to the left.
type brackets [len(openers)]int

// before counts what stands before; it is false where a bracket opens that nothing closes.
func (b *brackets) before(t token) bool {
	if kind := strings.Index(closers, t.text); kind >= 0 && t.text != "" {
		b[kind]++
	} else if kind := strings.Index(openers, t.text); kind >= 0 && t.text != "" {
		b[kind]--
		return b[kind] >= 0
	}
	return true
}

// paired tells whether all are opened.
func (b *brackets) paired() bool { return *b == brackets{} }

// paired tells whether each bracket of a line is closed by one to its right.
func paired(line []token) bool {
	var open brackets
	for i := len(line) - 1; i >= 0; i-- {
		if !open.before(line[i]) {
			return false
		}
	}
	return open.paired()
}

// numbers is where a number begins that ends at a place, with its separators and signs: 12:30, 3.5, 50%. Behind Arabic a sign is none (W2 to
// W5). Where words follow it at once, the place is before them: 3D.
func numbers(line []token, from, end int, arabic bool) (begin int) {
	last := from - 1
	if from < end && (last < 0 || !line[last].number()) {
		return from
	}
	if !arabic && line[last].class == bidi.ET && last > 0 && line[last-1].class == bidi.EN {
		last--
	}
	if !line[last].number() {
		return end
	}
	for begin = last; begin > 0; {
		switch before := line[begin-1]; {
		case before.number():
			begin--
		case begin > 1 && line[begin-2].number() && (before.class == bidi.CS && before.text != "\u00a0" || before.class == bidi.ES && !arabic):
			begin -= 2
		case before.class == bidi.ET && line[begin].class == bidi.EN && !arabic:
			return begin - 1
		default:
			return begin
		}
	}
	return begin
}

// afterArabic tells whether the word before, which stands to the right, is Arabic.
func afterArabic(right []token) bool {
	for _, t := range right {
		if t.class == bidi.L || t.rightToLeft() {
			return t.class == bidi.AL
		}
	}
	return false
}

// The brackets that are drawn turned around from right to left.
const (
	openers = "([{<"
	closers = ")]}>"
)

var mirrors = strings.NewReplacer("(", ")", ")", "(", "[", "]", "]", "[", "{", "}", "}", "{", "<", ">", ">", "<", "«", "»", "»", "«", "‹", "›", "›", "‹")

func mirrored(s string) string { return mirrors.Replace(s) }

// rightBrackets gives brackets the form in which they are drawn, as the engine has turned some of them around, where they come in pairs.
func rightBrackets(line []token) {
	if paired(line) {
		return
	}
	for i := range openers {
		var at []int
		for j, t := range line {
			if t.text == openers[i:i+1] || t.text == closers[i:i+1] {
				at = append(at, j)
			}
		}
		if len(at)%2 != 0 {
			continue
		}
		for n, j := range at {
			line[j].text = []string{openers[i : i+1], closers[i : i+1]}[n%2]
		}
	}
}

// newToken makes one of the letters of a ligature or of a letter and its marks. Marks follow their letter.
func newToken(letters []rune) token {
	slices.SortStableFunc(letters, func(a, b rune) int {
		switch marks := [2]bool{unicode.Is(unicode.Mn, a), unicode.Is(unicode.Mn, b)}; {
		case marks[0] == marks[1]:
			return 0
		case marks[0]:
			return 1
		}
		return -1
	})
	return token{string(letters), classOf(letters[0])}
}
