package rest

import (
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"canopy/internal/problem"
)

// locator tells where in a REST request a field is that a resolver names.
type locator struct {
	// names are the fields that REST calls otherwise.
	names map[string]string
	// places are "path" and "query" of the parameters; what is no parameter is in the body.
	places map[string]string
}

// learn reads the parameters of a registered operation.
func (l *locator) learn(doc *huma.OpenAPI, method, path string) {
	l.places = map[string]string{}
	for _, op := range operationsAt(doc, path) {
		if op.Method == method {
			for _, p := range op.Parameters {
				l.places[p.Name] = p.In
			}
		}
	}
}

// rename gives a refusal with its faults located in the REST request.
func (l *locator) rename(err error) error {
	var e *problem.Error
	if !errors.As(err, &e) || len(e.Faults) == 0 {
		return err
	}
	faults := make([]problem.Fault, len(e.Faults))
	for i, f := range e.Faults {
		faults[i] = problem.Fault{Location: l.locate(f.Location), Message: l.reword(f.Message)}
	}
	renamed := *e
	renamed.Faults = faults
	if first := e.Faults[0]; e.Detail == sentence(Fault(first)) {
		renamed.Detail = sentence(Fault(faults[0]))
	}
	return &renamed
}

// locate gives the place of a field.
func (l *locator) locate(field string) string {
	if field == "" {
		return ""
	}
	head, tail := field, ""
	if i := strings.IndexAny(field, ".["); i >= 0 {
		head, tail = field[:i], field[i:]
	}
	if name, ok := l.names[head]; ok {
		head = name
	}
	switch place, ok := l.places[head]; {
	case ok:
		head = place + "." + head
	case !strings.Contains(head, "."):
		head = "body." + head
	}
	return head + tail
}

// reword puts REST's names where a message speaks of other fields.
func (l *locator) reword(message string) string {
	words := strings.Split(message, " ")
	for i, w := range words {
		bare := strings.TrimRight(w, ",.;:")
		if name, ok := l.names[bare]; ok && strings.ContainsFunc(bare, isUpper) {
			words[i] = name[strings.LastIndex(name, ".")+1:] + w[len(bare):]
		}
	}
	return strings.Join(words, " ")
}

// isUpper tells a field's name of several words from a plain word.
func isUpper(r rune) bool { return r >= 'A' && r <= 'Z' }

// operationsAt lists the operations of a path of the OpenAPI document.
func operationsAt(doc *huma.OpenAPI, path string) []*huma.Operation {
	item := doc.Paths[path]
	if item == nil {
		return nil
	}
	all := []*huma.Operation{item.Get, item.Put, item.Post, item.Patch, item.Delete}
	methods := []string{http.MethodGet, http.MethodPut, http.MethodPost, http.MethodPatch, http.MethodDelete}
	var list []*huma.Operation
	for i, op := range all {
		if op != nil {
			op.Method = methods[i]
			list = append(list, op)
		}
	}
	return list
}
