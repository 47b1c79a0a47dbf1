package db_test

import (
	"testing"
)

// TestRunBacklogIsCountedToABound: like each of the backlogs, that of runs is counted to 100,000, and tells since when the oldest has been due.
func TestRunBacklogIsCountedToABound(t *testing.T) {
	t.Parallel()
	s, pool := openBoth(t)
	tx := pool.MustBegin()
	for _, statement := range []string{ // runs alone: what they belong to is left out
		`SET LOCAL session_replication_role = replica`,
		`SET LOCAL statement_timeout = 0`,
		`INSERT INTO runs (id, job_key, agent_id, revision_id, account_id, input, status, due_at, branch_id, created_at)
			SELECT i, gen_random_uuid(), 1, 1, 1, '{}', 'running', now() - i * interval '1 second', 1, now() FROM generate_series(1, 100100) i`,
	} {
		tx.MustExecContext(t.Context(), statement)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	b, err := s.RunBacklog(t.Context())
	if err != nil || b.Count != 100_000 || b.Lag < 100_100 {
		t.Errorf("%+v, %v", b, err)
	}
}
