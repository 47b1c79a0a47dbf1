package intake

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"canopy/internal/access"
	"canopy/internal/problem"
)

// of is the context of a request by a branch; 0 for a stranger.
func of(ctx context.Context, branch int64) context.Context {
	if branch == 0 {
		return ctx
	}
	return access.WithPrincipal(ctx, &access.Principal{Lineage: access.Lineage{1, branch}})
}

// TestStrangersSendLittle: without a token a body may be as long as what is asked without one.
func TestStrangersSendLittle(t *testing.T) {
	for _, c := range []struct {
		branch int64
		size   int
		fits   bool
	}{{0, MaxStrange, true}, {0, MaxStrange + 1, false}, {7, MaxStrange + 1, true}, {7, MaxBody, true}, {7, MaxBody + 1, false}} {
		r := httptest.NewRequestWithContext(of(t.Context(), c.branch), http.MethodPost, "/", strings.NewReader(strings.Repeat("x", c.size)))
		body, err := ReadBody(httptest.NewRecorder(), r)
		var large *http.MaxBytesError
		if c.fits && (err != nil || len(body) != c.size) || !c.fits && !errors.As(err, &large) {
			t.Errorf("%+v: %d bytes, %v", c, len(body), err)
		}
	}
}

// TestLongBodiesWaitForAPlace: a branch whose long bodies are in memory has no more of them than its share, another one's are read meanwhile,
// and so are short ones.
func TestLongBodiesWaitForAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		read := func(branch int64, size int) error {
			body, err := Whole(of(ctx, branch), strings.NewReader(strings.Repeat("x", size)))
			if err == nil && len(body) != size {
				t.Errorf("%d bytes of %d", len(body), size)
			}
			return err
		}
		var mu sync.Mutex
		var refused, had int
		for range longPlaces {
			go func() {
				err := read(7, freeBody+1)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					had++
				}
				var busy *problem.Error
				if errors.As(err, &busy) && busy.Code == problem.RateLimited {
					refused++
				}
			}()
		}
		synctest.Wait()
		if had != longPlaces/2 || refused != 0 {
			t.Errorf("%d bodies were read, %d refused", had, refused)
		}
		if err := errors.Join(read(7, freeBody-1), read(8, freeBody+1)); err != nil {
			t.Error(err)
		}
		time.Sleep(bodyTime)
		synctest.Wait()
		if had+refused != longPlaces || had != longPlaces/2 {
			t.Errorf("%d bodies were read, %d refused after a while", had, refused)
		}
		cancel()
		synctest.Wait()
		ctx = t.Context()
		if err := read(7, freeBody+1); err != nil {
			t.Errorf("when all requests are over: %v", err)
		}
	})
}

// TestPreview: what was looked at is read again, with the error that it ended with.
func TestPreview(t *testing.T) {
	r := httptest.NewRequestWithContext(of(t.Context(), 7), http.MethodPost, "/", strings.NewReader(strings.Repeat("x", MaxBody+1)))
	first, err := Preview(httptest.NewRecorder(), r)
	again, same := ReadBody(httptest.NewRecorder(), r)
	byHand, also := io.ReadAll(r.Body)
	if err == nil || !errors.Is(same, err) || !errors.Is(also, err) || !bytes.Equal(first, again) || !bytes.Equal(first, byHand) {
		t.Errorf("%v, %v, %v; %d, %d and %d bytes", err, same, also, len(first), len(again), len(byHand))
	}
}
