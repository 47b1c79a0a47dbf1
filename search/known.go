package search

import (
	"context"
	"errors"
	"sync"

	"canopy/db"
	"canopy/internal/models/lexical"
)

// mostKnown is how many contexts are known at most. What is known of one saves a round trip, and no more.
const mostKnown = 1000

// knownContexts are contexts as they were when they were last searched, by the desk that they were found on.
type knownContexts struct {
	mu   sync.Mutex
	rows map[place]*db.Context
}

type place struct {
	desk db.Desk
	id   int64
}

func (k *knownContexts) at(p place) *db.Context {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.rows[p]
}

func (k *knownContexts) keep(p place, row *db.Context) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.rows == nil || len(k.rows) >= mostKnown {
		k.rows = map[place]*db.Context{}
	}
	k.rows[p] = row
}

func (k *knownContexts) drop(p place) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.rows, p)
}

// errOutdated says that a context may be another than what is known of it, or gone.
var errOutdated = errors.New("what is known of the context is outdated")

// FindOn is Find in a context of a desk; ErrNoRows where it has no such context. A context that was searched on that desk before is ranked as it was
// then. The statement that reads what was found reads nothing unless the desk still has it, as it was: then it is read, and searched anew.
func (e *Engine) FindOn(ctx context.Context, desk db.Desk, contextID int64, q Query) ([]*Hit, error) {
	p := place{desk, contextID}
	if row := e.known.at(p); row != nil && q.byWordsAlone(row) {
		hits, err := e.findAsKnown(ctx, desk, row, q)
		if err == nil {
			e.journal.note(ctx, row, q, hits)
			return hits, nil
		}
		if ctx.Err() != nil {
			return nil, err
		}
	}
	row, err := e.store.Context(ctx, desk, contextID)
	if err != nil {
		e.known.drop(p)
		return nil, err
	}
	e.known.keep(p, row)
	return e.Find(ctx, row, q)
}

// byWordsAlone tells whether a search asks nothing outside of this process and costs nobody anything, so that it may be in vain.
func (q Query) byWordsAlone(row *db.Context) bool {
	return q.Attributes == nil && (q.mode(row) == Lexical || lexical.Named(row.EmbeddingModel) != nil)
}

func (e *Engine) findAsKnown(ctx context.Context, desk db.Desk, row *db.Context, q Query) ([]*Hit, error) {
	sure := false
	hits, err := e.find(ctx, row, q, func(ctx context.Context, ids []int64) (map[int64]*db.Chunk, error) {
		chunks, err := e.store.ChunksAsKnown(ctx, desk, row, ids)
		if sure = len(chunks) > 0; err == nil && !sure {
			err = errOutdated
		}
		return chunks, err
	})
	if err == nil && !sure {
		err = errOutdated // nothing was found, and so nothing read
	}
	return hits, err
}
