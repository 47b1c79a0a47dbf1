package rest

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/problem"
)

// chunkSize is how much of a list is gathered before it is sent, in bytes.
const chunkSize = 32 << 10

// Paging are the parameters of every list.
type Paging struct {
	Limit int    `query:"limit" minimum:"1" maximum:"1000" doc:"At most so many entries; then a Link header leads to the next page. Without it, the whole list is sent"`
	After string `query:"after" doc:"The cursor of a Link header: the list goes on behind it"`
}

func (p *Paging) page() *Paging { return p }

type paged interface{ page() *Paging }

// LastPage are the parameters of a list that can be read from its end, too.
type LastPage struct {
	Last   int    `query:"last" minimum:"1" maximum:"1000" doc:"At most so many entries, the last ones, in the order of the list; then a Link header leads to the page before"`
	Before string `query:"before" doc:"With last: the cursor of a Link header, which the page ends before"`
}

func (p *LastPage) last() *LastPage { return p }

// checked refuses parameters of one direction beside those of the other one.
func (p *LastPage) checked(hc huma.Context) error {
	switch {
	case p.Last == 0 && p.Before != "":
		return problem.Invalid(problem.Fault{Location: "before", Message: "goes with last"})
	case p.Last > 0 && (hc.Query("limit") != "" || hc.Query("after") != ""):
		return problem.Invalid(problem.Fault{Location: "last", Message: "goes with before, and neither with limit nor with after"})
	}
	return nil
}

// Pages are the parameters of a list that is read from either end.
type Pages struct {
	Paging
	LastPage
}

// CustomerList are the parameters of a list of what a company has.
type CustomerList struct {
	Paging
	CustomerID int64 `query:"customerId" minimum:"1" doc:"The company; by default the caller's own"`
}

func (l *CustomerList) customer() *globalid.ID { return idOf(l.CustomerID) }

// streamed is an answer that writes itself.
type streamed struct{ Body func(huma.Context) }

// emit hands one entry of a list on, with its place.
type emit[T any] func(entry T, at paging.Cursor) error

// errEnough ends the reading of a list whose page is full.
var errEnough = errors.New("the page is full")

// query is what a resolver is asked for: limit 0 stands for all.
type query struct {
	after paging.Cursor
	limit int
}

// anyOrder stands for the cursors of a list that has several orders: the resolver reads them.
const anyOrder = -1

// addList registers an operation that answers an array. keys is the number of integers in the
// list's cursors, 0 for any.
func addList[I, T any](a *api, o operation, keys int, read func(ctx context.Context, in *I, q query, each emit[T]) error) {
	o.method, o.list = http.MethodGet, true
	o.responses = map[string]*huma.Response{"200": listResponse[T](a)}
	var faults *locator
	faults = add(a, o, func(ctx context.Context, in *I) (*streamed, error) {
		p, from := any(in).(paged).page(), LastPage{}
		if l, ok := any(in).(interface{ last() *LastPage }); ok {
			from = *l.last()
		}
		q := query{}
		if p.After != "" && keys != anyOrder {
			var err error
			if q.after, err = paging.ParseCursor(p.After, keys); err != nil {
				return nil, err
			}
		}
		if p.Limit > 0 {
			q.limit = p.Limit + 1
		}
		return &streamed{func(hc huma.Context) {
			a.stream(hc, faults, func(w *listWriter) error {
				if err := from.checked(hc); err != nil {
					return err
				}
				if w.limit = p.Limit; from.Last > 0 {
					w.limit, w.backward = from.Last, true
				}
				if o.rule != nil {
					w.still = func() error { return a.r.MayStill(ctx, o.rule) }
				}
				return read(ctx, in, q, func(entry T, at paging.Cursor) error { return w.add(entry, at) })
			})
		}}, nil
	})
}

func listResponse[T any](a *api) *huma.Response {
	schema := a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[[]T](), true, "")
	return &huma.Response{
		Description: "The list, whole unless a limit was asked for",
		Headers: map[string]*huma.Param{"Link": {
			Description: "Where the list goes on (RFC 8288, rel=\"next\", and of its last entries rel=\"prev\"); only with a limit, and only when there is more",
			Schema:      &huma.Schema{Type: huma.TypeString},
		}},
		Content: map[string]*huma.MediaType{jsonType: {Schema: schema}},
	}
}

// stream answers with the list that read gives. Nothing is sent before the first chunk is full or
// the list has ended, so an error until then has its own status; a later one cuts the connection,
// so that nobody takes a part for the whole.
func (a *api) stream(hc huma.Context, faults *locator, read func(*listWriter) error) {
	r, w := humago.Unwrap(hc)
	l := &listWriter{w: w, headOnly: r.Method == http.MethodHead}
	err := read(l)
	switch {
	case err == nil, errors.Is(err, errEnough):
		l.end(a.nextLink(r.URL, l))
	case l.started:
		if hc.Context().Err() == nil {
			a.log.WarnContext(hc.Context(), "a list broke off", "path", r.URL.Path, "error", err)
		}
		panic(http.ErrAbortHandler)
	default:
		sendProblem(w, r, a.failure(hc.Context(), faults.rename(err)))
	}
}

// nextLink is the value of the Link header; empty when the list has ended.
func (a *api) nextLink(u *url.URL, l *listWriter) string {
	if !l.more {
		return ""
	}
	size, bound, rel := "limit", "after", "next"
	if l.backward {
		size, bound, rel = "last", "before", "prev"
	}
	q := u.Query()
	q.Set(size, strconv.Itoa(l.limit))
	q.Set(bound, l.last.String())
	return "<" + a.base + u.EscapedPath() + "?" + q.Encode() + `>; rel="` + rel + `"`
}

// listWriter writes an array entry by entry, in memory that does not grow with the list. A page
// with a limit is held until it is complete, since its Link header comes first.
type listWriter struct {
	w     http.ResponseWriter
	buf   bytes.Buffer
	limit int
	count int
	last  paging.Cursor
	more  bool
	// backward: the entries come from the end of the list on, and are held until all are there.
	backward bool
	held     [][]byte
	begun    bool
	started  bool
	headOnly bool
	// still tells whether the caller may still have the list, whose client may take its time; nil where everybody may.
	still func() error
}

func (l *listWriter) add(entry any, at paging.Cursor) error {
	switch {
	case l.limit > 0 && l.count == l.limit:
		l.more = true
		return errEnough
	case l.headOnly && l.limit == 0:
		return errEnough
	}
	b, err := marshal(entry)
	if err != nil {
		return err
	}
	l.last = at
	if l.count++; l.backward {
		l.held = append(l.held, b)
	} else {
		l.write(b)
	}
	if l.limit > 0 || l.buf.Len() < chunkSize {
		return nil
	}
	if l.still != nil {
		if err := l.still(); err != nil {
			return err
		}
	}
	return l.flush()
}

// write adds an entry to the array.
func (l *listWriter) write(entry []byte) {
	separator := byte('[')
	if l.begun {
		separator = ','
	}
	l.begun = true
	l.buf.WriteByte(separator)
	l.buf.Write(entry)
}

// flush sends what has been gathered.
func (l *listWriter) flush() error {
	if !l.started {
		l.started = true
		l.w.Header().Set("Content-Type", jsonType)
	}
	_, err := l.buf.WriteTo(l.w)
	return err
}

// end closes the array.
func (l *listWriter) end(link string) {
	for _, entry := range slices.Backward(l.held) {
		l.write(entry)
	}
	if l.count == 0 {
		l.buf.WriteByte('[')
	}
	l.buf.WriteByte(']')
	if l.started {
		l.finish()
		return
	}
	h := l.w.Header()
	h.Set("Content-Type", jsonType)
	if link != "" {
		h.Set("Link", link)
	}
	if l.headOnly {
		// The length of the list is not known without reading all of it.
		l.w.WriteHeader(http.StatusOK)
		return
	}
	h.Set("Content-Length", strconv.Itoa(l.buf.Len()))
	_, _ = l.buf.WriteTo(l.w)
}

// finish sends the last chunk of a long list; one that does not arrive cuts the connection.
func (l *listWriter) finish() {
	err := l.flush()
	if err == nil {
		err = http.NewResponseController(l.w).Flush()
	}
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		panic(http.ErrAbortHandler)
	}
}
