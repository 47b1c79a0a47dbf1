package app

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"canopy/internal/config"
	"canopy/internal/devstack/devtest"
	"canopy/internal/egress"
	"canopy/jobs"
)

// TestNoneWaitsForAnothersConnections: while a branch has all the attempts under way that it may have, at a host that does not answer them, what is sent there for another one is sent.
func TestNoneWaitsForAnothersConnections(t *testing.T) {
	const half = jobs.AttemptPlaces / 2
	held, end := make(chan bool, half), make(chan bool)
	host := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/held" {
			held <- true
			<-end
		}
	}))
	defer host.Close()
	roots := filepath.Join(t.TempDir(), "roots.pem")
	devtest.Check(t, os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: host.Certificate().Raw}), 0o600))
	p := &Platform{Config: &config.Config{WebhookAllow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, WebhookCA: roots}}
	client := devtest.Must[*egress.Client](t)(p.egressClient(time.Minute, egress.DefaultMaxResponse))
	defer client.CloseIdle()
	var all sync.WaitGroup
	for range half {
		all.Go(func() {
			if _, err := client.Post(t.Context(), host.URL+"/held", nil, nil); err != nil {
				t.Error(err)
			}
		})
	}
	for range half {
		<-held
	}
	other := make(chan error, 1)
	go func() {
		_, err := client.Post(t.Context(), host.URL+"/other", nil, nil)
		other <- err
	}()
	select {
	case err := <-other:
		devtest.Check(t, err)
	case <-time.After(20 * time.Second):
		t.Error("it waits for a connection that others have")
	}
	close(end)
	all.Wait()
}
