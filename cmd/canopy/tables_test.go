package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
)

// The columns that merely note a use; they are written by requests that are refused, too.
const notedUses = `- 'last_access' - 'last_used_at'`

// tables is a look at everything that the database holds.
type tables struct {
	db    *sqlx.DB
	query string
}

func newTables(t testing.TB, db *sqlx.DB) *tables {
	t.Helper()
	var names []string
	if err := db.Select(&names, `SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1`); err != nil {
		t.Fatal(err)
	}
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = fmt.Sprintf(`SELECT '%[1]s:' || count(*) || ':' || coalesce(md5(string_agg(row, '' ORDER BY row)), '')
			FROM (SELECT (to_jsonb(t) %[2]s)::text AS row FROM %[1]q t) x`, name, notedUses)
	}
	return &tables{db, strings.Join(parts, " UNION ALL ")}
}

// state sums up every table; two of them differ where anything was written in between.
func (x *tables) state(t testing.TB) string {
	t.Helper()
	var lines []string
	if err := x.db.Select(&lines, x.query); err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}
