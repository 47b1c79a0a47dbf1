package vector

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"canopy/internal/models/lexical"
)

// zipfText draws a text of n words whose frequencies are like those of a language.
func zipfText(z *rand.Zipf, n int) string {
	var s strings.Builder
	for range n {
		word := z.Uint64()
		for more := word + 40; more > 0; more /= 20 {
			s.WriteString(syllables[more%20])
		}
		s.WriteByte(' ')
	}
	return s.String()
}

var syllables = strings.Fields("ba der min to cal ex pro sun tri low rek on di ga sel pur ven ak mo fil")

func sparseRows(m *lexical.Model, n, words int) []SparseRow {
	z := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.1, 8, 50_000)
	rows := make([]SparseRow, n)
	for i := range rows {
		rows[i] = SparseRow{Chunk: int64(i), Document: int64(i / 10), Vector: m.Embed(zipfText(z, words))}
	}
	return rows
}

func buildSparse(m *lexical.Model, rows []SparseRow, room *Room) *Sparse {
	b := NewSparseBuilder(m, nil)
	b.SpillTo(room)
	for _, row := range rows {
		b.Add(row)
	}
	return b.Build()
}

func BenchmarkSparse(b *testing.B) {
	for _, m := range []*lexical.Model{lexical.One, lexical.Two} {
		b.Run(m.Name, func(b *testing.B) { benchmarkSparse(b, m) })
	}
}

func benchmarkSparse(b *testing.B, m *lexical.Model) {
	const chunks = 30_000
	rows := sparseRows(m, chunks, 150)
	b.Run("decodeAndBuild", func(b *testing.B) {
		if m != lexical.One {
			b.Skip("only vectors of the first model were stored one by one")
		}
		encoded := make([][]byte, len(rows))
		for i := range rows {
			encoded[i], _ = rows[i].Vector.MarshalBinary()
		}
		for b.Loop() {
			builder := NewSparseBuilder(m, nil)
			for i, row := range rows {
				if err := row.Vector.UnmarshalBinary(encoded[i]); err != nil {
					b.Fatal(err)
				}
				builder.Add(row)
			}
			b.ReportMetric(float64(builder.Build().Bytes())/chunks, "B/chunk")
		}
	})
	for _, length := range []int{3, BlockChunks} {
		b.Run(fmt.Sprintf("blocksOf%d", length), func(b *testing.B) {
			var blocks [][]byte
			p := NewSparsePacker(m)
			size := 0
			for i, row := range rows {
				if p.Add(i%length, row.Vector); p.Len() == length || i == len(rows)-1 {
					blocks = append(blocks, p.Pack())
					size += len(blocks[len(blocks)-1])
				}
			}
			ids := make([]int64, length)
			for i := range ids {
				ids[i] = int64(i)
			}
			for b.Loop() {
				builder := NewSparseBuilder(m, nil)
				for i, block := range blocks {
					if err := builder.AddBlock(int64(i), 1, ids, block); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(builder.Build().Bytes())/chunks, "B/chunk")
			}
			b.ReportMetric(float64(size)/chunks, "stored-B/chunk")
		})
	}
	for name, room := range map[string]*Room{"in memory": nil, "in files": withFiles(b, 1, 1<<30).Room(1)} {
		b.Run(name, func(b *testing.B) { benchmarkSparseSearch(b, m, rows, room) })
	}
}

func benchmarkSparseSearch(b *testing.B, m *lexical.Model, rows []SparseRow, room *Room) {
	x := buildSparse(m, rows, room)
	z := rand.NewZipf(rand.New(rand.NewPCG(3, 4)), 1.1, 8, 50_000)
	b.Run("search", func(b *testing.B) {
		query := m.Embed(zipfText(z, 12))
		for b.Loop() {
			x.Search(query, Filter{Top: 10})
		}
	})
	b.Run("extendByOneDocument", func(b *testing.B) {
		current, next := x, int64(len(rows))
		for b.Loop() {
			builder := NewSparseBuilder(m, current)
			builder.SpillTo(room)
			for range 10 {
				next++
				builder.Add(SparseRow{Chunk: next, Document: next / 10, Vector: rows[next%int64(len(rows))].Vector})
			}
			current = builder.Build()
		}
	})
}

func BenchmarkDense(b *testing.B) {
	b.Run("in memory", func(b *testing.B) { benchmarkDense(b, nil) })
	b.Run("in files", func(b *testing.B) { benchmarkDense(b, withFiles(b, 1<<30, 1<<30).Room(1)) })
}

func benchmarkDense(b *testing.B, room *Room) {
	const chunks, dimensions = 30_000, 512
	vectors := randomVectors(1000, dimensions)
	builder, _ := NewDenseBuilder(dimensions, nil)
	builder.SpillTo(room)
	for i := range chunks {
		v := vectors[i%len(vectors)]
		v[i%dimensions] = float32(math.Sin(float64(i)))
		if err := builder.Add(DenseRow{Chunk: int64(i), Document: int64(i / 10), Vector: v}); err != nil {
			b.Fatal(err)
		}
	}
	x := builder.Build()
	b.Run("search", func(b *testing.B) {
		for b.Loop() {
			if _, err := x.Search(vectors[0], Filter{Top: 10}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(x.Bytes())/chunks, "B/chunk")
	})
	b.Run("blend", func(b *testing.B) {
		for b.Loop() {
			all, err := x.All(vectors[0], Filter{Top: 10})
			if err != nil {
				b.Fatal(err)
			}
			Blend(Filter{Top: 10}, 0.5, all, nil)
		}
	})
	b.Run("extendByOneDocument", func(b *testing.B) {
		current, next := x, int64(chunks)
		for b.Loop() {
			builder, _ := NewDenseBuilder(dimensions, current)
			builder.SpillTo(room)
			for range 10 {
				next++
				if err := builder.Add(DenseRow{Chunk: next, Document: next / 10, Vector: vectors[next%1000]}); err != nil {
					b.Fatal(err)
				}
			}
			current = builder.Build()
		}
	})
}
