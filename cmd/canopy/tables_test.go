package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
)

// noted are the columns that merely note a use; requests that are refused write them, too.
var noted = map[string]string{"permissions": "last_access", "api_keys": "last_used_at"}

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
		row := "t::text"
		if column := noted[name]; column != "" {
			row = fmt.Sprintf("(to_jsonb(t) - '%s')::text", column)
		}
		parts[i] = fmt.Sprintf(`SELECT '%s:' || count(*) || ':' || coalesce(sum(hashtextextended(%s, 0)), 0) FROM %q t`, name, row, name)
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
