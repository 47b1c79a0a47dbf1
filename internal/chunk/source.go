package chunk

import (
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// step is how much of the text is read at a time, in bytes.
const step = 256 << 10

// source holds the part of a text that is at hand. It begins a little before the chunk that is being
// cut, and reaches as far as that may need.
type source struct {
	r    io.Reader
	step int
	// need is how much of the text beyond the start of a chunk must be there to cut it.
	need int
	text string
	// base is where text begins in the whole one.
	base    int
	ended   bool
	partial string // the beginning of a character that a read has cut
}

// short tells whether more of the text has to be read for a chunk that begins at an offset.
func (s *source) short(from int) bool { return !s.ended && len(s.text)-from < s.need }

// more reads on and drops what lies far enough before an offset; it tells how much that was.
func (s *source) more(from int) (dropped int, err error) {
	dropped = runeStart(s.text, max(0, from-2*lookBack))
	var b strings.Builder
	b.Grow(len(s.text) - dropped + s.need + s.step)
	b.WriteString(s.text[dropped:])
	b.WriteString(s.partial)
	fresh := len(s.text) - dropped
	want := s.need + s.step - (len(s.text) - from)
	switch _, err := io.CopyN(&b, s.r, int64(want)); {
	case errors.Is(err, io.EOF):
		s.ended = true
	case err != nil:
		return 0, err
	}
	all := b.String()
	end := len(all)
	if !s.ended {
		end = wholeRunes(all)
	}
	s.text, s.partial = all[:end], all[end:]
	s.base += dropped
	if !utf8.ValidString(s.text[fresh:]) {
		return 0, ErrUTF8
	}
	return dropped, nil
}

// wholeRunes gives the length of a text without a character that is cut at its end.
func wholeRunes(text string) int {
	for i := len(text) - 1; i >= 0 && i >= len(text)-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if utf8.FullRuneInString(text[i:]) {
				break
			}
			return i
		}
	}
	return len(text)
}
