package db

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/lib/pq"

	"canopy/internal/access"
	"canopy/internal/devstack/devtest"
)

// rung is a text by another name.
type rung string

// manyKinds has a member of each kind that rows have.
type manyKinds struct {
	ID      int64
	Count   int             `db:"n"`
	Small   int32           `db:"small"`
	Tiny    int16           `db:"tiny"`
	Share   float64         `db:"share"`
	Name    string          `db:"name"`
	Rung    rung            `db:"rung"`
	Yes     bool            `db:"yes"`
	At      time.Time       `db:"at"`
	Until   *time.Time      `db:"until"`
	Other   *int64          `db:"other"`
	Word    *string         `db:"word"`
	Perhaps *bool           `db:"perhaps"`
	Higher  *rung           `db:"higher"`
	Bytes   []byte          `db:"bytes"`
	JSON    json.RawMessage `db:"json"`
	Names   pq.StringArray  `db:"names"`
	Lineage access.Lineage  `db:"lineage"`
	Inner   struct {
		ID   int64  `db:"id"`
		Name string `db:"name"`
	} `db:"inner"`
	Behind *struct {
		Name string `db:"name"`
	} `db:"behind"`

	siblings
}

// TestScanIsSqlx: rows, values and faults are those of sqlx, which looks at the types of each value anew.
func TestScanIsSqlx(t *testing.T) {
	pool := ownPool(t, Options{})
	const many = ` FROM generate_series(1, 100) i`
	for _, text := range []string{
		`SELECT i AS id, i AS n, i AS small, 7::smallint AS tiny, i / 7.0 AS share, i || 'é' AS name, 'high' AS rung, i % 2 = 0 AS yes,
			'2026-01-31 12:00:00.5+01'::timestamptz + i * interval '1 hour' AS at, '2026-02-28'::timestamptz AS until, i::bigint * 5000000000 AS other, 'w' || i AS word, true AS perhaps,
			'up' AS higher, '\x00ff'::bytea AS bytes, '{"a": 1}'::jsonb AS json, ARRAY['a', NULL || 'b', 'c"'] AS names, ARRAY[1, i] AS lineage, i AS "inner.id", 'in' AS "inner.name",
			'hidden' AS "behind.name", ARRAY['x'] AS found_place, i AS found_at, i AS found_from` + many,
		`SELECT i AS id, NULL::timestamptz AS until, NULL::bigint AS other, NULL AS word, NULL::boolean AS perhaps, NULL AS higher, NULL::bytea AS bytes, NULL::text[] AS names` + many,
		`SELECT i AS id, CASE WHEN i % 3 = 0 THEN timestamptz '2026-02-28' END AS until, CASE WHEN i % 3 = 1 THEN i END AS other` + many,
		`SELECT i::numeric AS id, i::text AS n, i::numeric AS other` + many,
		`SELECT 1 AS id WHERE false`, `SELECT NULL::bigint AS id`, `SELECT NULL AS name`, `SELECT NULL::boolean AS yes`, `SELECT NULL::timestamptz AS at`, `SELECT 'x' AS id`, `SELECT 1.5 AS n`,
		`SELECT 5000000000 AS small`, `SELECT 70000 AS tiny`, `SELECT 1 AS yes`, `SELECT timestamptz '2026-01-31 12:00:00.5+01' AS name`, `SELECT 2 AS perhaps`, `SELECT 'x' AS other`, `SELECT 1 AS id, 2 AS nowhere`, `SELECT 1 / (i - 50) AS id` + many,
		`SELECT i AS id, 1 / (i - 50) AS n` + many, `SELECT i` + many, `SELECT 'a' || i` + many, `SELECT timestamptz '2026-01-31 12:00:00.5+01'`, `SELECT NULL::bigint`, `SELECT 1, 2`, `SELECT ARRAY['a', 'b']`, `SELECT ARRAY[1, 2]`, `SELECT true`,
	} {
		for _, fresh := range []func() any{
			func() any { return &[]manyKinds{} }, func() any { return &[]*manyKinds{} }, func() any { return new([]*manyKinds) }, func() any { return &[]manyKinds{{ID: 7, Name: "left"}} },
			func() any { return new([]int64) }, func() any { return new([]*int64) }, func() any { return new([]int) }, func() any { return new([]string) }, func() any { return new([]rung) },
			func() any { return new([]time.Time) }, func() any { return new([]pq.StringArray) }, func() any { return new([]access.Lineage) }, func() any { return new([]bool) },
		} {
			got, want := fresh(), fresh()
			failed, fails := selectInto(t.Context(), pool, got, text), pool.SelectContext(t.Context(), want, text)
			compareScans(t, text, got, want, failed, fails)
		}
		for _, fresh := range []func() any{
			func() any { return &manyKinds{Name: "left"} }, func() any { return new(int64) }, func() any { return new(*int64) }, func() any { return new(*time.Time) }, func() any { return new(string) }, func() any { return new(bool) },
			func() any { return new(time.Time) }, func() any { return new(pq.StringArray) }, func() any { return new([]byte) },
		} {
			got, want := fresh(), fresh()
			failed, fails := getInto(t.Context(), pool, got, text), pool.GetContext(t.Context(), want, text)
			compareScans(t, text, got, want, failed, fails)
		}
	}
}

func compareScans(t *testing.T, text string, got, want any, failed, fails error) {
	t.Helper()
	switch {
	case (failed == nil) != (fails == nil):
		t.Errorf("%s into %T: %v, want %v", text, got, failed, fails)
	case failed == nil && !reflect.DeepEqual(got, want):
		t.Errorf("%s into %T: %+v, want %+v", text, got, got, want)
	}
}

// TestMomentsAreSent: moments come as they are sent by themselves.
func TestMomentsAreSent(t *testing.T) {
	pool := ownPool(t, Options{})
	type row struct {
		ID    int64      `db:"id"`
		At    time.Time  `db:"at"`
		Until *time.Time `db:"until"`
	}
	const moments = ` FROM (SELECT i AS id, m AS at, CASE WHEN i % 2 = 0 THEN m END AS until
		FROM unnest('{2026-01-31 12:00:00.5+01,1969-12-31 23:59:59.999999Z,2000-01-01Z,0001-01-01Z,9999-12-31 23:59:59Z,1999-12-31 23:59:59.999999Z}'::timestamptz[]) WITH ORDINALITY x(m, i)) r ORDER BY id`
	var got, want []row
	devtest.Check(t, selectInto(t.Context(), pool, &got, `SELECT `+sent[row]("r")+moments))
	devtest.Check(t, pool.SelectContext(t.Context(), &want, `SELECT `+columns[row]("r")+moments))
	for i, w := range want {
		if g := got[i]; g.ID != w.ID || !g.At.Equal(w.At) || g.At.Location() != time.UTC || (g.Until == nil) != (w.Until == nil) || g.Until != nil && !g.Until.Equal(*w.Until) {
			t.Errorf("%+v, want %+v", g, w)
		}
	}
	if len(got) != len(want) || len(got) == 0 {
		t.Errorf("%d rows, want %d", len(got), len(want))
	}
}
