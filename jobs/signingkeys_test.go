package jobs

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"canopy/internal/secret"
	"canopy/internal/token"
)

func (r *room) ring(t *testing.T) *token.KeyRing {
	t.Helper()
	ring := &token.KeyRing{}
	if err := LoadSigningKeys(t.Context(), r.store, r.box, ring); err != nil {
		t.Fatal(err)
	}
	return ring
}

func TestFirstSigningKey(t *testing.T) {
	r := newRoom(t)
	var starts sync.WaitGroup
	for range 10 {
		starts.Go(func() {
			if err := EnsureSigningKey(t.Context(), r.store, r.box); err != nil {
				t.Error(err)
			}
		})
	}
	starts.Wait()
	if n := r.number(t, `SELECT count(*) FROM signing_keys`); n != 1 {
		t.Fatalf("%d keys after ten starts at once", n)
	}
	key, ok := r.ring(t).Signing(time.Now())
	if !ok {
		t.Fatal("no key signs")
	}
	raw, err := key.MarshalPrivate()
	if err != nil {
		t.Fatal(err)
	}
	if r.number(t, `SELECT count(*) FROM signing_keys WHERE position($1::bytea IN private_key) > 0`, raw) != 0 {
		t.Error("the private key lies open in the database")
	}
	t.Run("another sealing key does not open it", func(t *testing.T) {
		other, err := secret.NewBox(bytes.Repeat([]byte{8}, 32))
		if err != nil {
			t.Fatal(err)
		}
		if err := LoadSigningKeys(t.Context(), r.store, other, &token.KeyRing{}); err == nil {
			t.Error("opened")
		}
	})
}

func TestRotation(t *testing.T) {
	r := newRoom(t)
	if err := EnsureSigningKey(t.Context(), r.store, r.box); err != nil {
		t.Fatal(err)
	}
	first, _ := r.ring(t).Signing(time.Now())
	t.Run("not before its time", func(t *testing.T) {
		if err := rotateByAge(t.Context(), r.store, r.box); err != nil {
			t.Fatal(err)
		}
		r.sql(t, `UPDATE signing_keys SET created_at = now() - interval '89 days'`)
		if err := rotateByAge(t.Context(), r.store, r.box); err != nil {
			t.Fatal(err)
		}
		if n := r.number(t, `SELECT count(*) FROM signing_keys`); n != 1 {
			t.Errorf("%d keys", n)
		}
	})
	r.sql(t, `UPDATE signing_keys SET created_at = now() - interval '91 days'`)
	for range 3 {
		if err := rotateByAge(t.Context(), r.store, r.box); err != nil {
			t.Fatal(err)
		}
	}
	if n := r.number(t, `SELECT count(*) FROM signing_keys`); n != 2 {
		t.Fatalf("%d keys, want one more", n)
	}
	ring := r.ring(t)
	if key, _ := ring.Signing(time.Now()); key.ID != first.ID {
		t.Error("the new key signs before validators can have it")
	}
	later, _ := ring.Signing(time.Now().Add(signingKeyNotice + time.Minute))
	if later.ID == first.ID {
		t.Error("the old key signs for ever")
	}
	if _, ok := ring.Key(first.ID); !ok {
		t.Error("the old key is not published any more")
	}
	if _, ok := ring.Key(later.ID); !ok {
		t.Error("the new key is not published yet")
	}
	t.Run("the old key goes when its tokens have expired", func(t *testing.T) {
		if n := r.number(t, `SELECT count(*) FROM signing_keys WHERE retires_at > now() + $1::bigint * interval '1 second'`, int64((signingKeyNotice + 15*time.Minute).Seconds())); n != 1 {
			t.Errorf("%d keys retire later than their last token expires", n)
		}
		r.sql(t, `UPDATE signing_keys SET activates_at = activates_at - interval '3 hours', retires_at = retires_at - interval '3 hours'`)
		ring := r.ring(t)
		if _, ok := ring.Key(first.ID); ok {
			t.Error("still published")
		}
		if key, ok := ring.Signing(time.Now()); !ok || key.ID != later.ID {
			t.Error("the new key does not sign")
		}
	})
	t.Run("by hand, at once", func(t *testing.T) {
		kid, err := RotateSigningKey(t.Context(), r.store, r.box, 0)
		if err != nil {
			t.Fatal(err)
		}
		ring := r.ring(t)
		if key, _ := ring.Signing(time.Now()); key.ID != kid {
			t.Errorf("%s signs, want %s", key.ID, kid)
		}
		if _, ok := ring.Key(later.ID); !ok {
			t.Error("tokens of the one before are refused at once")
		}
	})
}

// TestRetirementOfTheNextKey: with the key that was to follow gone, another one follows, so that there is never none.
func TestRetirementOfTheNextKey(t *testing.T) {
	r := newRoom(t)
	if err := EnsureSigningKey(t.Context(), r.store, r.box); err != nil {
		t.Fatal(err)
	}
	pending, err := RotateSigningKey(t.Context(), r.store, r.box, signingKeyNotice)
	if err != nil {
		t.Fatal(err)
	}
	retired, next, err := RetireSigningKey(t.Context(), r.store, r.box, pending)
	if err != nil || retired != pending || next == "" {
		t.Errorf("retired %q, %q follows: %v", retired, next, err)
	}
	for _, later := range []time.Duration{0, 24 * time.Hour} {
		if key, ok := r.ring(t).Signing(time.Now().Add(later)); !ok || key.ID != next {
			t.Errorf("in %v it does not sign; another does: %v", later, ok)
		}
	}
}

// TestAKeyInPlaceOfNone signs at once, and not after the notice of one that follows another.
func TestAKeyInPlaceOfNone(t *testing.T) {
	r := newRoom(t)
	if err := rotateByAge(t.Context(), r.store, r.box); err != nil {
		t.Fatal(err)
	}
	if _, ok := r.ring(t).Signing(time.Now()); !ok {
		t.Error("no key signs")
	}
}
