// Package pages serves the pages that live in the binary: the landing page, changes of an address,
// GraphiQL and the REST reference. They load nothing from anywhere else, and work where there is
// no internet. The sources are in site/; thirdparty/ holds third-party files, which build/ makes.
package pages

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"strings"

	"canopy/internal/web"
)

//go:embed site
var site embed.FS

//go:embed thirdparty
var thirdparty embed.FS

// Options say what the pages tell of the server.
type Options struct {
	// Version is shown on the landing page; may be empty.
	Version string
	// Monitoring shows the link to the queue monitor.
	Monitoring bool
	// Console is where the first page leads browsers, relative to it; others get the landing page, and everybody where it is empty.
	Console string
	// Closed leaves out what shows the graph: GraphiQL, and the links to it and to the schema.
	Closed bool
}

// page is one page: its file in site/, and what its layout needs.
type page struct {
	pattern, file, Title string
	Styles, Scripts      []string
	policy               web.Policy
	Options
}

// Both tools write styles into the page as they run, which is why theirs are allowed inline. data:
// images are the icons in their style sheets.
var toolPolicy = web.Policy{Style: []string{"'unsafe-inline'"}, Image: []string{"data:"}}

var pageList = []page{
	{
		pattern: "GET /{$}", file: "index.html", Title: "Canopy",
		Styles: []string{"base.css", "landing.css"}, Scripts: []string{"landing.js"},
	},
	{
		pattern: "GET /setup", file: "setup.html", Title: "Your account · Canopy",
		Styles: []string{"base.css", "setup.css"}, Scripts: []string{"setup.js"},
	},
	{
		pattern: "GET /graphiql", file: "graphiql.html", Title: "GraphiQL · Canopy", policy: toolPolicy,
		Styles:  []string{"graphiql-bundle.css", "base.css", "tool.css", "graphiql.css"},
		Scripts: []string{"graphiql-bundle.js", "signin.js", "graphiql.js"},
	},
	{
		pattern: "GET /docs", file: "docs.html", Title: "REST reference · Canopy", policy: toolPolicy,
		Styles:  []string{"swagger-ui.css", "base.css", "tool.css", "docs.css"},
		Scripts: []string{"swagger-ui.js", "signin.js", "docs.js"},
	},
}

// Register puts the pages on the mux: /, /setup, /graphiql (unless Closed) and /docs, their files under
// /assets/, and /favicon.ico. All addresses in the pages are relative, so that they also work where a proxy
// serves the platform under a path.
func Register(mux *http.ServeMux, o Options) {
	a := loadAssets()
	layout := template.Must(template.New("").Funcs(template.FuncMap{"asset": a.address}).ParseFS(site, "site/*.html"))
	for _, p := range pageList {
		if o.Closed && p.file == "graphiql.html" {
			continue
		}
		p.Options = o
		h := render(layout, p)
		if p.file == "index.html" && o.Console != "" {
			h = lead(o.Console, h)
		}
		mux.Handle(p.pattern, web.SecureHeaders(p.policy)(h))
	}
	files := web.SecureHeaders(web.Policy{})(a)
	mux.Handle("GET /assets/{name}", files)
	mux.Handle("GET /favicon.ico", files)
}

// render makes a page once: nothing in it depends on the request.
func render(layout *template.Template, p page) http.Handler {
	var b bytes.Buffer
	if err := layout.ExecuteTemplate(&b, p.file, p); err != nil {
		panic("pages: " + p.file + ": " + err.Error())
	}
	return web.NewFile(p.file, []byte(strings.TrimLeft(b.String(), "\n")), "no-cache")
}

// lead sends browsers, which ask for HTML by name, elsewhere.
func lead(to string, others http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept")
		if !strings.Contains(r.Header.Get("Accept"), "text/html") {
			others.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusSeeOther)
	})
}
