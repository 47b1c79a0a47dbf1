package pgvector

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// busyFor is how long a turn lasts of which nothing is heard.
const busyFor = time.Minute

// removeAtOnce is how many documents are removed in a transaction.
const removeAtOnce = 100

// The errors of a turn: somebody else has it, or has taken it meanwhile.
var (
	ErrBusy = errors.New("pgvector: somebody else is at the context")
	ErrLost = errors.New("pgvector: the turn was lost")
)

// Turn is the right to bring what is held of a context up to date. One process has it at a time; whoever has lost it writes nothing.
type Turn struct {
	State
	store *Store
	turn  int64
}

// Document is one that is held.
type Document struct {
	ID       int64 `db:"document_id"`
	Revision int64 `db:"revision"`
	// Stamp tells documents of the same revision apart that are of different histories.
	Stamp int64 `db:"stamp"`
	Whole bool  `db:"whole"`
	// Chunks is how many are held, where that was asked for.
	Chunks int64 `db:"chunks"`
}

// Take takes the turn of a context, whose vectors are to be of a model. What is held of another model is removed.
func (s *Store) Take(ctx context.Context, contextID int64, model string, dimensions int) (*Turn, error) {
	if err := s.Prepare(ctx, dimensions); err != nil {
		return nil, err
	}
	if _, err := s.pool.ExecContext(ctx, `INSERT INTO canopy_vectors.contexts (context_id, model, dimensions) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
		contextID, model, dimensions); err != nil {
		return nil, err
	}
	t, err := s.TakeHeld(ctx, contextID)
	if err != nil || t.Model == model && t.Dimensions == dimensions {
		return t, err
	}
	if err := t.clear(ctx); err != nil {
		return nil, err
	}
	t.Model, t.Dimensions, t.Version, t.Chunks = model, dimensions, 0, 0
	return t, t.write(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE canopy_vectors.contexts SET model = $2, dimensions = $3 WHERE context_id = $1`, contextID, model, dimensions)
		return err
	})
}

// TakeHeld takes the turn of a context that is held.
func (s *Store) TakeHeld(ctx context.Context, contextID int64) (*Turn, error) {
	var row struct {
		State
		Turn int64 `db:"turn"`
	}
	if err := s.prepareWords(ctx); err != nil {
		return nil, err
	}
	err := s.pool.GetContext(ctx, &row, `
		UPDATE canopy_vectors.contexts SET turn = turn + 1, busy_until = clock_timestamp() + $2 * interval '1 second'
		WHERE context_id = $1 AND busy_until < clock_timestamp() RETURNING turn, `+stateColumns, contextID, busyFor.Seconds())
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrBusy
	}
	return &Turn{State: row.State, store: s, turn: row.Turn}, err
}

// write does something in a transaction, if the turn is still this one, which then lasts on.
func (t *Turn) write(ctx context.Context, do func(*sqlx.Tx) error) error {
	return t.store.transact(ctx, func(tx *sqlx.Tx) error {
		result, err := tx.ExecContext(ctx, `UPDATE canopy_vectors.contexts SET busy_until = clock_timestamp() + $3 * interval '1 second' WHERE context_id = $1 AND turn = $2`,
			t.Context, t.turn, busyFor.Seconds())
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return errors.Join(ErrLost, err)
		}
		return do(tx)
	})
}

// Release gives the turn to the next.
func (t *Turn) Release(ctx context.Context) error {
	_, err := t.store.pool.ExecContext(ctx, `UPDATE canopy_vectors.contexts SET busy_until = '-infinity' WHERE context_id = $1 AND turn = $2`, t.Context, t.turn)
	return err
}

// Documents are those that are held, of some; nil for all.
func (t *Turn) Documents(ctx context.Context, some []int64) (list []Document, err error) {
	err = t.store.pool.SelectContext(ctx, &list, `
		SELECT document_id, revision, stamp, whole FROM canopy_vectors.documents WHERE context_id = $1 AND ($2::bigint[] IS NULL OR document_id = ANY($2))`,
		t.Context, arrayOrNull(some))
	return list, err
}

// Remove removes documents.
func (t *Turn) Remove(ctx context.Context, documents []int64) error {
	for len(documents) > 0 {
		n := min(removeAtOnce, len(documents))
		if err := t.write(ctx, func(tx *sqlx.Tx) error { return t.remove(ctx, tx, documents[:n]) }); err != nil {
			return err
		}
		documents = documents[n:]
	}
	return nil
}

func (t *Turn) remove(ctx context.Context, tx *sqlx.Tx, documents []int64) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM `+table(t.Dimensions)+` WHERE context_id = $1 AND document_id = ANY($2)`, t.Context, pq.Array(documents)); err != nil {
		return err
	}
	var gone int64
	if err := tx.GetContext(ctx, &gone, `
		WITH gone AS (DELETE FROM canopy_vectors.documents WHERE context_id = $1 AND document_id = ANY($2) RETURNING chunks) SELECT COALESCE(sum(chunks), 0) FROM gone`,
		t.Context, pq.Array(documents)); err != nil {
		return err
	}
	return t.count(ctx, tx, -gone)
}

func (t *Turn) count(ctx context.Context, tx *sqlx.Tx, chunks int64) error {
	if chunks == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, `UPDATE canopy_vectors.contexts SET chunks = chunks + $2 WHERE context_id = $1`, t.Context, chunks)
	return err
}

// Rows are vectors of one document, each of length 1.
type Rows struct {
	Chunks  []int64
	Vectors []string
}

// Add takes in a vector.
func (r *Rows) Add(chunk int64, v []float32) {
	r.Chunks, r.Vectors = append(r.Chunks, chunk), append(r.Vectors, literal(v))
}

// Add adds rows of a document that is not whole yet; d is what it is going to be.
func (t *Turn) Add(ctx context.Context, d Document, r Rows) error {
	draws := make([]int64, len(r.Chunks))
	for i, id := range r.Chunks {
		draws[i] = draw(id)
	}
	return t.write(ctx, func(tx *sqlx.Tx) error {
		if _, err := tx.ExecContext(ctx, `
			INSERT INTO `+table(t.Dimensions)+` (context_id, document_id, chunk_id, draw, embedding)
			SELECT $1, $2, u.chunk, u.draw, u.v::halfvec(`+strconv.Itoa(t.Dimensions)+`) FROM unnest($3::bigint[], $4::integer[], $5::text[]) u(chunk, draw, v)`,
			t.Context, d.ID, pq.Array(r.Chunks), pq.Array(draws), pq.Array(r.Vectors)); err != nil {
			return fmt.Errorf("document %d: %w", d.ID, err)
		}
		if _, err := tx.ExecContext(ctx, `
			INSERT INTO canopy_vectors.documents AS d (context_id, document_id, revision, stamp, chunks, whole) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (context_id, document_id) DO UPDATE SET chunks = d.chunks + EXCLUDED.chunks, whole = EXCLUDED.whole`,
			t.Context, d.ID, d.Revision, d.Stamp, len(r.Chunks), d.Whole); err != nil {
			return err
		}
		return t.count(ctx, tx, int64(len(r.Chunks)))
	})
}

// draw scatters ids.
func draw(id int64) int64 {
	h := fnv.New32a()
	_, _ = h.Write(strconv.AppendInt(nil, id, 10))
	return int64(int32(h.Sum32())) // as an integer of the database
}

// Want writes down how many chunks are wanted, for those who look how far it is.
func (t *Turn) Want(ctx context.Context, chunks int64) error {
	return t.write(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE canopy_vectors.contexts SET wanted = $2 WHERE context_id = $1`, t.Context, chunks)
		return err
	})
}

// Settle says that what is held is all of a version of the context; checked tells that all of it was compared, and not the latest changes alone.
func (t *Turn) Settle(ctx context.Context, history string, version int64, checked bool) error {
	return t.write(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, `
			UPDATE canopy_vectors.contexts SET history = $2, version = $3, wanted = chunks, checked_at = CASE WHEN $4 THEN clock_timestamp() ELSE checked_at END
			WHERE context_id = $1`, t.Context, history, version, checked)
		return err
	})
}

// clear removes all rows. From the first on the context counts as not held.
func (t *Turn) clear(ctx context.Context) error {
	if err := t.write(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE canopy_vectors.contexts SET version = 0 WHERE context_id = $1`, t.Context)
		return err
	}); err != nil {
		return err
	}
	if err := t.clearWords(ctx); err != nil {
		return err
	}
	list, err := t.Documents(ctx, nil)
	ids := make([]int64, len(list))
	for i, d := range list {
		ids[i] = d.ID
	}
	if err != nil {
		return err
	}
	return t.Remove(ctx, ids)
}

// Drop forgets the context.
func (t *Turn) Drop(ctx context.Context) error {
	if err := t.clear(ctx); err != nil {
		return err
	}
	return t.write(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM canopy_vectors.contexts WHERE context_id = $1`, t.Context)
		return err
	})
}
