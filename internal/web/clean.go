package web

import (
	"net/http"
	"path"
)

// CleanPaths answers with notFound where a path has empty segments or dots for segments. A ServeMux
// would send the client elsewhere, by a page.
func CleanPaths(notFound http.HandlerFunc) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !clean(r.URL.Path) {
				notFound(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// clean tells a path that is written in the shortest way; a slash at its end is a part of it.
func clean(p string) bool {
	short := path.Clean(p)
	return p == short || p == short+"/" && p != "//"
}
