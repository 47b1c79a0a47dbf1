package app

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// owedKey is where a cell's processes note that the replica is late, for those that begin while the home is away: these can't ask how late it is.
const owedKey = "canopy:owed"

// owedWait bounds how long Redis is waited for: the note is for the worst, and keeps nobody.
const owedWait = time.Second

// owes gives what the home had counted, when it answered last, as long ago as the replica may be late, and has not arrived; 0 where nothing has to be there by then.
func (w *homeWatch) owes() (pulse int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.asked {
		if w.heard.Sub(a.at) > w.most {
			pulse = a.pulse
		}
	}
	return pulse
}

// remember reads what was noted, before anybody asks.
func (w *homeWatch) remember(ctx context.Context) error {
	if w.notes == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, owedWait)
	defer cancel()
	owed, err := w.notes.Get(ctx, owedKey).Int64()
	if err != nil {
		if errors.Is(err, redis.Nil) {
			err = nil
		}
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.owed = owed
	return nil
}

// note writes down that the replica is late, and takes it back once it is not.
func (w *homeWatch) note(ctx context.Context) error {
	owed := w.owes()
	w.mu.Lock()
	same := owed == w.owed || w.heard.IsZero()
	w.mu.Unlock()
	if w.notes == nil || same {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, owedWait)
	defer cancel()
	var err error
	if owed == 0 {
		err = w.notes.Del(ctx, owedKey).Err()
	} else {
		err = w.notes.Set(ctx, owedKey, owed, 0).Err()
	}
	if err == nil {
		w.mu.Lock()
		w.owed = owed
		w.mu.Unlock()
	}
	return err
}
