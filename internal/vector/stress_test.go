package vector

import (
	"context"
	"math/rand/v2"
	"reflect"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"canopy/internal/models/lexical"
)

// TestFilesOutliveSearches: however often indexes are made, extended and dropped beside searches, a file is there until none reads it, and none is
// left over.
func TestFilesOutliveSearches(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	const contexts, owners, dimensions, chunks = 6, 3, 33, 60
	rows, vectors := sparseRows(lexical.Two, chunks, 30), randomVectors(chunks, dimensions)
	var version atomic.Int64
	loaders := func(c *Cache, owner int64) map[Kind]Loader {
		changed := rand.Int64N(chunks / 10) // the document
		return map[Kind]Loader{
			KindSparse: func(_ context.Context, from Loaded) (Loaded, error) {
				before, _ := from.Index.(*Sparse)
				b := NewSparseBuilder(lexical.Two, before)
				b.SpillTo(c.Room(owner))
				b.memory = c.budget // all passes it
				b.Remove(changed)
				for _, row := range rows {
					if before == nil || row.Document == changed {
						b.Add(row)
					}
				}
				return Loaded{Index: b.Build(), Version: version.Add(1), Owner: owner}, nil
			},
			KindDense: func(_ context.Context, from Loaded) (Loaded, error) {
				before, _ := from.Index.(*Dense)
				b, err := NewDenseBuilder(dimensions, before)
				if err != nil {
					return Loaded{}, err
				}
				b.SpillTo(c.Room(owner))
				b.memory = c.budget
				b.Remove(changed)
				for i, v := range vectors {
					if document := int64(i / 10); before == nil || document == changed {
						if err := b.Add(DenseRow{Chunk: int64(i), Document: document, Vector: v}); err != nil {
							return Loaded{}, err
						}
					}
				}
				return Loaded{Index: b.Build(), Version: version.Add(1), Owner: owner}, nil
			},
		}
	}
	search := func(x Index, i int) []Hit {
		f := Filter{Top: 10}
		switch x := x.(type) {
		case *Sparse:
			return x.Search(rows[i].Vector, f)
		case *Dense:
			all, err := x.All(vectors[i], f)
			if err != nil {
				t.Error(err)
			}
			return withoutRise(Blend(f, 1, all, nil))
		}
		return nil
	}
	c, memory := withFiles(t, 1<<20, 60<<10), NewCache(1<<20, time.Minute) // some four of the indexes
	c.leastMoved = 1
	want := map[Kind]Index{}
	for kind, load := range loaders(memory, 1) {
		loaded, err := load(t.Context(), Loaded{})
		if err != nil {
			t.Fatal(err)
		}
		want[kind] = loaded.Index
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for end := time.Now().Add(time.Second); time.Now().Before(end); {
				id := rand.Int64N(contexts)
				for kind, load := range loaders(c, id%owners) {
					k := Key{Context: id, Kind: kind}
					x, err := c.Get(t.Context(), k, version.Load()*rand.Int64N(2), load)
					if err != nil {
						t.Error(err)
						return
					}
					i := rand.IntN(chunks)
					if got, want := search(x, i), search(want[kind], i); !reflect.DeepEqual(got, want) {
						t.Errorf("%s: %v, not %v", kind, got, want)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	s := c.Stats()
	if s.Evictions == 0 || s.Extended == 0 || s.OnDisk > 60<<10 {
		t.Errorf("%+v", s)
	}
	for id := range int64(contexts) {
		c.Forget(id)
	}
	if s := c.Stats(); s.OnDisk != 0 || s.Bytes != 0 || len(c.owned) != 0 {
		t.Errorf("%+v, %v", s, c.owned)
	}
	settled(t, c, 0)
}

// withoutRise leaves out what tells of all that was compared, and about.
func withoutRise(hits []Hit) []Hit {
	for i := range hits {
		hits[i].Rise = 0
	}
	return hits
}
