package db

import (
	"context"

	"canopy/internal/access"
)

// What a user has in one company, or, with the company 0, in all of them: for those who leave.

var (
	// In the order of the accounts, so that no two wait for each other.
	qHoldAccountsOf = prepare(`
		SELECT a.id FROM accounts a WHERE a.id = ANY (ARRAY(
			SELECT p.account_id FROM (SELECT account_id FROM permissions WHERE user_id = $1 OFFSET 0) p` + joinByID("accounts", "o", "p.account_id") + `
			WHERE $2::bigint = 0 OR o.customer_id = $2)) ORDER BY a.id FOR UPDATE`)
	qPermissionsIn = prepare(`
		SELECT ` + permissionColumns + ` FROM (SELECT * FROM permissions WHERE user_id = $1 OFFSET 0) p` + permissionJoins + `
		WHERE $2::bigint = 0 OR a.customer_id = $2 ORDER BY p.id`)
	qDropPermissionsIn = prepare(`
		DELETE FROM permissions WHERE user_id = $1 AND id = ANY($2::bigint[])`)
	qRevokeAPIKeysIn = prepare(`
		UPDATE api_keys k SET revoked_at = now() WHERE k.user_id = $1 AND k.revoked_at IS NULL AND COALESCE(k.expires_at > now(), true)
		AND ($2::bigint = 0 OR k.customer_id = $2) RETURNING ` + apiKeyColumns)
	qEndLinksIn          = prepare(`UPDATE link_tokens SET used_at = now() WHERE user_id = $1 AND used_at IS NULL AND ($2::bigint = 0 OR customer_id = $2)`)
	qDropMembershipsIn   = prepare(`DELETE FROM memberships WHERE user_id = $1 AND ($2::bigint = 0 OR customer_id = $2) RETURNING customer_id`)
	qHasAcceptedOutside  = prepare(`SELECT EXISTS (SELECT FROM memberships m WHERE m.user_id = $3 AND m.accepted_at IS NOT NULL AND NOT (` + memberInScope + `))`)
	qRenameUser          = prepare(`UPDATE users SET first_name = $2, last_name = $3 WHERE id = $1 AND (first_name, last_name) IS DISTINCT FROM ($2, $3)`)
	qRenameMemberInScope = prepare(`UPDATE memberships m SET first_name = $4, last_name = $5 WHERE m.user_id = $3 AND ` + memberInScope + `
		AND (m.first_name, m.last_name) IS DISTINCT FROM ($4, $5)`)
)

// HoldAccountsOf holds the accounts that a user has permissions on until the transaction ends, so that rules about who else
// has some are judged one writer at a time.
func (s *Store) HoldAccountsOf(ctx context.Context, userID, customerID int64) error {
	var ids []int64
	return s.list(ctx, &ids, qHoldAccountsOf, userID, customerID)
}

// PermissionsIn are a user's permissions, by id.
func (s *Store) PermissionsIn(ctx context.Context, userID, customerID int64) (rows []*Permission, err error) {
	err = s.list(ctx, &rows, qPermissionsIn, userID, customerID)
	return rows, err
}

// DropPermissions removes permissions of a user, and leaves the memberships alone.
func (s *Store) DropPermissions(ctx context.Context, userID int64, ids []int64) error {
	_, err := s.exec(ctx, qDropPermissionsIn, userID, ids)
	return err
}

// RevokeAPIKeysIn ends a user's keys for good, and gives those that were alive.
func (s *Store) RevokeAPIKeysIn(ctx context.Context, userID, customerID int64) (keys []*APIKey, err error) {
	err = s.list(ctx, &keys, qRevokeAPIKeysIn, userID, customerID)
	return keys, err
}

// DropMemberships takes a user out, with the links that were sent, and gives the companies that it has belonged to.
func (s *Store) DropMemberships(ctx context.Context, userID, customerID int64) (customers []int64, err error) {
	if _, err := s.exec(ctx, qEndLinksIn, userID, customerID); err != nil {
		return nil, err
	}
	err = s.list(ctx, &customers, qDropMembershipsIn, userID, customerID)
	return customers, err
}

// HasAcceptedOutside tells whether a user has accepted a company outside the scope.
func (s *Store) HasAcceptedOutside(ctx context.Context, scope access.Scope, userID int64) (has bool, err error) {
	err = s.get(ctx, &has, qHasAcceptedOutside, scope.From(), scope.To(), userID)
	return has, err
}

// RenameUser writes a user's names, and tells whether they were others.
func (s *Store) RenameUser(ctx context.Context, id int64, first, last string) (changed bool, err error) {
	n, err := s.exec(ctx, qRenameUser, id, first, last)
	return n > 0, err
}

// RenameMember writes the names of a user as the companies within the scope have entered them, and tells whether any has had others.
func (s *Store) RenameMember(ctx context.Context, scope access.Scope, userID int64, first, last string) (changed bool, err error) {
	n, err := s.exec(ctx, qRenameMemberInScope, scope.From(), scope.To(), userID, first, last)
	return n > 0, err
}
