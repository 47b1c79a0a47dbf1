package jobs

import (
	"bytes"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"canopy/db"
	"canopy/internal/bus"
	"canopy/internal/devstack/devtest"
)

// TestUnstorableOutcome: a text that PostgreSQL refuses costs its own outcome that text, and the
// others of the batch nothing.
func TestUnstorableOutcome(t *testing.T) {
	var said bytes.Buffer
	room := newRoom(t)
	r := &recorder{store: room.store, log: slog.New(slog.NewTextHandler(&said, nil))}
	lease := time.Now().Truncate(time.Microsecond)
	room.sql(t, `
		WITH emitted AS (INSERT INTO webhook_deliveries (customer_id, destination_id, event_id, type, payload)
			SELECT 1, 1, 'evt_' || n, 'run.failed', '' FROM generate_series(1, 7) n RETURNING id, destination_id)
		INSERT INTO webhook_due (destination_id, begun, next_attempt_at, delivery_id, claimed_at) SELECT destination_id, true, $1, id, now() FROM emitted`, lease)
	list := make([]db.Outcome, 7)
	for i := range list {
		list[i] = db.Outcome{ID: int64(i + 1), DestinationID: 1, LeasedUntil: lease, Status: db.DeliveryFailed, Log: []byte(`[{"error":"x"}]`)}
	}
	list[2].Error = "a\x00b"
	list[5].Log = []byte(`[{"error":"x","response":"\u0000"}]`)
	if written := r.persist(list); len(written) != len(list) {
		t.Errorf("written: %v", written)
	}
	if n := room.number(t, `SELECT count(*) FROM webhook_deliveries WHERE jsonb_array_length(log) = 1 AND (log->0->>'error') <> '' AND log->0->>'response' IS NULL`); n != 7 {
		t.Errorf("%d attempts are logged", n)
	}
	if text := said.String(); strings.Count(text, "can't be stored") != 2 || !strings.Contains(text, "delivery=3") || !strings.Contains(text, "delivery=6") || strings.Contains(text, "could not be written down") {
		t.Errorf("said: %s", text)
	}
}

// TestHeldOutcome: an outcome whose delivery somebody else holds, as another worker's claim does whose snapshot is from before this one's, is written once nobody does, and keeps no other
// one waiting.
func TestHeldOutcome(t *testing.T) {
	room := newRoom(t)
	r := newRecorder(room.store, bus.New(nil, room.log), room.log)
	defer r.close()
	lease := time.Now().Truncate(time.Microsecond)
	room.sql(t, `
		WITH emitted AS (INSERT INTO webhook_deliveries (customer_id, destination_id, event_id, type, payload)
			SELECT 1, 1, 'evt_' || n, 'run.failed', '' FROM generate_series(1, 2) n RETURNING id, destination_id)
		INSERT INTO webhook_due (destination_id, begun, next_attempt_at, delivery_id, claimed_at) SELECT destination_id, true, $1, id, now() FROM emitted`, lease)
	record := func(id int64) bool {
		return r.record(t.Context(), db.Outcome{ID: id, DestinationID: 1, LeasedUntil: lease, Status: db.DeliveryDelivered, HTTPStatus: 204, Log: []byte(`[{}]`)})
	}
	pool := devtest.Must[*sqlx.DB](t)(db.Connect(room.url, db.Options{}))
	defer func() { _ = pool.Close() }()
	other := pool.MustBeginTx(t.Context(), nil)
	defer func() { _ = other.Rollback() }()
	if _, err := other.ExecContext(t.Context(), `SELECT FROM webhook_due WHERE delivery_id = 1 FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	first := make(chan bool)
	before := room.store.Executed()
	go func() { first <- record(1) }()
	for room.store.Executed() < before+3 { // it is tried again
		select {
		case <-first:
			t.Fatal("the outcome is given up")
		default:
			runtime.Gosched()
		}
	}
	if !record(2) {
		t.Error("another outcome is not written meanwhile")
	}
	if err := other.Rollback(); err != nil {
		t.Fatal(err)
	}
	if !<-first || room.number(t, `SELECT count(*) FROM webhook_deliveries WHERE status = 'delivered' AND log = '[{}]'`) != 2 {
		t.Error("the outcome is not written")
	}
	if record(1) {
		t.Error("the outcome is written twice")
	}
}
