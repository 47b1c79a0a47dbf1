package main

import (
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/models/lexical"
	"canopy/internal/vector"
)

// The sizes of the figures of a context of many short documents.
const (
	wideDocuments = 100_000
	wideText      = 300 // bytes, about
	widePart      = 5_000
	wideRounds    = 25
)

// manyDocuments measures an upload into a context of very many documents, and the search that comes right after it.
func (b *bencher) manyDocuments() ([]row, error) {
	worker, err := b.lab.worker()
	if err != nil {
		return nil, err
	}
	defer func() { _ = worker.stop() }()
	d := &desk{b.as(access.Assistant, b.lab.platform), b.ctx}
	id, err := d.newContext("wide")
	if err != nil {
		return nil, err
	}
	pool, err := db.Connect(b.lab.postgres.URL(), db.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { _ = pool.Close() }()
	if err := b.shortDocuments(pool, id); err != nil {
		return nil, err
	}
	first, err := b.firstSearch(d.Client, filled{context: id})
	if err != nil {
		return nil, err
	}
	uploads, searches := &samples{}, &samples{}
	for i := range wideRounds {
		begin := time.Now()
		if err := d.upload(id, fmt.Sprintf("new%d.txt", i), []byte(prose(uint64(5_000_000+i), wideText))); err != nil {
			return nil, err
		}
		uploads.times = append(uploads.times, time.Since(begin))
		if err := b.allReady(pool); err != nil {
			return nil, err
		}
		took, err := b.firstSearch(d.Client, filled{context: id})
		if err != nil {
			return nil, err
		}
		searches.times = append(searches.times, took)
	}
	of := fmt.Sprintf("context of %d documents", wideDocuments)
	up, found := uploads.result(time.Second, 0, 0), searches.result(time.Second, 0, 0)
	return []row{
		{name: of + ": first search", figure: ms(first)},
		{name: of + ": upload", figure: fmt.Sprintf("p50 %s, p99 %s", ms(up.p50), ms(up.p99)), wanted: "p50 < 50 ms"},
		{name: of + ": search after an upload", figure: fmt.Sprintf("p50 %s, p99 %s", ms(found.p50), ms(found.p99)), wanted: "p50 < 50 ms"},
	}, nil
}

// allReady waits until no document is to be processed.
func (b *bencher) allReady(pool *sqlx.DB) error {
	for begin := time.Now(); time.Since(begin) < processTime; time.Sleep(5 * time.Millisecond) {
		var open bool
		err := pool.GetContext(b.ctx, &open, `SELECT EXISTS (SELECT 1 FROM documents WHERE status IN ('pending', 'processing'))`)
		if err != nil || !open {
			return err
		}
	}
	return fmt.Errorf("documents are not ready after %v", processTime)
}

// shortDocuments stores ready documents of one chunk each, past the platform, which would take minutes: what is measured comes after.
func (b *bencher) shortDocuments(pool *sqlx.DB, contextID int64) error {
	packer := vector.NewSparsePacker(lexical.Two)
	defer packer.Done()
	for from := 0; from < wideDocuments; from += widePart {
		texts, blocks := make([]string, widePart), make([][]byte, widePart)
		for i := range texts {
			texts[i] = prose(uint64(1_000_000+from+i), wideText)
			packer.Add(0, lexical.Two.Embed(texts[i]))
			blocks[i] = packer.Pack()
		}
		if _, err := pool.ExecContext(b.ctx, shortDocuments, contextID, from, pq.Array(texts), pq.Array(blocks)); err != nil {
			return err
		}
	}
	if _, err := pool.ExecContext(b.ctx, `UPDATE contexts SET version = version + 1 WHERE id = $1`, contextID); err != nil {
		return err
	}
	_, err := pool.ExecContext(b.ctx, `VACUUM ANALYZE documents, chunks, vector_blocks`)
	return err
}

// shortDocuments stores documents of context $1, counted from $2 on, by their texts and their blocks of vectors.
const shortDocuments = `
	WITH texts AS MATERIALIZED (
		SELECT nextval(pg_get_serial_sequence('documents', 'id')) AS id, nextval(pg_get_serial_sequence('chunks', 'id')) AS chunk, $2 + n AS n, content, block
		FROM unnest($3::text[], $4::bytea[]) WITH ORDINALITY t(content, block, n)),
	made AS (
		INSERT INTO documents (id, context_id, file_name, original_name, display_name, name_index, format, content_type, content_hash, size, status,
			progress, chunks, packed, model, chunk_size, overlap, completed_at)
		SELECT id, $1, gen_random_uuid(), n || '.txt', n || '.txt', 0, 'txt', 'text/plain', md5(n::text) || md5(content), length(content), 'ready',
			1, 1, 1, 'canopy-lexical-2', 1000, 0.2, now() FROM texts),
	cut AS (
		INSERT INTO chunks (id, document_id, revision, position, content, overlap_bytes, tokens) SELECT chunk, id, 1, 0, content, 0, 60 FROM texts)
	INSERT INTO vector_blocks (document_id, revision, dense, first, chunks, block) SELECT id, 1, false, 0, int8send(chunk), block FROM texts`
