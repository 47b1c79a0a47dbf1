package db

import (
	"testing"

	"canopy/internal/paging"
)

// TestDeletedDocumentsCostNothing: each document that is deleted lies in a context of its own until it is erased, and what is shown of its account is found without a look at any.
func TestDeletedDocumentsCostNothing(t *testing.T) {
	t.Parallel()
	pool := planGrown(t, nil, `INSERT INTO contexts (id, account_id, user_id, name, description, caption, embedding_model, removed_at, erase_at, home_id)
		SELECT 40000000 + i, 5, 5, 'Removed', '', '', 'canopy-lexical-1', now(), now() + interval '1 day', 5 FROM generate_series(1, 5000) i`, `VACUUM ANALYZE`)
	conn := planConn(t, pool, readLists{})
	defer func() { _ = conn.Close() }()
	desk := Desk{AccountID: 5}.args()
	for _, l := range []listExample{
		{name: "contexts", list: Contexts, ways: contextsOnDesk, args: desk, most: usual},
		{name: "documents", list: Documents, ways: documentsOnDesk, args: desk, most: usual},
	} {
		for _, order := range []string{"ID", "-NAME"} {
			l.run(t, conn, 10, NewAsk(Where{}, order, paging.NewPage(20, paging.Cursor{})), false)
		}
	}
	for _, q := range []query{qTwin, qTwinAtWork} {
		tryPlan(t, conn, 10, nameOf(int(q)), statements[q], example{most: usual}, []any{5, 5})
	}
}
