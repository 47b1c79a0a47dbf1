package jobs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"canopy/db"
	"canopy/internal/secret"
	"canopy/internal/token"
)

func boxOf(t *testing.T, fills ...byte) *secret.Box {
	t.Helper()
	var keys [][]byte
	for _, f := range fills {
		keys = append(keys, bytes.Repeat([]byte{f}, 32))
	}
	box, err := secret.NewBox(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return box
}

// idle lets the time go by in which a process may still seal with a key.
func (r *room) idle(t *testing.T, box *secret.Box) {
	t.Helper()
	r.sql(t, `UPDATE sealing_keys SET used_at = now() - interval '1 hour' WHERE id = $1`, box.KeyIDs()[0])
}

// mails puts sealed mails into the outbox.
func (r *room) mails(t *testing.T, n int, box *secret.Box) {
	t.Helper()
	r.sql(t, `INSERT INTO mail_outbox (kind, message) SELECT 'test', $2 FROM generate_series(1, $1)`, n, db.SealedMails.Seal(box, 0, []byte("{}")))
}

// openable counts the mails that a box opens.
func (r *room) openable(t *testing.T, box *secret.Box) (n int) {
	t.Helper()
	c, err := db.Connect(r.url, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	var sealed [][]byte
	if err := c.Select(&sealed, `SELECT message FROM mail_outbox`); err != nil {
		t.Fatal(err)
	}
	for _, s := range sealed {
		if _, err := db.SealedMails.Open(box, 0, s); err == nil {
			n++
		}
	}
	return n
}

// rotate rotates to the first key of a box, whose others are idle.
func (r *room) rotate(t *testing.T, box *secret.Box) *SealingRotation {
	t.Helper()
	got, err := RotateSealingKey(t.Context(), r.store, box, func(db.Renewal) {})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestCheckSealingKeys(t *testing.T) {
	r := newRoom(t)
	first, both, second := boxOf(t, 1), boxOf(t, 2, 1), boxOf(t, 2)
	for _, box := range []*secret.Box{first, first, boxOf(t, 1, 2), both} {
		if err := CheckSealingKeys(t.Context(), r.store, box); err != nil {
			t.Fatal(err)
		}
	}
	// Each of them may have sealed something by now.
	for _, box := range []*secret.Box{first, second, boxOf(t, 3)} {
		err := CheckSealingKeys(t.Context(), r.store, box)
		if err == nil || !strings.HasPrefix(err.Error(), "CANOPY_SECRET_KEY lacks a key") {
			t.Errorf("%v: %v", box.KeyIDs(), err)
			continue
		}
		for _, id := range both.KeyIDs() {
			if lacks := !slices.Contains(box.KeyIDs(), id); lacks != strings.Contains(err.Error(), id+" (of ") {
				t.Errorf("%v: %v", box.KeyIDs(), err)
			}
		}
	}
	if n := r.number(t, `SELECT count(*) FROM sealing_keys`); n != 2 {
		t.Errorf("%d keys: one that was refused is written down", n)
	}
}

// TestRotateSealingKey: everything is sealed with the newest key, in more than one batch, once.
func TestRotateSealingKey(t *testing.T) {
	r := newRoom(t)
	first, both, second := boxOf(t, 1), boxOf(t, 2, 1), boxOf(t, 2)
	if err := CheckSealingKeys(t.Context(), r.store, first); err != nil {
		t.Fatal(err)
	}
	if err := EnsureSigningKey(t.Context(), r.store, first); err != nil {
		t.Fatal(err)
	}
	r.mails(t, 1200, first)
	r.mails(t, 1, both)
	r.sql(t, `INSERT INTO mail_outbox (kind, message, sent_at) VALUES ('sent', '', now())`)
	r.idle(t, first)

	told := map[string]db.Renewal{}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := RotateSealingKey(ctx, r.store, both, func(now db.Renewal) {
		if now.Column == "mail_outbox.message" {
			cancel() // in the middle
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	if done := r.openable(t, second); done <= 1 || done >= 1201 {
		t.Errorf("%d mails were sealed anew before the interruption", done)
	}
	if err := CheckSealingKeys(t.Context(), r.store, second); err == nil {
		t.Error("the older key can be taken out before the rotation has ended")
	}
	got, err := RotateSealingKey(t.Context(), r.store, both, func(now db.Renewal) {
		if now.Renewed > 0 {
			told[now.Column] = now
		}
	})
	if err != nil || !slices.Equal(got.Free, first.KeyIDs()) || len(got.InUse)+len(got.Lost) > 0 || got.Newest != second.KeyIDs()[0] {
		t.Fatalf("%+v %v", got, err)
	}
	if n := told["mail_outbox.message"]; n.Rows != 1202 || n.Renewed == 0 || n.Renewed >= 1200 || told["signing_keys.private_key"].Renewed != 1 {
		t.Errorf("told %+v", told)
	}
	if n := r.openable(t, second); n != 1201 {
		t.Errorf("%d mails are sealed with the new key", n)
	}
	if err := CheckSealingKeys(t.Context(), r.store, second); err != nil {
		t.Error(err)
	}
	if err := LoadSigningKeys(t.Context(), r.store, second, &token.KeyRing{}); err != nil {
		t.Error(err)
	}
	// Once more there is nothing to do.
	if got := r.rotate(t, second); len(got.Free)+len(got.InUse)+len(got.Lost) > 0 {
		t.Errorf("%+v", got)
	}
}

// TestRotateBesideAnOldProcess: a key that a running process seals with is not given free.
func TestRotateBesideAnOldProcess(t *testing.T) {
	r := newRoom(t)
	first, both := boxOf(t, 1), boxOf(t, 2, 1)
	for _, box := range []*secret.Box{first, both} {
		if err := CheckSealingKeys(t.Context(), r.store, box); err != nil {
			t.Fatal(err)
		}
	}
	alive := func(db.Renewal) {
		if err := UseSealingKey(t.Context(), r.store, first); err != nil {
			t.Error(err)
		}
	}
	r.mails(t, 1, first)
	for name, before := range map[string]func(){"seen lately": func() {}, "seen long ago, and again": func() { r.idle(t, first) }} {
		before()
		got, err := RotateSealingKey(t.Context(), r.store, both, alive)
		if err != nil || !slices.Equal(got.InUse, first.KeyIDs()) || len(got.Free) > 0 {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
	r.idle(t, first)
	if got := r.rotate(t, both); !slices.Equal(got.Free, first.KeyIDs()) {
		t.Errorf("%+v", got)
	}
}

// TestRotateWaitsForAKey: one that was in use a moment ago is given free when that is long enough ago.
func TestRotateWaitsForAKey(t *testing.T) {
	r := newRoom(t)
	first, both, second := boxOf(t, 1), boxOf(t, 2, 1), boxOf(t, 2)
	if err := CheckSealingKeys(t.Context(), r.store, first); err != nil {
		t.Fatal(err)
	}
	almost := sealingIdle - 3*time.Second
	r.sql(t, `UPDATE sealing_keys SET used_at = now() - $1 * interval '1 second'`, almost.Seconds())
	r.mails(t, 1, first)
	walks := 0
	got, err := RotateSealingKey(t.Context(), r.store, both, func(now db.Renewal) {
		// What was sealed behind the first walk is found by the next.
		if walks++; walks == 1 && now.Column == "mail_outbox.message" {
			r.mails(t, 1, first)
		}
	})
	if err != nil || !slices.Equal(got.Free, first.KeyIDs()) {
		t.Fatalf("%+v %v", got, err)
	}
	if n := r.openable(t, second); n != 2 {
		t.Errorf("%d mails are sealed with the new key", n)
	}
}

// TestRotateWithLosses: what no key opens is told, and keeps nothing else from being sealed anew; what others
// hold is waited for.
func TestRotateWithLosses(t *testing.T) {
	r := newRoom(t)
	both, second := boxOf(t, 2, 1), boxOf(t, 2)
	r.mails(t, 2, boxOf(t, 3))
	r.mails(t, 3, boxOf(t, 1))
	c, err := db.Connect(r.url, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	holder, err := c.Beginx()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holder.Rollback() }()
	first := r.number(t, `SELECT min(id) FROM mail_outbox`)
	if _, err := holder.Exec(`UPDATE mail_outbox SET attempts = 1 WHERE id = $1`, first+4); err != nil {
		t.Fatal(err)
	}
	held := false
	got, err := RotateSealingKey(t.Context(), r.store, both, func(now db.Renewal) {
		if now.Busy == 1 && !held {
			held = true
			if err := holder.Commit(); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil || len(got.Lost) != 1 || got.Lost[0].Lost != 2 || got.Lost[0].FirstLost != fmt.Sprint(first) || !held {
		t.Errorf("%+v %v, one was held: %v", got, err, held)
	}
	if n := r.openable(t, second); n != 3 {
		t.Errorf("%d mails are sealed with the new key", n)
	}
	if n := r.number(t, `SELECT attempts FROM mail_outbox WHERE id = $1`, first+4); n != 1 {
		t.Errorf("%d attempts: what its holder wrote is lost", n)
	}
}
