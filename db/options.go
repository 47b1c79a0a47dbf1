package db

import (
	"context"

	"canopy/internal/access"
)

// Option is one thing to choose on the way to a permission.
type Option struct {
	Value    int64  `db:"value"`
	Title    string `db:"title"`
	Selected bool   `db:"-"`
}

var (
	qOptionApplications = prepare(`
		SELECT app.id AS value, app.name AS title FROM applications app WHERE EXISTS (
			SELECT 1 FROM accounts a` + instanceOf + `
			WHERE a.customer_id = $1 AND i.application_id = app.id AND ($2 OR NOT a.disabled))
		ORDER BY app.id`)
	qOptionRegions = prepare(`
		SELECT r.id AS value, r.name AS title FROM regions r WHERE EXISTS (
			SELECT 1 FROM accounts a` + instanceOf + `
			WHERE a.customer_id = $1 AND i.region_id = r.id AND ($2 OR NOT a.disabled) AND i.application_id = $3)
		ORDER BY r.id`)
	qOptionAccounts = prepare(`
		SELECT a.id AS value, a.name AS title FROM accounts a` + instanceOf + `
		WHERE a.customer_id = $1 AND ($2 OR NOT a.disabled) AND i.application_id = $3 AND i.region_id = $4
		ORDER BY a.id`)
	qOptionRoles = prepare(`
		SELECT r.id AS value, r.name AS title FROM ` + rolesToGive("ARRAY[$1::bigint]") + `
		WHERE x.id = $2
		ORDER BY r.customer_id NULLS FIRST, r.id`)
	qOptionUsers = prepare(`
		SELECT u.id AS value, COALESCE(NULLIF(btrim(u.first_name || ' ' || u.last_name), ''), u.email) AS title
		FROM memberships n CROSS JOIN LATERAL (` + seen("n.user_id") + `) u WHERE n.customer_id = $3 ORDER BY u.id`)
)

// OptionApplications lists the applications that a company has accounts in; all counts disabled
// accounts, too, here and in the next steps.
func (s *Store) OptionApplications(ctx context.Context, customerID int64, all bool) (rows []*Option, err error) {
	err = s.list(ctx, &rows, qOptionApplications, customerID, all)
	return rows, err
}

// OptionRegions lists the regions where a company has accounts in an application.
func (s *Store) OptionRegions(ctx context.Context, customerID int64, all bool, applicationID int64) (rows []*Option, err error) {
	err = s.list(ctx, &rows, qOptionRegions, customerID, all, applicationID)
	return rows, err
}

// OptionAccounts lists a company's accounts in an application and region.
func (s *Store) OptionAccounts(ctx context.Context, customerID int64, all bool, applicationID, regionID int64) (rows []*Option, err error) {
	err = s.list(ctx, &rows, qOptionAccounts, customerID, all, applicationID, regionID)
	return rows, err
}

// OptionRoles lists the roles of an application that a company can give.
func (s *Store) OptionRoles(ctx context.Context, customerID, applicationID int64) (rows []*Option, err error) {
	err = s.list(ctx, &rows, qOptionRoles, customerID, applicationID)
	return rows, err
}

// OptionUsers lists a company's users as they are known within the scope.
func (s *Store) OptionUsers(ctx context.Context, scope access.Scope, customerID int64) (rows []*Option, err error) {
	err = s.list(ctx, &rows, qOptionUsers, scope.From(), scope.To(), customerID)
	return rows, err
}
