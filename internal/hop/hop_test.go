package hop

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"canopy/internal/problem"
	"canopy/internal/web"
)

var key, other = bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)

func cells(t *testing.T, region, home string, keys ...[]byte) *Cells {
	t.Helper()
	at, err := url.Parse(home)
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(Options{Region: region, Home: at, Keys: keys, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func request(t *testing.T, method, address string, header http.Header) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, address, nil)
	r.Header = header
	return r
}

// TestSignature: what a cell has signed is believed of that request alone, for a while, by the cell that it is for.
func TestSignature(t *testing.T) {
	now := time.Now()
	home, cell := cells(t, "", "http://home.example", key), cells(t, "eu1", "http://home.example", other, key)
	header := http.Header{"Authorization": {"Bearer a"}, "Cookie": {"s=1"}}
	signed := home.sign(request(t, "POST", "/context?x=1", header), problem.Place{Region: "eu1"}, "192.0.2.7", now)
	p, err := cell.check(request(t, "POST", "/context?x=1", header), signed, now)
	if err != nil || p != (passedOn{from: Home, client: "192.0.2.7", hops: 1}) {
		t.Errorf("%+v, %v", p, err)
	}
	of := home.sign(request(t, "POST", "/context?x=1", header), problem.Place{Region: "eu1", OfRows: true}, "192.0.2.7", now)
	if p, err := cell.check(request(t, "POST", "/context?x=1", header), of, now); err != nil || !p.ofRows {
		t.Errorf("of rows: %+v, %v", p, err)
	}
	web.Identify(nil)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		web.Uncounted(r.Context())
		signed := home.sign(r, problem.Place{Region: "eu1"}, "192.0.2.7", now)
		if p, err := cell.check(request(t, "POST", "/context?x=1", header), signed, now); err != nil || !p.uncounted {
			t.Errorf("not counted: %+v, %v", p, err)
		}
	})).ServeHTTP(httptest.NewRecorder(), request(t, "POST", "/context?x=1", header))
	for name, try := range map[string]struct {
		r     *http.Request
		value string
		at    time.Time
		by    *Cells
	}{
		"another method":         {request(t, "PUT", "/context?x=1", header), signed, now, cell},
		"another path":           {request(t, "POST", "/contexts?x=1", header), signed, now, cell},
		"another query":          {request(t, "POST", "/context?x=2", header), signed, now, cell},
		"another caller":         {request(t, "POST", "/context?x=1", http.Header{"Authorization": {"Bearer b"}, "Cookie": {"s=1"}}), signed, now, cell},
		"another cookie":         {request(t, "POST", "/context?x=1", http.Header{"Authorization": {"Bearer a"}}), signed, now, cell},
		"another client":         {request(t, "POST", "/context?x=1", header), strings.Replace(signed, "192.0.2.7", "192.0.2.8", 1), now, cell},
		"another number of hops": {request(t, "POST", "/context?x=1", header), strings.Replace(signed, "hops=1", "hops=0", 1), now, cell},
		"for other rows":         {request(t, "POST", "/context?x=1", header), strings.Replace(signed, "hops=1", "hops=1,rows=true", 1), now, cell},
		"later":                  {request(t, "POST", "/context?x=1", header), signed, now.Add(2 * skew), cell},
		"earlier":                {request(t, "POST", "/context?x=1", header), signed, now.Add(-2 * skew), cell},
		"another cell":           {request(t, "POST", "/context?x=1", header), signed, now, cells(t, "us1", "http://home.example", key)},
		"another key":            {request(t, "POST", "/context?x=1", header), signed, now, cells(t, "eu1", "http://home.example", other)},
		"said to be uncounted":   {request(t, "POST", "/context?x=1", header), strings.Replace(signed, "hops=1", "hops=1,counted=false", 1), now, cell},
		"no signature":           {request(t, "POST", "/context?x=1", header), strings.Split(signed, ",v1=")[0], now, cell},
		"nothing":                {request(t, "POST", "/context?x=1", header), "", now, cell},
	} {
		if p, err := try.by.check(try.r, try.value, try.at); err == nil {
			t.Errorf("%s is believed: %+v", name, p)
		}
	}
}

// serve is a cell that tells what has come to it.
func serve(t *testing.T, c *Cells) *httptest.Server {
	t.Helper()
	tell := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Request-Id", "its own")
		w.Header().Set("ETag", `"1"`)
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, strings.Join([]string{r.Method, r.URL.RequestURI(), By(r.Context()), web.ClientAddress(r.Context()), r.Header.Get("Authorization"), string(body)}, " "))
	})
	refuse := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }
	s := httptest.NewServer(web.Chain(tell, web.Identify(nil), c.Arrive(refuse)))
	t.Cleanup(s.Close)
	return s
}

// pass has a request for /a%2Fb answered by another cell.
func pass(t *testing.T, c *Cells, to problem.Place) (answer *httptest.ResponseRecorder, failed *problem.Error) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/a%2Fb?q=%20", strings.NewReader("text"))
	r.RemoteAddr = "192.0.2.7:1234"
	r.Header.Set("Authorization", "Bearer a")
	r.Header.Set("X-Forwarded-For", "198.51.100.1")
	answer = httptest.NewRecorder()
	web.Chain(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.Pass(w, r, to, 1, func(e *problem.Error) { failed = e })
	}), web.Identify(nil)).ServeHTTP(answer, r)
	return answer, failed
}

// TestPass: a request comes to the other cell as its client has sent it, and the answer back as that is.
func TestPass(t *testing.T) {
	cell := cells(t, "eu1", "http://127.0.0.1:1", key)
	at := serve(t, cell)
	home := cells(t, "", "http://127.0.0.1:1", key)
	a, failed := pass(t, home, problem.Place{Region: "eu1", Address: at.URL})
	if want := "POST /a%2Fb?q=%20 home 192.0.2.7 Bearer a text"; failed != nil || a.Code != 201 || a.Body.String() != want {
		t.Errorf("%d %q, want %q; %v", a.Code, a.Body, want, failed)
	}
	if a.Header().Get(RegionHeader) != "eu1" || a.Header().Get("ETag") != `"1"` || a.Header().Get("X-Request-Id") == "its own" {
		t.Errorf("the headers of the answer: %v", a.Header())
	}
	for name, to := range map[string]struct {
		by    *Cells
		place problem.Place
	}{
		"nobody is there":  {home, problem.Place{Region: "eu1", Address: "http://127.0.0.1:1"}},
		"another key":      {cells(t, "", "http://127.0.0.1:1", other), problem.Place{Region: "eu1", Address: at.URL}},
		"another cell":     {home, problem.Place{Region: "us1", Address: at.URL}},
		"no address":       {home, problem.Place{Region: "eu1", Address: "nonsense"}},
		"a broken address": {home, problem.Place{Region: "eu1", Address: "http://[::1"}},
	} {
		a, failed := pass(t, to.by, to.place)
		if failed == nil || failed.Code != problem.Unavailable || failed.Region != to.place.Region || a.Body.Len() > 0 {
			t.Errorf("%s: %d %s, %v", name, a.Code, a.Body, failed)
		}
	}
}

// TestProxiesAnswerForNobody: what a proxy says by itself of a cell that it does not reach is no answer of the cell, which has the request's id in each of its own.
func TestProxiesAnswerForNobody(t *testing.T) {
	home := cells(t, "", "http://127.0.0.1:1", key)
	answers := func(status int, id string) problem.Place {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if id != "" {
				w.Header().Set("X-Request-Id", id)
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, "<html>")
		}))
		t.Cleanup(s.Close)
		return problem.Place{Region: "eu1", Address: s.URL}
	}
	for _, status := range []int{408, 502, 503, 504} {
		if a, failed := pass(t, home, answers(status, "")); failed == nil || failed.Code != problem.Unavailable || failed.Region != "eu1" || a.Body.Len() > 0 {
			t.Errorf("a proxy's %d: %d %s, %v", status, a.Code, a.Body, failed)
		}
		if a, failed := pass(t, home, answers(status, "its own")); failed != nil || a.Code != status {
			t.Errorf("a cell's %d: %d, %v", status, a.Code, failed)
		}
	}
	if a, failed := pass(t, home, answers(404, "")); failed != nil || a.Code != 404 {
		t.Errorf("%d, %v", a.Code, failed)
	}
}

// TestNobodyHops: without a key nothing is passed on, and nobody is believed to be a cell.
func TestNobodyHops(t *testing.T) {
	c, err := New(Options{})
	if c != nil || err != nil || c.Passes(context.Background()) {
		t.Errorf("%v, %v", c, err)
	}
	at := serve(t, nil)
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, at.URL, nil)
	r.Header.Set(header, cells(t, "", "http://home.example", key).sign(r, problem.Place{Region: "eu1"}, "192.0.2.7", time.Now()))
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if body, _ := io.ReadAll(res.Body); !strings.Contains(string(body), "GET /  127.0.0.1") {
		t.Errorf("%s", body)
	}
}

// closed tells whether it was closed.
type closed struct {
	io.Reader
	is bool
}

func (c *closed) Close() error {
	c.is = true
	return nil
}

// TestAskClosesBodies: whoever writes what is sent to another cell hears that nobody reads it, wherever it ends.
func TestAskClosesBodies(t *testing.T) {
	full := cells(t, "", "http://127.0.0.1:1", key)
	leave, err := full.enter(t.Context(), problem.Place{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	leave()
	for full.gates[Home].TryEnter(1) {
	}
	for name, try := range map[string]struct {
		by    *Cells
		place problem.Place
	}{
		"no place is free": {full, problem.Place{}},
		"nobody is there":  {cells(t, "", "http://127.0.0.1:1", key), problem.Place{}},
		"a broken address": {full, problem.Place{Region: "eu1", Address: "http://[::1"}},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		body := &closed{Reader: strings.NewReader("text")}
		r, _ := http.NewRequestWithContext(ctx, http.MethodPost, "/graphql", body)
		if _, err := try.by.Ask(r, try.place, 1); err == nil || !body.is {
			t.Errorf("%s: %v, and the body is closed: %t", name, err, body.is)
		}
		cancel()
	}
}

// TestLeftIsNotAway: a request that whoever made it gives up says nothing about the cell that it went to.
func TestLeftIsNotAway(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cell := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	defer cell.Close()
	home := cells(t, "", "http://127.0.0.1:1", key)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := home.Ask(r, problem.Place{Region: "eu1", Address: cell.URL}, 1); err == nil {
		t.Fatal("it is answered")
	}
	if home.took.DeleteLabelValues("eu1", "away") || !home.took.DeleteLabelValues("eu1", "left") {
		t.Error("the cell counts as away")
	}
}
