package extract

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"
)

// workbook is an open XLSX file (ECMA-376 part 1, 18).
type workbook struct {
	*archive
	main string
	// shared are the texts that cells refer to by their number.
	shared []string
	// dates tells of each style of cells whether its numbers are days.
	dates []bool
	// from1904: days count from 1904, not from 1900.
	from1904 bool
}

// sheet is one of a workbook's sheets.
type sheet struct{ name, part string }

// readXLSX reads the sheets that can be seen, each under its name, row by row. What stands below a header is written with the
// column that it is in, so that each row says by itself what it is.
func readXLSX(ctx context.Context, src source, limits Limits) (*Result, error) {
	parts, main, err := openOffice(src, limits, "xl/workbook.xml", failNotWorkbook)
	if err != nil {
		return nil, err
	}
	w := &workbook{archive: parts, main: main}
	sheets, err := w.sheets()
	if err != nil {
		return nil, err
	}
	if err := w.readShared(); err != nil {
		return nil, err
	}
	if err := w.readStyles(); err != nil {
		return nil, err
	}
	b := newTextBuilder(limits)
	for _, s := range sheets {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b.section()
		r := sheetReader{book: w, b: b, name: s.name}
		if err := w.read(s.part, r.read); err != nil {
			return nil, err
		}
	}
	return b.result()
}

// sheets gives those that can be seen, in their order.
func (w *workbook) sheets() (list []sheet, err error) {
	rels, err := w.byID(w.main)
	if err != nil {
		return nil, err
	}
	err = w.read(w.main, func(x *xmlReader) error {
		return x.each(func(e xml.StartElement) error {
			switch {
			case e.Name.Space != "s":
			case e.Name.Local == "workbookPr":
				w.from1904 = isTrue(attr(e, "date1904"))
			case e.Name.Local == "sheet" && attr(e, "state") != "hidden" && attr(e, "state") != "veryHidden":
				part := rels[x.linked(e)]
				if part.kind == "worksheet" && w.parts[part.target] != nil && len(list) < maxEntries {
					list = append(list, sheet{name: clean(attr(e, "name")), part: part.target})
				}
			}
			return nil
		})
	})
	return list, err
}

func isTrue(s string) bool { return s == "1" || s == "true" }

// linkedPart is the part of a kind that the workbook links to, or "".
func (w *workbook) linkedPart(kind string) (string, error) {
	rels, err := w.relations(w.main)
	for _, r := range rels {
		if r.kind == kind && w.parts[r.target] != nil {
			return r.target, err
		}
	}
	return "", err
}

// readShared reads the table of texts (18.4).
func (w *workbook) readShared() error {
	part, err := w.linkedPart("sharedStrings")
	if part == "" || err != nil {
		return err
	}
	return w.read(part, func(x *xmlReader) error {
		return x.each(func(e xml.StartElement) error {
			if e.Name.Space != "s" || e.Name.Local != "si" {
				return nil
			}
			text, err := textInside(x)
			w.shared = append(w.shared, text)
			return err
		})
	})
}

// textInside joins the texts of the element whose start was read last. How they are pronounced is passed over.
func textInside(x *xmlReader) (string, error) {
	var text strings.Builder
	in := false
	for outside := x.depth - 1; x.depth > outside; {
		token, err := x.next()
		if err != nil {
			return "", unexpectedEnd(err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if in = t.Name.Local == "t"; t.Name.Local == "rPh" {
				if err := x.skip(); err != nil {
					return "", err
				}
			}
		case xml.EndElement:
			in = false
		case xml.CharData:
			if in {
				text.Write(t)
			}
		}
	}
	return clean(text.String()), nil
}

// sheetReader writes the rows of a sheet.
type sheetReader struct {
	book *workbook
	b    *textBuilder
	name string

	row   int
	cells []cell
	head  []string // the columns' names, once the row is found that has them
	tried int      // rows that were looked at for it
}

// cell is one that says something.
type cell struct {
	column int
	text   string
	number bool
}

func (r *sheetReader) read(x *xmlReader) error {
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
			if t.Name.Space == "s" && t.Name.Local == "row" {
				r.endRow()
			}
		}
		if r.b.full {
			return failTooLarge
		}
	}
}

func (r *sheetReader) open(x *xmlReader, e xml.StartElement) error {
	if e.Name.Space != "s" {
		return nil
	}
	switch e.Name.Local {
	case "row":
		r.row++
		if n, err := strconv.Atoi(attr(e, "r")); err == nil && n >= r.row && n <= maxRows {
			r.row = n
		}
		r.cells = r.cells[:0]
	case "c":
		return r.readCell(x, e)
	}
	return nil
}

// The size of a sheet, in rows and columns.
const (
	maxRows    = 1 << 20
	maxColumns = 1 << 14
)

// readCell takes a cell in (18.3.1.4).
func (r *sheetReader) readCell(x *xmlReader, e xml.StartElement) error {
	column := columnOf(attr(e, "r"))
	if column < 0 {
		column = 0
		if n := len(r.cells); n > 0 {
			column = r.cells[n-1].column + 1
		}
	}
	kind := attr(e, "t")
	style, _ := strconv.Atoi(attr(e, "s"))
	value, err := valueInside(x)
	if err != nil {
		return err
	}
	c := cell{column: column}
	c.text, c.number = r.book.show(kind, style, value)
	if c.text = strings.TrimSpace(cellBreaks.Replace(c.text)); c.text != "" && column < maxColumns && len(r.cells) < maxColumns {
		r.cells = append(r.cells, c)
	}
	return nil
}

// valueInside is the value of the cell whose start was read last, or the text that stands in it. Its formula is passed over.
func valueInside(x *xmlReader) (string, error) {
	var value strings.Builder
	in := false
	for outside := x.depth - 1; x.depth > outside; {
		token, err := x.next()
		if err != nil {
			return "", unexpectedEnd(err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if in = t.Name.Local == "v"; t.Name.Local == "is" {
				return inlineString(x, outside)
			}
		case xml.EndElement:
			in = false
		case xml.CharData:
			if in {
				value.Write(t)
			}
		}
	}
	return clean(value.String()), nil
}

// inlineString reads a text that stands in its cell, and what is left of the cell.
func inlineString(x *xmlReader, outside int) (string, error) {
	text, err := textInside(x)
	for err == nil && x.depth > outside {
		_, err = x.next()
	}
	return text, unexpectedEnd(err)
}

// endRow writes the row.
func (r *sheetReader) endRow() {
	if len(r.cells) == 0 {
		return
	}
	r.b.newline()
	r.b.mark(Mark{Offset: r.b.len(), Heading: r.name, Level: 1, Row: r.row})
	for i, c := range r.cells {
		switch name := r.columnName(c.column); {
		case i > 0 && r.head != nil:
			r.b.write("; ")
			r.b.write(name)
		case i > 0:
			r.b.write("\t")
		default:
			r.b.write(name)
		}
		r.b.write(c.text)
	}
	r.b.newline()
	r.findHead()
}

// columnName is what stands before the cells of a column below the header.
func (r *sheetReader) columnName(column int) string {
	if column >= len(r.head) || r.head[column] == "" {
		return ""
	}
	return r.head[column] + ": "
}

// headRows is how many rows may stand above the header, such as a title.
const headRows = 10

// findHead takes the row as the header where it looks like one: at least two short texts that differ, and no numbers but years.
func (r *sheetReader) findHead() {
	if r.tried++; r.head != nil || r.tried > headRows || len(r.cells) < 2 {
		return
	}
	texts, seen := 0, map[string]bool{}
	for _, c := range r.cells {
		if seen[c.text] || len(c.text) > maxHeading || c.number && !isYear(c.text) {
			return
		}
		seen[c.text] = true
		if !c.number {
			texts++
		}
	}
	if texts == 0 {
		return
	}
	r.head = make([]string, r.cells[len(r.cells)-1].column+1)
	for _, c := range r.cells {
		if c.column < len(r.head) {
			r.head[c.column] = c.text
		}
	}
}

func isYear(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= 1900 && n <= 2100
}
