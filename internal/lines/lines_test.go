package lines

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// heard notes what is written, piece by piece.
type heard struct {
	mu     sync.Mutex
	pieces []string
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pieces = append(h.pieces, string(p))
	return len(p), nil
}

func (h *heard) take() (pieces []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	pieces, h.pieces = h.pieces, nil
	return pieces
}

// TestLinesAreWrittenTogether: those of a moment are one piece, in their order, and the next ones another.
func TestLinesAreWrittenTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &heard{}
		w := NewWriter(to)
		for range 2 {
			want := ""
			for i := range 5 {
				line := fmt.Sprintf("line %d\n", i)
				_, _ = w.Write([]byte(line))
				want += line
			}
			if early := to.take(); len(early) > 0 {
				t.Errorf("at once: %q", early)
			}
			time.Sleep(moment)
			synctest.Wait()
			if got := to.take(); len(got) != 1 || got[0] != want {
				t.Errorf("after a moment: %q", got)
			}
		}
		time.Sleep(time.Second)
		if more := to.take(); len(more) > 0 {
			t.Errorf("from nothing: %q", more)
		}
	})
}

// TestWarningsDoNotWait, nor does what came before them; and a long log is written before its moment is over.
func TestWarningsDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &heard{}
		w := NewWriter(to)
		log := slog.New(Handler(slog.NewTextHandler(w, nil), w)).With("a", 1).WithGroup("g")
		log.Info("first")
		if early := to.take(); len(early) > 0 {
			t.Errorf("at once: %q", early)
		}
		log.Warn("second", "b", 2)
		got := strings.Join(to.take(), "")
		if first, second := strings.Index(got, "msg=first a=1"), strings.Index(got, "msg=second a=1 g.b=2"); first < 0 || second < first {
			t.Errorf("with a warning: %q", got)
		}
		log.Info(strings.Repeat("x", most))
		if got := to.take(); len(got) != 1 || len(got[0]) < most {
			t.Errorf("%d pieces of a long log", len(got))
		}
		log.Info("last")
		w.Flush()
		if got := to.take(); len(got) != 1 || !strings.Contains(got[0], "msg=last") {
			t.Errorf("at the end: %q", got)
		}
	})
}
