package graph

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"canopy/db"
	"canopy/e2e/platform"
)

// BenchmarkTree is the 20 × 10 × 3 tree without a network, for profiles: `make bench` has the
// figure that counts.
func BenchmarkTree(b *testing.B) {
	s := platform.Start(b)
	top, err := db.SeedTree(context.Background(), s.App.Config.DatabaseURL, db.Seed{Customers: 420, Fanout: 20, Staffed: 420, Users: 10, Progress: func(int) {}})
	if err != nil {
		b.Fatal(err)
	}
	h, err := s.App.Handler(true)
	if err != nil {
		b.Fatal(err)
	}
	body, err := json.Marshal(map[string]any{"query": fmt.Sprintf(`{ customer(id: %d) { id name descendants(first: 20) { nodes { id name
		users(first: 10) { nodes { id name email permissions(first: 3) { nodes { id disabled
			role { id name } account { id name } application { id name } region { id name } } } } } } } } }`, top)})
	if err != nil {
		b.Fatal(err)
	}
	token := s.Root()
	before := s.App.Store.Executed()
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/graphql", strings.NewReader(string(body)))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusOK || w.Body.Len() < 100_000 {
			b.Fatalf("%d %.300s", w.Code, w.Body)
		}
		b.SetBytes(int64(w.Body.Len()))
	}
	b.ReportMetric(float64(s.App.Store.Executed()-before)/float64(b.N), "statements/op")
}
