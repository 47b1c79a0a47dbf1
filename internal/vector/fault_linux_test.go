package vector

import (
	"runtime/debug"
	"testing"

	"golang.org/x/sys/unix"

	"canopy/internal/models/lexical"
)

// TestFaultsPanic: a file that can't be read ends who reads it, and not the process, whatever reads: the sums are made in assembly.
func TestFaultsPanic(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	room := filesOnly(t)
	vectors := randomVectors(100, 64)
	b, _ := NewDenseBuilder(64, nil)
	b.SpillTo(room)
	for i, v := range vectors {
		if err := b.Add(DenseRow{Chunk: int64(i), Document: 1, Vector: v}); err != nil {
			t.Fatal(err)
		}
	}
	dense, rows := b.Build(), sparseRows(lexical.Two, 100, 50)
	sparse := buildSparse(lexical.Two, rows, room)
	find := map[string]func(){
		"codes":    func() { _, _ = dense.Search(vectors[0], Filter{Top: 10}) },
		"vectors":  func() { dense.segments[0].cosine(vectors[0], 50) },
		"postings": func() { sparse.Search(rows[0].Vector, Filter{Top: 10}) },
	}
	for _, find := range find {
		find()
	}
	for _, bytes := range [][]byte{dense.segments[0].region.Bytes(), dense.segments[0].codes.region.Bytes(), sparse.segments[0].region.Bytes()} {
		if err := unix.Mprotect(bytes, unix.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	for name, find := range find {
		t.Run(name, func(t *testing.T) {
			defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // of this goroutine
			defer func() {
				if recover() == nil {
					t.Error("nothing failed")
				}
			}()
			find()
		})
	}
}
