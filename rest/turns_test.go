package rest

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"canopy/internal/intake"
	"canopy/resolvers"
)

// turns counts how many turns to read a context has at the same time, and ends them.
func turns(ctx context.Context) (n int) {
	for {
		soon, cancel := context.WithTimeout(ctx, time.Second)
		leave, err := intake.Turn(soon, intake.MaxBody)
		cancel()
		if err != nil {
			return n
		}
		defer leave()
		n++
	}
}

// TestLongBodiesAreReadByTurns: a body is read in a turn, which is over when the operation begins, and when it is refused.
func TestLongBodiesAreReadByTurns(t *testing.T) {
	a, h := open(&resolvers.Resolver{Log: slog.New(slog.DiscardHandler)}, Options{Version: "1"})
	all, within := turns(t.Context()), 0
	type input struct {
		Body struct {
			Name string `json:"name"`
		}
	}
	add(a, operation{id: "turn", method: http.MethodPost, path: "/turn", tag: tagUsers, public: true},
		func(ctx context.Context, _ *input) (*struct{}, error) {
			within = turns(ctx)
			return nil, nil
		})
	long := strings.Repeat("x", 4<<10)
	if w, p := send(t, h, http.MethodPost, "/turn", jsonType, `{"name":"`+long+`"}`); w.Code >= 300 || within != all {
		t.Errorf("%d %v: %d turns of %d within an operation", w.Code, p, within, all)
	}
	if w, _ := send(t, h, http.MethodPost, "/turn", jsonType, long); w.Code != http.StatusBadRequest || turns(t.Context()) != all {
		t.Errorf("%d, and not all turns are over", w.Code)
	}
	for range all {
		leave, err := intake.Turn(t.Context(), intake.MaxBody)
		if err != nil {
			t.Fatal(err)
		}
		defer leave()
	}
	soon, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	within = 0
	r := httptest.NewRequestWithContext(soon, http.MethodPost, "/turn", strings.NewReader(`{"name":"`+long+`"}`))
	r.Header.Set("Content-Type", jsonType)
	h.ServeHTTP(httptest.NewRecorder(), r)
	if within != 0 {
		t.Error("a long body was read without a turn")
	}
}
