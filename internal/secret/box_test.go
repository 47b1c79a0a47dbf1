package secret

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"
)

func newBox(t testing.TB, fill byte) *Box {
	t.Helper()
	box, err := NewBox(bytes.Repeat([]byte{fill}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return box
}

func TestBoxOpensWhatItSealed(t *testing.T) {
	box := newBox(t, 1)
	rapid.Check(t, func(t *rapid.T) {
		plain := rapid.SliceOf(rapid.Byte()).Draw(t, "plain")
		purpose := rapid.String().Draw(t, "purpose")
		got, err := box.Open(box.Seal(plain, purpose), purpose)
		if err != nil || !bytes.Equal(got, plain) {
			t.Fatalf("got %x, %v", got, err)
		}
	})
}

func TestBoxRefuses(t *testing.T) {
	box := newBox(t, 1)
	sealed := box.Seal([]byte("plain"), "row 1")
	for _, c := range []struct {
		name    string
		box     *Box
		sealed  []byte
		purpose string
	}{
		{"nothing", box, nil, "row 1"},
		{"the version alone", box, sealed[:1], "row 1"},
		{"a nonce alone", box, sealed[:13], "row 1"},
		{"a cut end", box, sealed[:len(sealed)-1], "row 1"},
		{"another purpose", box, sealed, "row 2"},
		{"another key", newBox(t, 2), sealed, "row 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := c.box.Open(c.sealed, c.purpose); !errors.Is(err, ErrSealed) || got != nil {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	t.Run("any changed bit", func(t *testing.T) {
		for i := range len(sealed) * 8 {
			bad := bytes.Clone(sealed)
			bad[i/8] ^= 1 << (i % 8)
			if _, err := box.Open(bad, "row 1"); !errors.Is(err, ErrSealed) {
				t.Fatalf("bit %d can be changed: %v", i, err)
			}
		}
	})
}

func TestBoxSealsTheSameDifferently(t *testing.T) {
	box := newBox(t, 1)
	if bytes.Equal(box.Seal([]byte("plain"), "p"), box.Seal([]byte("plain"), "p")) {
		t.Error("a nonce came twice")
	}
}

// TestOlderKeys: a box opens what any of its keys has sealed, and seals with the first.
func TestOlderKeys(t *testing.T) {
	a, b := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	older, newer := newBox(t, 1), newBox(t, 2)
	both, err := NewBox(b, a)
	if err != nil {
		t.Fatal(err)
	}
	if ids := both.KeyIDs(); len(ids) != 2 || ids[0] != newer.KeyIDs()[0] || ids[1] != older.KeyIDs()[0] || ids[0] == ids[1] {
		t.Errorf("the keys are %v", ids)
	}
	for _, c := range []struct {
		name    string
		by      *Box
		renewed bool
	}{{"the newest", newer, false}, {"the older", older, true}, {"both", both, false}} {
		sealed := c.by.Seal([]byte("plain"), "row 1")
		if got, err := both.Open(sealed, "row 1"); err != nil || string(got) != "plain" {
			t.Errorf("sealed by %s: %q %v", c.name, got, err)
		}
		renewed, err := both.Renew(sealed, "row 1")
		if err != nil || (renewed != nil) != c.renewed {
			t.Fatalf("sealed by %s: %x %v", c.name, renewed, err)
		}
		if got, err := newer.Open(renewed, "row 1"); c.renewed && (err != nil || string(got) != "plain") {
			t.Errorf("renewed from %s: %q %v", c.name, got, err)
		}
		if _, err := both.Renew(sealed, "row 2"); !errors.Is(err, ErrSealed) {
			t.Errorf("sealed by %s, another purpose: %v", c.name, err)
		}
	}
	if got, err := older.Open(both.Seal([]byte("plain"), "p"), "p"); !errors.Is(err, ErrSealed) {
		t.Errorf("both seal with the older key: %q %v", got, err)
	}
	if _, err := newer.Renew(older.Seal([]byte("plain"), "p"), "p"); !errors.Is(err, ErrSealed) {
		t.Errorf("a key that is not there: %v", err)
	}
	for name, keys := range map[string][][]byte{"none": nil, "one twice": {a, b, a}, "one that is too short": {a, b[1:]}} {
		if _, err := NewBox(keys...); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

func TestNewBoxWantsAnAESKey(t *testing.T) {
	for _, n := range []int{0, 16, 24, 31, 33} {
		if _, err := NewBox(make([]byte, n)); err == nil {
			t.Errorf("a key of %d bytes is taken", n)
		}
	}
}

func FuzzOpen(f *testing.F) {
	box := newBox(f, 1)
	f.Add(box.Seal([]byte("plain"), "p"), "p")
	f.Add([]byte{boxVersion}, "")
	f.Fuzz(func(t *testing.T, sealed []byte, purpose string) {
		if plain, err := box.Open(sealed, purpose); err == nil && (purpose != "p" || string(plain) != "plain") {
			t.Errorf("%x opens as %q", sealed, plain)
		}
	})
}
