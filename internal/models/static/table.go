package static

import (
	"encoding/binary"
	"math"
	"sort"
)

// A packed model is the number of words, where each of them ends in the text of all, these in the order of the
// alphabet, and for each its scale and its components, of one byte each. Numbers are little-endian and have four bytes.
const (
	number = 4
	row    = number + Dimensions
)

// table is a packed model, ready to be read where it is.
type table struct {
	count            int
	ends, text, rows string
}

func unpack(packed string) table {
	if packed == "" { // as it is before make has written it for the first time
		return table{}
	}
	t := table{count: int(read(packed))}
	t.ends, packed = packed[number:number+number*t.count], packed[number+number*t.count:]
	all := int(read(t.ends[len(t.ends)-number:]))
	t.text, t.rows = packed[:all], packed[all:]
	return t
}

func read(s string) uint32 {
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

func (t table) word(i int) string {
	begin := uint32(0)
	if i > 0 {
		begin = read(t.ends[number*(i-1):])
	}
	return t.text[begin:read(t.ends[number*i:])]
}

// add adds the vector of a word to a sum, where the word is known.
func (t table) add(sum []float32, word string) {
	i := sort.Search(t.count, func(i int) bool { return t.word(i) >= word })
	if i == t.count || t.word(i) != word {
		return
	}
	at := t.rows[i*row : (i+1)*row]
	scale := math.Float32frombits(read(at))
	for k := range sum {
		sum[k] += scale * float32(int8(at[number+k]))
	}
}

// Packer packs a model.
type Packer struct{ ends, text, rows []byte }

// Add adds the vector of a word, which comes after all before it in the alphabet: each component is a value times scale.
func (p *Packer) Add(word string, scale float32, values []int8) {
	p.text = append(p.text, word...)
	p.ends = binary.LittleEndian.AppendUint32(p.ends, uint32(len(p.text)))
	p.rows = binary.LittleEndian.AppendUint32(p.rows, math.Float32bits(scale))
	for _, v := range values {
		p.rows = append(p.rows, byte(v))
	}
}

// Bytes gives the packed model.
func (p *Packer) Bytes() []byte {
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(p.ends)/number))
	return append(append(append(out, p.ends...), p.text...), p.rows...)
}
