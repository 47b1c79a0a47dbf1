package extract

import (
	"bufio"
	"errors"
	"io"
	"unicode/utf16"
)

// Passing gives a file's content on, and checks on the way that it is of the kind that the extension says:
// as far as its beginning tells before the first byte, and by what only the whole file tells at its end.
// What is not of that kind is a *Failure, from here or in place of io.EOF; other errors are the reader's.
func Passing(format Format, file io.Reader) (io.Reader, error) {
	buffered := bufio.NewReaderSize(file, HeadSize)
	head, err := buffered.Peek(HeadSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if err := CheckContent(format, head); err != nil {
		return nil, err
	}
	if missing := notOffice[format]; missing != nil && isOLE(head) {
		return &passingOLE{file: buffered, missing: missing}, nil
	}
	return buffered, nil
}

// notOffice are the formats whose files are archives, and OLE files where they have a password ([MS-OFFCRYPTO] 2.3), with what an
// OLE file is that is none of them.
var notOffice = map[Format]*Failure{DOCX: failNotWord, PPTX: failNotSlides, XLSX: failNotWorkbook}

// The names of streams as the directory of an OLE file has them ([MS-CFB] 2.6.1), with what ends them.
var (
	nameOfEncrypted = directoryName("EncryptedPackage")
	nameOfWord      = directoryName("WordDocument")
)

func directoryName(name string) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune(name + "\x00")) {
		b = append(b, byte(unit), byte(unit>>8))
	}
	return string(b)
}

// entrySize is the size of a directory entry, in bytes; wherever the directory is, entries begin at a
// multiple of it.
const entrySize = 128

// passingOLE looks for the directory entries of an OLE file that goes by under the name of a newer format,
// wherever they are.
type passingOLE struct {
	file            io.Reader
	missing         *Failure
	start           []byte // of the entry that the last read has cut
	skip            int    // bytes until the next entry
	encrypted, word bool
}

func (p *passingOLE) Read(b []byte) (int, error) {
	n, err := p.file.Read(b)
	p.look(b[:n])
	if !errors.Is(err, io.EOF) || p.encrypted {
		return n, err
	}
	if p.word && p.missing == failNotWord {
		return n, failRenamedDoc
	}
	return n, p.missing
}

// look takes the next piece of the file.
func (p *passingOLE) look(b []byte) {
	for len(b) > 0 {
		if p.skip > 0 {
			n := min(p.skip, len(b))
			p.skip -= n
			b = b[n:]
			continue
		}
		n := min(len(nameOfEncrypted)-len(p.start), len(b))
		p.start = append(p.start, b[:n]...)
		b = b[n:]
		if len(p.start) < len(nameOfEncrypted) {
			return
		}
		p.encrypted = p.encrypted || string(p.start) == nameOfEncrypted
		p.word = p.word || string(p.start[:len(nameOfWord)]) == nameOfWord
		p.start, p.skip = p.start[:0], entrySize-len(nameOfEncrypted)
	}
}
