package vector

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawClose gives vectors of which many are nearly alike, or as codes tell least of them.
func drawClose(t *rapid.T, dimensions, n int) [][]float32 {
	component := rapid.OneOf(
		rapid.Float32Range(-1, 1), rapid.Float32Range(-1e-6, 1e-6), rapid.Float32Range(-1e-42, 1e-42),
		rapid.SampledFrom([]float32{0, 1, -1, 1.5 / 127, 0.5 / 127, -0.5 / 127, 2.5 / 127, 1e30, -1e30}))
	vector := rapid.SliceOfN(component, dimensions, dimensions)
	some := rapid.SliceOfN(vector, 1, 3).Draw(t, "some")
	list := make([][]float32, n)
	for i := range list {
		list[i] = slices.Clone(rapid.SampledFrom(some).Draw(t, "one"))
		for range rapid.IntRange(0, 2).Draw(t, "changes") {
			at := rapid.IntRange(0, dimensions-1).Draw(t, "at")
			list[i][at] += rapid.Float32Range(-0.02, 0.02).Draw(t, "by")
		}
	}
	return list
}

// TestFilesChangeNothing: what is found, and how alike it is, is the same to the last bit whether vectors are in memory or in files.
func TestFilesChangeNothing(t *testing.T) {
	room := filesOnly(t)
	rapid.Check(t, func(t *rapid.T) {
		dimensions := rapid.OneOf(rapid.IntRange(1, 6), rapid.IntRange(1, 70)).Draw(t, "dimensions")
		n := rapid.IntRange(1, 30).Draw(t, "chunks")
		vectors := drawClose(t, dimensions, n+1)
		build := func(room *Room) *Dense {
			b, err := NewDenseBuilder(dimensions, nil)
			if err != nil {
				t.Fatal(err)
			}
			b.SpillTo(room)
			for i, v := range vectors[:n] {
				if err := b.Add(DenseRow{Chunk: int64(i * 7 % 31), Document: int64(i % 3), Vector: v}); err != nil {
					t.Fatal(err)
				}
			}
			return b.Build()
		}
		memory, files := build(nil), build(room)
		query := vectors[n]
		f := drawFilter(t)
		if full, err := memory.Search(query, Filter{Top: n, Zeros: true}); err == nil && rapid.Bool().Draw(t, "edge") {
			f.MinScore = rapid.SampledFrom(full).Draw(t, "hit").Similarity
		}
		words := make([]Hit, 0, n)
		for i := range n {
			if s := rapid.SampledFrom([]float32{0, 0.25, 0.5, 1}).Draw(t, "word"); s > 0 {
				words = append(words, Hit{Chunk: int64(i * 7 % 31), Document: int64(i % 3), Similarity: s})
			}
		}
		share := rapid.SampledFrom([]float32{0, 0.3, 0.5, 1}).Draw(t, "share")
		all := f
		all.MinScore = 0
		for name, find := range map[string]func(x *Dense) ([]Hit, error){
			"search": func(x *Dense) ([]Hit, error) { return x.Search(query, f) },
			"all": func(x *Dense) ([]Hit, error) {
				c, err := x.All(query, f)
				return ranked(c.Hits()), err
			},
			"fused": func(x *Dense) ([]Hit, error) {
				c, err := x.All(query, all)
				return Fuse(f, share, c, slices.Clone(words)), err
			},
			"blended": func(x *Dense) ([]Hit, error) {
				c, err := x.All(query, all)
				return Blend(f, share, c, slices.Clone(words)), err
			},
		} {
			got, err := find(files)
			want, err2 := find(memory)
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			if !reflect.DeepEqual(withoutRise(got), withoutRise(want)) {
				t.Fatalf("%s by %+v: %v\nnot %v", name, f, got, want)
			}
		}
	})
}

// TestGreatestOfCodes: codes that say 1 of a chunk that is less like the query than another, of which they tell all, do not hide that one.
func TestGreatestOfCodes(t *testing.T) {
	const dimensions, great, step = 1002, 0.7, 0.7 / 127
	query, off, near := make([]float32, dimensions), make([]float32, dimensions), make([]float32, dimensions)
	query[0], off[0], near[0] = great, great, great
	for i := 1; i <= 1000; i += 2 {
		query[i], near[i] = step, step
		off[i], off[i+1] = 0.501*step, 0.499*step // rounded to what the query has
	}
	near[dimensions-1] = 11 * step
	build := func(room *Room) *Dense {
		b, _ := NewDenseBuilder(dimensions, nil)
		b.SpillTo(room)
		for i, v := range [][]float32{off, near} {
			if err := b.Add(DenseRow{Chunk: int64(i), Document: 1, Vector: v}); err != nil {
				t.Fatal(err)
			}
		}
		return b.Build()
	}
	fused := func(x *Dense) []Hit {
		all, err := x.All(query, Filter{})
		if err != nil {
			t.Fatal(err)
		}
		return Fuse(Filter{Top: 2}, 1, all, nil)
	}
	got, want := fused(build(filesOnly(t))), fused(build(nil))
	if !reflect.DeepEqual(withoutRise(got), withoutRise(want)) || want[0].Chunk != 1 {
		t.Errorf("%+v, not %+v", got, want)
	}
}
