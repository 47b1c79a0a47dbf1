package rest

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"

	"canopy/internal/access"
	"canopy/internal/intake"
	"canopy/internal/problem"
	"canopy/internal/web"
	"canopy/resolvers"
)

// elsewhere is where a request is passed on to, once it is known that another cell has what it is about.
type elsewhere struct {
	to     *problem.Place
	branch int64
	// claim is that of the request's idempotency key; nil where it has none.
	claim *resolvers.Claim
}

type elsewhereKey struct{}

// passedOn notes of a refusal that another cell can do what was asked for, and tells whether it is asked.
func passedOn(ctx context.Context, e *problem.Error) bool {
	at, _ := ctx.Value(elsewhereKey{}).(*elsewhere)
	if at == nil || e.Place == nil {
		return false
	}
	at.to, at.branch = e.Place, access.BranchOf(ctx)
	return true
}

// pass serves a request here, or where what it is about is found to be. By then nothing has been done with it, and of its body no more has been read than is still known.
func (h *handler) pass(w http.ResponseWriter, r *http.Request) {
	at := &elsewhere{}
	ctx := context.WithValue(r.Context(), elsewhereKey{}, at)
	read := &remembered{ReadCloser: r.Body, most: intake.MaxBody}
	if intake.IsForm(r) {
		read.most = beforeFile
	}
	here := r.WithContext(ctx)
	here.Body = read
	before := w.Header().Clone()
	g := &guard{ResponseWriter: w, r: here, readable: h.readable, at: at, read: read}
	func() {
		defer h.rescue(g)
		h.mux.ServeHTTP(g, here)
	}()
	r.Pattern = here.Pattern // which the log has
	if !g.left {
		return
	}
	maps.DeleteFunc(w.Header(), func(name string, _ []string) bool { return !web.TellsRate(name) }) // it was counted here
	maps.Copy(w.Header(), before)
	out := r.WithContext(r.Context())
	if r.Body != http.NoBody {
		out.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(read.bytes), intake.Paced(w, r)), r.Body}
	}
	status := h.cells.Pass(w, out, *at.to, at.branch, func(e *problem.Error) {
		if e.Status() >= http.StatusInternalServerError {
			h.log.WarnContext(r.Context(), "another cell did not answer", "error", e)
		}
		sendProblem(w, r, problemOf(r.Context(), e))
	})
	if at.claim != nil && status >= http.StatusBadRequest && status < http.StatusInternalServerError && !isKept(status) {
		at.claim.GiveBack(r.Context()) // it was refused there
	}
}

// leaves tells whether an answer is not sent, as another cell is asked in its place.
func (g *guard) leaves(status int) bool {
	return g.at != nil && g.at.to != nil && !g.read.over && (status == http.StatusMisdirectedRequest || status == http.StatusServiceUnavailable)
}

// beforeFile is what is read of a form, in bytes, until it is known where its file belongs: the attributes and a buffer.
const beforeFile = maxAttributesField + 64<<10

// remembered is a body of which what has been read is known, as long as that is no more than so many bytes.
type remembered struct {
	io.ReadCloser
	most  int
	bytes []byte
	over  bool
}

// Read reads the body.
func (m *remembered) Read(p []byte) (int, error) {
	n, err := m.ReadCloser.Read(p)
	switch {
	case m.over:
	case len(m.bytes)+n > m.most:
		m.bytes, m.over = nil, true
	default:
		m.bytes = append(m.bytes, p[:n]...)
	}
	return n, err
}
