package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/hibiken/asynq"

	"canopy/db"
)

// Companies are written into archives, and read in from them: both take long, and are tried again from their beginning.
const (
	archiveLease    = 30 * time.Second
	archiveTimeout  = 24 * time.Hour
	archiveWait     = time.Minute
	archiveAttempts = 5
	// archiveClaims is how often one is begun at most. Attempts that workers did not live to end count among these, and those of workers that were stopped.
	archiveClaims = 20
	// archivePlaces are how many of each a worker works on at the same time: a branch alone has one.
	archivePlaces = 2
)

// archiving is an attempt on what was claimed.
type archiving struct {
	// what it is, and what it does, for people.
	what, deed string
	id         int64
	attempts   int
	every      time.Duration
	renew      func(context.Context) error
	work       func(context.Context) error
	// final tells why no other attempt can do better; nil where one always may.
	final func(error) (why *string)
	// end writes down that it was done, or given up, and why, where another attempt can't do better; delay that another one follows.
	end   func(ctx context.Context, done bool, why *string) error
	delay func(context.Context, time.Duration) error
}

// attempt claims what a task is about, and makes one attempt on it. stop is closed when the worker stops: work under way is handed back at once.
func attempt[Due any](ctx context.Context, t *asynq.Task, stop <-chan struct{}, log *slog.Logger, claim func(context.Context, Due) (*archiving, error)) error {
	var due Due
	if err := json.Unmarshal(t.Payload(), &due); err != nil {
		return fmt.Errorf("payload: %w", err)
	}
	a, err := claim(ctx, due)
	if errors.Is(err, db.ErrNoRows) {
		return sayNothingToDo(t)
	}
	if err != nil {
		return err
	}
	if a.attempts > archiveClaims {
		log.WarnContext(ctx, "what takes workers down is given up: "+a.deed, a.what, a.id, "claims", a.attempts-1)
		return a.end(ctx, false, nil)
	}
	err = lease[time.Time]{every: a.every, stop: stop, renew: a.renew}.hold(ctx, a.work)
	if err := a.record(context.WithoutCancel(ctx), err, log); err != nil && !errors.Is(err, db.ErrNoRows) {
		return err
	}
	say(t, "The "+a.what+" has ended.")
	return nil
}

// record writes down what came of the attempt.
func (a *archiving) record(ctx context.Context, err error, log *slog.Logger) error {
	switch {
	case err == nil:
		return a.end(ctx, true, nil)
	case errors.Is(err, errLost), errors.Is(err, db.ErrNoRows):
		return nil
	case errors.Is(err, errStopped):
		return a.delay(ctx, 0)
	}
	if a.final != nil {
		if why := a.final(err); why != nil {
			return a.end(ctx, false, why)
		}
	}
	log.WarnContext(ctx, "an attempt to "+a.deed+" has failed", a.what, a.id, "error", err)
	if a.attempts >= archiveAttempts {
		return a.end(ctx, false, nil)
	}
	return a.delay(ctx, archiveWait)
}
