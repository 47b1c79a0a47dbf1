// Package outbox is what the operations and the jobs have in common: what they write into a transaction
// for others to carry on (events with their deliveries, sealed mails, the end of a run), and how they
// tell, once it is committed, that it is there.
package outbox

import (
	"context"

	"canopy/internal/bus"
)

// WakeTopic is where processes are told that there is something in an outbox.
const WakeTopic = "outbox"

// Wake tells the relays, wherever they run, to look into the outboxes at once. It may be lost;
// they look every so often anyway.
func Wake(ctx context.Context, b *bus.Bus) { b.Publish(ctx, WakeTopic, nil) }
