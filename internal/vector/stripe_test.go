package vector

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"

	"canopy/internal/models/lexical"
)

// stripedRows are documents of so many chunks each, all together several stripes.
func stripedRows(documents, chunks int) [][]SparseRow {
	z := rand.NewZipf(rand.New(rand.NewPCG(5, 6)), 1.1, 8, 5000)
	list := make([][]SparseRow, documents)
	for d := range list {
		for c := range chunks {
			list[d] = append(list[d], SparseRow{Chunk: int64(d*chunks + c), Document: int64(d), Vector: lexical.Two.Embed(zipfText(z, 8))})
		}
	}
	return list
}

// TestStripesAreRenewed: whatever goes and comes, an index in files finds what one in memory does, and what is no longer in use has no more of the disk than what is.
func TestStripesAreRenewed(t *testing.T) {
	const documents, chunks = 120, 256 // 30 segments
	rows := stripedRows(documents, chunks)
	files := filesOnly(t)
	c := files.cache
	memory, onDisk := NewSparseBuilder(lexical.Two, nil), NewSparseBuilder(lexical.Two, nil)
	onDisk.SpillTo(files)
	add := func(d int) {
		for _, row := range rows[d] {
			memory.Add(row)
			onDisk.Add(row)
		}
	}
	for d := range documents - 20 { // the others come later
		add(d)
	}
	chance := rand.New(rand.NewPCG(7, 8))
	for round := range 12 {
		x, y := memory.Build(), onDisk.Build()
		if y.OnDisk() == 0 || x.Len() != y.Len() {
			t.Fatalf("round %d: %d bytes in files, %d chunks, not %d", round, y.OnDisk(), y.Len(), x.Len())
		}
		for range 10 {
			q, f := rows[chance.IntN(documents)][0].Vector, Filter{Top: 10 + chance.IntN(30)}
			if got, want := y.Search(q, f), x.Search(q, f); !reflect.DeepEqual(got, want) {
				t.Fatalf("round %d: %v, not %v", round, got, want)
			}
		}
		for i := range y.segments {
			if s := y.segments[i].sparseSegment; !reflect.DeepEqual(s.whole(), x.segments[i].data) {
				t.Fatalf("round %d: the data of segment %d are others", round, i)
			}
		}
		inUse := int64(0)
		for i := range y.segments {
			inUse += int64(y.segments[i].sparseSegment.size())
		}
		if y.OnDisk() > 2*inUse {
			t.Errorf("round %d: %d bytes are in files, of which %d are in use", round, y.OnDisk(), inUse)
		}
		settled(t, c, y.OnDisk())
		memory, onDisk = NewSparseBuilder(lexical.Two, x), NewSparseBuilder(lexical.Two, y)
		onDisk.SpillTo(c.Room(1))
		for range 15 {
			d := chance.IntN(documents)
			memory.Remove(int64(d))
			onDisk.Remove(int64(d))
			if chance.IntN(3) > 0 {
				add(d)
			}
		}
	}
}

// TestShortStripesBecomeLong: an index that grows a segment at a time has long stripes after a while.
func TestShortStripesBecomeLong(t *testing.T) {
	files := filesOnly(t)
	var x *Sparse
	for _, rows := range stripedRows(3*stripeSegments, segmentChunks) {
		b := NewSparseBuilder(lexical.Two, x)
		b.SpillTo(files)
		for _, row := range rows {
			b.Add(row)
		}
		x = b.Build()
	}
	stripes := map[*stripe]int{}
	for i := range x.segments {
		stripes[x.segments[i].stripe]++
	}
	if len(x.segments) != 3*stripeSegments || len(stripes) != 3 {
		t.Errorf("%d segments lie in %d stripes", len(x.segments), len(stripes))
	}
}

// TestMoreThanIsKept: a question of more postings than are kept, in several indexes, is answered as one whose postings are looked up again.
func TestMoreThanIsKept(t *testing.T) {
	rows := stripedRows(8*stripeSegments, segmentChunks/4)
	build := func(room *Room, part int) *Sparse {
		b := NewSparseBuilder(lexical.Two, nil)
		b.SpillTo(room)
		for _, d := range rows[part*len(rows)/2 : (part+1)*len(rows)/2] {
			for _, row := range d {
				b.Add(row)
			}
		}
		return b.Build()
	}
	var prompt strings.Builder
	for n := range 6000 {
		fmt.Fprintf(&prompt, "word%d ", n)
	}
	z := rand.NewZipf(rand.New(rand.NewPCG(9, 10)), 1.1, 8, 5000)
	prompt.WriteString(zipfText(z, 3000))
	room := filesOnly(t)
	files := AskTexts([]*Sparse{build(room, 0), build(room, 1)}, prompt.String())
	memory := AskTexts([]*Sparse{build(nil, 0), build(nil, 1)}, prompt.String())
	for i, a := range files {
		if n := len(a.found); n == 0 || n == len(a.components) {
			t.Errorf("the postings of %d of %d components are kept", n, len(a.components))
		}
		for again := range 2 { // the second time nothing is kept
			f := Filter{Top: 50}
			if got, want := a.Search(f), memory[i].Search(f); !reflect.DeepEqual(got, want) {
				t.Errorf("index %d, %d: %v, not %v", i, again, got, want)
			}
		}
	}
}

// TestStripesTakeNoMore: an index fits into files that have hardly more room than it has bytes; what becomes a stripe is given back at once.
func TestStripesTakeNoMore(t *testing.T) {
	rows := stripedRows(5*stripeSegments, segmentChunks)
	build := func(room *Room) *Sparse {
		b := NewSparseBuilder(lexical.Two, nil)
		b.SpillTo(room)
		for _, d := range rows {
			for _, row := range d {
				b.Add(row)
			}
		}
		return b.Build()
	}
	size := int64(0)
	memory := build(nil)
	for i := range memory.segments {
		size += int64(len(memory.segments[i].data))
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	c := withFiles(t, 1, size*5/4)
	c.leastMoved = 1
	if x := build(c.Room(1)); x.OnDisk() != size || c.folder.Used() != size {
		t.Errorf("%d bytes of %d are in files, of which %d are in use", x.OnDisk(), size, c.folder.Used())
	}
}
