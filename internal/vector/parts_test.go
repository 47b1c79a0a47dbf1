package vector

import (
	"slices"
	"strings"
	"testing"

	"canopy/internal/models/lexical"
)

// TestPartsOfAChunk: a chunk of several parts is found once, by the part that is most alike, also from blocks, after merges, and where it is like nothing.
func TestPartsOfAChunk(t *testing.T) {
	of := lexical.Two.Embed
	packer := NewSparsePacker(lexical.Two)
	for chunk, parts := range [][]string{{"honey keeps", "other things"}, {"other things"}, {"nothing", "of honey and much else that is said", "honey"}} {
		for _, part := range parts {
			packer.Add(chunk, of(part))
		}
	}
	b := NewSparseBuilder(lexical.Two, nil)
	if err := b.AddBlock(1, 1, []int64{10, 11, 12}, packer.Pack()); err != nil {
		t.Fatal(err)
	}
	for i, part := range []string{"unlike", "alike to none"} {
		b.Add(SparseRow{Chunk: 20, Document: 2, Vector: of(strings.Repeat(part+" ", i+1))})
	}
	x := b.Build()
	asked := x.AskText("honey")
	ids := func(hits []Hit) (list []int64) {
		for _, h := range hits {
			list = append(list, h.Chunk)
		}
		return list
	}
	hits := asked.Search(Filter{Top: 10})
	if !slices.Equal(ids(hits), []int64{12, 10}) || hits[0].Similarity < 0.999 {
		t.Errorf("%v", hits)
	}
	if got := ids(asked.Search(Filter{Top: 1})); !slices.Equal(got, []int64{12}) {
		t.Errorf("the best: %v", got)
	}
	if got := ids(asked.Search(Filter{Top: 10, Zeros: true})); !slices.Equal(got, []int64{12, 10, 11, 20}) {
		t.Errorf("with what is like nothing: %v", got)
	}
	again := NewSparseBuilder(lexical.Two, x)
	again.Remove(2)
	if got := ids(again.Build().AskText("honey").Search(Filter{Top: 10, Zeros: true})); !slices.Equal(got, []int64{12, 10, 11}) {
		t.Errorf("after a removal: %v", got)
	}
}
