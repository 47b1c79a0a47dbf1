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
	list := func(ids ...int64) []Hit {
		var hits []Hit
		for _, id := range ids {
			hits = append(hits, Hit{Chunk: id, Document: id * 10, Similarity: 0.5})
		}
		return hits
	}
	got := Fuse(3, list(1, 2, 3), list(3, 1, 4))
	want := []Hit{{1, 10, 1.0/61 + 1.0/62}, {3, 30, 1.0/63 + 1.0/61}, {2, 20, 1.0 / 62}}
	for i := range want {
		if got[i].Chunk != want[i].Chunk || got[i].Document != want[i].Document || math.Abs(float64(got[i].Similarity-want[i].Similarity)) > 1e-7 {
			t.Errorf("hit %d: %+v, want %+v", i, got[i], want[i])
		}
	}
	if len(got) != 3 || len(Fuse(5)) != 0 {
		t.Errorf("%d hits", len(got))
	}
	if tied := Fuse(2, list(9), list(8)); tied[0].Chunk != 8 {
		t.Errorf("ties are not ordered by id: %+v", tied)
	}
}

func TestChanges(t *testing.T) {
	add, remove := Documents{1: 1, 2: 1, 3: 1}.Changes(Documents{2: 1, 3: 2, 4: 1})
	if !slices.Equal(add, []int64{3, 4}) || !slices.Equal(remove, []int64{1, 3}) {
		t.Errorf("add %v, remove %v", add, remove)
	}
}
