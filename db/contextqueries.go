package db

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/lib/pq"

	"canopy/internal/access"
	"canopy/internal/globalid"
)

// ContextQuery is what was asked of a context that keeps it, and what came of it.
type ContextQuery struct {
	ID        int64 `db:"id"`
	ContextID int64 `db:"context_id"`
	// UserID is who asked; nil for a run.
	UserID *int64 `db:"user_id"`
	Text   string `db:"text"`
	Mode   string `db:"mode"`
	Hits   int    `db:"hits"`
	// Relevance is the greatest of the hits; 0 where there are none.
	Relevance float64   `db:"relevance"`
	CreatedAt time.Time `db:"created_at"`

	siblings
}

// GlobalID is the node id of the query.
func (q *ContextQuery) GlobalID() globalid.ID { return globalid.ID{Type: "ContextQuery", Int: q.ID} }

// maxQueries is how many a context keeps.
const maxQueries = 10_000

// ContextQueries lists what was asked of a context, the newest first.
var ContextQueries = &List{
	id: "q.id",
	members: map[string]string{
		"ids":          `q.id = ANY (?::bigint[])`,
		"maxRelevance": `q.relevance <= ?::float8`,
		"createdSince": `q.created_at >= ?::timestamptz`,
		"createdUntil": `q.created_at < ?::timestamptz`,
	},
	orders: map[string]key{
		"ID":         {by: "q.id", kind: integers},
		"CREATED_AT": {by: "q.created_at", kind: moments},
	},
	otherwise: "-ID",
	columns:   columns[ContextQuery]("q"),
	tables:    joinByID("context_queries", "q", "f.id"),
}

var queriesOfContext = hung{list: ContextQueries, ways: func(st *statement, terms []Term) []way {
	return []way{st.led(way{from: "context_queries q", held: st.terms(terms)}, "q.context_id", "k.id", "q.id")}
}}

var (
	qContextQuery = prepare(`
		SELECT ` + columns[ContextQuery]("q") + ` FROM context_queries q JOIN contexts x ON x.id = q.context_id WHERE q.id = $3 AND ` + onDesk)
	// Of a context that is gone, or keeps none any more, nothing is kept.
	qKeepQueries = prepare(`
		INSERT INTO context_queries (context_id, user_id, text, mode, hits, relevance)
		SELECT x.id, u.id, n.text, n.mode, n.hits, n.relevance
		FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::integer[], $6::float8[]) n(context_id, user_id, text, mode, hits, relevance)` +
		joinByID("contexts", "x", "n.context_id") + `LEFT JOIN users u ON u.id = n.user_id WHERE x.logs_queries FOR KEY SHARE OF x SKIP LOCKED`)
	qPruneQueries = prepare(`
		DELETE FROM context_queries WHERE context_id = $1 AND id <= (SELECT id FROM context_queries WHERE context_id = $1 ORDER BY context_id, id DESC OFFSET $2 LIMIT 1)`)
	qDropQueries   = prepare(`DELETE FROM context_queries WHERE context_id = $1`)
	qDropQueriesOf = prepare(`DELETE FROM context_queries WHERE user_id = $1`)
	qForgetQueries = prepare(forget("context_queries", "created_at"))
)

var (
	contextQueries    = edgeBy((*Context).key, pagesOf[ContextQuery](queriesOfContext))
	contextQueryCount = edgeBy((*Context).key, countsOf(queriesOfContext))
	queryUser         = edgeBy(func(q *ContextQuery) int64 { return orZero(q.UserID) }, usersByID)
)

// ContextQuery reads one query of a desk's contexts.
func (s *Store) ContextQuery(ctx context.Context, desk Desk, id int64) (*ContextQuery, error) {
	q := &ContextQuery{}
	err := s.get(ctx, q, qContextQuery, desk.args(id)...)
	return q, err
}

// Queries is a page of what was asked of a context.
func (c *Context) Queries(ctx context.Context, s *Store, a Ask) ([]*ContextQuery, error) {
	return follow(ctx, s, c, contextQueries, scopedAsk{ask: a})
}

// QueryCount counts what was asked of a context.
func (c *Context) QueryCount(ctx context.Context, s *Store, a Ask) (int, error) {
	return follow(ctx, s, c, contextQueryCount, scopedAsk{ask: a})
}

// User is the edge from a query to who asked; nil when that user is gone or beyond the scope.
func (q *ContextQuery) User(ctx context.Context, s *Store, scope access.Scope) (*User, error) {
	return follow(ctx, s, q, queryUser, scope)
}

// KeepQueries writes what was asked, and drops the oldest where a context has more than it keeps: of each context by itself where not all can be written, as that of some may be moving into a cell.
func (s *Store) KeepQueries(ctx context.Context, rows []ContextQuery) error {
	err := s.keepQueries(ctx, rows)
	if err == nil {
		return nil
	}
	of := map[int64][]ContextQuery{}
	for _, r := range rows {
		of[r.ContextID] = append(of[r.ContextID], r)
	}
	if len(of) == 1 {
		return err
	}
	err = nil
	for _, some := range of {
		err = errors.Join(err, s.keepQueries(ctx, some))
	}
	return err
}

func (s *Store) keepQueries(ctx context.Context, rows []ContextQuery) error {
	var contexts, users, hits pq.Int64Array
	var texts, modes pq.StringArray
	var relevances pq.Float64Array
	for _, r := range rows {
		contexts, users, hits = append(contexts, r.ContextID), append(users, orZero(r.UserID)), append(hits, int64(r.Hits))
		texts, modes, relevances = append(texts, r.Text), append(modes, r.Mode), append(relevances, r.Relevance)
	}
	return s.Tx(ctx, func(tx *Store) error {
		if _, err := tx.exec(ctx, qKeepQueries, contexts, users, texts, modes, hits, relevances); err != nil {
			return err
		}
		slices.Sort(contexts)
		for _, id := range slices.Compact(contexts) {
			if _, err := tx.exec(ctx, qPruneQueries, id, maxQueries); err != nil {
				return err
			}
		}
		return nil
	})
}

// DropQueries deletes what was asked of a context.
func (s *Store) DropQueries(ctx context.Context, contextID int64) error {
	_, err := s.exec(ctx, qDropQueries, contextID)
	return err
}

// ForgetQueries deletes what was asked longer than keep ago, in a batch as ForgetDeliveries does.
func (s *Store) ForgetQueries(ctx context.Context, keep time.Duration, after int64, limit int) (last int64, err error) {
	err = s.get(ctx, &last, qForgetQueries, keep.Seconds(), after, limit)
	return last, err
}
