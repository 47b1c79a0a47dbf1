package jobs

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"net"

	"golang.org/x/sync/errgroup"

	"canopy/db"
	"canopy/internal/chunk"
	"canopy/internal/extract"
	"canopy/internal/models/embed"
	"canopy/internal/models/lexical"
	"canopy/internal/models/openai"
	"canopy/internal/quota"
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
	// have tells of each position up to the last one that is stored whether it is.
	have []bool
	// limit is the one that leaves the least room for chunks; nil where there is none.
	limit *db.LimitReached
}

// batch is a run of chunks, with the first one's position and where the last one ends.
type batch struct {
	first  int
	chunks []chunk.Chunk
	bytes  int
	end    int
}

// run makes all chunks and gives their number, and the length of the dense vectors.
func (m *maker) run(ctx context.Context) (count, dimensions int, err error) {
	err = m.store.ChunkPositions(ctx, m.work, func(position int) error {
		m.have = append(m.have, make([]bool, position-len(m.have))...)
		m.have = append(m.have, true)
		return nil
	})
	if err != nil {
		return 0, 0, err
	}
	// Chunks of an earlier revision count already.
	if m.limit, err = m.store.Tightest(ctx, m.work.AccountID, quota.Chunks); err != nil {
		return 0, 0, err
	}
	batches := make(chan batch, 1)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		defer close(batches)
		count, err = m.cut(ctx, batches)
		return err
	})
	group.Go(func() error {
		for b := range batches {
			if err := m.storeBatch(ctx, b); err != nil {
				return err
			}
			m.progress.Store(extractedAt + int64(float64(b.end)/float64(m.text.Size)*(1000-extractedAt-1)))
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return 0, 0, err
	}
	if m.model != nil {
		dimensions = m.model.Dimensions()
	}
	return count, dimensions, nil
}

// cut sends the chunks of the text on, and counts them.
func (m *maker) cut(ctx context.Context, out chan<- batch) (count int, err error) {
	options := chunk.Options{Size: m.work.ChunkSize, Overlap: m.work.Overlap, Header: m.text.Header}
	b := batch{}
	send := func() error {
		select {
		case out <- b:
			b = batch{first: count}
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
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
			if !yield(chunk.Mark(mark), err) {
				return
			}
		}
	}
}

// storeBatch embeds and stores one batch.
func (m *maker) storeBatch(ctx context.Context, b batch) error {
	rows := make([]db.NewChunk, 0, len(b.chunks))
	var dense []int // the rows to embed with the dense model
	for i, c := range b.chunks {
		position := b.first + i
		if position < len(m.have) && m.have[position] {
			continue
		}
		row := db.NewChunk{
			Position: position, OverlapBytes: c.OverlapBytes, Tokens: c.Tokens, Page: c.Page, Row: c.Row,
			Content: c.Content, Heading: c.Heading,
		}
		if !c.Blank() {
			var err error
			if row.Sparse, err = lexical.Embed(c.Content).MarshalBinary(); err != nil {
				return err
			}
			dense = append(dense, len(rows))
		}
		rows = append(rows, row)
	}
	if m.model == nil || len(dense) == 0 {
		return m.insert(ctx, rows)
	}
	return m.embed(ctx, rows, dense)
}

func (m *maker) insert(ctx context.Context, rows []db.NewChunk) error {
	if len(rows) == 0 {
		return nil
	}
	return m.store.InsertChunks(ctx, m.work, rows)
}

// embed gets the dense vectors of rows, and stores the rows as their vectors come, so that what was
// paid for is not lost.
func (m *maker) embed(ctx context.Context, rows []db.NewChunk, dense []int) error {
	texts, tokens := make([]string, len(dense)), 0
	for i, at := range dense {
		texts[i] = rows[at].Content
		tokens += rows[at].Tokens
	}
	if err := m.store.Spend(ctx, m.work.AccountID, quota.EmbeddingTokensPerDay, int64(tokens)); err != nil {
		return err
	}
	stored := 0
	err := m.model.Batches(ctx, texts, func(first int, vectors [][]float32) error {
		for i, v := range vectors {
			if m.work.Dimensions != 0 && len(v) != m.work.Dimensions {
				return fmt.Errorf("%w: %d, not %d", embed.ErrDimensions, len(v), m.work.Dimensions)
			}
			rows[dense[first+i]].Dense = denseBytes(v)
		}
		upTo := dense[first+len(vectors)-1] + 1
		err := m.insert(ctx, rows[stored:upTo])
		stored = upTo
		return err
	})
	if err != nil {
		return m.refusal(err)
	}
	return m.insert(ctx, rows[stored:])
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

// denseBytes is a vector as it is stored: little-endian float32.
func denseBytes(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, f := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b
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
