// Package dot multiplies vectors of small whole numbers.
package dot

// Lane is of what the lengths of vectors are multiples.
const Lane = 32

// Product is the sum of the products of the components of two vectors of the same length, a multiple of Lane. It is right where none of
// the first is beyond ±Most, and the length is at most MostLength.
func Product(q []int16, v []int8) int32 {
	if len(q) != len(v) || len(q)%Lane != 0 {
		panic("dot: lengths differ, or are no multiple of Lane")
	}
	if len(q) == 0 {
		return 0
	}
	return product(q, v)
}

// Bounds, so that no sum passes 32 bits.
const (
	Most       = 1023
	MostLength = 16384
)

func plain(q []int16, v []int8) (sum int32) {
	for i, x := range v {
		sum += int32(q[i]) * int32(x)
	}
	return sum
}
