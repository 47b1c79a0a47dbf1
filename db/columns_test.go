package db

import "testing"

func TestColumns(t *testing.T) {
	type row struct {
		ID   int64  `db:"id"`
		Name string `db:"first_name"`
		Via  int64  `db:"via,joined"`
		plain
		Computed string
	}
	_ = row{plain: plain{}} // embedded, without a column of its own
	if got, want := columns[row]("u"), "u.id, u.first_name"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

type plain struct{}
