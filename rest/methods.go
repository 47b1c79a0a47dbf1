package rest

import (
	"net/http"
	"slices"
)

// The paths that take one method only, though a path with a parameter would match them as well:
// GET /tenant/customer is not the company "customer".
var postOnly = []string{"/tenant/customer", "/tenant/user", "/tenant/user/init"}

// registerPostOnly answers 405 for the other methods of those paths.
func registerPostOnly(mux *http.ServeMux) {
	for _, path := range postOnly {
		for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodPatch, http.MethodDelete} {
			mux.HandleFunc(method+" "+path, refusePostOnly)
		}
	}
}

func refusePostOnly(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Allow", http.MethodPost)
	sendProblem(w, r, statusProblem(r.Context(), http.StatusMethodNotAllowed, "this path takes POST only"))
}

// ReadOnlyPaths answers 405 where a request has another method than GET for a path that mux has a reader
// for, such as a page: such a request falls through to the door, which knows nothing of it.
func ReadOnlyPaths(mux *http.ServeMux, door http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slices.Contains([]string{http.MethodGet, http.MethodHead}, r.Method) {
			if _, pattern := mux.Handler(&http.Request{Method: http.MethodGet, URL: r.URL, Host: r.Host}); pattern != "/" {
				w.Header().Set("Allow", "GET, HEAD")
				sendProblem(w, r, statusProblem(r.Context(), http.StatusMethodNotAllowed, "this path takes GET only"))
				return
			}
		}
		door.ServeHTTP(w, r)
	})
}
