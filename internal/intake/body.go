// Package intake reads what a request brings: bodies, within bounds; JSON, checked before it is decoded;
// forms with a file, as they come.
package intake

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"

	"canopy/internal/access"
	"canopy/internal/problem"
	"canopy/internal/share"
)

// MaxBody bounds a body that is read whole, in bytes, and MaxStrange one that comes without a token.
const (
	MaxBody    = 1 << 20
	MaxStrange = 64 << 10
)

// bodyTime is how long a client may take to send a body that is read whole.
const bodyTime = 30 * time.Second

// Of bodies that are longer than freeBody only so many as longPlaces are in memory at the same time: each is there until its request is over,
// and it is the client who says how long that takes.
const (
	freeBody   = 64 << 10
	longPlaces = 128
)

// long has the places, by branch.
var long = share.NewGate[int64](longPlaces)

// ReadBody reads a body whole. On an error, such as *http.MaxBytesError, it gives what it had read.
func ReadBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if before, ok := r.Body.(*previewed); ok {
		return before.body, before.err
	}
	rc := http.NewResponseController(w)
	timed := rc.SetReadDeadline(time.Now().Add(bodyTime)) == nil
	most := int64(MaxBody)
	if access.PrincipalOf(r.Context()) == nil {
		most = MaxStrange
	}
	body, err := Whole(r.Context(), http.MaxBytesReader(w, r.Body, most))
	if timed && err == nil {
		// Only then: what is left of a body that does not arrive would be waited for without end.
		_ = rc.SetReadDeadline(time.Time{})
	}
	return body, err
}

// Whole reads to the end what a request has sent, and what the caller has bounded. What is long waits for a place, which it has until the context
// ends; a *problem.Error says that there was none.
func Whole(ctx context.Context, from io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(from, freeBody))
	if err != nil || len(body) < freeBody {
		return body, err
	}
	if err := enter(ctx); err != nil {
		return body, err
	}
	all := bytes.NewBuffer(body)
	_, err = all.ReadFrom(from)
	return all.Bytes(), err
}

// enter takes a place for as long as a context lasts.
func enter(ctx context.Context) error {
	if ctx.Done() == nil {
		return nil // nobody would say when it is over
	}
	branch := access.BranchOf(ctx)
	waiting, cancel := context.WithTimeout(ctx, bodyTime)
	defer cancel()
	if long.Enter(waiting, branch) != nil {
		return &problem.Error{Code: problem.RateLimited, Detail: "too many large requests are under way: try again", RetryAfter: time.Second}
	}
	context.AfterFunc(ctx, func() { long.Leave(branch) })
	return nil
}
