// Package cite reads what a model writes with marks like [2] for the passages that it goes by: the text without the marks, and
// its sentences, each with the passages that it cites.
package cite

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"canopy/internal/passage"
)

// Bounds of a mark: its bytes, and the passages that it names.
const (
	maxMark  = 64
	maxNamed = 20
)

// Sentence is one that is over. Start and End are its place in the text, in characters (code points).
type Sentence struct {
	Start, End int
	Text       string
	// Cited are the numbers that its marks name, in order, each once; whether there are such passages is not known here.
	Cited []int
}

// Reader takes a text piece by piece. What it has given stays as it is, whatever comes.
type Reader struct {
	text []byte
	// before is the white space before the marks that were read last, pending what came since, and marked that there were any.
	before, pending []byte
	marked          bool
	// held is what may become a mark.
	held []byte
	// marks are those of sentences that are not over. The first of these begins at open, which is the character opened.
	marks        []mark
	open, opened int
}

// mark names passages behind so many bytes of the text.
type mark struct {
	at    int
	cited []int
}

// Text is what can be told so far.
func (r *Reader) Text() string { return string(r.text) }

// Len is its length in bytes.
func (r *Reader) Len() int { return len(r.text) }

// Write takes a piece, and gives the sentences that are over with it.
func (r *Reader) Write(piece string) []Sentence {
	for _, c := range piece {
		r.take(c)
	}
	list := passage.Sentences(string(r.text[r.open:]))
	if len(list) < 2 {
		return nil
	}
	return r.end(list[:len(list)-1])
}

// Close ends the text, and gives the sentences that were still open.
func (r *Reader) Close() []Sentence {
	r.release()
	return r.end(passage.Sentences(string(r.text[r.open:])))
}

// take reads one character.
func (r *Reader) take(c rune) {
	if len(r.held) > 0 {
		switch {
		case c == ']':
			if cited := numbers(string(r.held[1:])); cited != nil {
				r.mark(cited)
				r.held = nil
				return
			}
		case len(r.held) < maxMark && strings.ContainsRune("0123456789,; -–", c):
			r.held = utf8.AppendRune(r.held, c)
			return
		}
		r.release()
	}
	if c == '[' {
		r.held = append(r.held, '[')
		return
	}
	r.plain(c)
}

// release takes what is no mark for text.
func (r *Reader) release() {
	held := string(r.held)
	r.held = nil
	for _, c := range held {
		r.plain(c)
	}
}

func (r *Reader) mark(cited []int) {
	if !r.marked {
		r.before, r.marked = r.pending, true
	}
	r.pending = nil
	r.marks = append(r.marks, mark{len(r.text), cited})
}

// plain takes a character of the text. White space waits for what follows it, and so does what may stand between two marks.
func (r *Reader) plain(c rune) {
	switch {
	case unicode.IsSpace(c) && c != '\r', r.marked && len(r.pending) == 0 && (c == ',' || c == ';'):
		r.pending = utf8.AppendRune(r.pending, c)
		return
	case unicode.IsControl(c):
		return
	case r.marked && len(r.pending) == 0 && !strings.ContainsRune(".,;:!?)]}…。！？、»”\"'", c):
		r.pending = r.before
	}
	if len(r.text) > 0 {
		r.text = append(r.text, r.pending...)
	}
	r.text = utf8.AppendRune(r.text, c)
	r.before, r.pending, r.marked = nil, nil, false
}

// end gives sentences, whose places count from open, with what their marks name.
func (r *Reader) end(spans []passage.Span) (list []Sentence) {
	from := r.open
	for _, s := range spans {
		start, end := from+s.Start, from+s.End
		one := Sentence{Text: string(r.text[start:end])}
		one.Start = r.opened + utf8.RuneCount(r.text[r.open:start])
		one.End = one.Start + utf8.RuneCountInString(one.Text)
		for len(r.marks) > 0 && r.marks[0].at <= end {
			for _, n := range r.marks[0].cited {
				if !slices.Contains(one.Cited, n) {
					one.Cited = append(one.Cited, n)
				}
			}
			r.marks = r.marks[1:]
		}
		list = append(list, one)
		r.open, r.opened = end, one.End
	}
	return list
}

// numbers reads what stands in a mark: numbers and ranges of them. It gives nil where that is something else.
func numbers(text string) (list []int) {
	for part := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == ',' || c == ';' }) {
		from, to, ranged := strings.Cut(strings.ReplaceAll(part, "–", "-"), "-")
		first, err := strconv.Atoi(strings.TrimSpace(from))
		last := first
		if ranged && err == nil {
			last, err = strconv.Atoi(strings.TrimSpace(to))
		}
		if err != nil || last < first || last-first+len(list) >= maxNamed {
			return nil
		}
		for n := first; n <= last; n++ {
			list = append(list, n)
		}
	}
	return list
}
