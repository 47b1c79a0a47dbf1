package intake

import (
	"bufio"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net"
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
	// had is how many parts there were so far, over tells that there are no more, and empty that the body has had no byte.
	had         int
	over, empty bool
	// credit is how long the client may still keep us waiting.
	credit time.Duration
}

// OpenForm begins to read a request's form; a request of another type is refused.
func OpenForm(w http.ResponseWriter, r *http.Request) (*Form, error) {
	mediaType, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case err != nil || mediaType != FormType:
		return nil, problem.Bad("the body must be %s", FormType)
	case params["boundary"] == "":
		return nil, problem.Bad("Content-Type must name the boundary of the body's parts: %s; boundary=…", FormType)
	}
	f := &Form{r: r, rc: http.NewResponseController(w), credit: formCredit, empty: true}
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
	f.empty = f.empty && n == 0
	f.credit = min(formCredit, f.credit-time.Since(begun)+time.Duration(n)*time.Second/slowestForm)
	if errors.Is(err, io.EOF) {
		_ = f.rc.SetReadDeadline(time.Time{})
	}
	return n, err
}

// Next gives the next part, with its bytes as they were sent; nil at the end of the form.
func (f *Form) Next() (*multipart.Part, error) {
	if f.over {
		return nil, nil // asked once more, the reader would miss another boundary
	}
	part, err := f.parts.NextRawPart() // NextPart would decode what is called quoted-printable, which RFC 7578 has given up (section 4.7)
	switch {
	case err == io.EOF || f.had == 0 && errors.Is(err, io.EOF): // wrapped it stands for a body that ends before its last boundary
		f.over = true
		return nil, nil
	case err != nil:
		return nil, broken(err)
	}
	f.had++
	return part, nil
}

// Named gives the next part, which must have that name.
func (f *Form) Named(name string) (*multipart.Part, error) {
	part, err := f.Next()
	if err != nil {
		return nil, err
	}
	return part, f.named(part, name)
}

// named refuses a part that is not there, or has another name.
func (f *Form) named(part *multipart.Part, name string) error {
	switch {
	case part != nil && part.FormName() == name:
		return nil
	case part != nil:
		return problem.Bad("part %d of the form must be %q, and is %q", f.had, name, Clip(part.FormName()))
	case f.empty:
		return problem.Bad("the body is empty: the form must have a part %q", name)
	case f.had == 0:
		return problem.Bad("the body has no part: none begins with the boundary that Content-Type names")
	}
	return problem.Bad("the form has no part %q", name)
}

// Whole is intake's Whole of a part.
func (f *Form) Whole(part io.Reader) ([]byte, error) {
	content, err := Whole(f.r.Context(), part)
	var refused *problem.Error
	if err != nil && !errors.As(err, &refused) {
		err = broken(err)
	}
	return content, err
}

// broken tells why a form can't be read on.
func broken(err error) error {
	var slow net.Error
	switch {
	case errors.As(err, &slow) && slow.Timeout():
		return problem.Bad("the form took too long to arrive").Because(err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return problem.Bad("the form ends too early: its last boundary is missing").Because(err)
	}
	return problem.Bad("the body is not well-formed %s: a part's headers, or what stands between two parts, can't be read", FormType).Because(err)
}

// File gives the form's next part as its file, which must be that field and the last part: where another follows, the
// content's end is an error.
func (f *Form) File(field string) (*File, error) {
	part, err := f.Next()
	if err != nil {
		return nil, err
	}
	return f.FileIn(part, field)
}

// FileIn is File of a part that has been had already; nil where there was none.
func (f *Form) FileIn(part *multipart.Part, field string) (*File, error) {
	if err := f.named(part, field); err != nil {
		return nil, err
	}
	name := fileName(part)
	if name == "" {
		return nil, problem.Bad("the part %q of the form has no file name", field)
	}
	return &File{Name: name, Content: &last{part, f}}, nil
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
		return n, broken(err)
	}
	switch next, err := l.form.Next(); {
	case err != nil:
		return n, err
	case next != nil:
		return n, problem.Bad("the form must end with its only file: the part %q comes after it", Clip(next.FormName()))
	}
	return n, io.EOF
}

// File is a file on its way in: its name as its sender means it, and its content, which can be read once.
type File struct {
	Name    string
	Content io.Reader
}
