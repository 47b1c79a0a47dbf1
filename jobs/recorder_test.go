package jobs

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"canopy/db"
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
