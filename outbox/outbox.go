// Package outbox is what the operations and the jobs have in common: what they write into a transaction
// for others to carry on (events with their deliveries, sealed mails, the end of a run), and how they
// tell, once it is committed, that it is there.
package outbox

import (
	"context"
	"encoding/json"

	"canopy/db"
	"canopy/internal/bus"
)

// WakeTopic is where processes are told that there is something in an outbox, of deliveries apart.
const WakeTopic = "outbox"

// DueTopic is where they are told of deliveries: to which destinations, as Due reads it.
const DueTopic = "due"

// Wake tells the relays, wherever they run, to look into the outboxes at once. It may be lost;
// they look every so often anyway.
func Wake(ctx context.Context, b *bus.Bus) { b.Publish(ctx, WakeTopic, nil) }

// mostDue is how many destinations are told by name: more are looked for.
const mostDue = 1000

// WakeDeliveries tells the relays of destinations with something to deliver; where those are not known, it has them
// look for them all. It may be lost, too.
func WakeDeliveries(ctx context.Context, b *bus.Bus, to []db.Destined) {
	if len(to) > mostDue {
		to = nil
	}
	raw, _ := json.Marshal(to) // numbers always marshal
	b.Publish(ctx, DueTopic, raw)
}

// Due reads what DueTopic tells; nothing where the relay is to look by itself.
func Due(message []byte) (to []db.Destined) {
	_ = json.Unmarshal(message, &to) // what can't be read is looked for
	return to
}
