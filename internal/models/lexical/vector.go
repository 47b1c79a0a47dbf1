// Package lexical has the embedded models: sparse vectors of hashed words, with no weights to load and
// no network. The first, canopy-lexical-1, finds texts that share words with the query, in the forms
// that a stemmer unites, and knows nothing of meaning: no synonyms, no other language.
//
// A text's vector has a dimension for each of 2^18 buckets. Each distinct term adds 1 + ln(tf) to
// its bucket, each distinct pair of neighbouring words 0.3 times that to another; vectors are
// normalised to length 1. A query's components are multiplied by the inverse document frequency of
// their bucket in the searched collection before it is normalised, so the product of the two is a
// cosine between 0 and 1. Typical similarities of good answers are 0.1 to 0.4: a threshold
// belongs to a model.
package lexical

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Buckets is the number of dimensions.
const Buckets = 1 << bitsOne

const bitsOne = 18

// pairWeight is the weight of a pair of neighbouring words; a single term's is 1.
const pairWeight = 0.3

// maxCount is the largest term frequency that is told apart.
const maxCount = math.MaxUint8

// Count is the content of one bucket: how often the terms and the pairs that fall into it occur,
// at most 255 each.
type Count struct {
	Bucket uint32
	Words  uint8
	Pairs  uint8
}

// Weight is the component of a vector with this count, before normalisation.
func (c Count) Weight() float32 {
	return weights[uint16(c.Words)<<8|uint16(c.Pairs)]
}

// weights holds the weight of every pair of counts: words in the high byte, pairs in the low.
var weights = func() (table [1 << 16]float32) {
	logTF := func(n int) float64 {
		if n == 0 {
			return 0
		}
		return 1 + math.Log(float64(n))
	}
	var logs [maxCount + 1]float64
	for n := range logs {
		logs[n] = logTF(n)
	}
	for i := range table {
		table[i] = float32(logs[i>>8] + pairWeight*logs[i&maxCount])
	}
	return table
}()

// Vector is a text's sparse vector as counts, in ascending order of buckets. Counts, not floating
// point numbers, are what is stored and compared, so a text has the same vector on every machine.
type Vector []Count

// Embed returns the vector of a text by the first model; empty for a text without indexed words.
func Embed(text string) Vector { return One.Embed(text) }

// featuresOne appends the features of a text by the first model.
func featuresOne(to []uint32, text string) []uint32 {
	var last uint64
	neighbour := false // last holds the word right before
	for term := range Terms(text) {
		h := hash(term.Text)
		to = append(to, bucket(h)<<1|aWord) //nolint:staticcheck // aWord is the kind 0, written out
		if !term.Ideographic && neighbour {
			to = append(to, bucket(pairHash(last, h))<<1|aPair)
		}
		last, neighbour = h, !term.Ideographic
	}
	return to
}

// The kinds of features of the first model.
const (
	aWord = iota
	aPair
)

func addSaturated(a, b uint8) uint8 { return uint8(min(int(a)+int(b), maxCount)) }

// IDF is the inverse document frequency by which a query's component is multiplied, in the form that
// BM25 uses: n texts in all, df of which have something in the component's bucket.
func IDF(n, df int) float32 {
	return float32(math.Log(1 + (float64(n)-float64(df)+0.5)/(float64(df)+0.5)))
}

// hash is FNV-1a, 64 bits, of a term.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// pairHash is the hash of two terms in their order.
func pairHash(a, b uint64) uint64 { return a*0x9e3779b97f4a7c15 + b + 1 }

// bucket is where a hash falls.
func bucket(h uint64) uint32 { return uint32(mix(h) % Buckets) }

// spread is where a hash falls among 2^32.
func spread(h uint64) uint32 { return uint32(mix(h)) }

// mix is the finalizer of MurmurHash3, so that all bits of a hash count.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	h ^= h >> 33
	return h
}

// encodingVersion is the first byte of an encoded vector.
const encodingVersion = 1

// ErrEncoding is the error of Decode for bytes that Encode did not write.
var ErrEncoding = errors.New("lexical: not an encoded vector")

// Shapes of an encoded count, in its two lowest bits.
const (
	oneWord = iota
	onePair
	anyCounts // two bytes follow
	shapeBits = 2
)

// AppendBinary appends the vector's stable encoding: a version byte, then for each count, as one
// variable-length integer, the distance to the bucket before and its shape; some two bytes a count.
func (v Vector) AppendBinary(b []byte) ([]byte, error) {
	b = append(b, encodingVersion)
	before := uint32(0)
	for _, c := range v {
		distance := uint64(c.Bucket-before) << shapeBits
		before = c.Bucket
		switch {
		case c.Words == 1 && c.Pairs == 0:
			b = binary.AppendUvarint(b, distance|oneWord) //nolint:staticcheck // oneWord is the kind 0, written out
		case c.Words == 0 && c.Pairs == 1:
			b = binary.AppendUvarint(b, distance|onePair)
		default:
			b = append(binary.AppendUvarint(b, distance|anyCounts), c.Words, c.Pairs)
		}
	}
	return b, nil
}

// MarshalBinary returns the vector's stable encoding. It never fails.
func (v Vector) MarshalBinary() ([]byte, error) {
	return v.AppendBinary(make([]byte, 0, 1+3*len(v)))
}

// UnmarshalBinary reads what MarshalBinary wrote; for anything else the error is ErrEncoding.
func (v *Vector) UnmarshalBinary(b []byte) error {
	if len(b) == 0 || b[0] != encodingVersion {
		return fmt.Errorf("%w: version", ErrEncoding)
	}
	counts := make(Vector, 0, len(b)/2)
	next := uint64(0)
	for b = b[1:]; len(b) > 0; {
		n, size := binary.Uvarint(b)
		if size <= 0 {
			return fmt.Errorf("%w: distance", ErrEncoding)
		}
		b = b[size:]
		next += n >> shapeBits
		c := Count{Bucket: uint32(next)}
		switch n & (1<<shapeBits - 1) {
		case oneWord:
			c.Words = 1
		case onePair:
			c.Pairs = 1
		case anyCounts:
			if len(b) < 2 {
				return fmt.Errorf("%w: counts", ErrEncoding)
			}
			c.Words, c.Pairs, b = b[0], b[1], b[2:]
		default:
			return fmt.Errorf("%w: shape", ErrEncoding)
		}
		if next >= Buckets || (len(counts) > 0 && n>>shapeBits == 0) || c.Words == 0 && c.Pairs == 0 {
			return fmt.Errorf("%w: bucket", ErrEncoding)
		}
		counts = append(counts, c)
	}
	*v = counts
	return nil
}
