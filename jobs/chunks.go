package jobs

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"sync"

	"golang.org/x/sync/errgroup"

	"canopy/db"
	"canopy/internal/chunk"
	"canopy/internal/extract"
	"canopy/internal/models/embed"
	"canopy/internal/models/lexical"
	"canopy/internal/models/openai"
	"canopy/internal/quota"
	"canopy/internal/share"
	"canopy/internal/vector"
)

// batchSize is how many chunks are embedded and stored together, batchBytes how much text they hold at
// most, but for a single one that is longer.
const (
	batchSize  = 128
	batchBytes = 1 << 20
)

// maker cuts a text into chunks, embeds and stores them. Chunks that an earlier attempt has stored
// are passed over.
type maker struct {
	*processing
	model embed.Model
	text  *extract.Document
	// have tells of each position up to the last one that is stored whether it is, and packed of each block of words by
	// its first position.
	have    []bool
	packed  map[int]bool
	lexical *lexical.Model
	// words collects the vectors of the block that begins at the position first.
	words *vector.SparsePacker
	first int
	// limit is the one that leaves the least room for chunks; nil where there is none.
	limit *db.LimitReached
}

// batch is a run of chunks, with the first one's position and where the last one ends. Where words are not stored yet,
// it has their features, of which vectors are made.
type batch struct {
	first  int
	chunks []chunk.Chunk
	words  *wordFeatures
	bytes  int
	end    int
}

// run makes all chunks and gives their number, and the length of the dense vectors.
func (m *maker) run(ctx context.Context) (count, dimensions int, err error) {
	if err := m.resume(ctx); err != nil {
		return 0, 0, err
	}
	// Chunks of an earlier revision count already.
	if m.limit, err = m.store.Tightest(ctx, m.work.AccountID, quota.Chunks); err != nil {
		return 0, 0, err
	}
	cut, embedded := make(chan batch, 1), make(chan batch, 1)
	group, ctx := errgroup.WithContext(ctx)
	side := func(do func() error) { group.Go(func() error { return share.Guard(do) }) }
	side(func() (err error) {
		defer close(cut)
		count, err = m.cut(ctx, cut)
		return err
	})
	side(func() error {
		defer close(embedded)
		return m.embedWords(ctx, cut, embedded)
	})
	side(func() error { return m.storeAll(ctx, embedded) })
	if err := group.Wait(); err != nil {
		return 0, 0, err
	}
	if m.model != nil {
		dimensions = m.model.Dimensions()
	}
	return count, dimensions, nil
}

// resume finds out what an earlier attempt has stored.
func (m *maker) resume(ctx context.Context) error {
	err := m.store.ChunkPositions(ctx, m.work, func(position int) error {
		m.have = append(m.have, make([]bool, position-len(m.have))...)
		m.have = append(m.have, true)
		return nil
	})
	if err != nil || len(m.have) == 0 {
		return err
	}
	blocks, err := m.store.BlockPositions(ctx, m.work)
	m.packed = make(map[int]bool, len(blocks))
	for _, first := range blocks {
		m.packed[first] = true
	}
	return err
}

// cut sends the chunks of the text on, and counts them.
func (m *maker) cut(ctx context.Context, out chan<- batch) (count int, err error) {
	options := chunk.Options{Size: m.work.ChunkSize, Overlap: m.work.Overlap, Header: m.text.Header}
	b := batch{}
	send := func() error {
		err := hand(ctx, out, b)
		b = batch{first: count}
		return err
	}
	for c, err := range chunk.All(m.text.Text(), m.marks(), options) {
		if err != nil {
			return 0, err
		}
		b.chunks, b.end, b.bytes = append(b.chunks, c), c.End, b.bytes+len(c.Content)
		if int64(count-m.work.ChunkCount) >= m.limit.Room() {
			return 0, &unreadable{tooManyChunks(m.limit), m.limit}
		}
		if count++; len(b.chunks) == batchSize || b.bytes >= batchBytes {
			if err := send(); err != nil {
				return 0, err
			}
		}
	}
	if len(b.chunks) > 0 {
		err = send()
	}
	return count, err
}

func (m *maker) marks() iter.Seq2[chunk.Mark, error] {
	return func(yield func(chunk.Mark, error) bool) {
		for mark, err := range m.text.Marks() {
			if !yield(chunk.Mark{Offset: mark.Offset, Page: mark.Page, Heading: mark.Heading, Level: mark.Level, Row: mark.Row}, err) {
				return
			}
		}
	}
}

// hand passes a batch on.
func hand(ctx context.Context, out chan<- batch, b batch) error {
	select {
	case out <- b:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// embedWords finds the features of words, while the next chunks are cut and the last ones stored.
func (m *maker) embedWords(ctx context.Context, in <-chan batch, out chan<- batch) error {
	for b := range in {
		b.words = storedFeatures.Get().(*wordFeatures)
		for i, c := range b.chunks {
			if !c.Blank() && !m.packed[blockOf(b.first+i)] {
				m.wordsOf(b.words, c)
			}
			b.words.chunkEnds = append(b.words.chunkEnds, len(b.words.ends))
		}
		if err := hand(ctx, out, b); err != nil {
			return err
		}
	}
	return nil
}

// wordFeatures are the features of a batch's parts of chunks, one behind the other.
type wordFeatures struct {
	features []uint32
	// ends are those of the parts in features, chunkEnds those of the chunks in ends.
	ends, chunkEnds []int
}

// storedFeatures are those of batches that are stored: they take megabytes.
var storedFeatures = sync.Pool{New: func() any { return new(wordFeatures) }}

// done leaves the memory to another batch.
func (v *wordFeatures) done() {
	v.features, v.ends, v.chunkEnds = v.features[:0], v.ends[:0], v.chunkEnds[:0]
	storedFeatures.Put(v)
}

// of yields the features of each part of a chunk.
func (v *wordFeatures) of(chunk int) iter.Seq[[]uint32] {
	return func(yield func([]uint32) bool) {
		first := 0
		if chunk > 0 {
			first = v.chunkEnds[chunk-1]
		}
		for i := first; i < v.chunkEnds[chunk]; i++ {
			from := 0
			if i > 0 {
				from = v.ends[i-1]
			}
			if !yield(v.features[from:v.ends[i]]) {
				return
			}
		}
	}
}

// wordsOf takes in the features of a chunk's parts, each below the headings of the chunk. Rows of a table stay together below its header.
func (m *maker) wordsOf(v *wordFeatures, c chunk.Chunk) {
	parts, above := []string{c.Content}, c.Above()
	if m.text.Header == "" {
		parts = c.Parts(vector.MostParts)
	}
	for _, part := range parts {
		v.features = m.lexical.Features(v.features, above+part)
		v.ends = append(v.ends, len(v.features))
	}
}

// blockOf is where the block of words begins that covers a position.
func blockOf(position int) int { return position - position%vector.BlockChunks }

// storeAll stores batches, and tells the progress.
func (m *maker) storeAll(ctx context.Context, in <-chan batch) error {
	next := 0
	for b := range in {
		if err := m.storeBatch(ctx, b); err != nil {
			return err
		}
		next = b.first + len(b.chunks)
		if err := m.pack(ctx, b); err != nil {
			return err
		}
		m.progress.Store(extractedAt + int64(float64(b.end)/float64(m.text.Size)*(1000-extractedAt-1)))
	}
	return m.storeWords(ctx, next)
}

// pack collects the words of a batch whose chunks are stored, and stores each block that is full.
func (m *maker) pack(ctx context.Context, b batch) error {
	for i, c := range b.chunks {
		position := b.first + i
		if first := blockOf(position); first != m.first {
			if err := m.storeWords(ctx, position); err != nil {
				return err
			}
			m.first = first
		}
		if !c.Blank() && !m.packed[m.first] {
			for v := range b.words.of(i) {
				m.words.AddFeatures(position-m.first, v)
			}
		}
	}
	b.words.done()
	return nil
}

// storeWords stores what was collected of a block that ends before a position.
func (m *maker) storeWords(ctx context.Context, end int) error {
	if m.words.Len() == 0 {
		return nil
	}
	return m.store.InsertBlock(ctx, m.work, db.NewBlock{First: m.first, Count: end - m.first, Bytes: m.words.Pack()})
}

// storeBatch stores the chunks of one batch, and their dense vectors where they have some.
func (m *maker) storeBatch(ctx context.Context, b batch) error {
	rows := make([]db.NewChunk, 0, len(b.chunks))
	// The rows to embed with the dense model, and what of them.
	var dense []int
	var texts []string
	for i, c := range b.chunks {
		position := b.first + i
		if position < len(m.have) && m.have[position] {
			continue
		}
		if !c.Blank() {
			dense, texts = append(dense, len(rows)), append(texts, c.Titled())
		}
		rows = append(rows, db.NewChunk{
			Position: position, OverlapBytes: c.OverlapBytes, Tokens: c.Tokens, Page: c.Page, Row: c.Row,
			Content: c.Content, Heading: c.Heading, Places: chunk.PackPlaces(c.Places),
		})
	}
	if m.model == nil || len(dense) == 0 {
		return m.insert(ctx, rows)
	}
	return m.embed(ctx, rows, dense, texts)
}

func (m *maker) insert(ctx context.Context, rows []db.NewChunk) error {
	if len(rows) == 0 {
		return nil
	}
	return m.store.InsertChunks(ctx, m.work, rows)
}

// insertDense stores rows with the block of their dense vectors, which are those of some of them.
func (m *maker) insertDense(ctx context.Context, rows []db.NewChunk, dense []int, vectors [][]float32) error {
	var p vector.DensePacker
	first := rows[0].Position
	for i, v := range vectors {
		if m.work.Dimensions != 0 && len(v) != m.work.Dimensions {
			return fmt.Errorf("%w: %d, not %d", embed.ErrDimensions, len(v), m.work.Dimensions)
		}
		if err := p.Add(rows[dense[i]].Position-first, v); err != nil {
			return err
		}
	}
	return m.store.Tx(ctx, func(tx *db.Store) error {
		if err := tx.InsertChunks(ctx, m.work, rows); err != nil {
			return err
		}
		return tx.InsertBlock(ctx, m.work, db.NewBlock{Dense: true, First: first, Count: rows[len(rows)-1].Position + 1 - first, Bytes: p.Pack()})
	})
}

// embed gets the dense vectors of rows, and stores the rows as their vectors come, so that what was
// paid for is not lost.
func (m *maker) embed(ctx context.Context, rows []db.NewChunk, dense []int, texts []string) error {
	if err := m.spend(ctx, rows, dense); err != nil {
		return err
	}
	stored := 0
	err := m.model.Batches(ctx, texts, func(first int, vectors [][]float32) error {
		at := make([]int, len(vectors))
		for i := range vectors {
			at[i] = dense[first+i] - stored
		}
		upTo := dense[first+len(vectors)-1] + 1
		err := m.insertDense(ctx, rows[stored:upTo], at, vectors)
		stored = upTo
		return err
	})
	if err != nil {
		return m.refusal(err)
	}
	return m.insert(ctx, rows[stored:])
}

// spend counts the tokens that are about to be embedded against the day of the company, where they cost something.
func (m *maker) spend(ctx context.Context, rows []db.NewChunk, dense []int) error {
	if !m.model.Metered() {
		return nil
	}
	tokens := 0
	for _, at := range dense {
		tokens += rows[at].Tokens
	}
	return m.store.Spend(ctx, m.work.AccountID, quota.EmbeddingTokensPerDay, int64(tokens))
}

// refusal tells what no other try can mend from what may pass.
func (m *maker) refusal(err error) error {
	var text *embed.TextError
	switch {
	case errors.As(err, &text):
		return &unreadable{fmt.Sprintf("The embedding model %q does not take a part of the document: smaller chunks may help.", m.work.Model), err}
	case errors.Is(err, embed.ErrDimensions):
		return &unreadable{fmt.Sprintf("The embedding model %q gives vectors of another length than before: process the whole context anew.", m.work.Model), err}
	}
	return err
}

// trouble is a sentence for a person about a fault that may pass.
func trouble(err error) string {
	var status *openai.StatusError
	var partial *embed.PartialError
	var network net.Error
	switch {
	case errors.As(err, &status):
		return fmt.Sprintf("The embedding model's server answers with the status %d.", status.Status)
	case errors.As(err, &partial) && errors.As(err, &network):
		return "The embedding model's server does not answer."
	case errors.As(err, &partial):
		return "The embedding model's server does not answer as it should."
	}
	return "A part of the platform was not available."
}
