package extract

import (
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"
)

// readODT reads the text of an OpenDocument text (ISO/IEC 26300): a line for each paragraph and each row of a table (see
// writeTable), notes in brackets where they are referred to.
func readODT(src source, limits Limits) (*Result, error) {
	doc, err := openArchive(src, limits)
	if err != nil {
		return nil, err
	}
	if err := doc.refuseLocked(); err != nil {
		return nil, err
	}
	if doc.parts["content.xml"] == nil {
		return nil, failNotOpenDocument
	}
	b := newTextBuilder(limits)
	r := odtReader{b: b, numbers: newODTLists()}
	if doc.parts["styles.xml"] != nil {
		if err := doc.read("styles.xml", r.numbers.read); err != nil {
			return nil, err
		}
	}
	if err := doc.read("content.xml", r.read); err != nil {
		return nil, err
	}
	return b.result()
}

// refuseLocked looks for parts that are encrypted.
func (p *archive) refuseLocked() error {
	if p.parts["meta-inf/manifest.xml"] == nil {
		return nil
	}
	return p.read("meta-inf/manifest.xml", func(x *xmlReader) error {
		x.documentTypes = true
		return x.each(func(e xml.StartElement) error {
			if e.Name.Local == "encryption-data" {
				return failEncrypted
			}
			return nil
		})
	})
}

// odtReader writes the text of content.xml.
type odtReader struct {
	b       *textBuilder
	inside  int // paragraphs that are open: one in a text box is inside another
	heading int // its level; 0 for none
	begun   bool
	start   int
	space   bool   // white space stands before the next word
	label   string // the number or dash of the item that the next paragraph begins
	numbers *odtLists
	tables  int
	outer   *textBuilder // what the outer table stands in, while its rows are collected in b
	head    bool         // the outer table's row is of its header
	cells   int
	repeats int  // further cells that the outer table's cell stands for
	filled  bool // the outer table's cell has text already
	notes   int  // notes that are open: what they say goes on in the line
}

func (r *odtReader) read(x *xmlReader) error {
	for {
		token, err := x.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if err := r.open(x, t); err != nil {
				return err
			}
		case xml.EndElement:
			r.close(t.Name)
		case xml.CharData:
			r.text(clean(string(t)))
		}
		if r.b.full {
			return failTooLarge
		}
	}
}

var odtSkipped = map[string]bool{
	"text:tracked-changes": true, "text:note-citation": true, "text:sequence-decls": true, "office:annotation": true, "office:forms": true,
	"office:font-face-decls": true, "office:scripts": true, "text:ruby-text": true,
}

func (r *odtReader) open(x *xmlReader, e xml.StartElement) error {
	name := e.Name.Space + ":" + e.Name.Local
	if odtSkipped[name] {
		return x.skip()
	}
	r.numbers.take(name, e)
	switch name {
	case "text:p", "text:h":
		if r.inside++; r.notes == 0 {
			r.heading, r.begun, r.space = 0, false, false
			if name == "text:h" {
				level, _ := strconv.Atoi(attr(e, "outline-level"))
				r.heading = min(max(level, 1), maxLevel-1) + 1
			}
		}
	case "text:s":
		count, _ := strconv.Atoi(attr(e, "c"))
		r.put(strings.Repeat(" ", min(max(count, 1), 100)))
	case "text:tab":
		r.put("\t")
	case "text:line-break":
		r.put("\n")
	case "text:note":
		r.put(" [")
		r.notes++
	case "text:list":
		r.numbers.open(e)
	case "text:list-item":
		r.label = r.numbers.item(e)
	case "text:list-header":
		r.label = ""
	case "table:table":
		if r.tables++; r.tables == 1 {
			r.b.paragraph()
			r.outer, r.b = r.b, newTextBuilder(Limits{Text: r.b.limit})
		}
	case "table:table-header-rows":
		r.head = r.tables == 1
	case "table:table-row":
		if r.tables == 1 {
			r.b.newline()
			r.cells, r.repeats = 0, 0
		}
	case "table:table-cell", "table:covered-table-cell":
		if r.tables == 1 {
			r.cell(e)
		}
	}
	return nil
}

func (r *odtReader) close(name xml.Name) {
	switch name.Space + ":" + name.Local {
	case "text:p", "text:h":
		if r.inside = max(0, r.inside-1); r.notes == 0 {
			r.endParagraph()
		}
	case "text:note":
		r.notes = max(0, r.notes-1)
		r.space = false
		r.b.write("]")
	case "text:list":
		r.numbers.close()
	case "table:table-header-rows":
		r.head = false
	case "table:table":
		if r.tables = max(0, r.tables-1); r.tables == 0 && r.outer != nil {
			rows := r.b
			r.b, r.outer, r.head, r.begun = r.outer, nil, false, false
			writeTable(r.b, rows.text.String())
		}
	}
}

// cell begins a cell of the outer table. One that stands for several is followed by as many without text.
func (r *odtReader) cell(e xml.StartElement) {
	if r.cells++; r.cells > 1 {
		r.b.write(strings.Repeat("\t", 1+r.repeats))
	}
	n, _ := strconv.Atoi(attr(e, "number-columns-repeated"))
	r.filled, r.repeats = false, min(max(n, 1), maxSpan)-1
	if r.head {
		r.b.write(headCell)
	}
}

// text folds white space, as the format has it (part 3, 6.1.2). Characters outside paragraphs are none of the text.
func (r *odtReader) text(s string) {
	if r.inside == 0 {
		return
	}
	for i, word := range strings.Fields(s) {
		r.space = r.space || i > 0 || isSpaceAt(s, 0)
		if r.space && r.begun {
			word = " " + word
		}
		r.space = false
		r.put(word)
	}
	r.space = r.space || isSpaceAt(s, len(s)-1)
}

// put adds to the paragraph. In a table a line end would end the row, so it is a space.
func (r *odtReader) put(s string) {
	if r.inside == 0 {
		return
	}
	if !r.begun {
		r.begin()
	}
	if r.tables > 0 {
		s = cellBreaks.Replace(s)
		r.filled = true
	}
	r.b.write(s)
}

func (r *odtReader) begin() {
	r.begun = true
	switch {
	case r.tables > 0:
		if r.filled {
			r.b.write(" ")
		}
	case r.label != "" && r.heading == 0:
		r.b.newline()
		r.b.write(strings.Repeat("  ", min(max(r.numbers.depth-1, 0), 8)) + r.label)
	default:
		r.b.paragraph()
	}
	r.start = r.b.len()
	if r.label != "- " && (r.tables > 0 || r.heading > 0) {
		r.b.write(r.label)
	}
	r.label = ""
}

func (r *odtReader) endParagraph() {
	if r.heading > 0 && r.begun && r.tables == 0 {
		if title := r.b.text.String()[min(r.start, r.b.len()):]; !isBlank(title) {
			r.b.mark(Mark{Offset: r.start, Heading: title, Level: r.heading})
		}
	}
	r.heading, r.begun, r.space = 0, false, false
	if r.tables == 0 && r.inside == 0 {
		r.b.newline()
	}
}
