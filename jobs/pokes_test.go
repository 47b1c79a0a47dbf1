package jobs

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/lib/pq"

	"canopy/db"
	"canopy/internal/bus"
	"canopy/internal/devstack/devtest"
	"canopy/internal/redisconn"
	"canopy/outbox"
)

// TestDueByTurns: however many destinations a branch has, the first of another is the next but one; and each waits once.
func TestDueByTurns(t *testing.T) {
	q := newDeliveryRelay(nil)
	for _, d := range []db.Destined{{ID: 1, BranchID: 7}, {ID: 2, BranchID: 7}, {ID: 1, BranchID: 7}, {ID: 3, BranchID: 7}, {ID: 4, BranchID: 8}} {
		q.add(db.DueDestination{Destined: d})
	}
	var ids []int64
	for !q.due.Empty() {
		ids = append(ids, q.next().ID)
	}
	if !slices.Equal(ids, []int64{1, 4, 2, 3}) {
		t.Errorf("got %v", ids)
	}
	if q.add(db.DueDestination{Destined: db.Destined{ID: 1, BranchID: 7}}); q.due.Empty() {
		t.Error("what was told of can't wait again")
	}
}

// TestWhatIsDueIsTold: destinations come as they were told; where they are too many, or not known, the relay is to look.
func TestWhatIsDueIsTold(t *testing.T) {
	b := bus.New(nil, nil)
	defer b.Close()
	news := b.Subscribe(t.Context(), outbox.DueTopic)
	told := []db.Destined{{ID: 1, BranchID: 7}, {ID: 2}}
	for _, tc := range []struct{ told, want []db.Destined }{{told, told}, {nil, nil}, {make([]db.Destined, 1001), nil}} {
		outbox.WakeDeliveries(t.Context(), b, tc.told)
		if got := outbox.Due(<-news); !slices.Equal(got, tc.want) {
			t.Errorf("got %v of %d", got, len(tc.told))
		}
	}
}

// TestLooksAreAskedForTogether: however often somebody asks the relay to look, it looks once in a while, and between two looks it goes on
// telling of what it knows.
func TestLooksAreAskedForTogether(t *testing.T) {
	room := newRoom(t)
	link := bus.New(nil, room.log)
	defer link.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := newDeliveryRelay(&relay{store: room.store, bus: link, log: room.log})
	before := room.store.Executed()
	over := make(chan struct{})
	go func() {
		defer close(over)
		r.watch(ctx)
	}()
	devtest.Eventually(t, "the relay looks", func() bool { return room.store.Executed() > before })
	begun := time.Now()
	for range 500 {
		outbox.WakeDeliveries(ctx, link, nil)
		time.Sleep(100 * time.Microsecond)
	}
	devtest.Eventually(t, "the relay looks again", func() bool { return room.store.Executed() > before+1 })
	looks, most := room.store.Executed()-before, 2+int64(time.Since(begun)/lookPause)+int64(time.Since(begun)/relayEvery)+1
	cancel()
	<-over
	if looks > most {
		t.Errorf("%d looks, at most %d are right", looks, most)
	}
}

// TestWhatIsLookedForIsTold: the queue is told of what a look has found that was asked for, without waiting for anything else.
func TestWhatIsLookedForIsTold(t *testing.T) {
	r, emit := newPokes(t)
	emit(5)
	r.hear([]byte("null"))
	if r.advance(t.Context()); len(r.poked) != 1 {
		t.Error("the queue is not told")
	}
}

// TestWhatStandsBeforeALookIsLookedFor: where somebody asks for a look while another is half way, all is looked at.
func TestWhatStandsBeforeALookIsLookedFor(t *testing.T) {
	r, emit := newPokes(t)
	var after []int64
	for destination := range int64(db.LookWidth + 5) {
		after = append(after, destination+10)
	}
	emit(after...)
	devtest.Check(t, r.look(t.Context()))
	emit(5)
	r.hear([]byte("null"))
	for r.asked {
		devtest.Check(t, r.look(t.Context()))
	}
	if !r.known[5] {
		t.Error("the destination before the others is not found")
	}
}

// TestWhatWasToldIsPassedOver: a look between the news of a delivery and its attempt does not tell the queue again, until the news may be lost.
func TestWhatWasToldIsPassedOver(t *testing.T) {
	r, emit := newPokes(t)
	emit(5)
	r.hear([]byte(`[{"ID":5,"BranchID":1}]`))
	devtest.Check(t, r.pokeNext(t.Context()))
	if devtest.Check(t, r.look(t.Context())); !r.due.Empty() {
		t.Error("the queue is told twice")
	}
	last := r.poked[5]
	r.poked[5] = poke{last.oldest, last.at.Add(-pokeAgain)}
	if devtest.Check(t, r.look(t.Context())); r.due.Empty() {
		t.Error("the queue is not told again")
	}
}

// newPokes is a relay of deliveries with a queue, and what writes a delivery to each of some destinations down.
func newPokes(t *testing.T) (*deliveryRelay, func(destinations ...int64)) {
	t.Helper()
	room := newRoom(t)
	client, err := redisconn.Client(devtest.Redis(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	alone := bus.New(nil, room.log)
	t.Cleanup(alone.Close)
	return newDeliveryRelay(&relay{store: room.store, bus: alone, client: asynq.NewClientFromRedisClient(client), log: room.log}), func(destinations ...int64) {
		room.sql(t, `
			WITH emitted AS (INSERT INTO webhook_deliveries (customer_id, destination_id, event_id, type, payload)
				SELECT 1, unnest($1::bigint[]), 'evt_5', 'run.failed', '' RETURNING id, destination_id)
			INSERT INTO webhook_due (destination_id, delivery_id) SELECT destination_id, id FROM emitted`, pq.Array(destinations))
	}
}
