package secret

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alexedwards/argon2id"
)

func TestPassword(t *testing.T) {
	const password = "correct horse ✓"
	hash, err := HashPassword(t.Context(), Known(1), password)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("the hash %q has other parameters", hash)
	}
	again, err := HashPassword(t.Context(), Known(1), password)
	if err != nil || again == hash {
		t.Errorf("two hashes of a password are the same (%v)", err)
	}
	for _, c := range []struct {
		name, password string
		want           bool
	}{
		{"the password", password, true},
		{"another", "correct horse ✗", false},
		{"none", "", false},
		{"a longer one", password + " ", false},
		{"one longer than any", strings.Repeat("x", MaxPassword+1), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if ok, err := CheckPassword(t.Context(), Known(1), hash, c.password); err != nil || ok != c.want {
				t.Errorf("got %v, %v", ok, err)
			}
		})
	}
	t.Run("of the greatest length", func(t *testing.T) {
		longest := strings.Repeat("x", MaxPassword)
		hash, err := HashPassword(t.Context(), Known(1), longest)
		if err != nil {
			t.Fatal(err)
		}
		if ok, err := CheckPassword(t.Context(), Known(1), hash, longest); err != nil || !ok {
			t.Errorf("got %v, %v", ok, err)
		}
	})
	t.Run("a broken hash", func(t *testing.T) {
		if ok, err := CheckPassword(t.Context(), Known(1), "$argon2id$v=19$m=1", password); err == nil || ok {
			t.Errorf("got %v, %v", ok, err)
		}
	})
}

// The dummy must cost what a real hash costs: the same parameters, and no error that would end it
// early.
func TestDummyHashIsARealOne(t *testing.T) {
	params, salt, key, err := argon2id.DecodeHash(dummyHash)
	if err != nil {
		t.Fatal(err)
	}
	if *params != *passwordParams || len(salt) != int(passwordParams.SaltLength) || len(key) != int(passwordParams.KeyLength) {
		t.Errorf("the dummy has the parameters %+v", params)
	}
	if ok, err := CheckPassword(t.Context(), Known(1), dummyHash, "no password"); ok || err != nil {
		t.Errorf("got %v, %v", ok, err)
	}
	if err := DummyCheck(t.Context(), Known(1), "no password"); err != nil {
		t.Error(err)
	}
}

func TestHashesAtOnceAreBounded(t *testing.T) {
	takers := map[string]int{}
	for i := range 2 * processors {
		for who := fmt.Sprint("other ", i); strangers.TryEnter(who); takers[who]++ {
		}
	}
	drain := sync.OnceFunc(func() {
		for who, n := range takers {
			for range n {
				strangers.Leave(who)
			}
		}
	})
	defer drain()
	for strangers.TryEnter("last") {
		takers["last"]++
	}

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := HashPassword(ctx, Stranger(""), "a password"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a hash was made beyond the bound: %v", err)
	}
	if _, err := CheckPassword(ctx, Stranger(""), dummyHash, "a password"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a check was made beyond the bound: %v", err)
	}
	drain()
	if _, err := HashPassword(t.Context(), Stranger(""), "a password"); err != nil {
		t.Errorf("no hash after the others have ended: %v", err)
	}
}

// TestTooManyHashesAreRefused: those who wait are bounded; of the crowd some are refused, and whoever comes
// from elsewhere is not.
func TestTooManyHashesAreRefused(t *testing.T) {
	refused := make(chan error, 40*processors)
	var crowd sync.WaitGroup
	for range 40 * processors {
		crowd.Go(func() {
			if _, err := HashPassword(t.Context(), Stranger("crowd"), "a password"); err != nil {
				refused <- err
			}
		})
	}
	if err := <-refused; !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	if _, err := HashPassword(t.Context(), Stranger("elsewhere"), "a password"); err != nil {
		t.Error(err)
	}
	crowd.Wait()
}

// TestACrowdKeepsOutNobodyKnown: where strangers wait who come from more networks than there is room for, whoever is
// known gets a hash beside them.
func TestACrowdKeepsOutNobodyKnown(t *testing.T) {
	for i := range 2 * processors {
		if who := Stranger(fmt.Sprint("first ", i)); strangers.TryEnter(who.name) {
			defer who.leave()
		}
	}
	crowd, disperse := context.WithCancel(t.Context())
	refused := make(chan error, 20*processors)
	var group sync.WaitGroup
	defer group.Wait()
	defer disperse()
	for i := range cap(refused) {
		group.Go(func() {
			if err := DummyCheck(crowd, Stranger(fmt.Sprint("network ", i)), "a password"); errors.Is(err, ErrBusy) {
				refused <- err
			}
		})
	}
	for range 4 * processors { // those for whom there is no room
		<-refused
	}
	if err := DummyCheck(t.Context(), Stranger("another network"), "a password"); !errors.Is(err, ErrBusy) {
		t.Errorf("one more stranger: %v", err)
	}
	if err := DummyCheck(t.Context(), Known(1), "a password"); err != nil {
		t.Error(err)
	}
}

func BenchmarkCheckPassword(b *testing.B) {
	for b.Loop() {
		if err := DummyCheck(b.Context(), Known(1), "no password"); err != nil {
			b.Fatal(err)
		}
	}
}
