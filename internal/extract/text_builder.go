package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds on the marks of one document, so that a file made of nothing but row ends or headings
// costs no more than its text does.
const (
	denseMarks  = 1 << 20 // from here on marks are kept apart
	markSpacing = 64      // by this many bytes
	maxHeading  = 300     // bytes of a heading that are kept
	maxLevel    = 12      // the deepest level that is told of a heading
)

// textBuilder collects the text of a document with its marks, within a size limit. Text must be
// cleaned before it is written (see clean); writes past the limit are dropped and remembered.
type textBuilder struct {
	text  strings.Builder
	marks []Mark
	limit int
	full  bool
}

func newTextBuilder(limits Limits) *textBuilder { return &textBuilder{limit: limits.Text} }

func (b *textBuilder) len() int { return b.text.Len() }

func (b *textBuilder) write(s string) {
	if b.full = b.full || b.text.Len()+len(s) > b.limit; !b.full {
		b.text.WriteString(s)
	}
}

// newline ends the line, unless the text is at the start of one.
func (b *textBuilder) newline() {
	if n := b.text.Len(); n > 0 && b.text.String()[n-1] != '\n' {
		b.write("\n")
	}
}

// paragraph makes what follows stand after a blank line, unless it is the first.
func (b *textBuilder) paragraph() {
	b.newline()
	if n := b.text.Len(); n > 0 && !strings.HasSuffix(b.text.String(), "\n\n") {
		b.write("\n")
	}
}

// section starts a part of the document that is under none of the headings so far.
func (b *textBuilder) section() {
	b.paragraph()
	b.mark(Mark{Offset: b.len()})
}

// mark sets what the text from m.Offset on belongs to. A second mark at the same place replaces the
// first; one that would go back behind the last mark is moved up to it.
func (b *textBuilder) mark(m Mark) {
	b.marks = appendMark(b.marks, m)
}

func appendMark(marks []Mark, m Mark) []Mark {
	m.Heading = shortHeading(m.Heading)
	m.Level = min(m.Level, maxLevel)
	if len(marks) == 0 {
		return append(marks, m)
	}
	last := &marks[len(marks)-1]
	switch {
	case m.Offset <= last.Offset:
		m.Offset = last.Offset
		*last = m
		return marks
	case len(marks) >= denseMarks && m.Offset-last.Offset < markSpacing:
		return marks
	}
	return append(marks, m)
}

// result closes the text.
func (b *textBuilder) result() (*Result, error) {
	if b.full {
		return nil, failTooLarge
	}
	return &Result{Text: b.text.String(), Marks: trimMarks(b.marks, b.text.Len())}, nil
}

// trimMarks drops marks that stand at the end of the text, where nothing follows.
func trimMarks(marks []Mark, size int) []Mark {
	for len(marks) > 0 && marks[len(marks)-1].Offset >= size {
		marks = marks[:len(marks)-1]
	}
	return marks
}

// shortHeading folds white space and cuts a heading to its first maxHeading bytes, at a rune.
func shortHeading(s string) string {
	if len(s) > 4*maxHeading {
		s = strings.ToValidUTF8(s[:4*maxHeading], "")
	}
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= maxHeading {
		return s
	}
	return strings.TrimSpace(strings.ToValidUTF8(s[:maxHeading], ""))
}

func isBlank(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !unicode.IsSpace(r) && r != utf8.RuneError }) < 0
}
