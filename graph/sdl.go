package graph

import (
	"net/http"
	"strings"
	"time"

	"canopy/graph/generated"
)

// ServeSchema answers with the schema.
func ServeSchema(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/graphql; charset=utf-8")
	w.Header().Set("Cache-Control", "public, max-age=300")
	http.ServeContent(w, r, "schema.graphql", time.Time{}, strings.NewReader(generated.SDL()))
}
