package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/token"
)

// weather stands between a client and the platform, and makes what happens on real ways: answers that are lost, refusals for a
// while, tokens that run out soon. The client's tests tell it what, at /weather/….
type weather struct {
	*platform.Platform
	proxy *httputil.ReverseProxy

	mu sync.Mutex
	// life is that of the tokens that are issued; 0 leaves it as it is.
	life time.Duration
	// lost is the path whose next answer gets lost after the platform has given it.
	lost string
	// refused is the path whose next requests don't get through: each is answered by the status and Retry-After.
	refused         string
	times           int
	status, seconds string
	// open end the WebSockets that are open.
	open []context.CancelFunc
	// asked counts the requests by path.
	asked map[string]int
}

// serve puts the weather before a platform, and gives its address.
func serve(t *testing.T, s *platform.Platform) string {
	t.Helper()
	at, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	w := &weather{Platform: s, proxy: httputil.NewSingleHostReverseProxy(at), asked: map[string]int{}}
	w.proxy.ModifyResponse = w.shorten
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	return platform.Localhost(server.URL)
}

func (w *weather) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if what, ok := strings.CutPrefix(r.URL.Path, "/weather/"); ok {
		w.told(rw, r, what)
		return
	}
	lost, status, seconds := w.note(r)
	switch {
	case r.Header.Get("Upgrade") != "":
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		w.mu.Lock()
		w.open = append(w.open, cancel)
		w.mu.Unlock()
		w.proxy.ServeHTTP(rw, r.WithContext(ctx))
	case status != "":
		rw.Header().Set("Retry-After", seconds)
		rw.Header().Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
		rw.Header().Set("Access-Control-Expose-Headers", "Retry-After")
		code, _ := strconv.Atoi(status)
		rw.WriteHeader(code)
	case lost:
		w.proxy.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	default:
		w.proxy.ServeHTTP(rw, r)
	}
}

// note counts a request, and tells what is to happen to it.
func (w *weather) note(r *http.Request) (lost bool, status, seconds string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	path := r.URL.Path
	if r.Method == http.MethodOptions || r.Header.Get("Upgrade") != "" {
		return false, "", ""
	}
	w.asked[path]++
	if w.refused == path && w.times > 0 {
		w.times--
		return false, w.status, w.seconds
	}
	if w.lost == path {
		w.lost = ""
		return true, "", ""
	}
	return false, "", ""
}

// told changes the weather: it is set as a whole by each request, but for the counts, which are given.
func (w *weather) told(rw http.ResponseWriter, r *http.Request, what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	rw.Header().Set("Access-Control-Allow-Origin", "*")
	q := r.URL.Query()
	switch what {
	case "set":
		w.life, _ = time.ParseDuration(q.Get("life"))
		w.lost, w.refused, w.status, w.seconds = q.Get("lost"), q.Get("refused"), q.Get("status"), q.Get("seconds")
		w.times, _ = strconv.Atoi(q.Get("times"))
		clear(w.asked)
	case "cut":
		for _, cancel := range w.open {
			cancel()
		}
		w.open = nil
	case "asked":
		_, _ = fmt.Fprint(rw, w.asked[q.Get("path")])
	default:
		http.NotFound(rw, r)
	}
}

// shorten gives the tokens of an answer their life.
func (w *weather) shorten(res *http.Response) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.life == 0 || res.StatusCode != http.StatusOK || !strings.HasPrefix(res.Request.URL.Path, "/auth/session") && res.Request.URL.Path != "/connect/token" {
		return nil
	}
	var body map[string]any
	if err := json.NewDecoder(res.Body).Decode(&body); err != nil {
		return err
	}
	for member, lives := range map[string]string{"token": "expiresIn", "access_token": "expires_in"} {
		raw, ok := body[member].(string)
		if !ok {
			continue
		}
		claims, err := w.App.Resolver.Verifier.Verify(raw)
		if err != nil {
			return err
		}
		key, ok := w.App.Resolver.Keys.Signing(time.Now())
		if !ok {
			return fmt.Errorf("no key signs")
		}
		short := *claims
		short.ExpiresAt = time.Now().Add(w.life)
		if body[member], err = token.Sign(key, short); err != nil {
			return err
		}
		body[lives] = w.life.Seconds()
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	res.Body = io.NopCloser(bytes.NewReader(raw))
	res.ContentLength = int64(len(raw))
	res.Header.Set("Content-Length", strconv.Itoa(len(raw)))
	return nil
}
