package app

import (
	"net/http"
	"net/http/pprof"

	"canopy/internal/web"
)

// profilesRoot is where Go's tools look for the profiles of a process.
const profilesRoot = "/debug/pprof/"

// profiles serves the process's profiles to operators. Without a password for operators they are closed, in dev, too:
// they tell what the process is made of, and taking one costs a processor. The command line is left out.
func profiles(mux *http.ServeMux, guard web.BasicAuth) {
	guard.Open = false
	mux.Handle("GET "+profilesRoot, guard.Guard(http.HandlerFunc(pprof.Index)))
	mux.Handle("GET "+profilesRoot+"profile", guard.Guard(http.HandlerFunc(pprof.Profile)))
	mux.Handle("GET "+profilesRoot+"trace", guard.Guard(http.HandlerFunc(pprof.Trace)))
	mux.Handle("GET "+profilesRoot+"symbol", guard.Guard(http.HandlerFunc(pprof.Symbol)))
}
