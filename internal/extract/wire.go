package extract

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"
)

// job is what the Runner sends to the child, as JSON in its second argument. The document is its standard
// input, opened by the Runner, as the child may open no file by then.
type job struct {
	// Format is empty for a child that only fills the compilation cache.
	Format   Format
	Limits   Limits
	CacheDir string
	// Blank tells that a PDF without text is no fault: its pages are drawn next.
	Blank bool
	// Page is the page to draw, from 1; 0 for the text of all.
	Page int
	// Recognise is set for a child that reads a picture instead of a document.
	Recognise *recognition
}

// childAnswer is what a child gives: a result, or a picture.
type childAnswer struct {
	result  *Result
	picture *picture
}

// The child answers on its standard output with one of these bytes and what belongs to it.
const (
	answerResult  = 'R' // a Result, see writeResult
	answerPicture = 'P' // a page, see writePicture
	answerFailure = 'F' // a Failure as JSON
	answerError   = 'E' // the text of an error that is not the document's fault
)

// maxMessage bounds the JSON or text of an answer that is no result, in bytes.
const maxMessage = 4 << 10

var errProtocol = errors.New("extract: the child's answer is malformed")

// writeAnswer sends what the reader gave.
func writeAnswer(out io.Writer, a childAnswer, err error) error {
	w := bufio.NewWriterSize(out, 64<<10)
	var failure *Failure
	switch {
	case err == nil && a.picture != nil:
		writePicture(w, a.picture)
	case err == nil:
		writeResult(w, a.result)
	case errors.As(err, &failure):
		text, jsonErr := json.Marshal(failure)
		if jsonErr != nil {
			return fmt.Errorf("extract: %w", jsonErr)
		}
		writeMessage(w, answerFailure, text)
	default:
		text := err.Error()
		writeMessage(w, answerError, []byte(text[:min(len(text), maxMessage)]))
	}
	return w.Flush()
}

func writeMessage(w *bufio.Writer, kind byte, text []byte) {
	_ = w.WriteByte(kind)
	writeUint(w, len(text))
	_, _ = w.Write(text)
}

// writeResult sends the lengths, the text, and the marks with their offsets as differences.
func writeResult(w *bufio.Writer, r *Result) {
	_ = w.WriteByte(answerResult)
	for _, n := range []int{len(r.Text), len(r.Header), r.Pages, r.SkippedPages, len(r.Marks)} {
		writeUint(w, n)
	}
	_, _ = w.WriteString(r.Text)
	_, _ = w.WriteString(r.Header)
	at := 0
	for _, m := range r.Marks {
		writeMark(w, m, at)
		at = m.Offset
	}
}

func writeMark(w *bufio.Writer, m Mark, after int) {
	writeUint(w, m.Offset-after)
	writeUint(w, m.Page)
	writeUint(w, m.Row)
	writeUint(w, m.Level)
	writeUint(w, len(m.Heading))
	_, _ = w.WriteString(m.Heading)
}

func writeUint(w *bufio.Writer, n int) {
	var buf [binary.MaxVarintLen64]byte
	_, _ = w.Write(buf[:binary.PutUvarint(buf[:], uint64(max(0, n)))]) // not negative
}

// readAnswer takes the child's answer and trusts nothing in it: every length is within the limits,
// before memory is set aside for it, and the text and marks are as Result promises.
func readAnswer(in io.Reader, limits Limits) (*Document, error) {
	r := &answerReader{in: bufio.NewReaderSize(in, 64<<10)}
	kind, err := r.in.ReadByte()
	if err != nil {
		return nil, errProtocol
	}
	if kind == answerResult {
		return r.document(limits)
	}
	return nil, r.fault(kind)
}

// fault takes an answer that is none: a *Failure, or another error.
func (r *answerReader) fault(kind byte) error {
	switch kind {
	case answerFailure:
		failure := new(Failure)
		if err := json.Unmarshal([]byte(r.text(maxMessage)), failure); err != nil || r.bad || failure.Message == "" {
			return errProtocol
		}
		return failure
	case answerError:
		if text := r.text(maxMessage); !r.bad {
			return fmt.Errorf("extract: child: %s", text)
		}
	}
	return errProtocol
}

// answerReader reads values until the first bad one, after which all are zero.
type answerReader struct {
	in  *bufio.Reader
	bad bool
}

func (r *answerReader) uint(limit int) int {
	n, err := binary.ReadUvarint(r.in)
	if r.bad = r.bad || err != nil || n > uint64(max(0, limit)); r.bad { // not negative
		return 0
	}
	return int(n) // below limit
}

// text reads a length of at most limit and that many bytes.
func (r *answerReader) text(limit int) string { return r.bytes(r.uint(limit)) }

func (r *answerReader) bytes(n int) string {
	if r.bad || n == 0 {
		return ""
	}
	var b strings.Builder
	b.Grow(n)
	if _, err := io.CopyN(&b, r.in, int64(n)); err != nil || !utf8.ValidString(b.String()) {
		r.bad = true
		return ""
	}
	return b.String()
}

// mark reads a mark of a text of a size, after one at an offset.
func (r *answerReader) mark(after, size int, limits Limits) Mark {
	m := Mark{Offset: after + r.uint(size-after), Page: r.uint(limits.Pages), Row: r.uint(maxRow), Level: r.uint(maxLevel)}
	m.Heading = r.text(maxHeading)
	return m
}

// What a sound document tells beside its text is within these bounds, however short the text is.
const (
	// maxRow is the greatest number of a row: a sheet's first row with text can be any of its rows. It is kept in 32 bits.
	maxRow = math.MaxInt32
	// maxOutside is how many bytes of headings stand nowhere in the text, as the names of sheets and the titles of a PDF's outline may.
	maxOutside = max(maxEntries, maxOutline) * maxHeading
)

// maxMarks is how many marks a text of a size in bytes can have, see appendMark.
func maxMarks(size int) int { return min(size, denseMarks+size/markSpacing) + 1 }
