package dot

import (
	"math/rand/v2"
	"testing"
)

// TestProduct compares with the definition, at the bounds, too.
func TestProduct(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, Lane, 2 * Lane, 17 * Lane, MostLength} {
		q, v := make([]int16, n), make([]int8, n)
		for _, fill := range []func(i int) (int16, int8){
			func(int) (int16, int8) { return int16(r.IntN(2*Most+1) - Most), int8(r.IntN(255) - 127) },
			func(int) (int16, int8) { return Most, 127 },
			func(int) (int16, int8) { return Most, -127 },
			func(i int) (int16, int8) { return int16(i % Lane), int8(i % 2) },
		} {
			want := int64(0)
			for i := range q {
				q[i], v[i] = fill(i)
				want += int64(q[i]) * int64(v[i])
			}
			if got := Product(q, v); int64(got) != want || plain(q, v) != got {
				t.Errorf("%d components: %d, and plain %d, not %d", n, got, plain(q, v), want)
			}
		}
	}
}

func BenchmarkProduct(b *testing.B) {
	q, v := make([]int16, 512), make([]int8, 512)
	b.Run("wide", func(b *testing.B) {
		for b.Loop() {
			Product(q, v)
		}
	})
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			plain(q, v)
		}
	})
}
