package rest

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-json-experiment/json"

	"canopy/db"
	"canopy/resolvers"
)

var benchCustomer = customerDetails{
	Customer: detailedCustomer{customerOf(&db.Customer{ID: 2, Name: "Acme", RegionID: 3, Status: db.CustomerActive}), "", region{3, "EU", "Europe"}},
	Parent:   &parentCustomer{1, "Root", 3}, Ancestors: []ancestorCustomer{{1, "Root", 3, 0}},
}

// BenchmarkDoor measures what this package adds to a handler of net/http that writes the same
// answer.
func BenchmarkDoor(b *testing.B) {
	a, door := open(&resolvers.Resolver{Log: slog.New(slog.DiscardHandler)}, Options{Version: "1"})
	add(a, operation{id: "get", method: http.MethodGet, path: "/tenant/{cid}", tag: tagCustomers, public: true},
		func(context.Context, *CustomerPath) (*one[customerDetails], error) {
			return &one[customerDetails]{benchCustomer}, nil
		})
	bare := http.NewServeMux()
	bare.HandleFunc("GET /tenant/{cid}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", jsonType)
		_ = json.MarshalWrite(w, benchCustomer)
	})
	for name, h := range map[string]http.Handler{"rest": door, "net-http": bare} {
		b.Run(name, func(b *testing.B) {
			r := httptest.NewRequest(http.MethodGet, "/tenant/2", nil)
			b.ReportAllocs()
			for b.Loop() {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				if w.Code != http.StatusOK {
					b.Fatal(w.Body)
				}
			}
		})
	}
}
