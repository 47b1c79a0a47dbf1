package rest

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"canopy/internal/problem"
)

const (
	uploadType  = "multipart/form-data"
	uploadField = "file"
	// drainSize and drainTime bound what is still read of an upload that was refused, so that a client
	// which sends all before it listens hears why.
	drainSize = 32 << 20
	drainTime = 10 * time.Second
)

// upload is a request with one file, which is read as it comes.
type upload struct {
	r  *http.Request
	rc *http.ResponseController
}

func newUpload(hc huma.Context) *upload {
	r, w := humago.Unwrap(hc)
	return &upload{r, http.NewResponseController(w)}
}

// Read reads the body. The client has a time for each piece, not for the whole, and the deadline is
// taken off with the end of the body, as the connection may serve other requests.
func (u *upload) Read(p []byte) (int, error) {
	_ = u.rc.SetReadDeadline(time.Now().Add(bodyTimeout)) // without it, the body comes at the client's pace
	n, err := u.r.Body.Read(p)
	if err != nil {
		_ = u.rc.SetReadDeadline(time.Time{})
	}
	return n, err
}

// file gives the request's only file and its name. Reading it fails where something follows it.
func (u *upload) file() (io.Reader, string, error) {
	mediaType, params, err := mime.ParseMediaType(u.r.Header.Get("Content-Type"))
	if err != nil || mediaType != uploadType || params["boundary"] == "" {
		return nil, "", problem.Bad("the body must be %s with one file in the field %q", uploadType, uploadField)
	}
	form := multipart.NewReader(u, params["boundary"])
	part, err := form.NextRawPart()
	switch {
	case errors.Is(err, io.EOF):
		return nil, "", problem.Bad("there is no file in the field %q", uploadField)
	case err != nil:
		return nil, "", badForm(err)
	case part.FormName() != uploadField || part.FileName() == "":
		return nil, "", problem.Bad("the form must hold nothing but one file in the field %q, with its name", uploadField)
	}
	return &onlyFile{part, form}, part.FileName(), nil
}

func badForm(err error) error {
	return problem.Bad("the body is not well-formed %s", uploadType).Because(err)
}

// drain reads what is left of a refused upload, within bounds.
func (u *upload) drain() {
	_ = u.rc.SetReadDeadline(time.Now().Add(drainTime))
	_, _ = io.CopyN(io.Discard, u.r.Body, drainSize) // as far as it comes
	_ = u.rc.SetReadDeadline(time.Time{})
}

// onlyFile is a part that must be the last one.
type onlyFile struct {
	part *multipart.Part
	form *multipart.Reader
}

// Read reads the file; where another part follows, its end is an error.
func (f *onlyFile) Read(p []byte) (int, error) {
	n, err := f.part.Read(p)
	if errors.Is(err, io.EOF) {
		err = f.last()
	}
	return n, err
}

func (f *onlyFile) last() error {
	switch _, err := f.form.NextRawPart(); {
	case errors.Is(err, io.EOF):
		return io.EOF
	case err != nil:
		return badForm(err)
	}
	return problem.Bad("the form must hold nothing but one file in the field %q", uploadField)
}
