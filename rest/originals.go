package rest

import (
	"context"
	"errors"
	"maps"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"canopy/internal/extract"
	"canopy/internal/rule"
	"canopy/resolvers"
)

type linkedOriginalInput struct {
	DocumentPath
	Token string `query:"token" doc:"What the link to the original has"`
}

// registerOriginals registers documents by their ids alone, as they were uploaded.
func (a *api) registerOriginals() {
	notFound := []int{http.StatusNotFound}
	file := []int{http.StatusNotFound, http.StatusPreconditionFailed, http.StatusRequestedRangeNotSatisfiable}
	add(a, operation{
		id: "getContextDocument", conditions: byNoneMatch, rule: rule.ContextDocuments, method: http.MethodGet, path: "/context/document/{id}", tag: tagContexts, errors: notFound,
		summary: "Get a document", description: "A document of the token's contexts, as the list shows it.",
	}, a.document)
	add(a, operation{
		id: "getOriginal", rule: rule.DocumentOriginalURL, method: http.MethodGet, path: "/context/document/{id}/original", tag: tagContexts, errors: file,
		summary: "Get the original of a document", description: "The file as it was uploaded, whole or in up to 16 parts. Range, If-Range and If-None-Match are taken; the ETag is of the file.",
		responses: fileResponses(),
	}, func(ctx context.Context, in *DocumentPath) (*huma.StreamResponse, error) {
		return sent(a.queries().Original(ctx, in.id()))
	})
	add(a, operation{
		id: "getLinkedOriginal", method: http.MethodGet, path: "/v1/documents/{id}/original", tag: tagContexts, public: true, errors: file,
		summary: "Get the original of a document by a link", description: "The file as it was uploaded, as getOriginal gives it, for who has a link to it: originalUrl of the graph.",
		responses: fileResponses(),
	}, func(ctx context.Context, in *linkedOriginalInput) (*huma.StreamResponse, error) {
		return sent(a.r.LinkedOriginal(ctx, in.ID, in.Token))
	})
}

func (a *api) document(ctx context.Context, in *DocumentPath) (*tagged[trainingDocument], error) {
	d, err := a.queries().GetDocument(ctx, in.id())
	if err != nil {
		return nil, err
	}
	return tag(ctx, d.Version, documentOf(d))
}

// fileResponses documents the answers of an operation that gives a file.
func fileResponses() map[string]*huma.Response {
	binary := &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	content := map[string]*huma.MediaType{}
	for contentType := range extract.ContentTypes() {
		content[contentType] = binary
	}
	parts := maps.Clone(content)
	parts["multipart/byteranges"] = binary
	return map[string]*huma.Response{
		"200": {Description: "The file, of its own type", Content: content},
		"206": {Description: "The part that was asked for, or several of them", Content: parts},
		"304": {Description: "The client has it already"},
	}
}

// sent answers with an original, piece by piece. By now all that the request has taken of the platform is given back, so that
// somebody who reads slowly holds the file alone.
func sent(o *resolvers.Original, err error) (*huma.StreamResponse, error) {
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer func() { _ = o.Content.Close() }()
		r, w := humago.Unwrap(hc)
		h := w.Header()
		h.Set("Content-Type", o.Document.ContentType)
		h.Set("Content-Disposition", resolvers.Disposition(o.Document))
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "private, no-cache")
		h.Set("ETag", `"`+o.Document.ContentHash+`"`)
		if asked := byteRanges(r.Header.Get("Range")); asked != "" {
			r.Header.Set("Range", asked)
		} else {
			r.Header.Del("Range")
		}
		http.ServeContent(&partWriter{w, r}, r, "", time.Time{}, o.Content)
	}}, nil
}

// mostRanges is how many parts of a file are given at once: each is read from the store by itself. Who asks for more gets the file whole, as
// RFC 9110 has it, section 14.2.
const mostRanges = 16

// byteRanges writes the parts that are asked for as ServeContent understands them, which takes one spelling of the unit, numbers of 64 bits, and a suffix
// of no length for a part (RFC 9110, sections 14.1 and 14.1.2); "" where the file is given whole, as a unit that is not known is passed over.
func byteRanges(asked string) string {
	unit, list, _ := strings.Cut(asked, "=")
	if !strings.EqualFold(unit, "bytes") || strings.Count(list, ",") >= mostRanges {
		return ""
	}
	parts := strings.Split(list, ",")
	for i, part := range parts {
		first, last, found := strings.Cut(part, "-")
		switch first, last = position(first), position(last); {
		case first == "" && last == "0":
			parts[i] = farthest + "-"
		case found:
			parts[i] = first + "-" + last
		}
	}
	return "bytes=" + strings.Join(parts, ",")
}

// farthest lies beyond the end of each file.
var farthest = strconv.FormatInt(math.MaxInt64, 10)

// position is a number as it is written shortest, or the farthest one; what is no number is left as it is.
func position(s string) string {
	s = strings.TrimSpace(s)
	n, err := strconv.ParseUint(s, 10, 63)
	switch {
	case err == nil:
		return strconv.FormatUint(n, 10)
	case errors.Is(err, strconv.ErrRange):
		return farthest
	}
	return s
}

// partWriter says by problem details that a file has no such part, or is another one.
type partWriter struct {
	http.ResponseWriter
	r *http.Request
}

func (p *partWriter) WriteHeader(status int) {
	detail, fault := map[int]string{
		http.StatusRequestedRangeNotSatisfiable: "the file does not have the part that Range asks for",
		http.StatusPreconditionFailed:           "the file is another one than If-Match names",
	}[status]
	if !fault {
		p.ResponseWriter.WriteHeader(status)
		return
	}
	p.Header().Del("Content-Disposition")
	sendProblem(p.ResponseWriter, p.r, statusProblem(p.r.Context(), status, detail))
	p.ResponseWriter = deaf{p.ResponseWriter}
}

// deaf drops what is still said.
type deaf struct{ http.ResponseWriter }

func (deaf) Write(b []byte) (int, error) { return len(b), nil }
