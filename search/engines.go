package search

import (
	"context"

	"canopy/db"
	"canopy/internal/vector"
)

// finder finds chunks of a context by its dense vectors. There are two of it: one compares all of them in this process, the other has them found by
// an index in a database (see copies).
type finder interface {
	// Nearest gives the chunks of greatest cosine with a vector, best first.
	Nearest(ctx context.Context, v []float32, f vector.Filter) ([]vector.Hit, error)
	// ToFuse gives, in no order, the chunks with their cosines that can be among the best by the sum of that and of their likeness by words.
	ToFuse(ctx context.Context, v []float32, f vector.Filter, words []vector.Hit) (*vector.Compared, error)
}

// finderOf gives the one for a context; nil while it has no dense vectors.
func (e *Engine) finderOf(ctx context.Context, row *db.Context) (finder, error) {
	if m := e.copied(ctx, row); m != nil {
		return m, nil
	}
	return e.inProcess(ctx, row)
}

// inProcess gives the one that compares all.
func (e *Engine) inProcess(ctx context.Context, row *db.Context) (finder, error) {
	x, err := e.denseIndex(ctx, row)
	if err != nil || x == nil || x.Len() == 0 {
		return nil, err
	}
	e.compared.Add(1)
	return inProcess{e, x}, nil
}

type inProcess struct {
	engine *Engine
	index  *vector.Dense
}

func (m inProcess) Nearest(ctx context.Context, v []float32, f vector.Filter) ([]vector.Hit, error) {
	return scan(ctx, m.engine, func() ([]vector.Hit, error) { return m.index.Search(v, f) })
}

func (m inProcess) ToFuse(ctx context.Context, v []float32, f vector.Filter, _ []vector.Hit) (*vector.Compared, error) {
	return scan(ctx, m.engine, func() (*vector.Compared, error) { return m.index.All(v, f) })
}

// Answers tells how many searches by meaning were answered by which engine: by comparing all in this process, or by an index of the database of vectors.
func (e *Engine) Answers() (compared, copied int64) {
	return e.compared.Load(), e.copies.answered.Load()
}

// AnsweredWords tells how many searches by words were answered from the database of vectors.
func (e *Engine) AnsweredWords() int64 { return e.copies.answeredWords.Load() }
