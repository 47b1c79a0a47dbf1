package extract

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"strings"
)

// maxEntries is how many files an archive may hold; real ones hold a few thousand pictures.
const maxEntries = 20_000

// archive is an open document that is a zip file of parts: OOXML, OpenDocument or EPUB. Parts are by lower-case
// name. All parts together may unpack to twice what one part may.
type archive struct {
	parts  map[string]*zip.File
	budget int64
	limits Limits
}

func openArchive(src source, limits Limits) (*archive, error) {
	files, err := zip.NewReader(src.file, src.size)
	if err != nil {
		return nil, failDamaged
	}
	if len(files.File) > maxEntries {
		return nil, failUnpacked
	}
	p := &archive{parts: map[string]*zip.File{}, budget: 2 * limits.Part, limits: limits}
	for _, f := range files.File {
		p.parts[strings.ToLower(strings.TrimPrefix(f.Name, "/"))] = f
	}
	return p, nil
}

// mainPart is the part that an OOXML package's relations name as its document; usual where they name none.
func (p *archive) mainPart(usual string, missing *Failure) (string, error) {
	rels, err := p.relations("")
	if err != nil {
		return "", err
	}
	for _, r := range rels {
		if r.kind == "officeDocument" {
			usual = r.target
		}
	}
	if p.parts[usual] == nil {
		return "", missing
	}
	return usual, nil
}

// byID are the parts that a part links to, by the relation's id.
func (p *archive) byID(part string) (map[string]relation, error) {
	rels, err := p.relations(part)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]relation, len(rels))
	for _, r := range rels {
		byID[r.id] = r
	}
	return byID, nil
}

// relation is a link from one part to another inside the package.
type relation struct{ id, kind, target string }

// relations reads the links of a part ("" for the package). A part without any has no such file.
func (p *archive) relations(part string) (rels []relation, err error) {
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
				id:     attr(e, "Id"),
				kind:   kind[strings.LastIndexByte(kind, '/')+1:],
				target: strings.ToLower(strings.TrimPrefix(path.Clean(target), "/")),
			})
			return nil
		})
	})
	return rels, err
}

// read opens a part and hands it to fn as XML, within the limits on unpacked bytes.
func (p *archive) read(part string, fn func(*xmlReader) error) error {
	return p.unpack(part, func(in io.Reader) error { return fn(newXMLReader(in)) })
}

// unpack opens a part and hands it to fn, within the limits on unpacked bytes.
func (p *archive) unpack(part string, fn func(io.Reader) error) error {
	file := p.parts[part]
	if file == nil {
		return failDamaged
	}
	in, err := file.Open()
	if err != nil {
		return failDamaged
	}
	defer in.Close() //nolint:errcheck // opened for reading only
	limited := &cappedReader{in: in, left: min(p.limits.Part, p.budget)}
	err = fn(limited)
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
