package extract

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// notes reads the footnotes and endnotes, by the key under which wordReader looks for them.
func (p *wordPackage) notes() (map[string]string, error) {
	notes := map[string]string{}
	for _, kind := range []string{"footnote", "endnote"} {
		parts, err := p.side(kind + "s")
		if err != nil {
			return nil, err
		}
		for _, part := range parts {
			if err := p.read(part, func(x *xmlReader) error { return readNotes(x, kind, p.limits, notes) }); err != nil {
				return nil, err
			}
		}
	}
	return notes, nil
}

// readNotes reads one part of notes. The separator lines are notes of a type of their own.
func readNotes(x *xmlReader, kind string, limits Limits, notes map[string]string) error {
	for {
		token, err := x.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Space != "w" || start.Name.Local != kind {
			continue
		}
		if note := attr(start, "type"); note != "" && note != "normal" {
			if err := x.skip(); err != nil {
				return err
			}
			continue
		}
		b := newTextBuilder(limits)
		if err := newWordReader(b, nil).readElement(x); err != nil {
			return err
		}
		notes[kind+":"+attr(start, "id")] = strings.TrimSpace(b.text.String())
	}
}
