package pgvector

import (
	"context"
	"database/sql"
	"errors"
)

// State is what is held of a context.
type State struct {
	Context    int64  `db:"context_id"`
	Model      string `db:"model"`
	Dimensions int    `db:"dimensions"`
	// History is that of the platform's database which Version is one of; a version of another one says nothing. It is 0 until all of the context is there.
	History string `db:"history"`
	Version int64  `db:"version"`
	// Chunks are held, of those that are wanted.
	Chunks int64 `db:"chunks"`
	Wanted int64 `db:"wanted"`
	// There tells that the table of its vectors is there, Unchecked that it was not compared with all that it is to hold for an hour.
	There     bool `db:"there"`
	Unchecked bool `db:"unchecked"`
}

const stateColumns = `context_id, model, dimensions, history, version, chunks, wanted, to_regclass('canopy_vectors.chunks_' || dimensions) IS NOT NULL AS there,
	checked_at < clock_timestamp() - interval '1 hour' AS unchecked`

// State tells what is held of a context; ErrNone where nothing is.
func (s *Store) State(ctx context.Context, contextID int64) (State, error) {
	var st State
	err := s.pool.GetContext(ctx, &st, `SELECT `+stateColumns+` FROM canopy_vectors.contexts WHERE context_id = $1`, contextID)
	if errors.Is(err, sql.ErrNoRows) || missing(err) {
		err = ErrNone
	}
	return st, err
}

// All tells what is held of each context.
func (s *Store) All(ctx context.Context) (list []State, err error) {
	err = s.pool.SelectContext(ctx, &list, `SELECT `+stateColumns+` FROM canopy_vectors.contexts ORDER BY context_id`)
	if missing(err) {
		return nil, nil
	}
	return list, err
}
