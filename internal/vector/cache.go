package vector

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"canopy/internal/share"
	"canopy/internal/spill"
)

// Kind is the sort of an index.
type Kind string

// The kinds of index.
const (
	KindSparse  Kind = "sparse"
	KindDense   Kind = "dense"
	KindOutline Kind = "outline"
	KindLacking Kind = "lacking"
	KindFar     Kind = "far"
)

// Key names an index. Its version is asked for separately: the cache holds one version of each.
type Key struct {
	Context int64
	Model   string
	Kind    Kind
}

func (k Key) String() string { return fmt.Sprintf("%d/%s/%s", k.Context, k.Kind, k.Model) }

// Loader makes the index of a context as it is now. Versions of a context only ever grow; the loader
// returns the version that it read, in the same snapshot as the rows. Where the cache has an
// older version, from is that one, to be extended by what changed (see Documents.Changes), otherwise
// it has no index. The context of the call does not end with the search that asked first, as others may wait
// for the same index.
type Loader func(ctx context.Context, from Loaded) (Loaded, error)

// Loaded is the index that a loader made. Owner is whom its room in the cache is counted for.
type Loaded struct {
	Index   Index
	Version int64
	Owner   int64
}

// ErrStale is the error when a loader returns an older version than the one it was asked for, after
// that one was known.
var ErrStale = errors.New("vector: the loader returned an old version")

// Stats are a cache's counters since its start, and its present content.
type Stats struct {
	Hits      uint64 // answered from memory
	Misses    uint64 // had to wait for a load
	Loads     uint64 // loads begun
	Extended  uint64 // loads that began with an older version
	Failures  uint64 // loads that failed
	Evictions uint64 // indexes dropped to make room
	Oversize  uint64 // indexes served but too large to keep
	Entries   int
	Bytes     int64
	OnDisk    int64 // bytes in files
}

// idleAfter is how long an index that nobody asks for keeps its room from those who ask.
const idleAfter = 10 * time.Minute

// Cache keeps the indexes of recently searched contexts within a budget of bytes. Who has most gives: however many contexts
// one owner has searched, the indexes of others stay.
type Cache struct {
	budget  int64
	timeout time.Duration
	flights singleflight.Group
	folder  *spill.Folder // nil for none
	tell    func(error)   // that the disk does not take something
	giving  sync.Mutex    // held to make room in the folder
	// leastMoved is from how many bytes on something gets a file.
	leastMoved int

	mu      sync.Mutex
	recent  *list.List // of *entry, latest use first
	entries map[Key]*list.Element
	owned   map[int64]usage // by owner
	epochs  map[Key]uint64  // of keys with a load under way: counts calls of Forget
	stats   Stats
}

type entry struct {
	key Key
	Loaded
	used time.Time
}

// usage is what indexes take, in bytes.
type usage struct{ memory, onDisk int64 }

func usageOf(x Index) usage { return usage{x.Bytes(), x.OnDisk()} }

func (u usage) and(v usage) usage { return usage{u.memory + v.memory, u.onDisk + v.onDisk} }

func (u usage) less(v usage) usage { return usage{u.memory - v.memory, u.onDisk - v.onDisk} }

// NewCache makes a cache that holds at most budget bytes of indexes and gives a load at most
// timeout.
func NewCache(budget int64, timeout time.Duration) *Cache {
	return &Cache{
		budget:  budget,
		timeout: timeout,
		recent:  list.New(),
		entries: map[Key]*list.Element{},
		owned:   map[int64]usage{},
		epochs:  map[Key]uint64{},
	}
}

// Get returns the index of at least this version, loading it where the cache has none. Concurrent
// calls for a key share one load; a call whose context ends leaves it to the others. Errors are the
// loader's, the context's, or ErrStale.
func (c *Cache) Get(ctx context.Context, key Key, version int64, load Loader) (Index, error) {
	if index, ok := c.lookup(key, version); ok {
		return index, nil
	}
	// A load that was already under way may have read an older version; one begun after it has not.
	for range 2 {
		loaded, err := c.wait(ctx, key, version, load)
		if err != nil {
			return nil, err
		}
		if loaded.Version >= version {
			return loaded.Index, nil
		}
	}
	return nil, fmt.Errorf("%w: of context %d, not %d", ErrStale, key.Context, version)
}

func (c *Cache) lookup(key Key, version int64) (Index, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.fresh(key, version); e != nil {
		c.stats.Hits++
		return e.Index, true
	}
	c.stats.Misses++
	return nil, false
}

// fresh returns the entry of a key if it is of at least this version, as the latest used one.
func (c *Cache) fresh(key Key, version int64) *entry {
	element, ok := c.entries[key]
	if !ok || element.Value.(*entry).Version < version {
		return nil
	}
	c.recent.MoveToFront(element)
	e := element.Value.(*entry)
	e.used = time.Now()
	return e
}

func (c *Cache) wait(ctx context.Context, key Key, version int64, load Loader) (entry, error) {
	done := c.flights.DoChan(key.String(), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.timeout)
		defer cancel()
		return c.load(ctx, key, version, load)
	})
	select {
	case <-ctx.Done():
		return entry{}, context.Cause(ctx)
	case r := <-done:
		if r.Err != nil {
			return entry{}, r.Err
		}
		return r.Val.(entry), nil
	}
}

// load runs a loader and keeps what it returns.
func (c *Cache) load(ctx context.Context, key Key, version int64, load Loader) (loaded entry, err error) {
	from, epoch, ready := c.begin(key, version)
	if ready != nil { // a load ended between the lookup and this one
		return *ready, nil
	}
	defer func() { c.end(loaded, key, epoch, err) }()
	made, err := share.Guarded(func() (Loaded, error) { return load(ctx, from) })
	return entry{key, made, time.Now()}, err
}

func (c *Cache) begin(key Key, version int64) (from Loaded, epoch uint64, ready *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.fresh(key, version); e != nil {
		return from, 0, e
	}
	c.stats.Loads++
	if element, ok := c.entries[key]; ok {
		c.stats.Extended++
		from = element.Value.(*entry).Loaded
	}
	epoch = c.epochs[key]
	c.epochs[key] = epoch
	return from, epoch, nil
}

func (c *Cache) end(loaded entry, key Key, epoch uint64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	forgotten := c.epochs[key] != epoch
	delete(c.epochs, key)
	switch {
	case err != nil:
		c.stats.Failures++
	case !forgotten:
		c.keep(loaded)
	}
}

// keep puts a loaded index in the place of its older version and makes room for it.
func (c *Cache) keep(loaded entry) {
	if element, ok := c.entries[loaded.key]; ok {
		if element.Value.(*entry).Version > loaded.Version {
			return
		}
		c.drop(element)
	}
	size := usageOf(loaded.Index)
	if size.memory > c.budget {
		c.stats.Oversize++
		return
	}
	for c.stats.Bytes+size.memory > c.budget {
		gives := c.gives(loaded.Owner, usage{memory: size.memory})
		if gives == nil {
			c.stats.Oversize++
			return
		}
		c.evict(gives)
	}
	c.entries[loaded.key] = c.recent.PushFront(&loaded)
	c.count(loaded.Owner, size)
}

// gives is what makes room for an index, in memory or on the disk, whichever it needs: what nobody has asked for in a while, or else, of the
// owner who has most, what was used longest ago. It is nil where that is the index itself.
func (c *Cache) gives(owner int64, needs usage) *list.Element {
	of := func(u usage) int64 {
		if needs.onDisk > 0 {
			return u.onDisk
		}
		return u.memory
	}
	last := c.recent.Back()
	for last != nil && of(usageOf(last.Value.(*entry).Index)) == 0 {
		last = last.Prev()
	}
	if last != nil && time.Since(last.Value.(*entry).used) > idleAfter {
		return last
	}
	most, has := owner, of(c.owned[owner].and(needs))
	for o, u := range c.owned {
		if n := of(u); n > has {
			most, has = o, n
		}
	}
	for last != nil && (last.Value.(*entry).Owner != most || of(usageOf(last.Value.(*entry).Index)) == 0) {
		last = last.Prev()
	}
	return last
}

func (c *Cache) evict(element *list.Element) {
	c.drop(element)
	c.stats.Evictions++
}

func (c *Cache) drop(element *list.Element) {
	e := c.recent.Remove(element).(*entry)
	delete(c.entries, e.key)
	size := usageOf(e.Index)
	c.count(e.Owner, usage{}.less(size))
}

// count counts what an owner has more.
func (c *Cache) count(owner int64, more usage) {
	c.stats.Bytes += more.memory
	c.stats.OnDisk += more.onDisk
	if c.owned[owner] = c.owned[owner].and(more); c.owned[owner] == (usage{}) {
		delete(c.owned, owner)
	}
}

// Forget drops all indexes of a deleted context; a load under way is served but not kept.
func (c *Cache) Forget(contextID int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key := range c.epochs {
		if key.Context == contextID {
			c.epochs[key]++
		}
	}
	for key, element := range c.entries {
		if key.Context == contextID {
			c.drop(element)
		}
	}
}

// Has tells whether there is an index, of whatever version: to extend one costs what changed.
func (c *Cache) Has(key Key) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries[key] != nil
}

// Stats returns the counters.
func (c *Cache) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Entries = c.recent.Len()
	return s
}
