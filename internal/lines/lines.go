// Package lines writes the lines of a log together that come within a moment: where every request has one, writing each by itself takes a
// good part of what the request takes, and wakes whoever reads them each time.
package lines

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"
)

// moment is how long a line waits for others, and most how many bytes of them wait: so much is lost when the process is killed.
const (
	moment = 10 * time.Millisecond
	most   = 32 << 10
)

// Writer gathers lines. It is safe for concurrent use.
type Writer struct {
	to io.Writer

	mu    sync.Mutex
	lines []byte
}

// NewWriter makes a writer of lines to another one, whose errors nobody hears of, as nobody does of those of a log.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Write takes whole lines.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.lines) == 0 {
		time.AfterFunc(moment, w.Flush)
	}
	if w.lines = append(w.lines, p...); len(w.lines) >= most {
		w.flush()
	}
	return len(p), nil
}

// Flush writes what waits. There is nothing that waits in a nil writer.
func (w *Writer) Flush() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flush()
}

func (w *Writer) flush() {
	if len(w.lines) > 0 {
		_, _ = w.to.Write(w.lines)
		w.lines = w.lines[:0]
	}
}

// Handler is a handler that writes to w, and has all that waits written with what is more than information: whatever may be the last
// that a process says.
func Handler(inner slog.Handler, w *Writer) slog.Handler { return handler{inner, w} }

type handler struct {
	slog.Handler
	to *Writer
}

// Handle writes a record.
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	err := h.Handler.Handle(ctx, r)
	if r.Level > slog.LevelInfo {
		h.to.Flush()
	}
	return err
}

// WithAttrs implements slog.Handler.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs), h.to}
}

// WithGroup implements slog.Handler.
func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.Handler.WithGroup(name), h.to}
}
