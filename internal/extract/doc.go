package extract

import (
	"bufio"
	"context"
	"io"

	"github.com/richardlehane/mscfb"
)

// maxStreams is how many streams of an OLE file are looked at for the two that hold the text.
const maxStreams = 100_000

// readDOC reads a .doc file, which is Word 97-2003's OLE format, RTF, or DOCX under the older name.
func readDOC(ctx context.Context, src source, limits Limits) (*Result, error) {
	head := make([]byte, HeadSize)
	n, _ := src.file.ReadAt(head, 0)
	head = head[:n]
	switch {
	case isOLE(head):
		return readWord97(ctx, src, limits)
	case isRTF(head):
		data, err := src.readAll(int64(limits.Text))
		if err != nil {
			return nil, err
		}
		return readRTF(ctx, data, limits)
	case isZip(head):
		return readDOCX(ctx, src, limits)
	}
	return nil, failNotWord
}

// oleStreams are the streams of an OLE file that say what it is and hold its text.
type oleStreams struct {
	word      *mscfb.File
	tables    [2]*mscfb.File // "0Table" and "1Table"
	encrypted bool           // an OOXML file with a password ([MS-OFFCRYPTO] 2.3)
}

func openOLE(src source) (*oleStreams, error) {
	reader, err := mscfb.New(src.file)
	if err != nil {
		return nil, failDamaged
	}
	var found oleStreams
	for _, f := range reader.File[:min(len(reader.File), maxStreams)] {
		if len(f.Path) > 0 {
			continue // inside an embedded object
		}
		switch f.Name {
		case "WordDocument":
			found.word = f
		case "0Table":
			found.tables[0] = f
		case "1Table":
			found.tables[1] = f
		case "EncryptedPackage":
			found.encrypted = true
		}
	}
	return &found, nil
}

// oleFailure says why an OLE file under the name of a .docx can't be read.
func oleFailure(src source) error {
	streams, err := openOLE(src)
	switch {
	case err != nil:
		return err
	case streams.encrypted:
		return failEncrypted
	case streams.word != nil:
		return failRenamedDoc
	}
	return failNotWord
}

// readStream reads a stream as far as it goes, and no further than the file is long. Small steps
// matter: one read's cost grows with the square of the sectors that it spans.
func readStream(f *mscfb.File, src source) ([]byte, error) {
	if f == nil {
		return nil, failDamaged
	}
	if f.Size > src.size {
		return nil, failDamaged
	}
	data := make([]byte, f.Size)
	n, err := io.ReadFull(bufio.NewReaderSize(smallReads{f}, 16<<10), data)
	if err != nil && n == 0 {
		return nil, failDamaged
	}
	return data[:n], nil
}

// smallReads hands at most 16 KiB at a time on to a reader.
type smallReads struct{ in io.Reader }

func (r smallReads) Read(buf []byte) (int, error) { return r.in.Read(buf[:min(len(buf), 16<<10)]) }

// readWord97 reads the text of a Word 97-2003 document ([MS-DOC]): headers and footers, the main
// text, footnotes, endnotes, text boxes; not the reviewers' comments.
func readWord97(ctx context.Context, src source, limits Limits) (*Result, error) {
	streams, err := openOLE(src)
	switch {
	case err != nil:
		return nil, err
	case streams.encrypted:
		return nil, failEncrypted
	case streams.word == nil:
		return nil, failNotWord
	}
	word, err := readStream(streams.word, src)
	if err != nil {
		return nil, err
	}
	fib, err := parseFIB(word)
	if err != nil {
		return nil, err
	}
	table, err := readStream(streams.tables[fib.table], src)
	if err != nil {
		return nil, err
	}
	doc, err := newWordDoc(fib, word, table)
	if err != nil {
		return nil, err
	}
	return doc.text(ctx, limits)
}
