package db

import (
	"slices"
	"testing"

	"canopy/internal/access"
	"canopy/internal/paging"
)

// busyElsewhere are 20,000 runs of agent 5, and as many deliveries to destination 5, both of which are company 5's.
var busyElsewhere = []string{
	`SET session_replication_role = replica`,
	`INSERT INTO runs (id, job_key, agent_id, revision_id, account_id, user_id, input, status, finished_at, due_at) SELECT 50000000 + i, gen_random_uuid(), 5, 5, 5, 5, '{}',
		CASE WHEN i % 100 = 5 THEN 'failed' ELSE 'finished' END, now(), 'infinity' FROM generate_series(1, 20000) i`,
	`INSERT INTO webhook_deliveries (id, customer_id, destination_id, event_id, type, payload, status, lost, completed_at) SELECT 50000000 + i, 5, 5, 'busy' || i, 'run.finished', '{}',
		CASE WHEN i % 100 = 5 THEN 'failed' ELSE 'delivered' END, i % 100 = 5, now() FROM generate_series(1, 20000) i`,
	`RESET session_replication_role`,
	`VACUUM ANALYZE`,
}

// TestLogsElsewhereAreNotRead: whoever asks for the runs of an agent, or the deliveries to a destination, of a company that is not in the scope waits for none of them.
func TestLogsElsewhereAreNotRead(t *testing.T) {
	t.Parallel()
	pool := planGrown(t, busyElsewhere)
	conn := planConn(t, pool, readLists{})
	defer func() { _ = conn.Close() }()
	scope := access.Lineage{1, 2}.Subtree()
	args := []any{scope.From(), scope.To()}
	for _, e := range []struct {
		l      listExample
		member string
	}{
		{listExample{name: "runs", list: Runs, ways: runsWithin(scope), args: args, most: 50}, "agentId"},
		{listExample{name: "deliveries", list: Deliveries, ways: deliveriesWithin(scope), args: args, most: 50}, "destinationId"},
	} {
		for _, more := range [][]Term{nil, {{"status", "failed"}}} {
			where := Where{Terms: append(slices.Clone(more), Term{e.member, "5"})}
			for _, order := range []string{"CREATED_AT", "-CREATED_AT", "STATUS", "-STATUS"} {
				e.l.run(t, conn, 10, NewAsk(where, order, paging.NewPage(20, paging.Cursor{})), false)
			}
			e.l.most = 4 // counts may read 16 times as many
			e.l.run(t, conn, 10, NewAsk(where, "", paging.Page{}).counted(), true)
		}
	}
}
