package vector

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// block is an index of a given size whose name is the version it was made of.
type block struct {
	size    int64
	version int64
	from    Index
}

func (b *block) Bytes() int64         { return b.size }
func (b *block) OnDisk() int64        { return 0 }
func (b *block) Len() int             { return 1 }
func (b *block) Documents() Documents { return nil }

// loader returns a block of the version, whatever is asked for.
func loader(size, version int64) Loader {
	return func(_ context.Context, from Loaded) (Loaded, error) {
		return Loaded{Index: &block{size, version, from.Index}, Version: version}, nil
	}
}

// forbidden is for what must be answered from memory.
func forbidden(t testing.TB) Loader {
	return func(context.Context, Loaded) (Loaded, error) {
		t.Error("loaded again")
		return Loaded{}, errors.New("loaded again")
	}
}

func key(id int64) Key { return Key{Context: id, Model: "m", Kind: KindDense} }

func mustGet(t testing.TB, c *Cache, id, version int64, load Loader) *block {
	t.Helper()
	index, err := c.Get(t.Context(), key(id), version, load)
	if err != nil {
		t.Error(err)
		return &block{}
	}
	return index.(*block)
}

func TestCacheVersions(t *testing.T) {
	c := NewCache(1000, time.Minute)
	first := mustGet(t, c, 1, 5, loader(10, 5))
	if mustGet(t, c, 1, 5, forbidden(t)) != first {
		t.Error("another index for the same version")
	}
	if mustGet(t, c, 1, 4, forbidden(t)) != first {
		t.Error("an older version is not served by the newer one")
	}
	second := mustGet(t, c, 1, 6, loader(20, 8))
	if second.from != Index(first) || second.version != 8 {
		t.Errorf("version 8 was not made from version 5: %+v", second)
	}
	if mustGet(t, c, 1, 7, forbidden(t)) != second {
		t.Error("a version that was loaded early is loaded again")
	}
	other := Key{Context: 1, Model: "m", Kind: KindSparse}
	if index, err := c.Get(t.Context(), other, 5, loader(5, 5)); err != nil || index.(*block).from != nil {
		t.Errorf("another kind shares an entry: %v, %v", index, err)
	}
	want := Stats{Hits: 3, Misses: 3, Loads: 3, Extended: 1, Entries: 2, Bytes: 25}
	if got := c.Stats(); got != want {
		t.Errorf("stats %+v, want %+v", got, want)
	}
}

func TestCacheBudget(t *testing.T) {
	c := NewCache(100, time.Minute)
	for id := range int64(3) {
		mustGet(t, c, id, 1, loader(30, 1))
	}
	mustGet(t, c, 0, 1, forbidden(t)) // now 1 is the one that was used longest ago
	mustGet(t, c, 3, 1, loader(30, 1))
	mustGet(t, c, 0, 1, forbidden(t))
	mustGet(t, c, 2, 1, forbidden(t))
	if s := c.Stats(); s.Evictions != 1 || s.Bytes != 90 || s.Entries != 3 {
		t.Errorf("stats %+v", s)
	}
	mustGet(t, c, 1, 1, loader(100, 1))
	if s := c.Stats(); s.Evictions != 4 || s.Bytes != 100 || s.Entries != 1 {
		t.Errorf("stats %+v", s)
	}
}

func TestCacheServesWhatItCannotKeep(t *testing.T) {
	c := NewCache(100, time.Minute)
	mustGet(t, c, 1, 1, loader(50, 1))
	if b := mustGet(t, c, 2, 1, loader(101, 1)); b.size != 101 {
		t.Errorf("served %+v", b)
	}
	mustGet(t, c, 1, 1, forbidden(t))
	mustGet(t, c, 1, 2, loader(101, 2)) // outgrew the budget: its old version must go
	if s := c.Stats(); s.Entries != 0 || s.Bytes != 0 || s.Oversize != 2 {
		t.Errorf("stats %+v", s)
	}
}

func TestCacheLoadsOnceForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCache(100, time.Minute)
		release := make(chan struct{})
		var loads atomic.Int64
		load := func(ctx context.Context, _ Loaded) (Loaded, error) {
			loads.Add(1)
			select {
			case <-release:
				return Loaded{Index: &block{size: 1, version: 1}, Version: 1}, nil
			case <-ctx.Done():
				return Loaded{}, ctx.Err()
			}
		}
		leaderCtx, leave := context.WithCancel(t.Context())
		leader := make(chan error)
		go func() {
			_, err := c.Get(leaderCtx, key(1), 1, load)
			leader <- err
		}()
		synctest.Wait()
		var others sync.WaitGroup
		for range 20 {
			others.Go(func() {
				if _, err := c.Get(t.Context(), key(1), 1, load); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		leave()
		if err := <-leader; !errors.Is(err, context.Canceled) {
			t.Errorf("the one that left got %v", err)
		}
		close(release)
		others.Wait()
		if n := loads.Load(); n != 1 {
			t.Errorf("%d loads", n)
		}
	})
}

func TestCacheLoadHasATimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCache(100, time.Minute)
		_, err := c.Get(t.Context(), key(1), 1, func(ctx context.Context, _ Loaded) (Loaded, error) {
			<-ctx.Done()
			return Loaded{}, ctx.Err()
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

func TestCacheNewerVersionDuringALoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCache(100, time.Minute)
		release := make(chan struct{})
		go mustGet(t, c, 1, 1, func(context.Context, Loaded) (Loaded, error) {
			<-release
			return Loaded{Index: &block{size: 1, version: 1}, Version: 1}, nil
		})
		synctest.Wait()
		newer := make(chan *block)
		go func() { newer <- mustGet(t, c, 1, 2, loader(1, 2)) }()
		synctest.Wait()
		close(release)
		if b := <-newer; b.version != 2 || b.from == nil {
			t.Errorf("served %+v", b)
		}
	})
}

func TestCacheFailures(t *testing.T) {
	broken := errors.New("broken")
	tests := []struct {
		name string
		load Loader
		want error
	}{
		{"error", func(context.Context, Loaded) (Loaded, error) { return Loaded{}, broken }, broken},
		{"old version", loader(1, 1), ErrStale},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := NewCache(100, time.Minute)
			if _, err := c.Get(t.Context(), key(1), 2, tt.load); !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			mustGet(t, c, 1, 2, loader(1, 2)) // a failure is not remembered
		})
	}
	t.Run("panic", func(t *testing.T) {
		c := NewCache(100, time.Minute)
		_, err := c.Get(t.Context(), key(1), 2, func(context.Context, Loaded) (Loaded, error) { panic("bug") })
		if err == nil || c.Stats().Failures != 1 {
			t.Errorf("error %v, stats %+v", err, c.Stats())
		}
		mustGet(t, c, 1, 2, loader(1, 2))
	})
}

func TestCacheForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCache(100, time.Minute)
		mustGet(t, c, 1, 1, loader(10, 1))
		mustGet(t, c, 2, 1, loader(10, 1))
		release, served := make(chan struct{}), make(chan struct{})
		go func() {
			mustGet(t, c, 1, 2, func(context.Context, Loaded) (Loaded, error) {
				<-release
				return Loaded{Index: &block{size: 10, version: 2}, Version: 2}, nil
			})
			close(served)
		}()
		synctest.Wait()
		c.Forget(1)
		close(release)
		<-served
		mustGet(t, c, 2, 1, forbidden(t))
		if s := c.Stats(); s.Entries != 1 || s.Bytes != 10 {
			t.Errorf("stats %+v", s)
		}
	})
}

// TestCacheNeverExceedsItsBudget also runs under the race detector.
func TestCacheNeverExceedsItsBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := NewCache(100, time.Minute)
		var current [6]atomic.Int64 // versions of the contexts
		load := func(id int64) Loader {
			return func(ctx context.Context, from Loaded) (Loaded, error) {
				version := current[id].Load()
				return loader(20+8*(id+version%2), version)(ctx, from)
			}
		}
		var searches sync.WaitGroup
		for range 4 {
			requests := rapid.SliceOfN(rapid.Int64Range(0, 59), 1, 30).Draw(t, "requests")
			searches.Go(func() {
				for _, r := range requests {
					id := r % 6
					version := current[id].Add(r / 6 % 2)
					index, err := c.Get(context.Background(), key(id), version, load(id))
					if err != nil || index.(*block).version < version {
						t.Errorf("index %v, %v", index, err)
					}
				}
			})
		}
		searches.Wait()
		var held int64
		for e := c.recent.Front(); e != nil; e = e.Next() {
			held += e.Value.(*entry).Index.Bytes()
		}
		if s := c.Stats(); s.Bytes > 100 || s.Bytes != held || s.Entries != len(c.entries) || len(c.epochs) != 0 {
			t.Errorf("stats %+v, %d bytes held", s, held)
		}
	})
}

// owned is a loader of an index of an owner.
func owned(owner, size int64) Loader {
	return func(context.Context, Loaded) (Loaded, error) {
		return Loaded{Index: &block{size: size, version: 1}, Version: 1, Owner: owner}, nil
	}
}

// TestCacheIsShared: whatever one owner searches, what another has asked for of late stays; and what nobody asks for makes
// room.
func TestCacheIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const quiet, hostile = 8, 7
		c := NewCache(100, time.Minute)
		mustGet(t, c, 1, 1, owned(quiet, 10))
		for id := range int64(50) {
			mustGet(t, c, 100+id, 1, owned(hostile, 30))
		}
		mustGet(t, c, 1, 1, forbidden(t))
		for id := range int64(3) {
			mustGet(t, c, 147+id, 1, forbidden(t)) // all that is left is the other's
		}
		mustGet(t, c, 200, 1, owned(hostile, 95))
		mustGet(t, c, 1, 1, forbidden(t))
		mustGet(t, c, 2, 1, owned(quiet, 40)) // who has most gives
		mustGet(t, c, 1, 1, forbidden(t))
		time.Sleep(idleAfter + time.Second)
		mustGet(t, c, 200, 1, owned(hostile, 95))
		mustGet(t, c, 200, 1, forbidden(t))
		if s := c.Stats(); s.Bytes != 95 || s.Entries != 1 {
			t.Errorf("kept are %d bytes of %d", s.Bytes, s.Entries)
		}
	})
}
