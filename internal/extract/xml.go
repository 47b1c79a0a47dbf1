package extract

import (
	"bufio"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"golang.org/x/text/transform"
)

// maxDepth is how deep elements may be nested; tables in tables in text boxes reach a few dozen.
const maxDepth = 500

// The namespaces whose elements are told apart: those of OOXML in their transitional and strict forms
// (ECMA-376 part 1 and 4), and those of OpenDocument (ISO/IEC 26300).
var namespaces = map[string]string{
	"http://schemas.openxmlformats.org/wordprocessingml/2006/main": "w",
	"http://purl.oclc.org/ooxml/wordprocessingml/main":             "w",
	"http://schemas.openxmlformats.org/markup-compatibility/2006":  "mc",
	"http://schemas.openxmlformats.org/officeDocument/2006/math":   "m",
	"http://purl.oclc.org/ooxml/officeDocument/math":               "m",

	"http://schemas.openxmlformats.org/presentationml/2006/main":          "p",
	"http://purl.oclc.org/ooxml/presentationml/main":                      "p",
	"http://schemas.openxmlformats.org/drawingml/2006/main":               "a",
	"http://purl.oclc.org/ooxml/drawingml/main":                           "a",
	"http://schemas.openxmlformats.org/spreadsheetml/2006/main":           "s",
	"http://purl.oclc.org/ooxml/spreadsheetml/main":                       "s",
	"http://schemas.openxmlformats.org/officeDocument/2006/relationships": "r",
	"http://purl.oclc.org/ooxml/officeDocument/relationships":             "r",

	"urn:oasis:names:tc:opendocument:xmlns:office:1.0": "office",
	"urn:oasis:names:tc:opendocument:xmlns:text:1.0":   "text",
	"urn:oasis:names:tc:opendocument:xmlns:table:1.0":  "table",
}

// xmlReader reads XML token by token. It expands no entities, refuses document types (OPC allows
// none: ECMA-376 part 2, 8.1.4) where none are asked for, bounds the depth, and checks that the elements are closed.
type xmlReader struct {
	dec      *xml.Decoder
	depth    int
	prefixes map[string]string // prefix in this part to the name in namespaces
	// documentTypes: a document type is passed by. Entities that it defines are not known all the same.
	documentTypes bool
}

func newXMLReader(in io.Reader) *xmlReader {
	buffered := bufio.NewReaderSize(in, 32<<10)
	var source io.Reader = buffered
	if mark, _ := buffered.Peek(2); len(mark) == 2 {
		if enc := utf16Mark[string(mark)]; enc != nil {
			_, _ = buffered.Discard(2)
			source = transform.NewReader(buffered, enc.NewDecoder())
		}
	}
	dec := xml.NewDecoder(source)
	dec.CharsetReader = func(charset string, in io.Reader) (io.Reader, error) {
		switch strings.ToLower(charset) {
		case "utf-16", "utf-16le", "utf-16be", "us-ascii":
			return in, nil
		}
		return nil, failDamaged
	}
	return &xmlReader{dec: dec, prefixes: map[string]string{}}
}

// next is the next start or end of an element, or characters; io.EOF ends a part that is whole.
// Names come with Space set to a value of namespaces, or "" for others.
func (x *xmlReader) next() (xml.Token, error) {
	for {
		token, err := x.dec.RawToken()
		if err != nil {
			if errors.Is(err, io.EOF) && x.depth != 0 {
				return nil, failDamaged
			}
			return nil, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if x.depth++; x.depth > maxDepth {
				return nil, failDamaged
			}
			x.declare(t.Attr)
			t.Name.Space = x.prefixes[t.Name.Space]
			return t, nil
		case xml.EndElement:
			if x.depth--; x.depth < 0 {
				return nil, failDamaged
			}
			t.Name.Space = x.prefixes[t.Name.Space]
			return t, nil
		case xml.CharData:
			return t, nil
		case xml.Directive:
			if !x.documentTypes {
				return nil, failDamaged
			}
		}
	}
}

// declare takes in namespace declarations. Producers declare them on the root and never redefine
// a prefix, so their scopes are not kept.
func (x *xmlReader) declare(attrs []xml.Attr) {
	for _, a := range attrs {
		switch {
		case a.Name.Space == "xmlns":
			if name, ok := namespaces[a.Value]; ok {
				x.prefixes[a.Name.Local] = name
			}
		case a.Name.Space == "" && a.Name.Local == "xmlns":
			x.prefixes[""] = namespaces[a.Value]
		}
	}
}

// skip passes over what is left of the element whose start was read last.
func (x *xmlReader) skip() error {
	for outside := x.depth - 1; x.depth > outside; {
		if _, err := x.next(); err != nil {
			return unexpectedEnd(err)
		}
	}
	return nil
}

// each calls fn for every element's start.
func (x *xmlReader) each(fn func(xml.StartElement) error) error {
	for {
		token, err := x.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if start, ok := token.(xml.StartElement); ok {
			if err := fn(start); err != nil {
				return err
			}
		}
	}
}

// linked is the relation that an element names by its attribute "id" of the namespace of relations.
func (x *xmlReader) linked(e xml.StartElement) string {
	for _, a := range e.Attr {
		if a.Name.Local == "id" && x.prefixes[a.Name.Space] == "r" {
			return a.Value
		}
	}
	return ""
}

func unexpectedEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return failDamaged
	}
	return err
}

// attr is the value of an attribute by its local name, or "".
func attr(e xml.StartElement, local string) string {
	for _, a := range e.Attr {
		if a.Name.Local == local {
			return a.Value
		}
	}
	return ""
}
