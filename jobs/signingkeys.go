package jobs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"canopy/db"
	"canopy/internal/secret"
	"canopy/internal/token"
)

// The life of a signing key: it is published before it signs, so that every validator has it, and
// stays published for longer than the tokens that it signed are valid.
const (
	signingKeyAge     = 90 * 24 * time.Hour
	signingKeyNotice  = time.Hour
	signingKeyOverlap = time.Hour
)

// EnsureSigningKey makes the platform's first signing key, if there is none.
func EnsureSigningKey(ctx context.Context, s *db.Store, box *secret.Box) error {
	return s.Tx(ctx, func(tx *db.Store) error {
		if err := tx.LockSigningKeys(ctx); err != nil {
			return err
		}
		keys, err := tx.SigningKeys(ctx)
		if err != nil || len(keys) > 0 {
			return err
		}
		_, err = addSigningKey(ctx, tx, box, 0)
		return err
	})
}

// RotateSigningKey adds a key that signs after the notice; the others stay published until the
// tokens they sign until then have expired. It gives the new key's id.
func RotateSigningKey(ctx context.Context, s *db.Store, box *secret.Box, notice time.Duration) (kid string, err error) {
	err = s.Tx(ctx, func(tx *db.Store) error {
		if err := tx.LockSigningKeys(ctx); err != nil {
			return err
		}
		kid, err = addSigningKey(ctx, tx, box, notice)
		return err
	})
	return kid, err
}

// RetireSigningKey ends a published key at once, with every token that it has signed; without an id it is the
// one that signs at present. next is a new key that signs from now on, "" where another one signs already and goes on.
func RetireSigningKey(ctx context.Context, s *db.Store, box *secret.Box, kid string) (retired, next string, err error) {
	err = s.Tx(ctx, func(tx *db.Store) error {
		if err := tx.LockSigningKeys(ctx); err != nil {
			return err
		}
		keys, err := tx.SigningKeys(ctx)
		if err != nil {
			return err
		}
		signs := signingNow(keys)
		retired = cmp.Or(kid, signs)
		at := slices.IndexFunc(keys, func(k db.SigningKey) bool { return k.KID == retired })
		if at < 0 {
			return fmt.Errorf("no signing key %q is published, but %s", retired, strings.Join(kids(keys), ", "))
		}
		// One that is yet to sign was to follow the others, which retire soon.
		follows := keys[at].RetiresAt == nil
		if err := tx.DropSigningKey(ctx, retired); err != nil || retired != signs && !follows {
			return err
		}
		next, err = addSigningKey(ctx, tx, box, 0)
		return err
	})
	return retired, next, err
}

// signingNow gives the id of the key that became active last, "" if there is none.
func signingNow(keys []db.SigningKey) (kid string) {
	for _, k := range keys { // in that order
		if !k.ActivatesAt.After(time.Now()) {
			kid = k.KID
		}
	}
	return kid
}

func kids(keys []db.SigningKey) (list []string) {
	for _, k := range keys {
		list = append(list, k.KID)
	}
	return list
}

// rotateByAge adds a key when the newest one has become old; where none is left, one that signs at once.
func rotateByAge(ctx context.Context, s *db.Store, box *secret.Box) error {
	return s.Tx(ctx, func(tx *db.Store) error {
		if err := tx.LockSigningKeys(ctx); err != nil {
			return err
		}
		keys, err := tx.SigningKeys(ctx)
		if err != nil || len(keys) > 0 && time.Since(keys[len(keys)-1].CreatedAt) < signingKeyAge {
			return err
		}
		notice := signingKeyNotice
		if len(keys) == 0 {
			notice = 0
		}
		_, err = addSigningKey(ctx, tx, box, notice)
		return err
	})
}

func addSigningKey(ctx context.Context, tx *db.Store, box *secret.Box, notice time.Duration) (string, error) {
	key, err := token.GenerateKey()
	if err != nil {
		return "", err
	}
	raw, err := key.MarshalPrivate()
	if err != nil {
		return "", err
	}
	now := time.Now()
	row := db.SigningKey{KID: key.ID, PrivateKey: db.SealedPrivateKeys.Seal(box, key.ID, raw), ActivatesAt: now.Add(notice)}
	return key.ID, tx.InsertSigningKey(ctx, row, now.Add(notice+signingKeyOverlap))
}

// LoadSigningKeys brings a key ring up to date.
func LoadSigningKeys(ctx context.Context, s *db.Store, box *secret.Box, ring *token.KeyRing) error {
	rows, err := s.SigningKeys(ctx)
	if err != nil {
		return err
	}
	set := make([]token.RingKey, 0, len(rows))
	for _, row := range rows {
		raw, err := db.SealedPrivateKeys.Open(box, row.KID, row.PrivateKey)
		if err != nil {
			return err
		}
		key, err := token.ParsePrivate(raw)
		if err != nil {
			return fmt.Errorf("signing key %s: %w", row.KID, err)
		}
		k := token.RingKey{Key: key, ActivatesAt: row.ActivatesAt}
		if row.RetiresAt != nil {
			k.RetiresAt = *row.RetiresAt
		}
		set = append(set, k)
	}
	ring.Replace(set)
	return nil
}
