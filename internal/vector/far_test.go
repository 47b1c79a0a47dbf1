package vector

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"canopy/internal/models/lexical"
)

// TestFarSegmentsFindTheSame: an index whose segments are kept elsewhere, with what is near and what was removed, finds the same to the last bit as one
// that has all.
func TestFarSegmentsFindTheSame(t *testing.T) {
	t.Parallel()
	for _, model := range []*lexical.Model{lexical.One, lexical.Two} {
		random := rand.New(rand.NewPCG(1, 2))
		text := func() (s string) {
			for range 20 {
				s += fmt.Sprintf("word%d ", int(random.ExpFloat64()*40))
			}
			return s
		}
		whole, far := NewSparseBuilder(model, nil), NewSparseBuilder(model, nil)
		packer, far2 := NewSparsePacker(model), NewFarPacker(model)
		revisions, segments := map[int64]int64{}, map[int64]FarSegment{}
		flush := func() {
			if far2.Len() > 0 {
				segments[int64(len(segments)+1)] = far2.Pack()
			}
		}
		for d := int64(1); d <= 60; d++ {
			n := 1 + random.IntN(80)
			chunks := make([]int64, n)
			for i := range n {
				chunks[i] = d*1000 + int64(i)
				packer.Add(i, model.Embed(text()))
				if random.IntN(3) == 0 { // a second part
					packer.Add(i, model.Embed(text()))
				}
			}
			block := packer.Pack()
			for _, err := range []error{whole.AddBlock(d, 1, chunks, block), far2.Add(d, chunks, block)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			if d > 50 { // these are near
				_ = far.AddBlock(d, 1, chunks, block)
			}
			if d == 50 {
				flush()
			}
			if d <= 50 && d%7 > 0 { // the others' segments are from before
				revisions[d] = 1
			}
			if !far2.Room(80) && d < 50 {
				flush()
			}
		}
		for id, s := range segments {
			read, err := ReadPlaces(s.Places())
			if err != nil {
				t.Fatal(err)
			}
			far.AddFar(id, read, revisions)
		}
		gone := []int64{3, 55}
		for d := int64(7); d <= 50; d += 7 {
			gone = append(gone, d)
		}
		whole.Remove(gone...)
		far.Remove(3, 55)
		all, some := whole.Build(), NewSparseBuilder(model, far.Build()).Build()
		if ids, near := some.Far(); len(ids) < 2 || near == 0 || near == all.Len() {
			t.Fatalf("%d segments are far, and %d vectors near", len(ids), near)
		}
		if all.Len() != some.Len() || !reflect.DeepEqual(all.Documents(), some.Documents()) {
			t.Fatalf("%d vectors of %v, not %d of %v", some.Len(), some.Documents(), all.Len(), all.Documents())
		}
		for range 50 {
			question := text()
			var read []FarGroup
			for id, s := range segments {
				for _, g := range some.FarGroups(question) {
					if data := s.Groups[uint32(g)]; data != nil {
						read = append(read, FarGroup{id, uint32(g), data})
					}
				}
			}
			with, err := some.With(read)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range []Filter{{Top: 10}, {Top: 1000, Zeros: true}, {Top: 20, Documents: map[int64]struct{}{4: {}, 7: {}, 52: {}}}} {
				if got, want := with.AskText(question).Search(f), all.AskText(question).Search(f); !reflect.DeepEqual(got, want) {
					t.Fatalf("%s: %v, not %v", model.Name, got, want)
				}
			}
		}
	}
}

// TestFarSegmentsAreHeldAgainstTheirPlaces: what is damaged is not searched.
func TestFarSegmentsAreHeldAgainstTheirPlaces(t *testing.T) {
	t.Parallel()
	p := NewFarPacker(lexical.One)
	packer := NewSparsePacker(lexical.One)
	packer.Add(0, lexical.One.Embed("tide tables of the harbour"))
	if err := p.Add(1, []int64{11}, packer.Pack()); err != nil {
		t.Fatal(err)
	}
	s := p.Pack()
	b := s.Places()
	for i := range b {
		b[i] ^= 1
		if _, err := ReadPlaces(b); err == nil {
			t.Errorf("byte %d is another", i)
		}
		b[i] ^= 1
	}
	builder := NewSparseBuilder(lexical.One, nil)
	builder.AddFar(5, s, map[int64]int64{1: 1})
	x := builder.Build()
	for g, data := range s.Groups {
		for _, wrong := range []FarGroup{{6, g, data}, {5, g, data[:len(data)-1]}} {
			if _, err := x.With([]FarGroup{wrong}); err == nil {
				t.Errorf("group %d of segment %d, %d bytes", wrong.Group, wrong.Segment, len(wrong.Data))
			}
		}
	}
}
