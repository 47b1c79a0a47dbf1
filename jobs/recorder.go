package jobs

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"strconv"
	"sync"
	"time"

	"canopy/db"
	"canopy/internal/bus"
	"canopy/internal/egress"
	"canopy/outbox"
)

// The recorder's batches, and how long it tries to write one: while the database is away, outcomes
// wait here, and with them the room of their lanes.
const (
	outcomeBatch = 256
	outcomePause = 100 * time.Microsecond
	recordEvery  = 200 * time.Millisecond
	recordFor    = 2 * deliveryLease
	// An outcome whose delivery somebody else holds at the moment comes again, soon at first, until its lease is about to run out.
	heldPause = 5 * time.Millisecond
	heldFor   = deliveryLease - egress.DefaultTimeout
)

// recorder writes the outcomes of attempts down, many in one transaction.
type recorder struct {
	store *db.Store
	bus   *bus.Bus
	log   *slog.Logger
	in    chan recording
	done  sync.WaitGroup
}

type recording struct {
	outcome db.Outcome
	came    chan came
}

// came is what came of recording an outcome: stands tells whether the claim behind it does.
type came struct{ stands, written bool }

func newRecorder(store *db.Store, b *bus.Bus, log *slog.Logger) *recorder {
	r := &recorder{store: store, bus: b, log: log, in: make(chan recording, outcomeBatch)}
	r.done.Go(r.run)
	return r
}

// record writes an outcome down and tells whether the claim behind it was still the last one.
func (r *recorder) record(_ context.Context, o db.Outcome) bool {
	rec := recording{o, make(chan came, 1)}
	for pause, until := heldPause, time.Now().Add(heldFor); ; pause = min(2*pause, recordEvery) {
		r.in <- rec
		if c := <-rec.came; c.written || !c.stands || time.Now().After(until) {
			return c.written
		}
		time.Sleep(pause)
	}
}

// close writes what is left. Nothing may be recorded after it.
func (r *recorder) close() {
	close(r.in)
	r.done.Wait()
}

func (r *recorder) run() {
	for rec := range r.in {
		r.write(r.gather(rec))
	}
}

// gather waits a moment for more outcomes to write along.
func (r *recorder) gather(first recording) []recording {
	batch := []recording{first}
	pause := time.NewTimer(outcomePause)
	defer pause.Stop()
	for len(batch) < outcomeBatch {
		select {
		case rec, open := <-r.in:
			if !open {
				return batch
			}
			batch = append(batch, rec)
		case <-pause.C:
			return batch
		}
	}
	return batch
}

func (r *recorder) write(batch []recording) {
	list := make([]db.Outcome, len(batch))
	for i, rec := range batch {
		list[i] = rec.outcome
	}
	standing := r.persist(list)
	touched := map[int64][]byte{}
	for _, rec := range batch {
		written, stands := standing[rec.outcome.ID]
		if written {
			to := rec.outcome.DestinationID
			if len(touched[to]) > 0 {
				touched[to] = append(touched[to], ',')
			}
			touched[to] = strconv.AppendInt(touched[to], rec.outcome.ID, 10)
		}
		rec.came <- came{stands, written}
	}
	for to, ids := range touched {
		r.bus.Publish(context.Background(), outbox.DeliveriesTopic(to), ids)
	}
}

// persist writes outcomes, again and again while the database is away, and gives those whose claim stands, with whether they are written. What
// can't be written in the end is attempted again when its lease has run out.
func (r *recorder) persist(list []db.Outcome) map[int64]bool {
	ctx, cancel := context.WithTimeout(context.Background(), recordFor)
	defer cancel()
	for {
		standing, err := r.store.RecordOutcomes(ctx, list)
		if err == nil {
			return standing
		}
		if db.IsUnstorable(err) {
			return r.persistApart(list)
		}
		r.log.Warn("the outcomes of attempts could not be written down", "attempts", len(list), "error", err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(recordEvery):
		}
	}
}

// persistApart writes outcomes in halves, down to the one that holds a text which can't be stored:
// that one is written without its texts, and keeps none of the others waiting.
func (r *recorder) persistApart(list []db.Outcome) map[int64]bool {
	if len(list) == 1 {
		r.log.Error("the text of an attempt's outcome can't be stored", "delivery", list[0].ID)
		o := withoutTexts(list[0])
		if o.Error == list[0].Error && string(o.Log) == string(list[0].Log) {
			return nil // it is not the texts
		}
		return r.persist([]db.Outcome{o})
	}
	standing := map[int64]bool{}
	maps.Copy(standing, r.persist(list[:len(list)/2]))
	maps.Copy(standing, r.persist(list[len(list)/2:]))
	return standing
}

// withoutTexts is an outcome with nothing in it that came from outside, but its times and status.
func withoutTexts(o db.Outcome) db.Outcome {
	var log []db.Attempt
	_ = json.Unmarshal(o.Log, &log) // it is this platform's own
	for i := range log {
		if log[i].Response = ""; log[i].Error != "" {
			log[i].Error = unstorable
		}
	}
	if o.Error != "" {
		o.Error = unstorable
	}
	o.Log, _ = json.Marshal(log) // a struct of times, numbers and texts
	return o
}

// unstorable stands for a text that can't be stored.
const unstorable = "what came back can't be stored"
