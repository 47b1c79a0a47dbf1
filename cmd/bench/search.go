package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"time"

	canopy "canopy/clients/go"
	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/vector"
)

// The sizes of the figures of documents: chunks, components of dense vectors, bytes. The index of most chunks is larger than what a server keeps
// by default: it is given mostCache.
const (
	fewChunks, manyChunks = 2_000, 30_000
	mostChunks, mostCache = 100_000, "1GiB"
	smallCache            = "64MiB"
	dimensions            = 512
	denseModel            = "bench-dense-1"
	firstText             = 2_000_000
	ingestSize            = 20 << 20
	manyTexts             = 50
	chunkBytes            = 3400 // of this prose, about
)

// documents measures ingestion and search.
func (b *bencher) documents() ([]row, error) {
	worker, err := b.lab.worker()
	if err != nil {
		return nil, err
	}
	defer func() { _ = worker.stop() }()
	d := &desk{b.as(access.Assistant, b.lab.platform), b.ctx}
	rows, err := b.ingest(d)
	if err != nil {
		return nil, err
	}
	few, err := b.fill(d, "few", fewChunks)
	if err != nil {
		return nil, err
	}
	many, err := b.fill(d, "many", manyChunks)
	if err != nil {
		return nil, err
	}
	if err := b.newTokenFor(access.Assistant); err != nil {
		return nil, err
	}
	for _, at := range []filled{few, many} {
		loaded, err := b.loading(at, nil, "< 200 ms", "< 406 MiB")
		if err != nil {
			return nil, err
		}
		rows = append(rows, loaded...)
		r := b.measure(b.lab.platform, 1, search(at.context))
		rows = append(rows, row{
			name: fmt.Sprintf("search %d chunks, canopy-lexical-2", at.chunks), figure: fmt.Sprintf("p50 %s, p99 %s", ms(r.p50), ms(r.p99)),
			wanted: "p50 < 4 ms", statements: fmt.Sprintf("%.1f", r.statements), allocations: fmt.Sprintf("%.0f", r.allocations),
		})
	}
	during, err := b.during(d, few)
	if err != nil {
		return nil, err
	}
	dense, err := b.dense(many)
	if err != nil {
		return nil, err
	}
	most, err := b.fill(d, "most", mostChunks)
	if err != nil {
		return nil, err
	}
	loaded, err := b.loading(most, []string{"CANOPY_VECTOR_CACHE=" + mostCache}, "< 600 ms", "< 1174 MiB")
	if err != nil {
		return nil, err
	}
	filed, err := b.filed(most)
	return append(append(append(append(rows, during), dense...), loaded...), filed...), err
}

// filed measures searches in an index that is larger than the memory for it.
func (b *bencher) filed(at filled) ([]row, error) {
	fresh, err := b.lab.start(healthz, []string{"CANOPY_VECTOR_CACHE=" + smallCache}, b.lab.binary, "serve")
	if err != nil {
		return nil, err
	}
	defer func() { _ = fresh.stop() }()
	api := b.as(access.Assistant, fresh) // its tokens are its own: another address is another issuer
	first, err := b.firstSearch(api, at)
	if err != nil {
		return nil, err
	}
	time.Sleep(loadedBehind)
	if b.token, err = api.Token(b.ctx); err != nil {
		return nil, err
	}
	r := b.measure(fresh, 1, search(at.context))
	name := fmt.Sprintf("search %d chunks, with %s for indexes", at.chunks, smallCache)
	return []row{
		{name: name + ", first after a start", figure: ms(first), wanted: "< 600 ms"},
		{name: name, figure: fmt.Sprintf("p50 %s, p99 %s", ms(r.p50), ms(r.p99)), wanted: "p50 < 30 ms", statements: fmt.Sprintf("%.1f", r.statements)},
		{name: name + ", RSS after it", figure: fmt.Sprintf("%d MiB", fresh.rss()>>20), wanted: "< 214 MiB"},
	}, nil
}

// ingest times texts and a long PDF from the upload's end to ready: the first text that the worker has, a large one, and
// many with two at work.
func (b *bencher) ingest(d *desk) ([]row, error) {
	first, err := d.timed("first", [][]byte{[]byte(prose(7, firstText))})
	if err != nil {
		return nil, err
	}
	if _, err := d.timed("warm", [][]byte{pdf(1)}); err != nil { // the first PDF of a machine waits for a compiler
		return nil, err
	}
	text, err := d.timed("text", [][]byte{[]byte(prose(1, ingestSize))})
	if err != nil {
		return nil, err
	}
	pages, err := d.timed("pages", [][]byte{pdf(300)})
	if err != nil {
		return nil, err
	}
	texts := make([][]byte, manyTexts)
	for i := range texts {
		texts[i] = []byte(prose(uint64(200+i), 1<<20))
	}
	many, err := d.timed("many", texts)
	if err != nil {
		return nil, err
	}
	again, err := d.timed("again", texts)
	rate := func(mib int, took time.Duration) string {
		return fmt.Sprintf("%.1f s, %.1f MiB/s", took.Seconds(), float64(mib)/took.Seconds())
	}
	return []row{
		{name: "first text of 2 MB, from upload to searchable", figure: ms(first), wanted: "< 250 ms"},
		{name: "20 MiB of text, from upload to searchable", figure: rate(ingestSize>>20, text), wanted: "≥ 3 MiB/s"},
		{name: "PDF of 300 pages, from upload to searchable", figure: fmt.Sprintf("%.1f s", pages.Seconds()), wanted: "< 5 s"},
		{name: "50 texts of 1 MiB, from the first upload to searchable", figure: rate(manyTexts, many), wanted: "≥ 15 MiB/s"},
		{name: "the same texts in another context", figure: rate(manyTexts, again), wanted: "≥ 80 MiB/s"},
	}, err
}

// timed uploads documents to a new context, and tells how long it took until all were searchable: one from the end of its
// upload, several from the beginning of the first's.
func (d *desk) timed(name string, documents [][]byte) (time.Duration, error) {
	id, err := d.newContext(name)
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	for i, content := range documents {
		kind := "txt"
		if bytes.HasPrefix(content, []byte("%PDF")) {
			kind = "pdf"
		}
		if err := d.upload(id, fmt.Sprintf("%d.%s", i, kind), content); err != nil {
			return 0, err
		}
	}
	if len(documents) == 1 {
		begin = time.Now()
	}
	_, err = d.settle(id)
	return time.Since(begin), err
}

// filled is a context with its number of chunks.
type filled struct {
	context int64
	chunks  int
}

func (b *bencher) fill(d *desk, name string, chunks int) (f filled, err error) {
	if f.context, err = d.newContext(name); err != nil {
		return f, err
	}
	if err := b.widen(f.context, int64(chunks)*chunkBytes); err != nil {
		return f, err
	}
	const part = 5000
	for i := 0; i < chunks; i += part {
		if err := d.upload(f.context, fmt.Sprintf("%d.txt", i), []byte(prose(uint64(i+100), min(part, chunks-i)*chunkBytes))); err != nil {
			return f, err
		}
	}
	f.chunks, err = d.settle(f.context)
	return f, err
}

// widen lets a context have so many bytes, past the platform, where that is more than contexts may have.
func (b *bencher) widen(contextID, size int64) error {
	pool, err := db.Connect(b.lab.postgres.URL(), db.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = pool.Close() }()
	_, err = pool.ExecContext(b.ctx, `UPDATE contexts SET max_size = greatest(max_size, $2) WHERE id = $1`, contextID, size+size/10)
	return err
}

// during compares the rate of searches while a document is processed with that of a quiet platform.
func (b *bencher) during(d *desk, at filled) (row, error) {
	quiet := b.measure(b.lab.platform, 2, search(at.context))
	id, err := d.newContext("busy")
	if err != nil {
		return row{}, err
	}
	for i := range 3 {
		if err := d.upload(id, "busy.txt", []byte(prose(uint64(900+i), ingestSize))); err != nil {
			return row{}, err
		}
	}
	busy := b.measure(b.lab.platform, 2, search(at.context))
	return row{
		name: "search while documents are processed", figure: fmt.Sprintf("%.0f/s", busy.rate), reference: fmt.Sprintf("%.0f/s", quiet.rate),
		ratio: fmt.Sprintf("%.2f", busy.rate/quiet.rate), wanted: "≥ 0.5",
	}, nil
}

// dense gives the many chunks vectors, and measures a platform that was just started.
func (b *bencher) dense(at filled) ([]row, error) {
	if err := b.vectors(at); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: http.HandlerFunc(embeddings), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(l) }()
	defer func() { _ = server.Close() }()
	fresh, err := b.lab.start(healthz, []string{
		"CANOPY_EMBEDDINGS_URL=http://" + l.Addr().String(), "CANOPY_EMBEDDINGS_MODEL=" + denseModel,
	}, b.lab.binary, "serve")
	if err != nil {
		return nil, err
	}
	defer func() { _ = fresh.stop() }()
	// Its tokens are its own: another address is another issuer.
	api := b.as(access.Assistant, fresh)
	if b.token, err = api.Token(b.ctx); err != nil {
		return nil, err
	}
	first, err := b.firstSearch(api, at)
	if err != nil {
		return nil, err
	}
	warm := b.measure(fresh, 1, search(at.context))
	name := fmt.Sprintf("search %d × %d dense", at.chunks, dimensions)
	return []row{
		{name: name + ", first after a start", figure: ms(first), wanted: "< 700 ms"},
		{name: name + ", warm", figure: fmt.Sprintf("p50 %s, p99 %s", ms(warm.p50), ms(warm.p99)), wanted: "p50 < 10 ms", statements: fmt.Sprintf("%.1f", warm.statements)},
	}, nil
}

// loading measures the first search of a platform that was just started with some settings, and the memory that it has from then on.
func (b *bencher) loading(at filled, env []string, wantedFirst, wantedMemory string) ([]row, error) {
	fresh, err := b.lab.start(healthz, env, b.lab.binary, "serve")
	if err != nil {
		return nil, err
	}
	defer func() { _ = fresh.stop() }()
	first, err := b.firstSearch(b.as(access.Assistant, fresh), at)
	name := fmt.Sprintf("search %d chunks, canopy-lexical-2", at.chunks)
	return []row{
		{name: name + ", first after a start", figure: ms(first), wanted: wantedFirst},
		{name: name + ", RSS after it", figure: fmt.Sprintf("%d MiB", fresh.mostOf(loadedBehind)>>20), wanted: wantedMemory},
	}, err
}

// loadedBehind is how long the index of a large context may still be loaded after its first search.
const loadedBehind = 3 * time.Second

// mostOf is the most resident memory that a server has within a time, in bytes.
func (c *child) mostOf(within time.Duration) (most int64) {
	for begin := time.Now(); time.Since(begin) < within; time.Sleep(20 * time.Millisecond) {
		most = max(most, c.rss())
	}
	return most
}

// firstSearch times a search that has to load the index.
func (b *bencher) firstSearch(api *canopy.Client, at filled) (time.Duration, error) {
	if _, err := api.Token(b.ctx); err != nil {
		return 0, err
	}
	var hits []struct{ ID int64 }
	begin := time.Now()
	err := api.Call(b.ctx, http.MethodPost, fmt.Sprintf("/context/relevant-docs/%d", at.context), map[string]string{"prompt": question(0)}, &hits)
	first := time.Since(begin)
	if err == nil && len(hits) != 5 {
		err = fmt.Errorf("%d hits", len(hits))
	}
	return first, err
}

// embeddings is a model server whose vectors follow from the text's length alone: what it costs is
// not what is measured.
func embeddings(w http.ResponseWriter, r *http.Request) {
	var in struct{ Input []string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	type item struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	out := struct {
		Data []item `json:"data"`
	}{}
	for i, text := range in.Input {
		out.Data = append(out.Data, item{i, randomVector(rand.New(rand.NewPCG(uint64(len(text)), 5)))})
	}
	_ = json.NewEncoder(w).Encode(out) // the caller has gone, if anything
}

func randomVector(r *rand.Rand) []float32 {
	v := make([]float32, dimensions)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// vectors stores a random dense vector for each chunk, past the platform: what is measured is the
// search.
func (b *bencher) vectors(at filled) error {
	pool, err := db.Connect(b.lab.postgres.URL(), db.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = pool.Close() }()
	var blocks []struct {
		DocumentID int64 `db:"document_id"`
		Revision   int64
		First      int
		Chunks     []byte
	}
	err = pool.SelectContext(b.ctx, &blocks, `SELECT v.document_id, v.revision, v.first, v.chunks FROM vector_blocks v
		JOIN documents d ON d.id = v.document_id WHERE d.context_id = $1 AND NOT v.dense`, at.context)
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(6, 7))
	for _, block := range blocks {
		if err := b.denseBlocks(pool.DB, r, block.DocumentID, block.Revision, block.First, block.Chunks); err != nil {
			return err
		}
	}
	for _, statement := range []string{
		`UPDATE contexts SET embedding_model = $2, dimensions = $3, version = version + 1 WHERE id = $1`,
		`UPDATE documents SET model = $2 WHERE context_id = $1 AND $3 > 0`,
	} {
		if _, err := pool.ExecContext(b.ctx, statement, at.context, denseModel, dimensions); err != nil {
			return err
		}
	}
	_, err = pool.ExecContext(b.ctx, `VACUUM ANALYZE vector_blocks`)
	return err
}

// embeddedAtOnce is how many chunks have a dense block together, as the platform stores them.
const embeddedAtOnce = 128

// denseBlocks stores vectors for chunks, which are given by their ids of 8 bytes each.
func (b *bencher) denseBlocks(pool *sql.DB, r *rand.Rand, document, revision int64, first int, chunks []byte) error {
	for len(chunks) > 0 {
		n := min(len(chunks)/8, embeddedAtOnce)
		var p vector.DensePacker
		for i := range n {
			if err := p.Add(i, randomVector(r)); err != nil {
				return err
			}
		}
		if _, err := pool.ExecContext(b.ctx, `INSERT INTO vector_blocks (document_id, revision, dense, first, chunks, block) VALUES ($1, $2, true, $3, $4, $5)`,
			document, revision, first, chunks[:8*n], p.Pack()); err != nil {
			return err
		}
		first, chunks = first+n, chunks[8*n:]
	}
	return nil
}
