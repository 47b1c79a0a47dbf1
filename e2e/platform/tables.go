package platform

import (
	"fmt"
	"testing"

	"canopy/internal/devstack/devtest"
	"canopy/internal/globalid"
)

// RegionID finds a region by its code.
func (s *Platform) RegionID(code string) int64 {
	s.T.Helper()
	return s.Number(`SELECT id FROM regions WHERE code = $1`, code)
}

// ID is an id as the resolvers' inputs have it where they may have none.
func ID(n int64) *globalid.ID { return &globalid.ID{Int: n} }

// SQL changes the database past the platform, to let time go by.
func (s *Platform) SQL(statement string, args ...any) {
	s.T.Helper()
	if _, err := s.DB.Exec(statement, args...); err != nil {
		s.T.Fatal(err)
	}
}

// Look reads one value straight from the tables.
func (s *Platform) Look(into any, query string, args ...any) {
	s.T.Helper()
	if err := s.DB.QueryRow(query, args...).Scan(into); err != nil {
		s.T.Fatal(err)
	}
}

// Number reads one number.
func (s *Platform) Number(query string, args ...any) (n int64) {
	s.T.Helper()
	s.Look(&n, query, args...)
	return n
}

// UntilWaiting waits until so many wait for a lock.
func (s *Platform) UntilWaiting(t *testing.T, n int64) {
	t.Helper()
	devtest.Eventually(t, fmt.Sprintf("%d wait", n), func() bool {
		return s.Number(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) == n
	})
}

// RoleID finds a role that a company can give, by its name.
func (s *Platform) RoleID(customer int64, app, name string) int64 {
	s.T.Helper()
	return s.Number(`SELECT r.id FROM roles r JOIN applications p ON p.id = r.application_id
		WHERE COALESCE(r.customer_id, $1) = $1 AND p.code = $2 AND r.name = $3`, customer, app, name)
}

// Account finds a company's account by its application.
func (s *Platform) Account(customer int64, app string) int64 {
	s.T.Helper()
	return s.Number(`SELECT a.id FROM accounts a JOIN app_instances i ON i.id = a.app_instance_id
		JOIN applications p ON p.id = i.application_id WHERE a.customer_id = $1 AND p.code = $2 ORDER BY a.id LIMIT 1`, customer, app)
}

// UserID finds a user by the address.
func (s *Platform) UserID(email string) int64 {
	s.T.Helper()
	return s.Number(`SELECT id FROM users WHERE lower(email) = lower($1)`, email)
}

// Permission finds a user's permission on an account.
func (s *Platform) Permission(user, account int64) int64 {
	s.T.Helper()
	return s.Number(`SELECT id FROM permissions WHERE user_id = $1 AND account_id = $2`, user, account)
}

// Statements counts the SQL statements of a call.
func (s *Platform) Statements(call func()) int64 {
	before := s.App.Store.Executed()
	call()
	return s.App.Store.Executed() - before
}

// AbsentID is an id that nothing has.
const AbsentID = int64(1) << 60
