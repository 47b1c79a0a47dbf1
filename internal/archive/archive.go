// Package archive writes and reads the archive of an export: a gzipped tar file with a folder of JSON Lines for each kind of rows, the
// originals of documents, and a manifest at its end. Whatever there is of it, it takes a few megabytes of memory.
package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// partBytes is from when on a part of JSON Lines is put into the archive, and another one begun.
const partBytes = 4 << 20

// Manifest tells what an archive holds, and what it leaves out.
type Manifest struct {
	// Format is the version of what this package writes.
	Format     int       `json:"format"`
	CustomerID int64     `json:"customerId"`
	CreatedAt  time.Time `json:"createdAt"`
	// Rows counts the rows of each kind, Originals what documents were uploaded as.
	Rows      map[string]int64 `json:"rows"`
	Originals int64            `json:"originals"`
	// LeftOut tells, in sentences, what is not in the archive.
	LeftOut []string `json:"leftOut"`
}

// Format is the version of the archives that are written.
const Format = 1

// Writer writes an archive.
type Writer struct {
	gzip  *gzip.Writer
	tar   *tar.Writer
	at    time.Time
	parts map[string]*part
	// Manifest is written at the end; rows and originals are counted in it.
	Manifest Manifest
}

// part is what has been collected of a kind.
type part struct {
	lines  bytes.Buffer
	number int
}

// NewWriter begins the archive of a company.
func NewWriter(w io.Writer, customerID int64, at time.Time) *Writer {
	z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // which is a level
	return &Writer{gzip: z, tar: tar.NewWriter(z), at: at, parts: map[string]*part{}, Manifest: Manifest{
		Format: Format, CustomerID: customerID, CreatedAt: at, Rows: map[string]int64{}, LeftOut: []string{},
	}}
}

// Row adds a row of a kind. Parts of a kind are numbered in the order of its rows.
func (w *Writer) Row(kind string, row json.RawMessage) error {
	p := w.parts[kind]
	if p == nil {
		p = &part{}
		w.parts[kind] = p
	}
	if err := json.Compact(&p.lines, row); err != nil {
		return err
	}
	p.lines.WriteByte('\n')
	w.Manifest.Rows[kind]++
	if p.lines.Len() < partBytes {
		return nil
	}
	return w.flush(kind, p)
}

func (w *Writer) flush(kind string, p *part) error {
	if p.lines.Len() == 0 {
		return nil
	}
	p.number++
	err := w.file(fmt.Sprintf("%s/%06d.jsonl", kind, p.number), int64(p.lines.Len()), &p.lines)
	p.lines.Reset()
	return err
}

// Original adds the original of a document, of so many bytes, by the name of its file.
func (w *Writer) Original(name string, size int64, r io.Reader) error {
	w.Manifest.Originals++
	return w.file("originals/"+name, size, r)
}

func (w *Writer) file(name string, size int64, r io.Reader) error {
	err := w.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: size, ModTime: w.at, Format: tar.FormatPAX})
	if err != nil {
		return err
	}
	_, err = io.Copy(w.tar, r)
	return err
}

// Close writes what was collected, and the manifest.
func (w *Writer) Close() error {
	for kind, p := range w.parts {
		if err := w.flush(kind, p); err != nil {
			return err
		}
	}
	manifest, err := json.MarshalIndent(w.Manifest, "", "  ")
	if err != nil {
		return err
	}
	if err := w.file("manifest.json", int64(len(manifest)), bytes.NewReader(manifest)); err != nil {
		return err
	}
	return errors.Join(w.tar.Close(), w.gzip.Close())
}
