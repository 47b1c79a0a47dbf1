package db

import (
	"strconv"
	"testing"
)

func TestSummaries(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT id FROM users WHERE id = $1":                      "SELECT users",
		"\n\t\tINSERT INTO runs (id) VALUES ($1)":                 "INSERT runs",
		"UPDATE documents SET status = 'ready'":                   "UPDATE documents",
		"DELETE FROM webhook_due":                                 "DELETE webhook_due",
		"WITH a AS (SELECT * FROM customers) SELECT * FROM a":     "SELECT customers",
		"SELECT set_config('canopy.traceparent', $1, true)":       "SELECT",
		"WITH r AS (INSERT INTO runs (id) VALUES ($1)) SELECT 1":  "INSERT runs",
		"WITH a AS (SELECT 1 FROM x) UPDATE runs r SET claim = 1": "UPDATE runs",
		"SELECT id FROM runs WHERE id = $1 FOR UPDATE OF r":       "SELECT runs",
		"COMMIT": "COMMIT",
		"SELECT EXISTS (SELECT 1\n FROM\n webhook_destinations WHERE)": "SELECT webhook_destinations",
	} {
		if got := summary(text); got != want {
			t.Errorf("%q is %q, not %q", text, got, want)
		}
	}
}

// TestSummariesAreBounded: however many texts are put together, only so many are remembered.
func TestSummariesAreBounded(t *testing.T) {
	for i := range 2 * mostSummaries {
		if got := summary("SELECT id FROM users WHERE id = " + strconv.Itoa(i)); got != "SELECT users" {
			t.Fatal(got)
		}
	}
	if n := summaries.Len(); n > mostSummaries {
		t.Errorf("%d are remembered", n)
	}
}
