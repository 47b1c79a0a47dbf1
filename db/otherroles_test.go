package db

import (
	"testing"

	"canopy/internal/access"
	"canopy/internal/paging"
)

// TestOtherRolesReadLittle: of a role of another application than a filter names there is nothing, and nothing is read for it.
func TestOtherRolesReadLittle(t *testing.T) {
	t.Parallel()
	pool := planGrown(t, nil, `SET session_replication_role = replica`,
		`INSERT INTO permissions (id, account_id, user_id, role_id, limb_id, application_id) 
			SELECT 50000000 + i, 5, 50000000 + i, CASE WHEN i % 2 = 0 THEN 1 ELSE 3 END, limb_id, CASE WHEN i % 2 = 0 THEN 1 ELSE 3 END FROM accounts, generate_series(1, 24000) i WHERE id = 5`,
		`RESET session_replication_role`, `VACUUM ANALYZE`)
	conn := planConn(t, pool, readLists{})
	defer func() { _ = conn.Close() }()
	for _, scope := range []access.Scope{access.Lineage{1}.Subtree(), access.Lineage{1, 5}.Subtree()} {
		l := listExample{name: "permissions", list: Permissions, ways: permissionsWithin(scope), args: []any{scope.From(), scope.To()}, most: aPage}
		for _, order := range []string{"ID", "-CREATED_AT", "LAST_ACCESS"} {
			l.run(t, conn, 10, NewAsk(Where{Terms: []Term{{"roleId", "1"}, {"applicationId", "3"}}}, order, paging.NewPage(20, paging.Cursor{})), false)
		}
	}
}
