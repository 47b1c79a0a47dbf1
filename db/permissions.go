package db

import (
	"context"
	"time"

	"github.com/lib/pq"

	"canopy/internal/access"
	"canopy/internal/globalid"
)

// Permission gives a user a role on an account.
type Permission struct {
	ID         int64      `db:"id"`
	AccountID  int64      `db:"account_id" audit:"account"`
	UserID     int64      `db:"user_id" audit:"user"`
	RoleID     int64      `db:"role_id" audit:"role"`
	Disabled   bool       `db:"disabled" audit:"disabled"`
	LastAccess *time.Time `db:"last_access"`
	CreatedAt  time.Time  `db:"created_at"`
	Version    int        `db:"row_version"`
	// Who granted it; zero when the platform itself did.
	CreatorID    int64  `db:"creator_id,joined"`
	CreatorEmail string `db:"creator_email,joined"`
	// The account's side of it.
	CustomerID     int64 `db:"customer_id,joined"`
	ApplicationID  int64 `db:"application_id,joined"`
	RegionID       int64 `db:"region_id,joined"`
	InstanceActive bool  `db:"instance_active,joined"`
	RoleOwner      bool  `db:"role_owner,joined"`

	siblings
}

// Creator is who granted a permission.
type Creator struct {
	ID    int64
	Email string
}

// GlobalID is the node id of the user.
func (c *Creator) GlobalID() globalid.ID { return globalid.ID{Type: "User", Int: c.ID} }

// CreatedBy is who granted the permission; nil when the platform itself did.
func (p *Permission) CreatedBy() *Creator {
	if p.CreatorID == 0 {
		return nil
	}
	return &Creator{ID: p.CreatorID, Email: p.CreatorEmail}
}

// GlobalID is the node id of the permission.
func (p *Permission) GlobalID() globalid.ID { return globalid.ID{Type: "Permission", Int: p.ID} }

// creatorEmail is the address of cr, who has given a permission on account a: as the company of the account, or one above it, knows the person or, where none does any more, knew
// them last. What becomes of somebody elsewhere afterwards is not told. Few have ever left a company, so that this is asked first, and in a
// form that is looked up for each row: for EXISTS all of them may be read at once.
const creatorEmail = `CASE WHEN (SELECT true FROM former_members f WHERE f.user_id = cr.id LIMIT 1) IS NULL THEN COALESCE(cr.email, '') ELSE COALESCE((
		SELECT known.email FROM (
			SELECT CASE WHEN m.accepted_at IS NULL THEN m.email ELSE cr.email END AS email, m.accepted_at IS NULL AS entered, 0::bigint AS last
			FROM customers k CROSS JOIN LATERAL unnest(k.lineage) above(id) JOIN memberships m ON m.customer_id = above.id AND m.user_id = cr.id WHERE k.id = a.customer_id
			UNION ALL
			SELECT f.email, NULL, -f.id FROM customers k JOIN former_members f ON f.customer_id = ANY (k.lineage) AND f.user_id = cr.id WHERE k.id = a.customer_id
		) known ORDER BY known.entered NULLS LAST, known.last LIMIT 1), '') END`

var permissionColumns = sent[Permission]("p") + `,
	COALESCE(cr.id, 0) AS creator_id, ` + creatorEmail + ` AS creator_email,
	a.customer_id, i.application_id, i.region_id, i.active AS instance_active, r.is_owner AS role_owner`

// permissionJoins reads what belongs to permission p: account, instance, role, company and who has given it.
var permissionJoins = joinByID("accounts", "a", "p.account_id") + instanceOf + joinByID("roles", "r", "p.role_id") +
	joinByID("customers", "c", "a.customer_id") + leftByID("users", "cr", "p.created_by")

// permissionOf joins permission p that a user has on account a.
func permissionOf(user string) string {
	return ` CROSS JOIN LATERAL (SELECT * FROM permissions WHERE user_id = ` + user + ` AND account_id = a.id OFFSET 0) p `
}

var (
	qPermission = prepare(`
		SELECT ` + permissionColumns + ` FROM permissions p` + permissionJoins + `WHERE p.id = $3 AND ` + withinScope)
	qInsertPermission = prepare(`
		INSERT INTO permissions (account_id, user_id, role_id, disabled, created_by)
		VALUES ($1, $2, $3, $4, NULLIF($5::bigint, 0)) RETURNING id`)
	qSetPermissionRole     = prepare(`UPDATE permissions SET role_id = $2 WHERE id = $1`)
	qSetPermissionDisabled = prepare(`UPDATE permissions SET disabled = $2 WHERE id = $1`)
	qDeletePermission      = prepare(`DELETE FROM permissions WHERE id = $1`)
	qOtherOwners           = prepare(`
		SELECT EXISTS (SELECT 1 FROM permissions p JOIN roles r ON r.id = p.role_id
			WHERE p.account_id = $1 AND p.id <> $2 AND NOT p.disabled AND r.is_owner)`)
	qRightsOn = prepare(`
		SELECT COALESCE(array_agg(DISTINCT f), '{}') FROM permissions p JOIN roles r ON r.id = p.role_id CROSS JOIN unnest(r.features) f
		WHERE p.account_id = $1 AND NOT p.disabled`)
	qTenantRights = prepare(`
		SELECT COALESCE(array_agg(DISTINCT f), '{}') FROM accounts a` + permissionOf("$1") + instanceOf +
		joinByID("applications", "x", "i.application_id") + joinByID("roles", "r", "p.role_id") + `CROSS JOIN unnest(r.features) f
		WHERE a.customer_id = $2 AND x.code = 'tenant' AND NOT p.disabled AND NOT a.disabled`)
	qRightsOf = prepare(`
		SELECT COALESCE(array_agg(DISTINCT f), '{}') FROM permissions p` + joinByID("accounts", "a", "p.account_id") +
		joinByID("customers", "c", "a.customer_id") + joinByID("roles", "r", "p.role_id") + `CROSS JOIN unnest(r.features) f
		WHERE p.user_id = $1 AND NOT p.disabled AND NOT a.disabled AND $2 = ANY(c.lineage)`)
	qRightsAt = prepare(`
		SELECT COALESCE(array_agg(DISTINCT f) FILTER (WHERE f IS NOT NULL), '{}') AS rights, COALESCE(bool_or(r.is_owner), false) AS owner
		FROM (SELECT DISTINCT p.role_id FROM unnest($1::bigint[]) k(id)
			CROSS JOIN LATERAL (SELECT id FROM accounts WHERE customer_id = k.id AND NOT disabled OFFSET 0) a
			CROSS JOIN LATERAL (SELECT role_id FROM permissions WHERE account_id = a.id AND NOT disabled OFFSET 0) p) given` +
		joinByID("roles", "r", "given.role_id") + `LEFT JOIN LATERAL unnest(r.features) f ON true`)
)

var (
	userPermissions        = edgeBy((*User).key, pagesOf[Permission](permissionsOfUser))
	userPermissionCount    = edgeBy((*User).key, countsOf(permissionsOfUser))
	accountPermissions     = edgeBy((*Account).key, pagesOf[Permission](permissionsOfAccount))
	accountPermissionCount = edgeBy((*Account).key, countsOf(permissionsOfAccount))
	permissionUser         = edgeBy(func(p *Permission) int64 { return p.UserID }, usersByID)
	permissionAccount      = edgeBy(func(p *Permission) int64 { return p.AccountID }, accountsByID)
	permissionRole         = edgeBy(func(p *Permission) int64 { return p.RoleID }, rolesByID)
	permissionApplication  = edgeBy(func(p *Permission) int64 { return p.ApplicationID }, applicationsByID)
	permissionRegion       = edgeBy(func(p *Permission) int64 { return p.RegionID }, regionsByID)
)

// Permission reads one permission on an account within the scope.
func (s *Store) Permission(ctx context.Context, scope access.Scope, id int64) (*Permission, error) {
	p := &Permission{}
	err := s.get(ctx, p, qPermission, scope.From(), scope.To(), id)
	return p, err
}

// Permissions is a page of a user's permissions within the scope.
func (u *User) Permissions(ctx context.Context, s *Store, scope access.Scope, a Ask) ([]*Permission, error) {
	return follow(ctx, s, u, userPermissions, scopedAsk{scope, a})
}

// PermissionCount counts a user's permissions within the scope.
func (u *User) PermissionCount(ctx context.Context, s *Store, scope access.Scope, a Ask) (int, error) {
	return follow(ctx, s, u, userPermissionCount, scopedAsk{scope, a})
}

// Permissions is a page of the permissions on an account.
func (a *Account) Permissions(ctx context.Context, s *Store, ask Ask) ([]*Permission, error) {
	return follow(ctx, s, a, accountPermissions, scopedAsk{ask: ask})
}

// PermissionCount counts the permissions on an account.
func (a *Account) PermissionCount(ctx context.Context, s *Store, ask Ask) (int, error) {
	return follow(ctx, s, a, accountPermissionCount, scopedAsk{ask: ask})
}

// User is the edge from a permission to its user. The user is visible to whoever sees the
// permission, so the scope is the permission's own.
func (p *Permission) User(ctx context.Context, s *Store, scope access.Scope) (*User, error) {
	return follow(ctx, s, p, permissionUser, scope)
}

// Account is the edge from a permission to its account.
func (p *Permission) Account(ctx context.Context, s *Store, scope access.Scope) (*Account, error) {
	return follow(ctx, s, p, permissionAccount, scope)
}

// Role is the edge from a permission to its role.
func (p *Permission) Role(ctx context.Context, s *Store) (*Role, error) {
	return follow(ctx, s, p, permissionRole, none{})
}

// Application is the edge from a permission to its account's application.
func (p *Permission) Application(ctx context.Context, s *Store) (*Application, error) {
	return follow(ctx, s, p, permissionApplication, none{})
}

// Region is the edge from a permission to its account's region.
func (p *Permission) Region(ctx context.Context, s *Store) (*Region, error) {
	return follow(ctx, s, p, permissionRegion, none{})
}

// PermissionsUserAccount is the constraint that a user has one permission on an account.
const PermissionsUserAccount = "permissions_user_account"

// InsertPermission grants a role on an account and makes the user, as the giver knows it, a member of its company.
// createdBy 0 stands for the platform itself. ErrNoRows: the user was erased meanwhile.
func (s *Store) InsertPermission(ctx context.Context, a *Account, u *User, roleID int64, disabled bool, createdBy int64) (id int64, err error) {
	if err := s.holdMembership(ctx, a.CustomerID, u, createdBy); err != nil {
		return 0, err
	}
	err = s.get(ctx, &id, qInsertPermission, a.ID, u.ID, roleID, disabled, createdBy)
	return id, err
}

// SetPermissionRole replaces the role of a permission.
func (s *Store) SetPermissionRole(ctx context.Context, id, roleID int64) error {
	return s.must(ctx, qSetPermissionRole, id, roleID)
}

// SetPermissionDisabled suspends a permission or restores it.
func (s *Store) SetPermissionDisabled(ctx context.Context, id int64, disabled bool) error {
	return s.must(ctx, qSetPermissionDisabled, id, disabled)
}

// DeletePermission removes a permission, and the membership that only it gave.
func (s *Store) DeletePermission(ctx context.Context, p *Permission) error {
	if err := s.must(ctx, qDeletePermission, p.ID); err != nil {
		return err
	}
	return s.releaseMembership(ctx, p.CustomerID, p.UserID)
}

// HasOtherOwner tells whether an account has an enabled owner permission besides the named one.
// The account's row must be held, or the answer can be out of date at once.
func (s *Store) HasOtherOwner(ctx context.Context, accountID, permissionID int64) (found bool, err error) {
	err = s.get(ctx, &found, qOtherOwners, accountID, permissionID)
	return found, err
}

// RightsOn gives all the rights that the enabled permissions on an account give to anybody.
func (s *Store) RightsOn(ctx context.Context, accountID int64) (access.Features, error) {
	var names pq.StringArray
	err := s.get(ctx, &names, qRightsOn, accountID)
	return access.ParseFeatures(names), err
}

// TenantRights gives the rights that a user has in the tenant management of a company itself.
func (s *Store) TenantRights(ctx context.Context, userID, customerID int64) (access.Features, error) {
	var names pq.StringArray
	err := s.get(ctx, &names, qTenantRights, userID, customerID)
	return access.ParseFeatures(names), err
}

// RightsOf gives all the rights that a user has on any open account of a company, or of one below:
// those that an API key of the user in that company can act with.
func (s *Store) RightsOf(ctx context.Context, userID, customerID int64) (access.Features, error) {
	var names pq.StringArray
	err := s.get(ctx, &names, qRightsOf, userID, customerID)
	return access.ParseFeatures(names), err
}

// RightsAt gives all the rights that anybody has on the open accounts of companies, and whether an owner is among them.
func (s *Store) RightsAt(ctx context.Context, customerIDs []int64) (access.Features, bool, error) {
	var row struct {
		Rights pq.StringArray
		Owner  bool
	}
	err := s.get(ctx, &row, qRightsAt, customerIDs)
	return access.ParseFeatures(row.Rights), row.Owner, err
}
