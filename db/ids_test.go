package db

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"canopy/internal/devstack/devtest"
)

var compared = regexp.MustCompile(`\b(\w+) = (?:ANY\s*\()?\$(\d+)\b`)

// TestStatementsTakeEveryID: what is compared with a column of 64 bits is read in as many. PostgreSQL takes a parameter that first stands beside a small number
// for one itself.
func TestStatementsTakeEveryID(t *testing.T) {
	t.Parallel()
	pool := ownPool(t, Options{MaxConns: 1})
	wide := map[string]bool{}
	for _, c := range columnsOfTables(t, pool) {
		if c.Type != "bigint" {
			wide[c.Name] = false
		} else if _, narrow := wide[c.Name]; !narrow {
			wide[c.Name] = true
		}
	}
	tried := 0
	for i, text := range statements {
		if strings.HasPrefix(strings.TrimSpace(text), "SET ") {
			continue
		}
		name := fmt.Sprintf("wide%d", i)
		devtest.Must[any](t)(pool.ExecContext(t.Context(), fmt.Sprintf("PREPARE %s AS %s", name, text)))
		var types string
		devtest.Check(t, pool.GetContext(t.Context(), &types, `SELECT parameter_types::text FROM pg_prepared_statements WHERE name = $1`, name))
		list := strings.Split(strings.Trim(types, "{}"), ",")
		for _, m := range compared.FindAllStringSubmatch(text, -1) {
			var n int
			devtest.Must[int](t)(fmt.Sscan(m[2], &n))
			if !wide[m[1]] {
				continue
			}
			if tried++; slices.Contains([]string{"integer", "smallint", "integer[]"}, list[n-1]) {
				t.Errorf("$%d, which is compared with %s, is an %s of: %s", n, m[1], list[n-1], text)
			}
		}
	}
	if tried < 100 {
		t.Errorf("only %d parameters were looked at", tried)
	}
}

// TestIDsAreWide: whatever names a row has 64 bits.
func TestIDsAreWide(t *testing.T) {
	t.Parallel()
	for _, c := range columnsOfTables(t, ownPool(t, Options{MaxConns: 1})) {
		if (c.Name == "id" || strings.HasSuffix(c.Name, "_id")) && slices.Contains([]string{"integer", "smallint"}, c.Type) && c.Table != "goose_db_version" {
			t.Errorf("%s.%s is an %s", c.Table, c.Name, c.Type)
		}
	}
}
