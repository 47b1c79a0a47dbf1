package vector

import (
	"math"
	"slices"

	"canopy/internal/spill"
	"canopy/internal/vector/dot"
)

// denseCodes are vectors of length 1 in a quarter of the memory: each component as a whole number of 8 bits, times the vector's own scale. What the
// rounding leaves out is known by its length, so that a code tells between which bounds the cosine is (by the inequality of Cauchy and Schwarz):
// the vectors themselves are read where that does not do.
type denseCodes struct {
	stride int // components of one, zeros included
	values []int8
	scales []float32
	slacks []float32 // the length of what is left out
	// region has the values where they are in a file, and values is nil; otherwise it is nil.
	region *spill.Region
}

// mostCode is the greatest number of a code.
const mostCode = 127

// strideOf is how many components a code has.
func strideOf(dimensions int) int { return (dimensions + dot.Lane - 1) / dot.Lane * dot.Lane }

// newDenseCodes makes those of vectors that stand one behind the other.
func newDenseCodes(values []float32, dimensions int) *denseCodes {
	n := len(values) / dimensions
	c := &denseCodes{stride: strideOf(dimensions), scales: make([]float32, n), slacks: make([]float32, n)}
	c.values = make([]int8, n*c.stride)
	for i := range n {
		c.scales[i], c.slacks[i] = round(c.values[i*c.stride:], values[i*dimensions:(i+1)*dimensions], mostCode)
	}
	return c
}

// round writes a vector as whole numbers of at most so much, and gives what they are to be multiplied by and the length of what is left out.
func round[T int8 | int16](to []T, v []float32, most float32) (scale, slack float32) {
	var greatest float32
	for _, x := range v {
		greatest = max(greatest, float32(math.Abs(float64(x))))
	}
	if greatest == 0 {
		return 0, 0
	}
	scale = greatest / most
	var left float64
	for i, x := range v {
		n := math.RoundToEven(float64(x) / float64(scale))
		to[i] = T(n)
		d := float64(x) - n*float64(scale)
		left += d * d
	}
	return scale, math.Nextafter32(float32(math.Sqrt(left)), 2)
}

// bytes is the memory in use; that of none is 0.
func (c *denseCodes) bytes() int64 {
	if c == nil {
		return 0
	}
	return int64(len(c.scales)+len(c.slacks))*4 + int64(len(c.values))
}

// move has the values lie in a file, where there is room.
func (c *denseCodes) move(room *Room) {
	if region := room.take(view(c.values)); region != nil {
		c.region, c.values = region, nil
	}
}

// coded is a query to compare with codes.
type coded struct {
	values []int16
	scale  float32
	slack  float32
	// error is by how much the rounding of sums may be off, in a cosine made of the vectors themselves, too.
	error float32
}

func newCoded(query []float32) *coded {
	q := &coded{values: make([]int16, strideOf(len(query)))}
	q.scale, q.slack = round(q.values, query, dot.Most)
	q.error = float32(len(query)+8) * 0x1p-23
	return q
}

// codesReader reads the codes of vectors in their order. Of those in a file it has some at a time.
type codesReader struct {
	*denseCodes
	some  []int8
	first int // the vector whose code begins some
}

// readCodes is how many bytes of codes are read at a time.
const readCodes = 256 << 10

func (c *denseCodes) reader() *codesReader { return &codesReader{denseCodes: c} }

// code gives that of a vector.
func (r *codesReader) code(i int) []int8 {
	if r.region == nil {
		return r.values[i*r.stride : (i+1)*r.stride]
	}
	if at := (i - r.first) * r.stride; at < len(r.some) {
		return r.some[at : at+r.stride]
	}
	n := min(max(1, readCodes/r.stride), len(r.scales)-i) * r.stride
	r.some, r.first = slices.Grow(r.some[:0], n)[:n], i
	r.region.Read(view(r.some), int64(i)*int64(r.stride))
	return r.some[:r.stride]
}

// near tells about how similar a vector is to the query, and by how much that is off at most, which is never 0.
func (r *codesReader) near(q *coded, i int) (similarity, off float32) {
	product := dot.Product(q.values, r.code(i))
	slack := r.slacks[i]
	return unsigned(float32(product) * (q.scale * r.scales[i])), slack + q.slack*(1+slack) + q.error
}
