package vector

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestMergePlanKeepsFewSegments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.SampledFrom([]int{0, 1000}).Draw(t, "limit")
		var sizes []size
		copied, total := 0, 0
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			n := rapid.IntRange(1, 20).Draw(t, "chunks")
			total += n
			sizes = append(sizes, size{live: n})
			var merged []size
			covered := 0
			for _, r := range mergePlan(sizes, limit) {
				if r.from != covered || r.to <= r.from || !r.rewrite && r.to != r.from+1 {
					t.Fatalf("run %+v after %d segments", r, covered)
				}
				covered = r.to
				sum := 0
				for _, s := range sizes[r.from:r.to] {
					sum += s.live
				}
				if r.rewrite {
					copied += sum
				}
				if limit > 0 && sum > limit {
					t.Fatalf("a segment of %d chunks", sum)
				}
				merged = append(merged, size{live: sum})
			}
			if covered != len(sizes) {
				t.Fatalf("%d of %d segments", covered, len(sizes))
			}
			sizes = merged
		}
		logarithm := math.Log2(float64(total)) + 2
		most := logarithm
		if limit > 0 {
			most += 2 * float64(total) / float64(limit)
		}
		if float64(len(sizes)) > most {
			t.Fatalf("%d segments for %d chunks", len(sizes), total)
		}
		if float64(copied) > float64(total)*logarithm {
			t.Fatalf("%d copies of %d chunks", copied, total)
		}
	})
}

func TestRewriteOfRemovedChunks(t *testing.T) {
	for _, tt := range []struct {
		sizes []size
		want  string
	}{
		{[]size{{live: 90, gone: 10}}, "[{0 1 false}]"},
		{[]size{{live: 60, gone: 40}}, "[{0 1 true}]"},
		{[]size{{live: 0, gone: 50}, {live: 20}, {live: 5}}, "[{0 1 true} {1 2 false} {2 3 false}]"},
		{[]size{{live: 20}, {live: 15}, {live: 5}}, "[{0 3 true}]"},
	} {
		if got := fmt.Sprint(mergePlan(tt.sizes, 0)); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.sizes, got, tt.want)
		}
	}
}

func TestFuse(t *testing.T) {
	dense := []Hit{{Chunk: 1, Document: 10, Similarity: 0.8}, {Chunk: 2, Document: 10, Similarity: 0.4}, {Chunk: 3, Document: 20, Similarity: 0.2}, {Chunk: 5, Document: 30, Similarity: 0}}
	words := []Hit{{Chunk: 3, Document: 20, Similarity: 0.1}, {Chunk: 1, Document: 10, Similarity: 0.05}, {Chunk: 4, Document: 20, Similarity: 0.02}}
	tests := []struct {
		name   string
		filter Filter
		want   []Hit
	}{
		{"both are normalised", Filter{Top: 10}, []Hit{{Chunk: 1, Document: 10, Similarity: 0.75}, {Chunk: 3, Document: 20, Similarity: 0.625}, {Chunk: 2, Document: 10, Similarity: 0.25}, {Chunk: 4, Document: 20, Similarity: 0.1}}},
		{"as many as asked for", Filter{Top: 2}, []Hit{{Chunk: 1, Document: 10, Similarity: 0.75}, {Chunk: 3, Document: 20, Similarity: 0.625}}},
		{"the threshold bounds the sum", Filter{Top: 10, MinScore: 0.25}, []Hit{{Chunk: 1, Document: 10, Similarity: 0.75}, {Chunk: 3, Document: 20, Similarity: 0.625}, {Chunk: 2, Document: 10, Similarity: 0.25}}},
		{"some documents", Filter{Top: 10, Documents: map[int64]struct{}{20: {}}}, []Hit{{Chunk: 3, Document: 20, Similarity: 0.625}, {Chunk: 4, Document: 20, Similarity: 0.1}}},
		{"what is like nothing", Filter{Top: 10, Zeros: true}, []Hit{{Chunk: 1, Document: 10, Similarity: 0.75}, {Chunk: 3, Document: 20, Similarity: 0.625}, {Chunk: 2, Document: 10, Similarity: 0.25}, {Chunk: 4, Document: 20, Similarity: 0.1}, {Chunk: 5, Document: 30, Similarity: 0}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Fuse(tt.filter, 0.5, Exactly(slices.Clone(dense)), slices.Clone(words))
			if !slices.EqualFunc(got, tt.want, sameHit) {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
	if got := Fuse(Filter{Top: 5}, 0.5, nil, nil); len(got) != 0 {
		t.Errorf("nothing with nothing: %+v", got)
	}
	if got := Fuse(Filter{Top: 5}, 0.7, Exactly([]Hit{{Chunk: 9, Document: 1, Similarity: 0.3}, {Chunk: 8, Document: 1, Similarity: 0.3}}), nil); got[0].Chunk != 8 || got[0].Similarity != 0.7 {
		t.Errorf("a tie is not ordered by id, or the weight is not the dense one's: %+v", got)
	}
	if got := Fuse(Filter{Top: 5}, 0.7, Exactly([]Hit{{Chunk: 9, Document: 1, Similarity: 0.3}}), []Hit{{Chunk: 9, Document: 1, Similarity: 0.1}}); got[0].Similarity != 1 {
		t.Errorf("the best by both is %+v", got)
	}
}

func sameHit(a, b Hit) bool {
	return a.Chunk == b.Chunk && a.Document == b.Document && math.Abs(float64(a.Similarity-b.Similarity)) < 1e-6
}

func TestChanges(t *testing.T) {
	add, remove := Documents{1: 1, 2: 1, 3: 1}.Changes(Documents{2: 1, 3: 2, 4: 1})
	if !slices.Equal(add, []int64{3, 4}) || !slices.Equal(remove, []int64{1, 3}) {
		t.Errorf("add %v, remove %v", add, remove)
	}
}
