package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"canopy/db"
	"canopy/internal/secret"
)

// KeysEvery is how often each process reads the signing keys, and writes down which key it seals with.
const KeysEvery = 30 * time.Second

// sealingIdle is after how long without a word no process seals with a key any more.
const sealingIdle = 3 * KeysEvery

// How long a rotation waits for what others hold, and how often it looks whether a key is idle.
const (
	busyWait = time.Second
	idleLook = 5 * time.Second
)

// CheckSealingKeys tells whether the box has every key that something in the database may be sealed with,
// and writes down that its newest one is among them from now on.
func CheckSealingKeys(ctx context.Context, s *db.Store, box *secret.Box) error {
	if err := CompareSealingKeys(ctx, s, box); err != nil {
		return err
	}
	return UseSealingKey(ctx, s, box)
}

// CompareSealingKeys tells whether the box has every key that something in the database may be sealed with, and writes nothing.
func CompareSealingKeys(ctx context.Context, s *db.Store, box *secret.Box) error {
	keys, err := s.SealingKeys(ctx)
	if err != nil {
		return err
	}
	var lacking []string
	for _, k := range keys {
		if !slices.Contains(box.KeyIDs(), k.ID) {
			lacking = append(lacking, fmt.Sprintf("%s (of %s)", k.ID, k.CreatedAt.UTC().Format("2006-01-02")))
		}
	}
	if len(lacking) > 0 {
		return fmt.Errorf("CANOPY_SECRET_KEY lacks a key that the database is sealed with, %s; it has %s: "+
			"put it behind the newest one, separated by a comma, until `canopy secret-key rotate` says that it can be taken out",
			strings.Join(lacking, " and "), strings.Join(box.KeyIDs(), " and "))
	}
	return nil
}

// UseSealingKey writes down that this process seals with the newest key of the box. While the database takes
// no writes, nothing is sealed either.
func UseSealingKey(ctx context.Context, s *db.Store, box *secret.Box) error {
	if err := s.UseSealingKey(ctx, box.KeyIDs()[0]); !errors.Is(err, db.ErrReadOnly) {
		return err
	}
	return nil
}

// SealersBeside gives the keys, other than the newest one of the box, that a process was lately seen to seal with.
func SealersBeside(ctx context.Context, s *db.Store, box *secret.Box) (ids []string, err error) {
	keys, err := s.SealingKeys(ctx)
	for _, k := range keys {
		if k.ID != box.KeyIDs()[0] && k.Idle < sealingIdle.Seconds() {
			ids = append(ids, k.ID)
		}
	}
	return ids, err
}

// SealingRotation is what a rotation of the secret key has come to.
type SealingRotation struct {
	// Newest is the key that everything is sealed with now, but for what is Lost: values that no key opens.
	Newest string
	Lost   []db.Renewal
	// Free are the keys that can be taken out of CANOPY_SECRET_KEY, InUse those that a running process seals
	// with.
	Free, InUse []string
}

// RotateSealingKey seals anew, with the newest key of the box, whatever is sealed with an older one, and tells
// which keys are no longer needed. It may run beside other processes and more than once; until it has
// ended, each of the keys is needed. told hears of its progress.
func RotateSealingKey(ctx context.Context, s *db.Store, box *secret.Box, told func(db.Renewal)) (*SealingRotation, error) {
	if err := s.KeepSealingKeys(ctx, box.KeyIDs()); err != nil {
		return nil, err
	}
	r := &sealingRotation{store: s, box: box, told: told}
	for {
		before, err := s.SealingKeys(ctx)
		if err != nil {
			return nil, err
		}
		if r.result, err = r.renewAll(ctx); err != nil {
			return nil, err
		}
		if again, err := r.free(ctx, before); err != nil || !again {
			return r.result, err
		}
	}
}

type sealingRotation struct {
	store  *db.Store
	box    *secret.Box
	told   func(db.Renewal)
	result *SealingRotation
}

// renewAll walks through everything until a walk finds nothing to do.
func (r *sealingRotation) renewAll(ctx context.Context) (*SealingRotation, error) {
	for {
		all, err := r.store.RenewSealed(ctx, r.box, r.told)
		if err != nil {
			return nil, err
		}
		result, renewed, busy := &SealingRotation{Newest: r.box.KeyIDs()[0]}, 0, 0
		for _, c := range all {
			renewed, busy = renewed+c.Renewed, busy+c.Busy
			if c.Lost > 0 {
				result.Lost = append(result.Lost, c)
			}
		}
		if renewed+busy == 0 {
			return result, nil
		}
		if busy > 0 {
			if err := pause(ctx, busyWait); err != nil {
				return nil, err
			}
		}
	}
}

// free forgets the older keys that nothing is sealed with. before is what was known of the keys when the last
// walk began: with one that was idle by then, nothing can have been sealed behind it. again: a key became idle
// only later.
func (r *sealingRotation) free(ctx context.Context, before []db.SealingKey) (again bool, err error) {
	older := slices.DeleteFunc(before, func(k db.SealingKey) bool { return k.ID == r.result.Newest })
	for _, k := range older {
		if k.Idle >= sealingIdle.Seconds() {
			continue
		}
		if idle, err := r.becomesIdle(ctx, k); err != nil || idle {
			return idle, err
		}
	}
	for _, k := range older {
		free := k.Idle >= sealingIdle.Seconds()
		if free {
			if free, err = r.store.DropSealingKey(ctx, k); err != nil {
				return false, err
			}
		}
		if free {
			r.result.Free = append(r.result.Free, k.ID)
		} else {
			r.result.InUse = append(r.result.InUse, k.ID)
		}
	}
	return false, nil
}

// becomesIdle waits until no process can be sealing with a key; false when one is seen that does.
func (r *sealingRotation) becomesIdle(ctx context.Context, was db.SealingKey) (bool, error) {
	for {
		keys, err := r.store.SealingKeys(ctx)
		if err != nil {
			return false, err
		}
		i := slices.IndexFunc(keys, func(k db.SealingKey) bool { return k.ID == was.ID })
		switch {
		case i < 0, keys[i].Idle >= sealingIdle.Seconds():
			return true, nil
		case keys[i].UsedAt != nil && (was.UsedAt == nil || keys[i].UsedAt.After(*was.UsedAt)):
			return false, nil
		}
		if err := pause(ctx, idleLook); err != nil {
			return false, err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
