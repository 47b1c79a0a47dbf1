package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// The bounds of what is read.
const (
	// MaxLine is how long a row may be, in bytes.
	MaxLine = 8 << 20
	// maxManifest is how long a manifest may be, in bytes.
	maxManifest = 1 << 20
	// maxPadding is how much may follow the last member, in bytes.
	maxPadding = 1 << 20
	// Rows that are longer than freeRows together may be compressed to a maxRatio-th. The platform's own are not by far.
	freeRows, maxRatio = 64 << 20, 200
)

// Place is where something stands in an archive. Line counts from 1; 0 is the member as a whole.
type Place struct {
	Member string
	Line   int
}

func (p Place) String() string {
	switch {
	case p.Member == "":
		return "the archive"
	case p.Line == 0:
		return p.Member
	}
	return fmt.Sprintf("%s, line %d", p.Member, p.Line)
}

// Fault is what is wrong with an archive, and where.
type Fault struct {
	Place
	Message string
}

func (f *Fault) Error() string { return f.Place.String() + ": " + f.Message }

// Faultf says what is wrong in a place.
func (p Place) Faultf(format string, args ...any) error {
	return &Fault{p, fmt.Sprintf(format, args...)}
}

// Visitor is given what an archive holds, in its order. The error of each of its functions ends the reading.
type Visitor struct {
	// Kinds are the kinds of rows that there can be: those that are true are given to Row, the others are counted.
	Kinds map[string]bool
	// Row takes a row, which holds until it returns: valid UTF-8, without what PostgreSQL stores in no text.
	Row func(at Place, kind string, line []byte) error
	// Original takes the original of a document, of so many bytes, by the name of its file, which is a UUID.
	Original func(at Place, name string, size int64, r io.Reader) error
}

// reader reads an archive.
type reader struct {
	Visitor
	in    *source
	files *tar.Reader
	// at is the member at hand; parts counts those of each kind.
	at        Place
	parts     map[string]int
	rows      map[string]int64
	originals int64
	bytes     int64
	manifest  *Manifest
}

// Read reads an archive that Writer has written, to its end, in little memory. Whatever is wrong with it is a *Fault: it is cut off or
// damaged, has members that no archive has, more than fits what it was compressed to, or not what its manifest says.
func Read(ctx context.Context, r io.Reader, v Visitor) (*Manifest, error) {
	a := &reader{Visitor: v, in: &source{ctx: ctx, r: r}, parts: map[string]int{}, rows: map[string]int64{}}
	z, err := gzip.NewReader(a.in)
	if err != nil {
		return nil, a.broken(err)
	}
	a.files = tar.NewReader(z)
	for {
		a.at.Line = 0
		h, err := a.files.Next()
		if errors.Is(err, io.EOF) {
			return a.end(z)
		}
		if err != nil {
			return nil, a.broken(err)
		}
		if err := a.member(h); err != nil {
			return nil, err
		}
	}
}

// source counts what is read of the compressed archive, and ends with the context.
type source struct {
	ctx context.Context
	r   io.Reader
	n   int64
}

func (s *source) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.r.Read(p)
	s.n += int64(n)
	return n, err
}

// broken tells what it means that the archive could not be read on.
func (a *reader) broken(err error) error {
	switch {
	case a.in.ctx.Err() != nil:
		return a.in.ctx.Err()
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return a.at.Faultf("the archive is cut off here: it is not whole")
	case errors.Is(err, gzip.ErrHeader):
		return a.at.Faultf("is not compressed by gzip: it is no archive of an export")
	case errors.Is(err, gzip.ErrChecksum):
		return a.at.Faultf("the archive is damaged: its checksum is another")
	case errors.Is(err, tar.ErrHeader):
		return a.at.Faultf("no tar file goes on here: the archive is damaged, or is none of an export")
	}
	return a.at.Faultf("the archive can't be read on: %v", err)
}

var (
	partName     = regexp.MustCompile(`^([A-Za-z]+)/([0-9]{6,})\.jsonl$`)
	originalName = regexp.MustCompile(`^originals/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$`)
)

// member reads a member. Nothing is ever written by its name.
func (a *reader) member(h *tar.Header) error {
	a.at = Place{Member: shown(h.Name)}
	if a.manifest != nil {
		return a.at.Faultf("stands behind the manifest, which is the last")
	}
	if h.Typeflag != tar.TypeReg || slices.ContainsFunc(slices.Collect(maps.Keys(h.PAXRecords)), func(name string) bool { return strings.HasPrefix(name, "GNU.sparse") }) {
		return a.at.Faultf("is not a plain file")
	}
	if h.Name == "manifest.json" {
		return a.readManifest(h.Size)
	}
	if m := originalName.FindStringSubmatch(h.Name); m != nil {
		a.originals++
		return a.original(m[1], h.Size)
	}
	m := partName.FindStringSubmatch(h.Name)
	if m == nil {
		return a.at.Faultf("no archive of an export has a member of this name")
	}
	wanted, known := a.Kinds[m[1]]
	if !known {
		return a.at.Faultf("there is no kind of rows with the name %s", m[1])
	}
	if a.parts[m[1]]++; m[2] != fmt.Sprintf("%06d", a.parts[m[1]]) {
		return a.at.Faultf("is not the next part of its kind, which is %06d", a.parts[m[1]])
	}
	if !wanted {
		return a.count(m[1])
	}
	return a.readRows(m[1])
}

// shown is a name that comes from outside, for a message.
func shown(name string) string {
	const most = 120
	if quoted := fmt.Sprintf("%+q", name); quoted != `"`+name+`"` || len(name) > most {
		return quoted[:min(len(quoted), most)]
	}
	return name
}

// original hands an original on, and tells a broken archive from what its taker finds.
func (a *reader) original(name string, size int64) error {
	body := &noted{r: a.files}
	err := a.Original(a.at, name, size, body)
	if body.err != nil {
		return a.broken(body.err)
	}
	return err
}

// noted keeps the error of what is read.
type noted struct {
	r   io.Reader
	err error
}

func (n *noted) Read(p []byte) (int, error) {
	k, err := n.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		n.err = err
	}
	return k, err
}

// count counts the rows of a kind that nobody wants.
func (a *reader) count(kind string) error {
	buffer := make([]byte, 64<<10)
	for {
		n, err := a.files.Read(buffer)
		a.rows[kind] += int64(bytes.Count(buffer[:n], []byte{'\n'}))
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return a.broken(err)
		}
	}
}

// readRows hands the rows of a part on.
func (a *reader) readRows(kind string) error {
	lines := bufio.NewScanner(a.files)
	lines.Buffer(make([]byte, 64<<10), MaxLine)
	for lines.Scan() && lines.Err() == nil { // what is left of a line that is cut off is none
		a.at.Line++
		a.rows[kind]++
		if a.bytes += int64(len(lines.Bytes())); a.bytes > freeRows+maxRatio*a.in.n {
			return a.at.Faultf("the rows are more than %d times what they are compressed to: no export is like that", maxRatio)
		}
		if err := a.checkText(lines.Bytes()); err != nil {
			return err
		}
		if err := a.Row(a.at, kind, lines.Bytes()); err != nil {
			return err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		a.at.Line++
		return a.at.Faultf("is longer than %d bytes", MaxLine)
	}
	if lines.Err() != nil {
		return a.broken(lines.Err())
	}
	return nil
}

// readManifest reads the manifest, and holds what was read against it.
func (a *reader) readManifest(size int64) error {
	if size > maxManifest {
		return a.at.Faultf("is longer than %d bytes", maxManifest)
	}
	text, err := io.ReadAll(a.files)
	if err != nil {
		return a.broken(err)
	}
	var of struct{ Format int }
	if err := json.Unmarshal(text, &of); err != nil {
		return a.at.Faultf("is not valid: %v", err)
	}
	if of.Format != Format {
		return a.at.Faultf("the archive has the format %d, and this program reads the format %d", of.Format, Format)
	}
	m := &Manifest{}
	if err := Decode(text, m); err != nil {
		return a.at.Faultf("%v", err)
	}
	for _, kind := range slices.Sorted(maps.Keys(m.Rows)) {
		if _, known := a.Kinds[kind]; !known {
			return a.at.Faultf("there is no kind of rows with the name %s", shown(kind))
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(a.Kinds)) {
		if m.Rows[kind] != a.rows[kind] {
			return a.at.Faultf("there should be %d rows of %s, and there are %d", m.Rows[kind], kind, a.rows[kind])
		}
	}
	if m.Originals != a.originals {
		return a.at.Faultf("there should be %d originals, and there are %d", m.Originals, a.originals)
	}
	a.manifest = m
	return nil
}

// end reads what follows the last member: the checksum stands behind it.
func (a *reader) end(z io.Reader) (*Manifest, error) {
	n, err := io.Copy(io.Discard, io.LimitReader(z, maxPadding+1))
	switch {
	case err != nil:
		return nil, a.broken(err)
	case n > maxPadding:
		return nil, a.at.Faultf("the archive goes on behind its end")
	case a.manifest == nil:
		return nil, a.at.Faultf("the archive ends without a manifest: it is not whole")
	}
	return a.manifest, nil
}
