// Package unseen knows characters that don't show themselves and make a text look like another.
package unseen

import (
	"strings"
	"unicode"
)

// Is tells of control characters, C0 and C1, and of those that turn the direction of writing (Unicode's Bidi_Control).
func Is(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// Without is a text without them.
func Without(s string) string {
	return strings.Map(func(r rune) rune {
		if Is(r) {
			return -1
		}
		return r
	}, s)
}
