package vector

import (
	"context"
	"errors"
	"math"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"canopy/internal/models/lexical"
	"canopy/internal/spill"
	"canopy/internal/spill/spilltest"
)

// withFiles makes a cache that keeps so many bytes in memory and in files.
func withFiles(t testing.TB, memory, disk int64) *Cache {
	t.Helper()
	folder, _ := spilltest.Folder(t, disk)
	c := NewCache(memory, time.Minute)
	c.KeepFiles(folder, func(err error) { t.Error(err) })
	return c
}

// filesOnly is a room in which everything lies in files, however little it is.
func filesOnly(t testing.TB) *Room {
	t.Helper()
	c := withFiles(t, 1, 1<<30)
	c.leastMoved = 1
	return c.Room(1)
}

// settled waits until so many bytes are in files.
func settled(t *testing.T, c *Cache, want int64) {
	t.Helper()
	for end := time.Now().Add(time.Minute); c.folder.Used() != want; time.Sleep(time.Millisecond) {
		if runtime.GC(); time.Now().After(end) {
			t.Fatalf("%d bytes are in files, not %d", c.folder.Used(), want)
		}
	}
}

// TestIndexesLieInFiles: an index beyond its part of the memory finds the same, with less memory, also when it is extended; its files go with it.
func TestIndexesLieInFiles(t *testing.T) {
	c := withFiles(t, 4<<20, 1<<30)
	rows := sparseRows(lexical.Two, 5000, 150)
	build := func(room *Room, from *Sparse, rows []SparseRow) *Sparse {
		b := NewSparseBuilder(lexical.Two, from)
		b.SpillTo(room)
		for _, row := range rows {
			b.Add(row)
		}
		return b.Build()
	}
	whole := build(nil, nil, rows)
	x := build(c.Room(1), build(c.Room(1), nil, rows[:4000]), rows[4000:])
	if x.Bytes()+x.OnDisk() < whole.Bytes()*9/10 || x.Bytes() > whole.Bytes()/2 || x.OnDisk() < whole.Bytes()/2 {
		t.Errorf("%d bytes are in memory and %d in files; the whole has %d", x.Bytes(), x.OnDisk(), whole.Bytes())
	}
	for _, row := range rows[:20] {
		f := Filter{Top: 10}
		if got, want := x.Search(row.Vector, f), whole.Search(row.Vector, f); !reflect.DeepEqual(got, want) {
			t.Errorf("%v, not %v", got, want)
		}
	}
	if used := c.folder.Used(); used < x.OnDisk() {
		t.Errorf("%d bytes are in files, of %d", used, x.OnDisk())
	}
	runtime.KeepAlive(x)
	x = nil
	settled(t, c, 0)
}

// TestFullDisk: an index for which the files have no room stays in memory, and finds the same.
func TestFullDisk(t *testing.T) {
	c := withFiles(t, 1<<20, 3<<20)
	vectors := randomVectors(8000, 256) // 7.8 MiB
	build := func(room *Room) *Dense {
		b, _ := NewDenseBuilder(256, nil)
		b.SpillTo(room)
		for i, v := range vectors {
			if err := b.Add(DenseRow{Chunk: int64(i), Document: 1, Vector: v}); err != nil {
				t.Fatal(err)
			}
		}
		return b.Build()
	}
	x, whole := build(c.Room(1)), build(nil)
	got, _ := x.Search(vectors[7], Filter{Top: 10})
	want, _ := whole.Search(vectors[7], Filter{Top: 10})
	if !reflect.DeepEqual(got, want) || x.OnDisk() > 3<<20 {
		t.Errorf("%v, not %v; %d bytes in files", got, want, x.OnDisk())
	}
}

// TestDiskTakesNothing: of a disk that takes less than the folder has room for is told, of a folder that is full not.
func TestDiskTakesNothing(t *testing.T) {
	folder, _ := spilltest.Folder(t, 1000)
	c := NewCache(1000, time.Minute)
	var told []error
	c.KeepFiles(folder, func(err error) { told = append(told, err) })
	c.leastMoved = 1
	if c.Room(1).take(make([]byte, 1001)) != nil || len(told) > 0 {
		t.Errorf("told of a full folder: %v", told)
	}
	folder.Spare = func(disk uint64) uint64 { return disk }
	room := c.Room(1)
	for range 2 { // of which the first tells that there is no room
		if room.take(make([]byte, 500)) != nil {
			t.Error("a full disk took something")
		}
	}
	if len(told) != 1 || !errors.Is(told[0], spill.ErrFull) {
		t.Errorf("told of a full disk: %v", told)
	}
}

// inFiles is a loader of an owner's index with so many bytes in a file.
func inFiles(c *Cache, owner, size int64) Loader {
	return func(context.Context, Loaded) (Loaded, error) {
		return Loaded{Index: &filed{region: c.Room(owner).take(make([]byte, size))}, Version: 1, Owner: owner}, nil
	}
}

type filed struct {
	block
	region *spill.Region
}

func (f *filed) OnDisk() int64 { return f.region.Len() }

// TestWhoHasMostFilesGives: an owner who fills the folder makes room for others, and takes none of theirs.
func TestWhoHasMostFilesGives(t *testing.T) {
	const size = 1 << 20
	c := withFiles(t, 1000, 8*size)
	get := func(id, owner int64) int64 {
		t.Helper()
		index, err := c.Get(t.Context(), key(id), 1, inFiles(c, owner, size))
		if err != nil {
			t.Fatal(err)
		}
		return index.OnDisk()
	}
	if get(100, 2) != size {
		t.Fatal("the first has no file")
	}
	for id := range int64(20) {
		if get(id, 1) != size {
			t.Errorf("the index %d of one owner has no file", id)
		}
	}
	if !c.Has(key(100)) || !c.Has(key(19)) || c.Has(key(0)) {
		t.Error("another's index was dropped, or the latest, or the oldest was not")
	}
	if get(101, 3) != size || !c.Has(key(100)) {
		t.Error("a third owner has no room, or that of the second")
	}
	if used, stats := c.folder.Used(), c.Stats(); used > 8*size || stats.OnDisk > used || stats.Evictions == 0 {
		t.Errorf("%d bytes in files, %+v", used, stats)
	}
	for id := range int64(102) {
		c.Forget(id)
	}
	if stats := c.Stats(); stats.OnDisk != 0 || len(c.owned) != 0 {
		t.Errorf("%+v, %v", stats, c.owned)
	}
	settled(t, c, 0)
}

// TestDiskIsFullOfIndexes: where the disk has less room than indexes may have, the latest have it, as if there were no more.
func TestDiskIsFullOfIndexes(t *testing.T) {
	const size = 1 << 20
	c := withFiles(t, 1000, 1<<30)
	usual := c.folder.Spare
	c.folder.Spare = func(disk uint64) uint64 {
		if c.folder.Used() > 4*size { // with what is about to be written
			return disk
		}
		return usual(disk)
	}
	for id := range int64(8) {
		index, err := c.Get(t.Context(), key(id), 1, inFiles(c, 1, size))
		if err != nil {
			t.Fatal(err)
		}
		if index.OnDisk() != size {
			t.Errorf("the index %d has no file", id)
		}
	}
	told := 0
	c.tell, c.folder.Spare = func(error) { told++ }, func(disk uint64) uint64 { return disk }
	if index, err := c.Get(t.Context(), key(8), 1, inFiles(c, 1, size)); err != nil || index.OnDisk() != 0 || told != 1 {
		t.Errorf("%v, %d bytes in files, told %d times", err, index.OnDisk(), told)
	}
}

// TestHolds: it is known of an outline whether there can be room for its index, in memory alone or with files.
func TestHolds(t *testing.T) {
	o := &Outline{bytes: 100, whole: 1100} // 1000 of postings
	for _, c := range []struct {
		memory, disk int64
		want         bool
	}{{1100, 0, true}, {1099, 0, false}, {1099, 999, false}, {1099, 1000, true}, {134, 1000, true}, {131, 1000, false}, {99, 1 << 20, false}} {
		if got := withFiles(t, c.memory, c.disk).Holds(o); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	if NewCache(1099, time.Minute).Holds(o) || !NewCache(1100, time.Minute).Holds(o) {
		t.Error("without files")
	}
}

// TestMoreThanAllFiles: what no folder has room for drops nothing.
func TestMoreThanAllFiles(t *testing.T) {
	const size = 1 << 20
	c := withFiles(t, 1000, size)
	for id := range int64(2) {
		if _, err := c.Get(t.Context(), key(id), 1, inFiles(c, 1, size*(id+1))); err != nil {
			t.Fatal(err)
		}
	}
	if s := c.Stats(); s.OnDisk != size || s.Evictions > 0 {
		t.Errorf("%+v", s)
	}
}

// TestFusedFromFiles: what is fused is the same to the last bit, though most of the vectors were not read.
func TestFusedFromFiles(t *testing.T) {
	const chunks, dimensions = 2000, 64
	vectors := randomVectors(chunks, dimensions)
	build := func(room *Room) *Dense {
		b, _ := NewDenseBuilder(dimensions, nil)
		b.SpillTo(room)
		for i, v := range vectors {
			if err := b.Add(DenseRow{Chunk: int64(i), Document: int64(i % 7), Vector: v}); err != nil {
				t.Fatal(err)
			}
		}
		return b.Build()
	}
	memory, files := build(nil), build(filesOnly(t))
	several := func(chunk int64) (weight, least float32) { return float32(chunk%3) / 2, float32(chunk%5) / 10 }
	for n, query := range randomVectors(30, dimensions) {
		var words []Hit
		for i := n; i < chunks; i += 5 + n {
			words = append(words, Hit{Chunk: int64(i), Document: int64(i % 7), Similarity: float32(i%11) / 20})
		}
		for _, f := range []Filter{{Top: 10}, {Top: 10, Zeros: true}, {Top: chunks}, {Top: 5, Documents: map[int64]struct{}{3: {}}}} {
			read := 0
			ask := func(x *Dense, rank func(*Compared, []Hit) []Hit) []Hit {
				all, err := x.All(query, f)
				if err != nil {
					t.Fatal(err)
				}
				hits := rank(all, slices.Clone(words))
				for _, at := range all.at {
					if x == files && at.off == 0 {
						read++
					}
				}
				return withoutRise(hits)
			}
			for name, rank := range map[string]func(*Compared, []Hit) []Hit{
				"fused":   func(c *Compared, words []Hit) []Hit { return Fuse(f, 0.4, c, words) },
				"several": func(c *Compared, words []Hit) []Hit { return FuseAmong(f, several, c, words) },
				"blended": func(c *Compared, words []Hit) []Hit { f := f; f.MinScore = 0.3; return Blend(f, 0.6, c, words) },
			} {
				read = 0
				if got, want := ask(files, rank), ask(memory, rank); !reflect.DeepEqual(got, want) {
					t.Fatalf("%s by %+v: %v\nnot %v", name, f, got, want)
				}
				if f.Top < chunks && read > chunks/4 {
					t.Errorf("%s by %+v: %d of %d vectors were read", name, f, read, chunks)
				}
			}
		}
	}
}

// TestTogetherFromFiles: several indexes, of which one has its vectors in memory, one is of another model, and one knows all, are fused as if all was known of each.
func TestTogetherFromFiles(t *testing.T) {
	const chunks = 2000
	build := func(first int64, dimensions int, room *Room) *Dense {
		b, _ := NewDenseBuilder(dimensions, nil)
		b.SpillTo(room)
		for i, v := range randomVectors(chunks, dimensions) {
			if err := b.Add(DenseRow{Chunk: first + int64(i), Document: first, Vector: v}); err != nil {
				t.Fatal(err)
			}
		}
		return b.Build()
	}
	indexes := []*Dense{build(0, 64, filesOnly(t)), build(chunks, 64, nil), build(2*chunks, 100, filesOnly(t))}
	known := []Hit{{Chunk: 9 * chunks, Document: 9, Similarity: 0.5, Rise: 2}}
	words := []Hit{{Chunk: 7, Document: 0, Similarity: 0.2}, {Chunk: 2*chunks + 7, Document: 2 * chunks, Similarity: 0.1}, {Chunk: 8 * chunks, Document: 8, Similarity: 0.15}}
	of := func(chunk int64) (weight, least float32) {
		return float32(3+chunk/chunks) / 12, float32(chunk/chunks) / 20
	}
	for n := range 20 {
		queries := map[int][]float32{64: randomVectors(chunks+20, 64)[chunks+n], 100: randomVectors(chunks+20, 100)[chunks+n]}
		var parts, whole []*Compared
		for _, x := range indexes {
			f := Filter{Top: 10}
			part, err := x.All(queries[x.dimensions], f)
			if err != nil {
				t.Fatal(err)
			}
			all, _ := x.All(queries[x.dimensions], f)
			parts, whole = append(parts, part), append(whole, Exactly(all.Hits()))
		}
		parts, whole = append(parts, nil, Exactly(slices.Clone(known))), append(whole, Exactly(slices.Clone(known)))
		together, read := Together(parts), 0
		if n := len(slices.Collect(together.Chunks())); n != together.len() || n <= 2*chunks {
			t.Errorf("%d chunks", n)
		}
		got := FuseAmong(Filter{Top: 10}, of, together, slices.Clone(words))
		if want := FuseAmong(Filter{Top: 10}, of, Together(whole), slices.Clone(words)); !reflect.DeepEqual(got, want) {
			t.Fatalf("%v\nnot %v", got, want)
		}
		for _, at := range together.at {
			if at.of != nil && at.segment.region != nil && at.off == 0 {
				read++
			}
		}
		if read > chunks/4 {
			t.Errorf("%d vectors were read", read)
		}
	}
}

// TestCodesBoundTheCosine: a code tells between which bounds a cosine is.
func TestCodesBoundTheCosine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 70).Draw(t, "dimensions")
		draw := func() []float32 {
			v := rapid.SliceOfN(rapid.OneOf(rapid.Float32Range(-1, 1), rapid.Just(float32(0)), rapid.Float32Range(-1e-6, 1e-6)), n, n).Draw(t, "vector")
			unit, err := Unit(v, n)
			if err != nil {
				t.Fatal(err)
			}
			return unit
		}
		query, v := draw(), draw()
		near, off := newDenseCodes(v, n).reader().near(newCoded(query), 0)
		exact := 0.0
		for i := range v {
			exact += float64(v[i]) * float64(query[i])
		}
		if math.Abs(min(1, max(0, exact))-float64(near)) > float64(off) {
			t.Errorf("the cosine is %v, not %v within %v", exact, near, off)
		}
		if off > 0.2 {
			t.Errorf("the bound is %v", off)
		}
	})
}
