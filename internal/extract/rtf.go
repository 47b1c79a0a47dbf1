package extract

import (
	"bytes"
	"context"
	"strings"
	"unicode/utf16"
)

// maxGroups is how deep groups may be nested.
const maxGroups = 5000

// rtfGroup is the state that a closing brace takes back.
type rtfGroup struct {
	skip    bool // a destination without document text
	deleted bool // under change tracking
	note    bool // this group is a footnote
	inNote  bool // this group or one around it is
	inFonts bool // the font table
	page    int  // code page of \'hh bytes
	unicode int  // how many fallback characters follow a \u
	heading int  // of the paragraph: the level by its outline; 0 for none
	inTable bool // of the paragraph
}

// rtfReader turns an RTF file into text, a paragraph or a table row at a time.
type rtfReader struct {
	b      *textBuilder
	scan   rtfScanner
	groups []rtfGroup
	now    rtfGroup

	fonts    map[int]int // font number to code page
	font     int         // the font that the font table describes
	ansiPage int
	star     bool // \* came last: an unknown destination is skipped
	fallback int  // characters to drop after a \u

	line     []byte   // of the paragraph or row so far, UTF-8
	bytes    []byte   // \'hh bytes and text not decoded yet
	units    []uint16 // \u units not decoded yet
	afterRow bool
	// noteStart is where the text of the open footnote starts in line.
	noteStart int
}

// readRTF reads the text of an RTF file (RTF 1.9.1) with its footnotes in place.
func readRTF(ctx context.Context, data []byte, limits Limits) (*Result, error) {
	data = bytes.TrimPrefix(data, utf8Mark)
	r := &rtfReader{
		b: newTextBuilder(limits), scan: rtfScanner{data: data}, fonts: map[int]int{}, ansiPage: 1252,
		now: rtfGroup{page: 1252, unicode: 1},
	}
	for n := 0; ; n++ {
		t := r.scan.next()
		if t.kind == rtfEnd {
			break
		}
		if err := r.token(t); err != nil {
			return nil, err
		}
		if n%(1<<16) == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if len(r.line) > limits.Text || r.b.full {
			return nil, failTooLarge
		}
	}
	if len(r.groups) > 0 {
		// The last brace is missing: the file was cut off.
		return nil, failDamaged
	}
	r.endParagraph()
	return r.b.result()
}

func (r *rtfReader) token(t rtfToken) error {
	switch t.kind {
	case rtfOpen:
		r.flush()
		if len(r.groups) >= maxGroups {
			return failDamaged
		}
		r.groups = append(r.groups, r.now)
		r.now.note = false
		r.fallback = 0
	case rtfClose:
		r.flush()
		r.closeGroup()
	case rtfHex:
		r.raw(t.text)
	case rtfText:
		r.raw(t.text)
	case rtfWord:
		r.control(t)
	}
	if t.kind != rtfOpen && (t.kind != rtfWord || t.word != "*") {
		r.star = false
	}
	return nil
}

func (r *rtfReader) closeGroup() {
	r.fallback = 0
	if r.now.note {
		r.endNote()
	}
	if n := len(r.groups); n > 0 {
		r.now, r.groups = r.groups[n-1], r.groups[:n-1]
	}
}

// endNote closes the brackets around a footnote.
func (r *rtfReader) endNote() {
	start := min(r.noteStart, len(r.line))
	r.line = append(r.line[:start], bytes.TrimSpace(r.line[start:])...)
	r.line = append(r.line, ']')
}

// raw takes characters in the current code page, less those that repeat a \u.
func (r *rtfReader) raw(text []byte) {
	drop := min(r.fallback, len(text))
	r.fallback -= drop
	if text = text[drop:]; len(text) == 0 || r.hidden() {
		return
	}
	r.flushUnits()
	r.bytes = append(r.bytes, text...)
}

func (r *rtfReader) hidden() bool { return r.now.skip || r.now.deleted || r.now.inFonts }

// write adds text that stands for a control word.
func (r *rtfReader) write(s string) {
	if r.fallback > 0 {
		r.fallback--
		return
	}
	if !r.hidden() {
		r.flush()
		r.line = append(r.line, s...)
	}
}

// flush decodes what is pending; its code page is about to change.
func (r *rtfReader) flush() {
	r.flushUnits()
	r.flushBytes()
}

func (r *rtfReader) flushBytes() {
	if len(r.bytes) == 0 {
		return
	}
	if out, err := codePage(r.now.page).NewDecoder().Bytes(r.bytes); err == nil {
		r.line = append(r.line, out...)
	}
	r.bytes = r.bytes[:0]
}

func (r *rtfReader) flushUnits() {
	if len(r.units) > 0 {
		r.line = append(r.line, string(utf16.Decode(r.units))...)
		r.units = r.units[:0]
	}
}

// unicode takes a \u: a UTF-16 unit as a signed number.
func (r *rtfReader) unicode(value int) {
	r.fallback = r.now.unicode
	if r.hidden() {
		return
	}
	r.flushBytes()
	r.units = append(r.units, uint16(value)) // negative values stand for those above 32767
}

func (r *rtfReader) take() string {
	r.flush()
	s := strings.Trim(clean(strings.ToValidUTF8(string(r.line), "\uFFFD")), "\t\n ")
	r.line = r.line[:0]
	return s
}

func (r *rtfReader) endParagraph() {
	if r.now.inTable || r.now.inNote {
		r.write(" ")
		return
	}
	r.afterRow = false
	s := r.take()
	if s == "" {
		return
	}
	r.b.paragraph()
	if r.now.heading > 0 {
		r.b.mark(Mark{Offset: r.b.len(), Heading: s, Level: r.now.heading})
	}
	r.b.write(s)
	r.b.newline()
}

func (r *rtfReader) endRow() {
	row := strings.ReplaceAll(r.take(), "\n", " ")
	if row == "" {
		return
	}
	if !r.afterRow {
		r.b.paragraph()
	}
	r.b.write(row)
	r.b.newline()
	r.afterRow = true
}
