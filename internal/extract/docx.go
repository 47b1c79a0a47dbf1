package extract

import (
	"archive/zip"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"strings"
)

const (
	// maxEntries is how many files a DOCX archive may hold; real ones hold a few thousand pictures.
	maxEntries = 20_000
	// maxSideParts bounds the headers, footers and parts of notes that are read.
	maxSideParts = 200
)

// wordPackage is an open DOCX file (ECMA-376): parts by lower-case name, and the main part's
// relations. All parts together may unpack to twice what one part may.
type wordPackage struct {
	parts  map[string]*zip.File
	main   string
	budget int64
	limits Limits
}

// readDOCX reads the text of a WordprocessingML package: page headers, the body with its footnotes
// after the paragraphs that refer to them, page footers.
func readDOCX(ctx context.Context, src source, limits Limits) (*Result, error) {
	pkg, err := openPackage(src, limits)
	if err != nil {
		return nil, err
	}
	styles, err := pkg.headingStyles()
	if err != nil {
		return nil, err
	}
	notes, err := pkg.notes()
	if err != nil {
		return nil, err
	}
	b := newTextBuilder(limits)
	if err := pkg.writeSide(ctx, b, "header"); err != nil {
		return nil, err
	}
	b.section()
	body := newWordReader(b, styles)
	body.notes = notes
	if err := pkg.read(pkg.main, body.read); err != nil {
		return nil, err
	}
	b.section()
	if err := pkg.writeSide(ctx, b, "footer"); err != nil {
		return nil, err
	}
	return b.result()
}

func openPackage(src source, limits Limits) (*wordPackage, error) {
	head := make([]byte, 8)
	if n, _ := src.file.ReadAt(head, 0); isOLE(head[:n]) {
		// The only OLE file that is a .docx is one with a password ([MS-OFFCRYPTO] 2.3).
		return nil, oleFailure(src)
	}
	archive, err := zip.NewReader(src.file, src.size)
	if err != nil {
		return nil, failDamaged
	}
	if len(archive.File) > maxEntries {
		return nil, failUnpacked
	}
	pkg := &wordPackage{parts: map[string]*zip.File{}, budget: 2 * limits.Part, limits: limits}
	for _, f := range archive.File {
		pkg.parts[strings.ToLower(strings.TrimPrefix(f.Name, "/"))] = f
	}
	if err := pkg.findMain(); err != nil {
		return nil, err
	}
	return pkg, nil
}

// findMain follows the package's relation to its main part.
func (p *wordPackage) findMain() error {
	p.main = "word/document.xml"
	rels, err := p.relations("")
	if err != nil {
		return err
	}
	for _, r := range rels {
		if r.kind == "officeDocument" {
			p.main = r.target
		}
	}
	if p.parts[p.main] == nil {
		return failNotWord
	}
	return nil
}

// relation is a link from one part to another inside the package.
type relation struct{ kind, target string }

// relations reads the links of a part ("" for the package). A part without any has no such file.
func (p *wordPackage) relations(part string) (rels []relation, err error) {
	dir, name := path.Split(part)
	file := dir + "_rels/" + name + ".rels"
	if p.parts[file] == nil {
		return nil, nil
	}
	err = p.read(file, func(x *xmlReader) error {
		return x.each(func(e xml.StartElement) error {
			if e.Name.Local != "Relationship" || attr(e, "TargetMode") == "External" {
				return nil
			}
			kind, target := attr(e, "Type"), attr(e, "Target")
			if !strings.HasPrefix(target, "/") {
				target = path.Join(dir, target)
			}
			rels = append(rels, relation{
				kind:   kind[strings.LastIndexByte(kind, '/')+1:],
				target: strings.ToLower(strings.TrimPrefix(path.Clean(target), "/")),
			})
			return nil
		})
	})
	return rels, err
}

// side gives the parts of a kind that the main part links to, each once.
func (p *wordPackage) side(kind string) ([]string, error) {
	rels, err := p.relations(p.main)
	if err != nil {
		return nil, err
	}
	var parts []string
	seen := map[string]bool{}
	for _, r := range rels {
		if r.kind == kind && p.parts[r.target] != nil && !seen[r.target] && len(parts) < maxSideParts {
			seen[r.target] = true
			parts = append(parts, r.target)
		}
	}
	return parts, nil
}

// writeSide writes the page headers or footers, each different text once.
func (p *wordPackage) writeSide(ctx context.Context, b *textBuilder, kind string) error {
	parts, err := p.side(kind)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, part := range parts {
		if err := ctx.Err(); err != nil {
			return err
		}
		own := newTextBuilder(p.limits)
		if err := p.read(part, newWordReader(own, nil).read); err != nil {
			return err
		}
		if text := own.text.String(); !isBlank(text) && !seen[text] {
			seen[text] = true
			b.write(text)
			b.newline()
		}
	}
	return nil
}

// read opens a part and hands it to fn as XML, within the limits on unpacked bytes.
func (p *wordPackage) read(part string, fn func(*xmlReader) error) error {
	file := p.parts[part]
	in, err := file.Open()
	if err != nil {
		return failDamaged
	}
	defer in.Close() //nolint:errcheck // opened for reading only
	limited := &cappedReader{in: in, left: min(p.limits.Part, p.budget)}
	err = fn(newXMLReader(limited))
	p.budget -= min(p.limits.Part, p.budget) - limited.left
	if err == nil || isFailure(err) {
		return err
	}
	// What encoding/xml and the unpacker complain about is in the file.
	return failDamaged
}

func isFailure(err error) bool {
	var f *Failure
	return errors.As(err, &f)
}

// cappedReader ends with failUnpacked instead of going past a number of bytes.
type cappedReader struct {
	in   io.Reader
	left int64
}

func (r *cappedReader) Read(buf []byte) (int, error) {
	if r.left <= 0 {
		var one [1]byte
		if n, err := r.in.Read(one[:]); n == 0 {
			return 0, err
		}
		return 0, failUnpacked
	}
	n, err := r.in.Read(buf[:min(int64(len(buf)), r.left)])
	r.left -= int64(n)
	return n, err
}
