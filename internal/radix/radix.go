// Package radix sorts numbers that are spread evenly, such as hashes, in time that is linear in how many there are.
package radix

import (
	"math/bits"
	"slices"
)

// Sort puts numbers in ascending order. Only the lowest so many bits of them differ. spare is as long as the list, and is
// overwritten.
//
// Numbers are dealt out by their highest bits into about as many heaps as there are numbers, and each heap the same way, until
// it is in order: most heaps of hashes are after one or two rounds. Equal ones stay side by side, so those of a common word cost
// no more than others.
func Sort[T ~uint32 | ~uint64](list, spare []T, width int) {
	if deal(list, spare, width) {
		copy(list, spare)
	}
}

const (
	// most is the binary logarithm of how many heaps there are at most: more than a processor's first cache holds the ends of
	// would take longer.
	most = 11
	// few numbers are sorted by insertion.
	few = 24
)

// deal sorts the list, and tells whether the result is in spare.
func deal[T ~uint32 | ~uint64](list, spare []T, width int) (inSpare bool) {
	if len(list) <= few {
		insert(list)
		return false
	}
	if width <= 0 || slices.IsSorted(list) {
		return false
	}
	round := min(most, bits.Len(uint(len(list))), width)
	var ends [1 << most]uint32
	heaps := ends[:1<<round]
	shift, mask := uint(width-round), T(1)<<round-1
	for _, n := range list {
		heaps[n>>shift&mask]++
	}
	start := uint32(0)
	for i, count := range heaps {
		heaps[i], start = start, start+count
	}
	for _, n := range list {
		at := &heaps[n>>shift&mask]
		spare[*at] = n
		*at++
	}
	from := uint32(0)
	for _, end := range heaps {
		if end-from > few {
			if deal(spare[from:end], list[from:end], width-round) {
				copy(spare[from:end], list[from:end])
			}
		}
		from = end
	}
	insert(spare) // all at once, as no number has to leave its heap
	return true
}

// insert sorts a few numbers.
func insert[T ~uint32 | ~uint64](list []T) {
	for i := 1; i < len(list); i++ {
		n, at := list[i], i
		for ; at > 0 && list[at-1] > n; at-- {
			list[at] = list[at-1]
		}
		list[at] = n
	}
}
