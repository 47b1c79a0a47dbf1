package extract

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// readPPTX reads a presentation (ECMA-376 part 1, 19): its slides in their order, each a page under its title, with the speaker's
// notes. Hidden slides are left out.
func readPPTX(ctx context.Context, src source, limits Limits) (*Result, error) {
	show, main, err := openOffice(src, limits, "ppt/presentation.xml", failNotSlides)
	if err != nil {
		return nil, err
	}
	slides, err := show.slides(main)
	if err != nil {
		return nil, err
	}
	if len(slides) > limits.Pages {
		return nil, failPages
	}
	b := newTextBuilder(limits)
	for i, slide := range slides {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := show.writeSlide(b, slide, i+1); err != nil {
			return nil, err
		}
	}
	result, err := b.result()
	if err == nil {
		result.Pages = len(slides)
	}
	return result, err
}

// openOffice opens an OOXML package and finds its main part.
func openOffice(src source, limits Limits, usual string, missing *Failure) (*archive, string, error) {
	head := make([]byte, 8)
	if n, _ := src.file.ReadAt(head, 0); isOLE(head[:n]) {
		if streams, err := openOLE(src); err == nil && streams.encrypted {
			return nil, "", failEncrypted
		}
		return nil, "", missing
	}
	parts, err := openArchive(src, limits)
	if err != nil {
		return nil, "", err
	}
	main, err := parts.mainPart(usual, missing)
	return parts, main, err
}

// slides gives the parts of the slides in the order in which they are shown.
func (p *archive) slides(main string) (parts []string, err error) {
	rels, err := p.byID(main)
	if err != nil {
		return nil, err
	}
	err = p.read(main, func(x *xmlReader) error {
		return x.each(func(e xml.StartElement) error {
			if e.Name.Space == "p" && e.Name.Local == "sldId" {
				if slide := rels[x.linked(e)].target; p.parts[slide] != nil && len(parts) < maxEntries {
					parts = append(parts, slide)
				}
			}
			return nil
		})
	})
	return parts, err
}

// writeSlide writes a slide as a page, and after it what the speaker noted.
func (p *archive) writeSlide(b *textBuilder, part string, number int) error {
	r := newSlideReader(p.limits)
	if err := p.read(part, r.read); err != nil {
		return err
	}
	if r.hidden {
		return nil
	}
	rels, err := p.relations(part)
	if err != nil {
		return err
	}
	b.paragraph()
	b.mark(Mark{Offset: b.len(), Page: number, Heading: r.title.String(), Level: 1})
	for _, text := range []string{r.title.String(), r.text.text.String()} {
		if !isBlank(text) {
			b.write(text)
			b.newline()
		}
	}
	for _, rel := range rels {
		if rel.kind != "notesSlide" || p.parts[rel.target] == nil {
			continue
		}
		notes := newSlideReader(p.limits)
		notes.notes = true
		if err := p.read(rel.target, notes.read); err != nil {
			return err
		}
		if text := notes.text.text.String(); !isBlank(text) {
			b.paragraph()
			b.write(text)
		}
	}
	if b.full {
		return failTooLarge
	}
	return nil
}

// slideReader collects the text of a slide: a line for each paragraph and each row of a table (see writeTable).
type slideReader struct {
	notes  bool // of a page of notes only its body is read: the rest repeats the slide
	hidden bool
	title  strings.Builder
	text   *textBuilder

	kind   string // the placeholder that the shape is: title, body, sldNum …
	line   strings.Builder
	tables int  // that are open
	head   bool // the row is the table's header
	cells  int  // begun in the row
	rows   strings.Builder
}

func newSlideReader(limits Limits) *slideReader { return &slideReader{text: newTextBuilder(limits)} }

func (r *slideReader) read(x *xmlReader) error {
	text := false
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
			text = t.Name.Space == "a" && t.Name.Local == "t"
			if err := r.open(x, t); err != nil {
				return err
			}
		case xml.EndElement:
			text = false
			r.close(t.Name)
		case xml.CharData:
			if text {
				r.line.WriteString(clean(string(t)))
			}
		}
		if r.text.full || r.text.len()+r.rows.Len()+r.line.Len()+r.title.Len() > r.text.limit {
			return failTooLarge
		}
	}
}

func (r *slideReader) open(x *xmlReader, e xml.StartElement) error {
	switch e.Name.Space + ":" + e.Name.Local {
	case "mc:Fallback":
		return x.skip()
	case "p:sld":
		r.hidden = attr(e, "show") == "0" || attr(e, "show") == "false"
	case "p:sp", "p:graphicFrame":
		r.kind = ""
	case "p:ph":
		r.kind = attr(e, "type")
	case "a:br":
		r.line.WriteString(" ")
	case "a:tbl":
		r.tables++
		r.head = false
	case "a:tblPr":
		r.head = isTrue(attr(e, "firstRow"))
	case "a:tr":
		r.cells = 0
	case "a:tc":
		r.cell(e)
	}
	return nil
}

func (r *slideReader) close(name xml.Name) {
	switch name.Space + ":" + name.Local {
	case "a:p":
		r.endParagraph()
	case "a:tr":
		r.rows.WriteString("\n")
		r.head = false
	case "a:tbl":
		if r.tables = max(0, r.tables-1); r.tables == 0 {
			writeTable(r.text, r.rows.String())
			r.rows.Reset()
		}
	}
}

// cell begins a cell. One that another has taken is there, too, and empty.
func (r *slideReader) cell(e xml.StartElement) {
	if r.cells++; r.cells > 1 {
		r.rows.WriteString("\t")
	}
	if r.head {
		r.rows.WriteString(headCell)
	}
	if isTrue(attr(e, "vMerge")) {
		r.rows.WriteString(sameCell)
	}
}

// endParagraph puts the line where it belongs.
func (r *slideReader) endParagraph() {
	line := strings.TrimSpace(cellBreaks.Replace(r.line.String()))
	r.line.Reset()
	switch {
	case line == "":
	case r.kind == "sldNum" || r.kind == "dt" || r.kind == "ftr" || r.kind == "hdr" || r.notes && r.kind != "body":
	case r.kind == "title" || r.kind == "ctrTitle":
		if r.title.Len() > 0 {
			r.title.WriteString(" ")
		}
		r.title.WriteString(line)
	case r.tables > 0:
		if text := r.rows.String(); text != "" && !isSpaceAt(text, len(text)-1) {
			r.rows.WriteString(" ")
		}
		r.rows.WriteString(line)
	default:
		r.text.write(line + "\n")
	}
}
