package radix

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 32).Draw(t, "width")
		// Few distinct numbers, and many: both are in a text.
		distinct := rapid.SliceOfN(rapid.Uint32Range(0, uint32(1<<width-1)), 1, 400).Draw(t, "distinct")
		list := rapid.SliceOfN(rapid.SampledFrom(distinct), 0, 5000).Draw(t, "list")
		want := slices.Clone(list)
		slices.Sort(want)
		if Sort(list, make([]uint32, len(list)), width); !slices.Equal(list, want) {
			t.Fatalf("%v, not %v", list, want)
		}
	})
}

// TestSortDealsDeep sorts numbers that share their highest bits, round by round.
func TestSortDealsDeep(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	list := make([]uint64, 100_000)
	for i := range list {
		list[i] = r.Uint64() >> (i % 64)
	}
	want := slices.Sorted(slices.Values(list))
	if Sort(list, make([]uint64, len(list)), 64); !slices.Equal(list, want) {
		t.Fatal("not in order")
	}
}

func BenchmarkSort(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{500, 1_000_000} {
		list, from, spare := make([]uint32, n), make([]uint32, n), make([]uint32, n)
		for i := range from {
			from[i] = r.Uint32()
		}
		b.Run(map[bool]string{true: "few", false: "many"}[n < 1000], func(b *testing.B) {
			b.SetBytes(int64(4 * n))
			for b.Loop() {
				copy(list, from)
				Sort(list, spare, 32)
			}
		})
	}
}
