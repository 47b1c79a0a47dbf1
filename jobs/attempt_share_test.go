package jobs

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"canopy/internal/bus"
	"canopy/internal/devstack/devtest"
	"canopy/internal/egress"
	"canopy/internal/redisconn"
	"canopy/internal/share"
	"canopy/outbox"
)

// TestAttemptsKeepNobodyWaiting: while one branch has all the attempts under way that it can have, to many
// destinations that hang, a delivery of another gets out.
func TestAttemptsKeepNobodyWaiting(t *testing.T) {
	const greedy, modest, places = 2, 3, 8
	begun, end := make(chan struct{}, 100), make(chan struct{})
	quiet := make(chan struct{}, 1)
	receiver := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/quiet" {
			quiet <- struct{}{}
			return
		}
		begun <- struct{}{}
		<-end
	}))
	defer receiver.Close()
	r := newRoom(t)
	r.sql(t, `INSERT INTO regions (id, code, name) VALUES (1, 'r', 'R')`)
	for id := 1; id <= modest; id++ {
		r.sql(t, `INSERT INTO customers (id, parent_id, name, region_id) VALUES ($1::bigint, CASE WHEN $1::bigint > 1 THEN 1 END, 'C', 1)`, id)
	}
	destination := func(id, customer int64, path string) {
		r.sql(t, `INSERT INTO webhook_destinations (id, customer_id, url, secret) VALUES ($1, $2, $3, $4)`,
			id, customer, receiver.URL+path, outbox.SealSigningSecret(r.box, id, "secret"))
		r.sql(t, `
			WITH emitted AS (INSERT INTO webhook_deliveries (customer_id, destination_id, event_id, type, payload)
				SELECT $1, $2, 'e' || g, 'agent.created', '{}' FROM generate_series(1, 4) g RETURNING id, destination_id)
			INSERT INTO webhook_due (destination_id, delivery_id) SELECT destination_id, id FROM emitted`, customer, id)
	}
	for id := range int64(places) {
		destination(100+id, greedy, fmt.Sprint("/hang/", id))
	}
	roots := x509.NewCertPool()
	roots.AddCert(receiver.Certificate())
	client, err := redisconn.Client(devtest.Redis(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	link := bus.New(client, r.log)
	defer link.Close()
	ctx, stop := context.WithCancel(t.Context())
	d := newDispatcher(ctx, &Worker{
		Store: r.store, Bus: link, Box: r.box, Log: r.log,
		Egress: egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: roots, Timeout: time.Minute}),
	})
	d.places = share.NewGate[int64](places)
	defer func() {
		stop()
		close(end)
		d.drain()
	}()
	relayed := func() {
		found, err := r.store.LookForDue(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range found.Due {
			d.poke(x.BranchID, x.ID)
		}
	}
	relayed()
	for range places / 2 {
		<-begun
	}
	destination(200, modest, "/quiet")
	relayed()
	select {
	case <-quiet:
	case <-begun:
		t.Error("the greedy branch has more than half of the attempts")
	case <-time.After(50 * time.Second):
		t.Error("the delivery waits for those that hang")
	}
}
