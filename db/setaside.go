package db

import (
	"context"
	"strings"

	"github.com/lib/pq"
)

// setAside drops the indexes of tables that nothing rests on but the speed of looking rows up, and gives the statements that make them again:
// with very many rows in between, both take a fraction of the time of adding to them. No tables stand for all.
func setAside(ctx context.Context, on runner, tables ...string) (again []string, err error) {
	var indexes []struct{ Name, Made string }
	if err := selectInto(ctx, on, &indexes, `
		SELECT i.indexrelid::regclass AS name, pg_get_indexdef(i.indexrelid) AS made FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
		WHERE t.relnamespace = 'public'::regnamespace AND NOT i.indisunique AND (t.relname = ANY ($1) OR $1 = '{}') ORDER BY i.indexrelid`, pq.Array(tables)); err != nil || len(indexes) == 0 {
		return nil, err
	}
	names := make([]string, len(indexes))
	for i, index := range indexes {
		names[i], again = index.Name, append(again, index.Made)
	}
	_, err = on.ExecContext(ctx, `DROP INDEX `+strings.Join(names, ", "))
	return again, err
}
