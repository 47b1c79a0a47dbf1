package hop

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"canopy/internal/problem"
)

// maxSaid bounds what another cell answers, in bytes: what a request may cost bounds it before.
const maxSaid = 256 << 20

// saidTime is how long another cell may take for its answer, once that has begun.
const saidTime = time.Minute

// Whole is Ask, and reads all of the answer.
func (c *Cells) Whole(r *http.Request, to problem.Place, branch int64) (*http.Response, []byte, error) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	res, err := c.Ask(r.WithContext(ctx), to, branch)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	defer time.AfterFunc(saidTime, cancel).Stop()
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxSaid+1))
	switch {
	case err != nil:
		return nil, nil, Away(to, err)
	case len(raw) > maxSaid:
		return nil, nil, Away(to, fmt.Errorf("it answers more than %d bytes", maxSaid))
	}
	return res, raw, nil
}

// How long is waited before a cell is asked again, first and last: a second in all.
const (
	firstWait = 16 * time.Millisecond
	lastWait  = 512 * time.Millisecond
)

// Patiently asks again as long as a cell does not know what is asked for, for a second at most: what was done at the home is there a moment later.
func Patiently(ctx context.Context, ask func() (known bool)) {
	for wait := firstWait; !ask() && wait <= lastWait; wait *= 2 {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// RowsPath is where a cell is asked for rows of a list by another one, and by nobody else.
const RowsPath = "/cells/rows"

// Rows asks another cell for rows, in the name of the caller of ctx. A 404 is a company or a right that it does not know, or not yet.
func (c *Cells) Rows(ctx context.Context, to problem.Place, branch int64, question []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, RowsPath, bytes.NewReader(question))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", Authorization(ctx))
	to.OfRows = true
	res, raw, err := c.Whole(r, to, branch)
	if err != nil {
		return nil, err
	}
	if res.StatusCode == http.StatusOK {
		return raw, nil
	}
	return nil, refusal(to, res, raw)
}

// refusal is an answer other than 200: what is not known there, where the caller is known to reach it, and what the caller has done too often, is told as it is; of all else, the cell does not answer as it should.
func refusal(to problem.Place, res *http.Response, raw []byte) error {
	var said struct {
		Detail, Limit string
		Max           int64
	}
	err := json.Unmarshal(raw, &said)
	switch {
	case err == nil && (res.StatusCode == http.StatusNotFound || res.StatusCode == http.StatusForbidden):
		return problem.Missing("%s", said.Detail)
	case err == nil && res.StatusCode == http.StatusTooManyRequests:
		seconds, _ := strconv.Atoi(res.Header.Get("Retry-After"))
		return problem.OverRate(said.Limit, said.Max, time.Duration(seconds)*time.Second)
	}
	return Away(to, fmt.Errorf("it answers %d: %.1000s", res.StatusCode, raw))
}
