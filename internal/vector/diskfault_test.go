package vector

import (
	"testing"
	"time"

	"canopy/internal/models/lexical"
	"canopy/internal/spill/spilltest"
)

// TestFailingDisk: a file that can't be read ends who reads it, whatever reads.
func TestFailingDisk(t *testing.T) {
	folder, path := spilltest.Folder(t, 1<<30)
	c := NewCache(1, time.Minute)
	c.KeepFiles(folder, func(err error) { t.Error(err) })
	c.leastMoved = 1
	room := c.Room(1)
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
		"vectors":  func() { dense.segments[0].cosine(vectors[0], 50, new([]float32)) },
		"postings": func() { sparse.Search(rows[0].Vector, Filter{Top: 10}) },
	}
	for _, find := range find {
		find()
	}
	spilltest.Break(t, path)
	for name, find := range find {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("nothing failed")
				}
			}()
			find()
		})
	}
}
