package graph

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"canopy/db"
	"canopy/e2e/platform"
)

// Clients that read whole lists slowly hold nothing that others need: neither for one thing nor for a list.
func TestSlowReadersLeaveRoom(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	if _, err := db.SeedTree(context.Background(), s.App.Config.DatabaseURL, db.Seed{Customers: 30_000, Fanout: 20, Progress: func(int) {}}); err != nil {
		t.Fatal(err)
	}
	token := s.Root()
	for range 40 {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		_ = c.(*net.TCPConn).SetReadBuffer(4096) // a small one; the system may round it up
		if _, err := io.WriteString(c, "GET /tenant/customers HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+token+"\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	client := http.Client{Timeout: platform.Patience}
	for i := range 20 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+[]string{"/tenant", "/tenant/users"}[i%2], nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := client.Do(req)
		if err != nil {
			t.Fatalf("the platform stands still: %v", err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("status %d", resp.StatusCode)
		}
	}
}
