package extract

import (
	"strings"
	"unicode/utf8"
)

// Classes of bytes in cleaning: plain ones are copied in runs, the others are looked at.
const (
	plain   = iota
	control // dropped, except as said in cleanRune
	lead    // first byte of a rune of which some are dropped
)

var byteClass = func() (class [256]byte) {
	for c := range 0x20 {
		class[c] = control
	}
	class['\n'], class['\t'] = plain, plain
	class[0x7f] = control
	// C1 controls and U+00AD start with C2, U+FEFF and the noncharacters with EF, and bytes from
	// F0 on start the planes whose last two code points are noncharacters.
	class[0xC2], class[0xEF] = lead, lead
	for c := 0xF0; c <= 0xFF; c++ {
		class[c] = lead
	}
	return class
}()

// clean makes valid UTF-8 fit to be stored and searched: "\r\n", "\r", form feeds and the Unicode
// line and paragraph separators' ASCII kin become "\n", control characters (PostgreSQL takes no
// NUL), soft hyphens, byte order marks and noncharacters go. Text that is clean is not copied.
func clean(s string) string {
	first := nextDirty(s, 0)
	if first == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	b.WriteString(s[:first])
	for i := first; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if out := cleanRune(r, s[i+size:]); out >= 0 {
			b.WriteRune(out)
		}
		i += size
		next := nextDirty(s, i)
		b.WriteString(s[i:next])
		i = next
	}
	return b.String()
}

// nextDirty is the place of the first byte from i on that is not plain, or len(s).
func nextDirty(s string, i int) int {
	for i < len(s) && byteClass[s[i]] == plain {
		i++
	}
	return i
}

// cleanRune gives what r becomes in front of rest, or -1 where it is dropped.
func cleanRune(r rune, rest string) rune {
	switch {
	case r == '\r':
		if strings.HasPrefix(rest, "\n") {
			return -1
		}
		return '\n'
	case r == '\v', r == '\f', r == 0x85:
		return '\n'
	case r == '\n', r == '\t':
		return r
	case r < 0x20, r >= 0x7f && r < 0xa0, r == 0xad, r == 0xfeff:
		return -1
	case r >= 0xfdd0 && r <= 0xfdef, r&0xfffe == 0xfffe:
		return -1
	}
	return r
}
