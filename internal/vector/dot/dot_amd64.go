package dot

import "golang.org/x/sys/cpu"

var wide = cpu.X86.HasAVX2

func product(q []int16, v []int8) int32 {
	if wide {
		return productAVX2(&q[0], &v[0], len(v))
	}
	return plain(q, v)
}

// productAVX2 is plain of n components, a multiple of Lane and not 0.
//
//go:noescape
func productAVX2(q *int16, v *int8, n int) int32
