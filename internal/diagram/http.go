package diagram

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
}

// connectionHeaders belong to the connection, which is not the diagram's.
var connectionHeaders = []string{
	"Connection", "Content-Length", "Expect", "Host", "Keep-Alive", "Proxy-Authorization",
	"Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// httpAction gives {status, headers, body}: header names in lower case, a JSON body decoded, any
// other as text. A status other than 2xx fails the step unless anyStatus is true.
type httpAction struct {
	method    string
	url       value
	headers   map[string]value
	body      value
	anyStatus bool
}

func readHTTP(f *fields) action {
	a := &httpAction{method: f.literalText("method", http.MethodGet), url: f.text("url", true)}
	if !slices.Contains(methods, a.method) {
		f.fault("method", "must be one of %s", strings.Join(methods, ", "))
	}
	if s, ok := f.object["url"].(string); ok && s != "" && !plausibleURL(s) {
		f.fault("url", "must start with https://")
	}
	a.headers = readHeaders(f)
	if body := f.take("body"); body != nil {
		a.body = f.p.value(f.path("body"), body)
		if a.method == http.MethodGet || a.method == http.MethodHead {
			f.fault("body", "can't be sent with %s", a.method)
		}
	}
	a.readAnyStatus(f)
	return a
}

func (a *httpAction) readAnyStatus(f *fields) {
	switch v := f.take("anyStatus").(type) {
	case nil:
	case bool:
		a.anyStatus = v
	default:
		f.fault("anyStatus", "must be true or false, not %s", kind(v))
	}
}

// plausibleURL judges what stands before the first expression; the whole is judged when it is sent.
func plausibleURL(s string) bool {
	const scheme = "https://"
	fixed, _, templated := strings.Cut(s, "{{")
	if len(fixed) >= len(scheme) {
		return strings.EqualFold(fixed[:len(scheme)], scheme)
	}
	return templated && strings.EqualFold(fixed, scheme[:len(fixed)])
}

func readHeaders(f *fields) map[string]value {
	v := f.take("headers")
	if v == nil {
		return nil
	}
	object, ok := v.(map[string]any)
	if !ok {
		f.fault("headers", "must be an object, not %s", kind(v))
		return nil
	}
	inner := &fields{p: f.p, at: f.path("headers"), object: object}
	out := map[string]value{}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		canonical := http.CanonicalHeaderKey(name)
		switch {
		case !validHeaderName(name):
			inner.fault(name, "is not a valid header name")
		case slices.Contains(connectionHeaders, canonical):
			inner.fault(name, "this header can't be set")
		case out[canonical] != nil:
			inner.fault(name, "this header is there twice")
		}
		if out[canonical] = inner.text(name, false); out[canonical] == nil {
			delete(out, canonical) // null counts as omitted; a wrong type has its fault
		}
	}
	return out
}

// validHeaderName tells that a name is a token (RFC 9110, section 5.6.2).
func validHeaderName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

func (a *httpAction) run(ctx context.Context, ev *evaluation, tools Tools) (any, error) {
	r, err := a.request(ev)
	if err != nil {
		return nil, err
	}
	if err := ev.give(a.given(ev, &r)); err != nil {
		return nil, err
	}
	answer, err := tools.HTTP(ctx, r)
	if err != nil {
		return nil, toolError(CodeHTTPError, err)
	}
	if !a.anyStatus && (answer.Status < 200 || answer.Status > 299) {
		return nil, newError(CodeHTTPError, "the server answered with status %d", answer.Status)
	}
	switch {
	case answer.Truncated:
		return nil, newError(CodeTooLarge, "the server's answer is too large")
	case answer.Broken != nil:
		return nil, toolError(CodeHTTPError, fmt.Errorf("the server's answer broke off before its end: %w", answer.Broken))
	}
	if err := ev.meter.pass(len(answer.Body)); err != nil {
		return nil, err
	}
	return answerValue(answer), nil
}

func (a *httpAction) request(ev *evaluation) (r HTTPRequest, err error) {
	r = HTTPRequest{Method: a.method, Header: http.Header{}}
	if r.URL, err = evalText(ev, "url", a.url); err != nil {
		return r, err
	}
	for _, name := range slices.Sorted(maps.Keys(a.headers)) {
		s, err := evalText(ev, "headers."+name, a.headers[name])
		if err != nil {
			return r, err
		}
		if strings.ContainsFunc(s, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
			return r, &evalError{"headers." + name, errors.New("must not hold control characters")}
		}
		r.Header.Set(name, s)
	}
	return r, a.fillBody(ev, &r)
}

// given is the request as it may be kept: a body as it stands in the diagram, which is JSON or a text.
func (a *httpAction) given(ev *evaluation, r *HTTPRequest) map[string]any {
	headers := make(map[string]any, len(r.Header))
	for name := range r.Header {
		if v, own := a.headers[name]; own {
			headers[name] = ev.shownText(v)
		} else {
			headers[name] = r.Header.Get(name) // of the platform's own
		}
	}
	out := map[string]any{"method": r.Method, "url": ev.shownText(a.url), "headers": headers}
	if a.body != nil {
		out["body"] = ev.shown(a.body)
	}
	return out
}

// fillBody sends a text as it is and anything else as JSON.
func (a *httpAction) fillBody(ev *evaluation, r *HTTPRequest) error {
	if a.body == nil {
		return nil
	}
	v, err := ev.evalAt("body", a.body)
	if err != nil {
		return err
	}
	kind := "text/plain; charset=utf-8"
	if s, ok := v.(string); ok {
		r.Body = []byte(s)
	} else {
		kind = "application/json"
		if r.Body, err = encode(v, MaxOutput); err != nil {
			return &evalError{"body", err}
		}
	}
	if r.Header.Get("Content-Type") == "" {
		r.Header.Set("Content-Type", kind)
	}
	return nil
}

func answerValue(answer *HTTPAnswer) any {
	headers := make(map[string]any, len(answer.Header))
	for name, values := range answer.Header {
		headers[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	return map[string]any{"status": answer.Status, "headers": headers, "body": bodyValue(answer)}
}

// bodyValue decodes a body that says it is JSON; one that then is not stays text.
func bodyValue(answer *HTTPAnswer) any {
	media, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")) // unreadable: not JSON
	if media == "application/json" || strings.HasSuffix(media, "+json") {
		if v, err := decode(answer.Body); err == nil {
			return v
		}
	}
	s := string(answer.Body)
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return s
}
