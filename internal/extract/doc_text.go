package extract

import (
	"context"
	"encoding/binary"
	"strings"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"
)

// wordDoc is a Word 97-2003 document: its pieces, and the formatting of the bytes they stand on.
type wordDoc struct {
	fib    *fib
	word   []byte
	pieces []piece
	chars  propRuns
	paras  propRuns
}

func newWordDoc(f *fib, word, table []byte) (*wordDoc, error) {
	pieces, err := parsePieces(f.clx.of(table))
	if err != nil {
		return nil, err
	}
	return &wordDoc{
		fib: f, word: word, pieces: pieces,
		chars: parseRuns(f.chpx.of(table), word, readChpx),
		paras: parseRuns(f.papx.of(table), word, readPapx),
	}, nil
}

// readingOrder is the order in which the parts are written; comments and macros are left out.
var readingOrder = []int{partHeaders, partMain, partFootnotes, partEndnotes, partTextboxes, partHeaderTextboxes}

func (d *wordDoc) text(ctx context.Context, limits Limits) (*Result, error) {
	b := newTextBuilder(limits)
	for _, part := range readingOrder {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		start := uint64(0)
		for _, n := range d.fib.counts[:part] {
			start += uint64(n)
		}
		end := start + uint64(d.fib.counts[part])
		b.section()
		w := &docWriter{b: b}
		if part == partHeaders {
			// Every section repeats its headers.
			w.seen = map[string]bool{}
		}
		d.eachUnit(start, end, w)
		w.endParagraph(docProps{})
		if b.full {
			return nil, failTooLarge
		}
	}
	return b.result()
}

// eachUnit hands the UTF-16 units of a range of character positions to a writer.
func (d *wordDoc) eachUnit(start, end uint64, w *docWriter) {
	for _, p := range d.pieces {
		from, to := max(start, uint64(p.start)), min(end, uint64(p.end))
		if from >= to {
			continue
		}
		width := uint64(1)
		if p.wide {
			width = 2
		}
		first := uint64(p.at) + (from-uint64(p.start))*width
		last := min(first+(to-from)*width, uint64(len(d.word))&^(width-1)|first&(width-1))
		for fc := first; fc+width <= uint64(len(d.word)) && fc < last && !w.b.full; fc += width {
			d.unit(uint32(fc), p.wide, w) // below the length of a stream of 32-bit size
		}
	}
}

// unit hands on one UTF-16 unit with the formatting of its place.
func (d *wordDoc) unit(fc uint32, wide bool, w *docWriter) {
	if d.chars.at(fc).deleted {
		return
	}
	var unit uint16
	if wide {
		unit = binary.LittleEndian.Uint16(d.word[fc:])
	} else {
		unit = uint16(charmap.Windows1252.DecodeByte(d.word[fc])) // all of it is in the basic plane
	}
	switch unit {
	case '\r', '\f', 0x07:
		w.mark(unit, d.paras.at(fc))
	default:
		w.add(unit)
	}
}

// docWriter turns units into lines: one for each paragraph and table row.
type docWriter struct {
	b      *textBuilder
	seen   map[string]bool // paragraphs written already, where repeats are dropped
	line   []uint16
	fields []bool // open fields; true while in their code
	cell   bool   // the last unit ended a cell
	table  bool   // the last paragraph was a row
}

// add takes a unit of text, or one of Word's special characters ([MS-DOC] 2.4.1, 2.8.25).
func (w *docWriter) add(unit uint16) {
	w.cell = false
	switch n := len(w.fields); unit {
	case 0x13:
		if n < maxDepth {
			w.fields = append(w.fields, true)
		}
		return
	case 0x14:
		if n > 0 {
			w.fields[n-1] = false
		}
		return
	case 0x15:
		w.fields = w.fields[:max(0, n-1)]
		return
	case 0x1E:
		unit = '-'
	case 0x0B:
		unit = '\n'
	}
	if len(w.fields) == 0 || !w.fields[len(w.fields)-1] {
		// A paragraph as long as the whole text can't be kept either.
		if w.line = append(w.line, unit); len(w.line) > w.b.limit {
			w.b.full = true
		}
	}
}

// mark takes the end of a paragraph, section or cell.
func (w *docWriter) mark(unit uint16, props docProps) {
	switch {
	case unit == 0x07 && (props.rowEnd || w.cell):
		// Two in a row end a row where the formatting is lost.
		w.cell = false
		w.endRow()
	case unit == 0x07:
		w.cell = !props.inTable
		w.line = append(w.line, '\t')
	case props.inTable:
		w.line = append(w.line, ' ')
	default:
		w.endParagraph(props)
	}
}

func (w *docWriter) take() string {
	s := strings.Trim(clean(string(utf16.Decode(w.line))), "\t\n ")
	w.line = w.line[:0]
	return s
}

func (w *docWriter) endRow() {
	if row := w.take(); row != "" {
		if !w.table {
			w.b.paragraph()
		}
		w.b.write(strings.ReplaceAll(row, "\n", " "))
		w.b.newline()
	}
	w.table = true
}

func (w *docWriter) endParagraph(props docProps) {
	w.cell, w.table = false, false
	s := w.take()
	if s == "" || w.seen[s] {
		return
	}
	if w.seen != nil {
		w.seen[s] = true
	}
	w.b.paragraph()
	if props.headline > 0 {
		w.b.mark(Mark{Offset: w.b.len(), Heading: s, Level: props.headline})
	}
	w.b.write(s)
	w.b.newline()
}
