package db

import (
	"context"
	"fmt"
	"time"

	"canopy/internal/access"
	"canopy/internal/globalid"
)

// Account is a company's account in an application instance.
type Account struct {
	ID                int64     `db:"id"`
	CustomerID        int64     `db:"customer_id"`
	AppInstanceID     int64     `db:"app_instance_id"`
	InstanceAccountID int64     `db:"instance_account_id"`
	Name              string    `db:"name"`
	Disabled          bool      `db:"disabled" audit:"disabled"`
	CreatedAt         time.Time `db:"created_at"`
	Version           int       `db:"row_version"`
	// The instance's side of it.
	ApplicationID   int64  `db:"application_id,joined"`
	ApplicationCode string `db:"application_code,joined"`
	RegionID        int64  `db:"region_id,joined"`
	Domain          string `db:"domain,joined"`
	InstanceActive  bool   `db:"instance_active,joined"`
	// LivesIn is the region of the company, where all is that the account has.
	LivesIn int64 `db:"lives_in,joined"`

	siblings
}

// GlobalID is the node id of the account.
func (a *Account) GlobalID() globalid.ID { return globalid.ID{Type: "Account", Int: a.ID} }

func (a *Account) key() int64 { return a.ID }

// The address is that of the region's cell, where it has one: what companies have is there.
var accountColumns = columns[Account]("a") + `, i.application_id, i.region_id, i.active AS instance_active,
	COALESCE((SELECT z.address FROM cells z WHERE z.region_id = i.region_id), i.domain) AS domain,
	(SELECT o.code FROM applications o WHERE o.id = i.application_id) AS application_code,
	(SELECT h.region_id FROM customers h WHERE h.id = a.customer_id) AS lives_in`

// instanceOf joins the application's instance i of an account a.
var instanceOf = joinByID("app_instances", "i", "a.app_instance_id")

var accountTables = ` FROM accounts a` + instanceOf

var (
	qAccountsByID = prepare(`
		SELECT ` + accountColumns + eachByID("accounts", "a") + instanceOf + joinByID("customers", "c", "a.customer_id") + `
		WHERE ` + withinScope)
	qAccountForUpdate = prepare(`
		SELECT ` + accountColumns + accountTables + `JOIN customers c ON c.id = a.customer_id
		WHERE a.id = $3 AND ` + withinScope + ` FOR UPDATE OF a`)
	// The account of a company on which a role is given that is for no other.
	qAccountForRole = prepare(`
		SELECT ` + accountColumns + accountTables + `JOIN roles r ON r.application_id = i.application_id
		WHERE a.customer_id = $1 AND r.id = $2 AND NOT a.disabled ORDER BY a.id LIMIT 1 FOR UPDATE OF a`)
	// A company's accounts, with the owner's role of each application for one user.
	qOpenAccounts = prepare(`
		WITH opened AS (
			INSERT INTO accounts (customer_id, app_instance_id, name)
			SELECT $1, i.id, $2 FROM app_instances i WHERE i.id = ANY($3) ORDER BY i.application_id
			RETURNING id, app_instance_id)
		INSERT INTO permissions (account_id, user_id, role_id, created_by)
		SELECT o.id, $4, r.id, NULLIF($5::bigint, 0) FROM opened o
		JOIN app_instances i ON i.id = o.app_instance_id
		JOIN roles r ON r.application_id = i.application_id AND COALESCE(r.customer_id, 0) = 0 AND lower(r.name) = lower($6)
		ORDER BY o.id`)
	qSetAccountDisabled = prepare(`UPDATE accounts SET disabled = $2 WHERE id = $1 RETURNING disabled, row_version`)
)

var (
	accountsByID = rowsBy(qAccountsByID, scoped, (*Account).key)

	customerAccounts     = edgeBy((*Customer).key, pagesOf[Account](accountsOfCustomer))
	customerAccountCount = edgeBy((*Customer).key, countsOf(accountsOfCustomer))
	accountApplication   = edgeBy(func(a *Account) int64 { return a.ApplicationID }, applicationsByID)
	accountRegion        = edgeBy(func(a *Account) int64 { return a.RegionID }, regionsByID)
	accountCustomer      = edgeBy(func(a *Account) int64 { return a.CustomerID }, customersByID)
)

// Account reads one account of a company within the scope.
func (s *Store) Account(ctx context.Context, scope access.Scope, id int64) (*Account, error) {
	return one(ctx, s, accountsByID, scope, id)
}

// AccountForUpdate reads one account and holds its row until the transaction ends, so that rules
// about the permissions on it are judged one writer at a time.
func (s *Store) AccountForUpdate(ctx context.Context, scope access.Scope, id int64) (*Account, error) {
	a := &Account{}
	err := s.get(ctx, a, qAccountForUpdate, scope.From(), scope.To(), id)
	return a, err
}

// Accounts is a page of a company's accounts.
func (c *Customer) Accounts(ctx context.Context, s *Store, ask Ask) ([]*Account, error) {
	return follow(ctx, s, c, customerAccounts, scopedAsk{ask: ask})
}

// AccountCount counts a company's accounts.
func (c *Customer) AccountCount(ctx context.Context, s *Store, ask Ask) (int, error) {
	return follow(ctx, s, c, customerAccountCount, scopedAsk{ask: ask})
}

// Application is the edge from an account to its application.
func (a *Account) Application(ctx context.Context, s *Store) (*Application, error) {
	return follow(ctx, s, a, accountApplication, none{})
}

// Region is the edge from an account to the region where it runs.
func (a *Account) Region(ctx context.Context, s *Store) (*Region, error) {
	return follow(ctx, s, a, accountRegion, none{})
}

// Customer is the edge from an account to its company.
func (a *Account) Customer(ctx context.Context, s *Store, scope access.Scope) (*Customer, error) {
	return follow(ctx, s, a, accountCustomer, scope)
}

// OpenAccounts opens an account for a company in each application instance and gives one of its
// members the named system-wide role on all of them. createdBy 0 stands for the platform itself.
func (s *Store) OpenAccounts(ctx context.Context, c *Customer, instances []int64, ownerID int64, role string, createdBy int64) error {
	made, err := s.exec(ctx, qOpenAccounts, c.ID, c.Name, instances, ownerID, createdBy, role)
	if err == nil && made != int64(len(instances)) {
		err = fmt.Errorf("db: %d of %d accounts were opened: an instance or the role %q is not there", made, len(instances), role)
	}
	return err
}

// SetAccountDisabled closes an account to its users, or opens it again.
func (s *Store) SetAccountDisabled(ctx context.Context, a *Account, disabled bool) error {
	return s.get(ctx, a, qSetAccountDisabled, a.ID, disabled)
}

// AccountForRole gives the account of the lowest id on which a company gives a role, and holds its row until the transaction ends;
// ErrNoRows where none is open.
func (s *Store) AccountForRole(ctx context.Context, customerID, roleID int64) (*Account, error) {
	a := &Account{}
	err := s.get(ctx, a, qAccountForRole, customerID, roleID)
	return a, err
}
