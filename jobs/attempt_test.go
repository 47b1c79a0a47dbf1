package jobs

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"canopy/db"
	"canopy/internal/egress"
	"canopy/internal/secret"
	"canopy/outbox"
)

// TestSendTellsOfTimeouts: an attempt that timed out is told apart from others, so that the lane of
// its destination can keep to less room.
func TestSendTellsOfTimeouts(t *testing.T) {
	over := make(chan struct{})
	receiver := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hangs" {
			<-over
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer receiver.Close()
	defer close(over)
	roots := x509.NewCertPool()
	roots.AddCert(receiver.Certificate())
	box, err := secret.NewBox(bytes.Repeat([]byte{9}, 32))
	if err != nil {
		t.Fatal(err)
	}
	d := &dispatcher{box: box, log: slog.New(slog.DiscardHandler), client: egress.New(egress.Options{
		Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: roots, Timeout: 300 * time.Millisecond,
	})}
	for path, want := range map[string]bool{"/hangs": true, "/refuses": false} {
		o, timedOut := d.send(t.Context(), &db.Claimed{
			DestinationID: 1, Type: "run.started", Payload: []byte("{}"), CreatedAt: time.Now(),
			URL: receiver.URL + path, Secret: outbox.SealSigningSecret(box, 1, "secret"),
		})
		if timedOut != want || o.Status != db.DeliveryPending || o.Wait != retryWaits[0] {
			t.Errorf("%s: timed out is %v, %+v", path, timedOut, o)
		}
		var log []db.Attempt
		if err := json.Unmarshal(o.Log, &log); err != nil || len(log) != 1 || log[0].Error != o.Error || log[0].DurationMs <= 0 || log[0].Kind != map[bool]string{true: "TIMEOUT", false: "STATUS"}[want] {
			t.Errorf("%s: the log is %s, %v", path, o.Log, err)
		}
	}
}
