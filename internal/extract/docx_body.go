package extract

import (
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"
)

// wordReader writes the text of one part (body, header, footer, note) in reading order: a line for
// each paragraph, a line for each table row with tabs between its cells, list items with a dash.
// Deleted text, field codes and the fallbacks of alternate content are passed over.
type wordReader struct {
	b      *textBuilder
	styles map[string]wordStyle
	lists  *wordLists
	notes  map[string]string // by "footnote:1", "endnote:1"

	para     wordParagraph
	refs     []string     // notes that were referred to and not written yet
	fields   []bool       // open complex fields; true while in their code
	tables   int          // how many tables are open
	outer    *textBuilder // what the outer table stands in, while its rows are collected in b
	head     bool         // the outer table's row is of its header
	cells    int          // cells begun in the outer table's row
	span     int          // columns that the outer table's cell takes beyond its own
	cellText bool         // the outer table's cell has text already
}

// wordParagraph is the paragraph that is being read. One inside a text box ends the outer one, whose
// rest then is a paragraph of its own.
type wordParagraph struct {
	begun   bool // its first text is written, at start
	start   int
	heading int    // its level; 0 for none
	list    string // the number of the list that it is an item of; "0" for none, "" where its style says
	level   int    // in the list, from 0
	style   wordStyle
}

func newWordReader(b *textBuilder, styles map[string]wordStyle) *wordReader {
	return &wordReader{b: b, styles: styles, lists: &wordLists{}}
}

// read reads a whole part.
func (r *wordReader) read(x *xmlReader) error {
	if err := r.readInside(x, -1); !errors.Is(err, io.EOF) {
		return err
	}
	r.endParagraph()
	return nil
}

// readElement reads the element whose start was read last.
func (r *wordReader) readElement(x *xmlReader) error {
	return unexpectedEnd(r.readInside(x, x.depth-1))
}

// readInside reads until the depth falls to outside, or to io.EOF.
func (r *wordReader) readInside(x *xmlReader, outside int) error {
	text := false
	for x.depth > outside {
		token, err := x.next()
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if text = isTextElement(t.Name); !text {
				if err := r.start(x, t); err != nil {
					return err
				}
			}
		case xml.EndElement:
			text = false
			r.end(t.Name)
		case xml.CharData:
			if text {
				r.write(clean(string(t)))
			}
		}
		if r.b.full {
			return failTooLarge
		}
	}
	return nil
}

func isTextElement(name xml.Name) bool {
	return name.Local == "t" && (name.Space == "w" || name.Space == "m")
}

// skipped are the elements whose content is not part of the text.
var skipped = map[string]bool{
	"w:del": true, "w:moveFrom": true, "w:instrText": true, "w:delText": true, "w:delInstrText": true,
	"w:rPr": true, "w:tblPr": true, "w:tblGrid": true, "w:sectPr": true,
	"w:sdtPr": true, "w:rt": true, "w:tabs": true, "w:pPrChange": true, "mc:Fallback": true,
}

// start acts on the start of an element, and skips it where it has nothing to say.
func (r *wordReader) start(x *xmlReader, e xml.StartElement) error {
	if skipped[e.Name.Space+":"+e.Name.Local] {
		return x.skip()
	}
	if e.Name.Space != "w" {
		return nil
	}
	switch e.Name.Local {
	case "p":
		r.para = wordParagraph{}
	case "tbl":
		if r.tables++; r.tables == 1 {
			r.b.paragraph()
			r.outer, r.b = r.b, newTextBuilder(Limits{Text: r.b.limit})
		}
	case "tr":
		r.startRow()
	case "tc":
		r.startCell()
	case "tblHeader", "gridSpan", "vMerge":
		r.cellProperty(e)
	case "pStyle":
		r.para.style = r.styles[attr(e, "val")]
		r.para.heading = max(r.para.heading, r.para.style.level)
	case "outlineLvl":
		r.para.heading = outlineLevel(attr(e, "val"))
	case "numId":
		r.para.list = attr(e, "val")
	case "ilvl":
		r.para.level, _ = strconv.Atoi(attr(e, "val"))
	case "fldChar":
		r.field(attr(e, "fldCharType"))
	case "footnoteReference":
		r.refs = append(r.refs, "footnote:"+attr(e, "id"))
	case "endnoteReference":
		r.refs = append(r.refs, "endnote:"+attr(e, "id"))
	default:
		r.write(inlineText(e))
	}
	return nil
}

// inlineText is what an element without content stands for in a run.
func inlineText(e xml.StartElement) string {
	switch e.Name.Local {
	case "tab", "ptab":
		return "\t"
	case "br", "cr":
		return "\n"
	case "noBreakHyphen":
		return "-"
	case "sym":
		// Symbol fonts use the private area, which says nothing without the font.
		if code, err := strconv.ParseUint(attr(e, "char"), 16, 16); err == nil && code < 0xD800 {
			return clean(string(rune(code)))
		}
	}
	return ""
}

func (r *wordReader) end(name xml.Name) {
	if name.Space != "w" {
		return
	}
	switch name.Local {
	case "p":
		r.endParagraph()
	case "tbl":
		if r.tables = max(0, r.tables-1); r.tables == 0 && r.outer != nil {
			rows := r.b
			r.b, r.outer, r.para = r.outer, nil, wordParagraph{}
			writeTable(r.b, rows.text.String())
		}
	}
}

// field follows a complex field (17.16.18): its code stands between begin and separate.
func (r *wordReader) field(kind string) {
	switch n := len(r.fields); {
	case kind == "begin" && n < maxDepth:
		r.fields = append(r.fields, true)
	case kind == "separate" && n > 0:
		r.fields[n-1] = false
	case kind == "end" && n > 0:
		r.fields = r.fields[:n-1]
	}
}

// startRow starts a table's row on a line of its own. A table inside a cell stays in the cell.
func (r *wordReader) startRow() {
	if r.tables == 1 {
		r.b.newline()
		r.cells, r.span, r.head = 0, 0, false
	}
}

// cellProperty takes what is said of the outer table's row, or of its cell, before the text.
func (r *wordReader) cellProperty(e xml.StartElement) {
	if r.tables != 1 {
		return
	}
	value := attr(e, "val")
	switch e.Name.Local {
	case "tblHeader":
		r.head = value != "0" && value != "false"
	case "gridSpan":
		n, _ := strconv.Atoi(value)
		r.span = min(max(n, 1), maxSpan) - 1
	case "vMerge":
		if value != "restart" {
			r.b.write(sameCell)
		}
	}
}

func (r *wordReader) startCell() {
	if r.tables != 1 {
		return
	}
	if r.cells++; r.cells > 1 {
		r.b.write(strings.Repeat("\t", 1+r.span))
	}
	r.cellText, r.span = false, 0
	if r.head {
		r.b.write(headCell)
	}
}

// write adds text to the paragraph. In a table a line end would end the row, so it is a space.
func (r *wordReader) write(s string) {
	if s == "" || len(r.fields) > 0 && r.fields[len(r.fields)-1] {
		return
	}
	if !r.para.begun {
		r.begin()
	}
	if r.tables > 0 {
		s = cellBreaks.Replace(s)
		r.cellText = true
	}
	r.b.write(s)
}

var cellBreaks = strings.NewReplacer("\n", " ", "\t", " ")

// begin sets the paragraph off from what stands before it: by a blank line, or only a line end for
// a list item, or a space within a table's cell.
func (r *wordReader) begin() {
	r.para.begun = true
	label, level := r.label()
	switch {
	case r.tables > 0:
		if r.cellText {
			r.b.write(" ")
		}
	case label != "" && r.para.heading == 0:
		r.b.newline()
		label = strings.Repeat("  ", level) + label
	default:
		r.b.paragraph()
	}
	r.para.start = r.b.len()
	if bullet := strings.HasSuffix(label, "- "); !bullet || r.tables == 0 && r.para.heading == 0 {
		r.b.write(label)
	}
}

// label counts the paragraph in its list, and gives what stands before it. Number 0 takes the style's list away (17.9.18).
func (r *wordReader) label() (label string, level int) {
	list, level := r.para.list, r.para.level
	if list == "" {
		list, level = r.para.style.list, r.para.style.at
	}
	if list == "" || list == "0" {
		return "", 0
	}
	return r.lists.label(list, level), min(max(level, 0), 8)
}

func (r *wordReader) endParagraph() {
	if !r.para.begun {
		r.label() // an item without text counts
	}
	if r.para.heading > 0 && r.para.begun && r.tables == 0 {
		if title := r.b.text.String()[min(r.para.start, r.b.len()):]; !isBlank(title) {
			r.b.mark(Mark{Offset: r.para.start, Heading: title, Level: r.para.heading})
		}
	}
	r.para = wordParagraph{}
	if r.tables == 0 {
		r.b.newline()
		r.writeNotes()
	}
}

// writeNotes writes the footnotes that the paragraph, or the table before it, refers to. Each is
// written once.
func (r *wordReader) writeNotes() {
	for _, ref := range r.refs {
		if note := r.notes[ref]; note != "" {
			delete(r.notes, ref)
			r.b.write(note)
			r.b.newline()
		}
	}
	r.refs = nil
}
