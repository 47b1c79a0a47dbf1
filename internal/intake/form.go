package intake

import (
	"bufio"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"time"

	"canopy/internal/problem"
)

// FormType is the media type of forms.
const FormType = "multipart/form-data"

const (
	// formCredit is how long a client may keep its reader waiting, at the beginning and at most: each byte
	// that comes gives it back a part, so that a form may take any time at slowestForm.
	formCredit = 30 * time.Second
	// slowestForm is in bytes a second.
	slowestForm = 256
	// drainSize and drainTime bound what is still read of an upload that was refused, so that a client
	// which sends all before it listens hears why.
	drainSize = 32 << 20
	drainTime = 10 * time.Second
	// formBuffer is how much of a body is read at one go, in bytes, where so much has come: package multipart asks for a few KiB at a time.
	formBuffer = 64 << 10
)

// IsForm tells whether a request's body is a form.
func IsForm(r *http.Request) bool {
	content := r.Header.Get("Content-Type")
	if content == "application/json" { // as nearly all that is asked
		return false
	}
	mediaType, _, err := mime.ParseMediaType(content)
	return err == nil && mediaType == FormType
}

// Form is a form with one file (multipart/form-data, RFC 7578), read as it comes and never held. Its
// errors are problems, fit to be shown.
type Form struct {
	r     *http.Request
	rc    *http.ResponseController
	parts *multipart.Reader
	// credit is how long the client may still keep us waiting.
	credit time.Duration
}

// OpenForm begins to read a request's form; a request of another type is refused.
func OpenForm(w http.ResponseWriter, r *http.Request) (*Form, error) {
	mediaType, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || mediaType != FormType || params["boundary"] == "" {
		return nil, problem.Bad("the body must be %s", FormType)
	}
	f := &Form{r: r, rc: http.NewResponseController(w), credit: formCredit}
	f.parts = multipart.NewReader(bufio.NewReaderSize(f, formBuffer), params["boundary"])
	return f, nil
}

// Paced is a request's body as it comes, from a client that keeps nobody waiting for longer than one that sends a form may.
func Paced(w http.ResponseWriter, r *http.Request) io.Reader {
	return &Form{r: r, rc: http.NewResponseController(w), credit: formCredit}
}

// Read reads the body itself. The deadline is taken off with the end of the body, as the connection
// may serve other requests; where the body does not end, what is left of it must not be waited for.
func (f *Form) Read(p []byte) (int, error) {
	begun := time.Now()
	_ = f.rc.SetReadDeadline(begun.Add(f.credit)) // without it, the body comes at the client's pace
	n, err := f.r.Body.Read(p)
	f.credit = min(formCredit, f.credit-time.Since(begun)+time.Duration(n)*time.Second/slowestForm)
	if errors.Is(err, io.EOF) {
		_ = f.rc.SetReadDeadline(time.Time{})
	}
	return n, err
}

// Next gives the next part; nil at the end of the form.
func (f *Form) Next() (*multipart.Part, error) {
	part, err := f.parts.NextRawPart()
	switch {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, malformed(err)
	}
	return part, nil
}

// Whole is intake's Whole of a part.
func (f *Form) Whole(part io.Reader) ([]byte, error) { return Whole(f.r.Context(), part) }

func malformed(err error) error {
	return problem.Bad("the body is not well-formed %s", FormType).Because(err)
}

// File gives the form's next part as its file, which must be the last part: where another follows, the
// content's end is an error. It gives nil where there is no part, or it is no file of that field.
func (f *Form) File(field string) (*File, error) {
	part, err := f.Next()
	if err != nil {
		return nil, err
	}
	return f.FileIn(part, field), nil
}

// FileIn is File of a part that has been had already.
func (f *Form) FileIn(part *multipart.Part, field string) *File {
	if part == nil || part.FormName() != field {
		return nil
	}
	name := fileName(part)
	if name == "" {
		return nil
	}
	return &File{Name: name, Content: &last{part, f}}
}

// Drain reads what is left of a refused upload, within bounds; nothing of one that came too slowly.
func (f *Form) Drain() {
	if f.credit <= 0 {
		return
	}
	_ = f.rc.SetReadDeadline(time.Now().Add(drainTime))
	if _, err := io.CopyN(io.Discard, f.r.Body, drainSize); errors.Is(err, io.EOF) {
		_ = f.rc.SetReadDeadline(time.Time{})
	}
}

type last struct {
	part *multipart.Part
	form *Form
}

func (l *last) Read(p []byte) (int, error) {
	n, err := l.part.Read(p)
	switch {
	case err == nil:
		return n, nil
	case !errors.Is(err, io.EOF):
		return n, malformed(err)
	}
	switch next, err := l.form.Next(); {
	case err != nil:
		return n, err
	case next != nil:
		return n, problem.Bad("the form must end with its only file")
	}
	return n, io.EOF
}

// File is a file on its way in: its name as its sender means it, and its content, which can be read once.
type File struct {
	Name    string
	Content io.Reader
}
