package rest

import (
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"

	"canopy/internal/hop"
	"canopy/internal/problem"
)

// handler is the outermost layer of the REST door: it turns the mux's plain-text refusals and
// panics into problem details.
type handler struct {
	mux *http.ServeMux
	log *slog.Logger
	// readable tells whether a path that the door does not have can be read elsewhere; nil where nothing can.
	readable func(*http.Request) bool
	// cells are asked for what they have; nil where none is.
	cells *hop.Cells
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.cells.Passes(r.Context()) {
		h.pass(w, r)
		return
	}
	g := &guard{ResponseWriter: w, r: r, readable: h.readable}
	defer h.rescue(g)
	h.mux.ServeHTTP(g, r)
}

// rescue answers 500 for a panic; an answer that has begun already is cut instead, so that it
// can't be taken for a whole one.
func (h *handler) rescue(g *guard) {
	v := recover()
	if v == nil {
		return
	}
	if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(http.ErrAbortHandler)
	}
	h.log.ErrorContext(g.r.Context(), "a REST operation panicked", "method", g.r.Method, "pattern", g.r.Pattern,
		"panic", v, "stack", string(debug.Stack()))
	if g.wrote {
		panic(http.ErrAbortHandler)
	}
	sendProblem(g, g.r, problemOf(g.r.Context(), problem.New(problem.Internal, internalDetail)))
}

// guard watches an answer on its way out. What the mux itself says, where no pattern matched, is
// replaced by problem details.
type guard struct {
	http.ResponseWriter
	r        *http.Request
	readable func(*http.Request) bool
	wrote    bool
	replaced bool
	// at is where the request is passed on to, and read what has been read of its body; nil where it is not. left tells that it is.
	at   *elsewhere
	read *remembered
	left bool
}

// Unwrap lets http.ResponseController reach the connection.
func (g *guard) Unwrap() http.ResponseWriter { return g.ResponseWriter }

// WriteHeader sends the status line.
func (g *guard) WriteHeader(status int) {
	if g.wrote {
		g.ResponseWriter.WriteHeader(status)
		return
	}
	if g.left = g.left || g.leaves(status); g.left {
		return
	}
	if g.r.Pattern == "" && !g.replaced && (status == http.StatusNotFound || status == http.StatusMethodNotAllowed) {
		g.replaced = true
		if status == http.StatusNotFound && g.readable != nil && g.readable(g.r) {
			status = http.StatusMethodNotAllowed
			g.Header().Set("Allow", "GET, HEAD")
		}
		p := statusProblem(g.r.Context(), status, nothingHere)
		if status == http.StatusMethodNotAllowed {
			p.Detail = "this path does not take the method " + clip(g.r.Method) + "; it takes " + g.Header().Get("Allow")
		}
		sendProblem(g.ResponseWriter, g.r, p)
		g.wrote = true
		return
	}
	// Informational responses may be followed by others.
	g.wrote = status >= http.StatusOK
	g.ResponseWriter.WriteHeader(status)
}

// Write sends a part of the body; the mux's own text is dropped.
func (g *guard) Write(b []byte) (int, error) {
	if g.replaced || g.left {
		return len(b), nil
	}
	g.wrote = true
	return g.ResponseWriter.Write(b)
}

const nothingHere = "there is nothing at this path"

// NotFound answers a request for a path that no door has.
func NotFound(w http.ResponseWriter, r *http.Request) {
	sendProblem(w, r, statusProblem(r.Context(), http.StatusNotFound, nothingHere))
}

// NotPassedOn answers what is said to come from another cell of the platform, and does not.
func NotPassedOn(w http.ResponseWriter, r *http.Request) {
	sendProblem(w, r, statusProblem(r.Context(), http.StatusForbidden, "another cell of the platform is said to have passed this on, and has not signed it as it should be"))
}

// Failed answers a request whose handling panicked outside this door.
func Failed(w http.ResponseWriter, r *http.Request) {
	sendProblem(w, r, problemOf(r.Context(), problem.New(problem.Internal, internalDetail)))
}
