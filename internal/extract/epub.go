package extract

import (
	"context"
	"encoding/xml"
	"io"
	"net/url"
	"path"
	"regexp"
	"strings"
)

// maxChapters is how many parts of a book are read.
const maxChapters = 20_000

// readEPUB reads a book (EPUB 3.3, and 2): its chapters in the order of the spine. Each is a page, so that a place in it can be named.
func readEPUB(ctx context.Context, src source, limits Limits) (*Result, error) {
	book, err := openArchive(src, limits)
	if err != nil {
		return nil, err
	}
	if book.parts["meta-inf/encryption.xml"] != nil && book.parts["meta-inf/rights.xml"] != nil {
		return nil, failEncrypted // fonts may be scrambled in any book; rights belong to locked ones
	}
	chapters, err := book.spine()
	if err != nil {
		return nil, err
	}
	b := newTextBuilder(limits)
	for _, chapter := range chapters {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b.section()
		if err := book.unpack(chapter, func(in io.Reader) error { return readChapter(b, in) }); err != nil {
			return nil, err
		}
	}
	return b.result()
}

func readChapter(b *textBuilder, in io.Reader) error {
	data, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	text, err := decodePage(data)
	if err != nil {
		return err
	}
	r := pageReader{b: b, part: true}
	if r.read(openRaw(text)); b.full {
		return failTooLarge
	}
	return nil
}

// selfClosed are the tags after which HTML expects raw text, closed as XHTML does.
var selfClosed = regexp.MustCompile(`<(script|style|title|textarea|iframe|noscript|noembed|noframes|xmp)(\s[^<>]*)?/>`)

// openRaw closes such tags as HTML does: it would take all that follows as theirs.
func openRaw(page string) string { return selfClosed.ReplaceAllString(page, "<$1></$1>") }

// spine gives the parts that are read one after the other.
func (p *archive) spine() (parts []string, err error) {
	opf := ""
	if p.parts["meta-inf/container.xml"] == nil {
		return nil, failNotBook
	}
	err = p.read("meta-inf/container.xml", func(x *xmlReader) error {
		return x.each(func(e xml.StartElement) error {
			if e.Name.Local == "rootfile" && opf == "" {
				opf = strings.ToLower(path.Clean(attr(e, "full-path")))
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	if p.parts[opf] == nil {
		return nil, failNotBook
	}
	files := map[string]string{} // by their id in the manifest
	err = p.read(opf, func(x *xmlReader) error {
		x.documentTypes = true
		return x.each(func(e xml.StartElement) error {
			switch {
			case e.Name.Local == "item":
				files[attr(e, "id")] = partAt(opf, attr(e, "href"))
			case e.Name.Local == "itemref" && len(parts) < maxChapters:
				if file := files[attr(e, "idref")]; p.parts[file] != nil {
					parts = append(parts, file)
				}
			}
			return nil
		})
	})
	return parts, err
}

// partAt is the part that an address in another part means.
func partAt(from, href string) string {
	if plain, err := url.PathUnescape(href); err == nil {
		href = plain
	}
	return strings.ToLower(strings.TrimPrefix(path.Join(path.Dir(from), href), "/"))
}
