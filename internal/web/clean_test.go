package web_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"canopy/internal/web"
)

func TestCleanPaths(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(http.ResponseWriter, *http.Request) {})
	h := web.CleanPaths(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })(mux)
	for path, want := range map[string]int{
		"/": 200, "/a": 200, "/a/": 200, "/a/b": 200, "/a..b/.c": 200, "/a%2Fb": 200, "/a?b=//c": 200,
		"//": 404, "//a": 404, "/a//b": 404, "/a//": 404, "/.": 404, "/./a": 404, "/a/../b": 404, "/a/..": 404, "/a/%2E%2E/b": 404, "/a%2F%2Fb": 404,
	} {
		r := httptest.NewRequest(http.MethodGet, "http://x"+path, nil)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
}
