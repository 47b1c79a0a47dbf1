// Package console serves the console: the files that are built from src/ into dist/, below /console/. They load nothing from
// anywhere else, and ask the platform what anybody may.
package console

import (
	"crypto/rand"
	"embed"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"

	"canopy/internal/web"
)

//go:embed dist
var dist embed.FS

const (
	root   = "/console/"
	assets = "assets/"
	// portal is what others may show in a page of theirs.
	portal = root + "portal"
	// nonce stands in the page for what lets its style elements in.
	nonce = "CSP_NONCE"
	// graphiql is how the page says that there is GraphiQL.
	graphiql = `<meta name="graphiql" content="on">`
	// mails is how the page says which folder has the mails that are sent to nobody.
	mails = `<meta name="mails" content="`
)

// Options say what the console tells of the server.
type Options struct {
	// GraphiQL shows the link to GraphiQL.
	GraphiQL bool
	// PortalOrigins are those of the pages that may show the portal inside them.
	PortalOrigins []string
	// Mails is the folder of mails that are kept in place of being sent; "" where they are sent.
	Mails string
}

// Register puts the console on the mux. Every path below /console/ where no file is gets the page, which shows what is there.
func Register(mux *http.ServeMux, o Options) {
	secure := web.SecureHeaders(web.Policy{})
	page := newPage(o)
	mux.Handle("GET "+root, secure(page(nil)))
	mux.Handle("GET "+portal, secure(page(o.PortalOrigins)))
	mux.Handle("GET "+portal+"/", secure(page(o.PortalOrigins)))
	mux.Handle("GET "+strings.TrimSuffix(root, "/"), http.RedirectHandler(root, http.StatusSeeOther))
	err := fs.WalkDir(dist, "dist", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path.Base(name) != "index.html" {
			mux.Handle("GET "+root+strings.TrimPrefix(name, "dist/"), secure(serve(name)))
		}
		return err
	})
	if err != nil {
		panic("console: " + err.Error())
	}
	mux.HandleFunc("GET "+root+assets, http.NotFound) // one of another version, for which no page must stand in
}

// serve answers with a file, which is compressed when it is first asked for. The names of assets have the hashes of their contents.
func serve(name string) http.Handler {
	cacheControl := "no-cache"
	if strings.HasPrefix(name, "dist/"+assets) {
		cacheControl = web.Immutable
	}
	load := sync.OnceValue(func() *web.File { return web.NewFile(path.Base(name), read(name), cacheControl) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { load().ServeHTTP(w, r) })
}

func read(name string) []byte {
	content, err := dist.ReadFile(name)
	if err != nil {
		panic("console: " + err.Error())
	}
	return content
}

// newPage makes the page, with a nonce of its own for each answer: the library of components writes style elements as it runs, and the
// policy takes no others. What it gives makes a handler of the page for those who may show it inside pages of theirs.
func newPage(o Options) func(framed []string) http.Handler {
	html := string(read("dist/index.html"))
	if !o.GraphiQL {
		html = strings.Replace(html, graphiql, "", 1)
	}
	html = strings.Replace(html, mails, mails+template.HTMLEscapeString(o.Mails), 1)
	before, after, _ := strings.Cut(html, nonce)
	return func(framed []string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			key := rand.Text()
			h := w.Header()
			// A document's own pages are shown in a frame, of bytes that the console has fetched; nothing that has an address is.
			h.Set("Content-Security-Policy", web.Policy{Style: []string{"'nonce-" + key + "'"}, Frame: []string{"blob:"}, Framed: framed}.String())
			if len(framed) > 0 {
				h.Del("X-Frame-Options") // which knows no origins, and would forbid what the policy allows
			}
			h.Set("Content-Type", "text/html; charset=utf-8")
			h.Set("Cache-Control", "no-cache")
			h.Set("Content-Length", strconv.Itoa(len(before)+len(key)+len(after)))
			if r.Method != http.MethodHead {
				_, _ = w.Write([]byte(before + key + after))
			}
		})
	}
}
