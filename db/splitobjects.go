package db

import (
	"context"
	"fmt"

	"github.com/lib/pq"
)

// SplitObject is a file that belongs to rows that move. Its key names its content for good: nothing is ever written over it.
type SplitObject struct {
	Key string `db:"key"`
}

// The cell's database notes which objects are there as they are at the home, until the end, so that none is read twice.
const (
	qObjectsNoted = `CREATE SCHEMA IF NOT EXISTS canopy_split; CREATE TABLE IF NOT EXISTS canopy_split.objects (store text, key text, PRIMARY KEY (store, key))`
	// objectsAtOnce is how many are looked for in the cell at a time.
	objectsAtOnce = 500
)

// EachObject gives some objects at a time of which it is not noted that the cell has them in a store, and notes it of those that have come, whose keys each gives.
func (s *Split) EachObject(ctx context.Context, store string, each func([]SplitObject) (came []string, err error)) error {
	if _, err := s.to.pool.ExecContext(ctx, qObjectsNoted); err != nil {
		return translate(ctx, err)
	}
	for _, of := range []string{
		`SELECT d.id, ` + blobOf + ` AS key FROM documents d WHERE d.id > $1 AND ` + ofRegion("documents", "d", s.cell.Number) + ` ORDER BY d.id LIMIT $2`,
		fmt.Sprintf(`SELECT e.id, '%s' || e.file AS key FROM customer_exports e WHERE e.id > $1 AND e.status = 'READY' AND %s ORDER BY e.id LIMIT $2`, ExportPrefix, ofRegion("customer_exports", "e", s.cell.Number)),
	} {
		for last := int64(0); ; {
			var some []struct {
				ID  int64  `db:"id"`
				Key string `db:"key"`
			}
			if err := s.from.pool.SelectContext(ctx, &some, of, last, objectsAtOnce); err != nil {
				return translate(ctx, err)
			}
			if len(some) == 0 {
				break
			}
			keys := make([]string, len(some))
			for i, o := range some {
				keys[i], last = o.Key, o.ID
			}
			if err := s.eachNew(ctx, store, keys, each); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Split) eachNew(ctx context.Context, store string, keys []string, each func([]SplitObject) ([]string, error)) error {
	var rest []SplitObject
	if err := s.to.pool.SelectContext(ctx, &rest, `SELECT k AS key FROM unnest($1::text[]) k WHERE NOT EXISTS (SELECT FROM canopy_split.objects o WHERE o.store = $2 AND o.key = k)`, pq.Array(keys), store); err != nil || len(rest) == 0 {
		return translate(ctx, err)
	}
	came, err := each(rest)
	if err != nil {
		return err
	}
	_, err = s.to.pool.ExecContext(ctx, `INSERT INTO canopy_split.objects (store, key) SELECT $2, unnest($1::text[]) ON CONFLICT DO NOTHING`, pq.Array(came), store)
	return translate(ctx, err)
}

// forgetObjects forgets what was noted of objects: it is of no more use once the cell has them.
func (s *Split) forgetObjects(ctx context.Context) error {
	_, err := s.to.pool.ExecContext(ctx, `DROP SCHEMA IF EXISTS canopy_split CASCADE`)
	return translate(ctx, err)
}
