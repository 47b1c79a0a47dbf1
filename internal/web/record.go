package web

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"net/http"
	"time"
)

// ReplayedHeader says of an answer that it was given before.
const ReplayedHeader = "Idempotency-Replayed"

// MostRecorded bounds the body of an answer that is recorded, in bytes.
const MostRecorded = 1 << 20

// carryTime is how long a request goes on whose client has gone.
const carryTime = 2 * time.Minute

// Recorder holds an answer back until it is whole, so that it can be kept before it is sent. One whose body is longer than
// 1 MiB is sent as it comes, and can't be kept.
type Recorder struct {
	to     http.ResponseWriter
	header http.Header
	status int
	body   bytes.Buffer
	sent   bool
}

// Record begins to record an answer.
func Record(w http.ResponseWriter) *Recorder { return &Recorder{to: w, header: http.Header{}} }

// Unwrap lets http.ResponseController reach the deadlines of the connection.
func (r *Recorder) Unwrap() http.ResponseWriter { return r.to }

// Header gives the headers of the answer.
func (r *Recorder) Header() http.Header {
	if r.sent {
		return r.to.Header()
	}
	return r.header
}

// WriteHeader notes the status. Informational ones are left out.
func (r *Recorder) WriteHeader(status int) {
	if r.status == 0 && status >= http.StatusOK {
		r.status = status
	}
}

// Write takes a part of the body.
func (r *Recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	if !r.sent && r.body.Len()+len(p) > MostRecorded {
		if err := r.Send(); err != nil {
			return 0, err
		}
	}
	if r.sent {
		return r.to.Write(p)
	}
	return r.body.Write(p)
}

// FlushError does nothing until the answer is sent.
func (r *Recorder) FlushError() error {
	if r.sent {
		return http.NewResponseController(r.to).Flush()
	}
	return nil
}

// Recorded gives the answer; false where it was too long.
func (r *Recorder) Recorded() (status int, header http.Header, body []byte, whole bool) {
	r.WriteHeader(http.StatusOK)
	return r.status, r.header, r.body.Bytes(), !r.sent
}

// Send sends what is recorded.
func (r *Recorder) Send() error {
	if r.sent {
		return nil
	}
	r.WriteHeader(http.StatusOK)
	r.sent = true
	return Send(r.to, r.status, r.header, r.body.Bytes())
}

// Send answers with what was recorded before.
func Send(w http.ResponseWriter, status int, header http.Header, body []byte) error {
	maps.Copy(w.Header(), header)
	w.WriteHeader(status)
	_, err := w.Write(body)
	return err
}

// Carry gives a request a context that goes on for a while when the client has gone: whoever asks again is to find it done.
// When the server stops, it ends as any other. The caller ends it.
func Carry(ctx context.Context) (context.Context, context.CancelFunc) {
	carried, cancel := context.WithTimeout(context.WithoutCancel(ctx), carryTime)
	forget := context.AfterFunc(ctx, func() {
		if errors.Is(context.Cause(ctx), ErrShutdown) {
			cancel()
		}
	})
	return carried, func() {
		forget()
		cancel()
	}
}
