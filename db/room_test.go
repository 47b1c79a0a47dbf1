package db

import (
	"encoding/json"
	"errors"
	"testing"

	"canopy/internal/problem"
)

// TestRoom: rows of more text than there is room for are refused, whatever columns it is in, and what is done for several has no bound.
func TestRoom(t *testing.T) {
	pool := ownPool(t, Options{})
	type row struct {
		Text  string           `db:"a"`
		Maybe *string          `db:"b"`
		Bytes []byte           `db:"c"`
		JSON  json.RawMessage  `db:"d"`
		Other *json.RawMessage `db:"e"`
	}
	const size, rows = 1000, 5 // bytes of a column, and rows
	for _, column := range []string{"repeat('x', 1000) AS a", "repeat('x', 1000) AS b", "convert_to(repeat('x', 1000), 'UTF8') AS c", "to_json(repeat('x', 998)) AS d", "to_json(repeat('x', 998)) AS e"} {
		text := "SELECT " + column + " FROM generate_series(1, 5)"
		for most, fits := range map[int64]bool{rows * size: true, rows*size - 1: false} {
			var list []row
			err := selectInto(Within(t.Context(), most), pool, &list, text)
			var refused *problem.Error
			if fits != (err == nil) || !fits && (!errors.As(err, &refused) || refused.Reason != "cost_limit") {
				t.Errorf("%s within %d bytes: %v", column, most, err)
			}
			list = nil
			if err := selectInto(Alone(Within(t.Context(), most)), pool, &list, text); err != nil || len(list) != rows {
				t.Errorf("%s for several: %v", column, err)
			}
		}
	}
}
