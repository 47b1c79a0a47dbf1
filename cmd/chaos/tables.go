package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"

	_ "github.com/lib/pq" // the outcome is read from the tables
)

// tables are a platform's own, past the platform.
type tables struct{ *sql.DB }

func open(url string) (tables, error) {
	pool, err := sql.Open("postgres", url)
	return tables{pool}, err
}

// settle waits until nothing is pending or running. A worker that died with PostgreSQL or Redis
// away is an operator's to start again.
func (d tables) settle(ctx context.Context) error {
	return eventually(ctx, func(ctx context.Context) error {
		var pending, running int
		if err := d.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM webhook_deliveries WHERE status = 'pending') + (SELECT count(*) FROM webhook_due),
			(SELECT count(*) FROM runs WHERE status = 'running')`).Scan(&pending, &running); err != nil {
			return err
		}
		if pending+running > 0 {
			return fmt.Errorf("%d deliveries are pending, %d runs running", pending, running)
		}
		return nil
	})
}

func (d tables) judgeOne(ctx context.Context, who string, id int64, heard map[string]*hearing, hashes map[string]string, out io.Writer) error {
	rows, err := d.QueryContext(ctx, `
		SELECT event_id, bool_or(status = 'delivered'), count(*) FILTER (WHERE status = 'delivered'),
			sum((SELECT count(*) FROM jsonb_array_elements(log) e WHERE e->>'error' = 'interrupted'))
		FROM webhook_deliveries WHERE destination_id = $1 GROUP BY event_id`, id)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	var events, missing, undelivered, changed, duplicates, interrupted int
	for rows.Next() {
		var event string
		var delivered bool
		var wanted, broken int
		if err := rows.Scan(&event, &delivered, &wanted, &broken); err != nil {
			return err
		}
		events++
		interrupted += broken
		if !delivered {
			undelivered++
		}
		h := heard[event]
		if h == nil || h.Good == 0 {
			missing++
			continue
		}
		if known, seen := hashes[event]; h.Changed || h.Unsigned > 0 || seen && known != h.Hash {
			changed++
		}
		hashes[event] = h.Hash
		duplicates += max(h.Good-wanted, 0)
	}
	_, _ = fmt.Fprintf(out, "%s: %d events, %d missing, %d undelivered, %d with changed bytes or a wrong signature, %d duplicates for %d interrupted attempts\n",
		who, events, missing, undelivered, changed, duplicates, interrupted)
	if events == 0 || missing+undelivered+changed > 0 || duplicates > interrupted {
		return fmt.Errorf("destination %s has not got what it should", who)
	}
	return rows.Err()
}

// judgeRuns checks that each run has ended, and was told of once.
func (d tables) judgeRuns(ctx context.Context, heard map[string]*hearing, least int, out io.Writer) error {
	ends := map[string]int{}
	for _, h := range heard {
		if h.Type == "run.completed" || h.Type == "run.failed" {
			ends[h.JobKey]++
		}
	}
	rows, err := d.QueryContext(ctx, `SELECT job_key, status FROM runs`)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	runs, faulty, states := 0, 0, map[string]int{}
	for rows.Next() {
		var key, status string
		if err := rows.Scan(&key, &status); err != nil {
			return err
		}
		runs++
		states[status]++
		if ends[key] != 1 {
			faulty++
		}
	}
	_, _ = fmt.Fprintf(out, "runs: %d, %v, %d without exactly one event of their end\n", runs, states, faulty)
	if faulty > 0 || runs < least {
		return fmt.Errorf("%d of %d runs were not told of once", faulty, runs)
	}
	return rows.Err()
}
