package rest

import (
	"context"
	"encoding/hex"
	"hash/fnv"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Answers that show one object have an ETag (RFC 9110, section 8.8.3): its version, and a hash of what is shown, which may change
// without anybody's change, such as the last use of a key. If-None-Match compares all of it, If-Match the version.

// tagged is an answer with its ETag.
type tagged[T any] struct {
	ETag string `header:"ETag" doc:"The version of the object, for If-Match, and of what is shown of it, for If-None-Match"`
	Body T
}

// changedOnly is the answer without a body to a change, with the ETag of what was changed.
type changedOnly struct {
	ETag string `header:"ETag" doc:"The version of the object, for If-Match, and of what is shown of it, for If-None-Match"`
}

// tag gives the answer that shows an object of a version. Where the client has it already, that is the answer: the error says so.
func tag[T any](ctx context.Context, version int, body T) (*tagged[T], error) {
	out := &tagged[T]{etagOf(version, body), body}
	if list, ok := ctx.Value(noneMatchKey{}).(string); ok && matches(list, out.ETag) {
		return nil, notModified{out.ETag}
	}
	return out, nil
}

// etagOf is the tag of an object of a version, by what is shown of it when it is read.
func etagOf(version int, shown any) string {
	body, err := marshal(shown)
	if err != nil {
		panic(err) // it is shown as JSON
	}
	h := fnv.New64a()
	_, _ = h.Write(body)
	return `"` + strconv.Itoa(version) + "-" + hex.EncodeToString(h.Sum(nil)) + `"`
}

// matches tells whether a tag is among those of If-None-Match, which compares weakly (RFC 9110, section 13.1.2).
func matches(list, tag string) bool {
	for one := range strings.SplitSeq(list, ",") {
		if one = strings.TrimPrefix(strings.TrimSpace(one), "W/"); one == "*" || one == tag {
			return true
		}
	}
	return false
}

// notModified is the answer 304: the client has what would be shown.
type notModified struct{ etag string }

func (notModified) Error() string             { return "not modified" }
func (notModified) GetStatus() int            { return http.StatusNotModified }
func (n notModified) GetHeaders() http.Header { return http.Header{"Etag": {n.etag}} }

type (
	matchKey     struct{}
	noneMatchKey struct{}
)

// conditions reads the conditions of a request that the operation takes.
func (a *api) conditions(hc huma.Context, next func(huma.Context)) {
	o, _ := hc.Operation().Metadata[conditionsKey].(conditional)
	r := hc.Header
	switch {
	case o == byNoneMatch && r("If-None-Match") != "":
		hc = huma.WithValue(hc, noneMatchKey{}, r("If-None-Match"))
	case o == byMatch && r("If-Match") != "":
		version, ok := versionIn(r("If-Match"))
		if !ok {
			tell(hc, badBody(hc.Context(), Fault{"header.If-Match", "must be one ETag, or *"}))
			return
		}
		hc = huma.WithValue(hc, matchKey{}, version)
	}
	next(hc)
}

// versionIn reads the version that If-Match asks for: nil for any, and one that nothing has where the tag is none of ours, as a weak
// one never is (RFC 9110, section 13.1.1).
func versionIn(header string) (version *int, ok bool) {
	header = strings.TrimSpace(header)
	switch {
	case header == "*":
		return nil, true
	case strings.Contains(header, ","):
		return nil, false
	}
	number, _, _ := strings.Cut(strings.Trim(header, `"`), "-")
	n, err := strconv.Atoi(number)
	if err != nil || !strings.HasPrefix(header, `"`) || n < 0 {
		n = -1
	}
	return &n, true
}

// ifMatch is the version that the request wants to change; nil for any.
func ifMatch(ctx context.Context) *int {
	version, _ := ctx.Value(matchKey{}).(*int)
	return version
}

// mustExist tells whether the request is one for what is there already, as each with If-Match is (RFC 9110, section 13.1.1).
func mustExist(ctx context.Context) bool {
	_, given := ctx.Value(matchKey{}).(*int)
	return given
}

// conditional tells which conditions an operation takes.
type conditional int

const (
	// byNoneMatch: it reads an object, which the client may have already. byMatch: it changes or removes one.
	byNoneMatch conditional = iota + 1
	byMatch
)

// document tells of the conditions in the registry's form of an operation.
func (c conditional) document(op *huma.Operation) {
	op.Metadata[conditionsKey] = c
	text := &huma.Schema{Type: huma.TypeString}
	if c == byNoneMatch {
		op.Parameters = append(op.Parameters, &huma.Param{Name: "If-None-Match", In: "header", Description: "ETags of what the client has: where one of them is still right, the answer is 304", Schema: text})
		op.Responses = map[string]*huma.Response{"304": {Description: "The client has it already"}}
	} else {
		op.Parameters = append(op.Parameters, &huma.Param{Name: ifMatchHeader, In: "header", Description: "The ETag of what the change is made from: where another change has come between, the answer is 412 with the code changed", Schema: text})
	}
}

const ifMatchHeader = "If-Match"
