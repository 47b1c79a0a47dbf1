package db_test

import (
	"bytes"
	"crypto/sha256"
	"testing"

	"canopy/db"
	"canopy/internal/devstack/devtest"
)

// TestBlocksStay: the bytes of blocks, short and long, are still what was stored when all have been read.
func TestBlocksStay(t *testing.T) {
	t.Parallel()
	url := devtest.Database(t, db.Fingerprint(), db.Migrate)
	pool, err := db.Connect(url, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pool.Close() }()
	tx, err := pool.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	// The blocks alone are read here: their document is left out.
	if _, err := tx.ExecContext(t.Context(), `SET LOCAL session_replication_role = replica`); err != nil {
		t.Fatal(err)
	}
	const blocks = 60
	want := make([][]byte, blocks)
	for i := range want {
		// From one byte to some hundred thousand, so that rows are shorter, as long and longer than what the driver shares among rows.
		size := 1 + i*20
		if i > blocks/2 {
			size = i * 10_000
		}
		for seed := sha256.Sum256([]byte{byte(i)}); len(want[i]) < size; seed = sha256.Sum256(seed[:]) {
			want[i] = append(want[i], seed[:]...)
		}
		if _, err := tx.ExecContext(t.Context(), `INSERT INTO vector_blocks (document_id, revision, dense, first, chunks, block) VALUES (1, 1, false, $1, $2, $3)`,
			i, []byte("12345678"), want[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	s, err := db.Open(t.Context(), url, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	var got [][]byte
	err = s.StreamBlocks(t.Context(), false, map[int64]int64{1: 1}, func(b db.Block) error {
		got = append(got, b.Bytes)
		return nil
	})
	if err != nil || len(got) != blocks {
		t.Fatalf("%d blocks, %v", len(got), err)
	}
	for _, b := range want {
		found := false
		for _, g := range got {
			found = found || bytes.Equal(g, b)
		}
		if !found {
			t.Errorf("a block of %d bytes has changed", len(b))
		}
	}
}
