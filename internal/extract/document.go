package extract

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"os"
	"unicode/utf8"
)

// Document is what a Runner has read: a Result whose text and marks are in a temporary file, so that
// a long one takes no more memory than a short one. Close removes it.
type Document struct {
	// Size is that of the text, in bytes.
	Size int
	// Header, Pages and SkippedPages are as in Result.
	Header              string
	Pages, SkippedPages int

	// file holds the text, then the marks as they were sent.
	file  *os.File
	end   int64
	marks int
}

// Text reads the text from its beginning. It can be called again while another reader is in use.
func (d *Document) Text() io.Reader { return io.NewSectionReader(d.file, 0, int64(d.Size)) }

// Marks yields the marks in order, or an error of the file.
func (d *Document) Marks() iter.Seq2[Mark, error] {
	return func(yield func(Mark, error) bool) {
		size := int64(d.Size)
		r := &answerReader{in: bufio.NewReaderSize(io.NewSectionReader(d.file, size, d.end-size), 64<<10)}
		at := 0
		for range d.marks {
			m := r.mark(at, d.Size, Limits{Pages: int(^uint(0) >> 1)})
			if r.bad {
				yield(Mark{}, fmt.Errorf("extract: the temporary file is damaged: %w", errProtocol))
				return
			}
			if !yield(m, nil) {
				return
			}
			at = m.Offset
		}
	}
}

// Close lets go of the file.
func (d *Document) Close() error {
	err := d.file.Close()
	_ = os.Remove(d.file.Name()) // gone already where that is possible while it is open
	return err
}

// newDocument makes a document without content. Where the system lets it, the file has no name from
// the beginning, so that nothing is left of it when the process dies.
func newDocument() (*Document, error) {
	file, err := os.CreateTemp("", "canopy-text-")
	if err != nil {
		return nil, fmt.Errorf("extract: %w", err)
	}
	_ = os.Remove(file.Name())
	return &Document{file: file}, nil
}

// document takes a result into a file.
func (r *answerReader) document(limits Limits) (*Document, error) {
	d, err := newDocument()
	if err != nil {
		return nil, err
	}
	if err := r.take(d, limits); err != nil {
		_ = d.Close()
		return nil, err
	}
	return d, nil
}

// take fills a document.
func (r *answerReader) take(d *Document, limits Limits) (err error) {
	d.Size = r.uint(limits.Text)
	header := r.uint(maxHeader)
	d.Pages, d.SkippedPages = r.uint(limits.Pages), r.uint(limits.Pages)
	d.marks = r.uint(maxMarks(d.Size))
	w := bufio.NewWriterSize(d.file, 64<<10)
	if err := r.copyText(w, d.Size); err != nil {
		return fmt.Errorf("extract: %w", err)
	}
	d.Header = r.bytes(header)
	r.copyMarks(w, d, limits)
	if r.bad {
		return errProtocol
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("extract: %w", err)
	}
	if d.end, err = d.file.Seek(0, io.SeekCurrent); err != nil {
		return fmt.Errorf("extract: %w", err)
	}
	return nil
}

// copyText passes on so many bytes of UTF-8. The error is the writer's.
func (r *answerReader) copyText(w io.Writer, left int) error {
	buf := make([]byte, 64<<10)
	cut := 0 // bytes of a character that the last read has cut
	for left > 0 && !r.bad {
		n, err := io.ReadFull(r.in, buf[cut:min(len(buf), cut+left)])
		if err != nil {
			r.bad = true
			return nil
		}
		left -= n
		data := buf[:cut+n]
		whole := len(data)
		if left > 0 {
			whole = wholeRunes(data)
		}
		if !utf8.Valid(data[:whole]) {
			r.bad = true
			return nil
		}
		if _, err := w.Write(data[:whole]); err != nil {
			return err
		}
		cut = copy(buf, data[whole:])
	}
	return nil
}

// wholeRunes gives the length of a text without a character that is cut at its end.
func wholeRunes(text []byte) int {
	for i := len(text) - 1; i >= max(0, len(text)-utf8.UTFMax); i-- {
		if utf8.RuneStart(text[i]) {
			if utf8.FullRune(text[i:]) {
				break
			}
			return i
		}
	}
	return len(text)
}

// copyMarks passes the marks on.
func (r *answerReader) copyMarks(w *bufio.Writer, d *Document, limits Limits) {
	at, last, headings := 0, "", 0
	for i := range d.marks {
		m := r.mark(at, d.Size, limits)
		if m.Heading != last {
			headings += len(m.Heading)
		}
		if r.bad = r.bad || i > 0 && m.Offset <= at || headings > d.Size+maxOutside; r.bad {
			return
		}
		writeMark(w, m, at)
		at, last = m.Offset, m.Heading
	}
}
