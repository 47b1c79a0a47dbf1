package db

import (
	"context"
	"time"

	"github.com/lib/pq"
)

// Credentials are what a login is checked against.
type Credentials struct {
	UserID       int64   `db:"id"`
	Email        string  `db:"email"`
	PasswordHash *string `db:"password_hash"`
	OTPMethod    string  `db:"otp_method" audit:"otpMethod"`
	OTPSecret    []byte  `db:"otp_secret"`
	OTPLastStep  int64   `db:"otp_last_step"`
	// Passkeys tells whether the user has one; read together with SeenAt.
	Passkeys bool `db:"passkeys"`
	// SeenAt is when the user was seen in the network that the credentials were read for; nil when it
	// was not, within knownFor.
	SeenAt *time.Time `db:"seen_at"`
	// BranchID is the branch that the user has belonged to longest, of those that it has accepted if there are any; read
	// together with SeenAt.
	BranchID int64 `db:"branch_id"`
}

// knownFor is how long a network counts as one that a user logs in from; maxNetworks is how many of them
// are kept of a user, the latest.
const (
	knownFor    = `interval '30 days'`
	maxNetworks = 100
)

// CustomerOption is a company that a user can log in to.
type CustomerOption struct {
	CustomerID int64  `db:"customer_id"`
	Name       string `db:"name"`
	RoleName   string `db:"role_name"`
	IsOwner    bool   `db:"is_owner"`
	// Accepted: the user has redeemed an invitation of it, or signed in to it.
	Accepted bool `db:"accepted"`
	// Suspended: it is suspended or deleted, or one above it is, so that nobody can log in to it.
	Suspended bool `db:"suspended"`
	// Providers are those that people may sign in to it at; Required is one that they have to, 0 for none, with its name.
	Providers    pq.Int64Array `db:"providers"`
	Required     int64         `db:"required"`
	RequiredName string        `db:"required_name"`
}

// branchOfUser selects the branch of the user of an id; 0 where it belongs to no company.
func branchOfUser(id string) string {
	return `COALESCE((SELECT branch_of(m.customer_id) FROM memberships m WHERE m.user_id = ` + id + `
		ORDER BY m.accepted_at IS NULL, m.created_at, m.customer_id LIMIT 1), 0)`
}

var (
	qCredentials = prepare(`
		SELECT id, email, password_hash, otp_method, otp_secret, otp_last_step FROM users WHERE lower(email) = lower($1) AND erased_at IS NULL`)
	qCredentialsFrom = prepare(`
		SELECT u.id, u.email, u.password_hash, u.otp_method, u.otp_secret, u.otp_last_step,
			(SELECT n.seen_at FROM login_networks n WHERE n.user_id = u.id AND n.network = $2 AND n.seen_at > now() - ` + knownFor + `) AS seen_at,
			` + branchOfUser("u.id") + ` AS branch_id, EXISTS (SELECT FROM passkeys k WHERE k.user_id = u.id) AS passkeys
		FROM users u WHERE lower(u.email) = lower($1) AND u.erased_at IS NULL`)
	qOwnTexts = prepare(`
		SELECT ARRAY[u.email, u.first_name, u.last_name] || ARRAY(
			SELECT c.name FROM memberships m JOIN customers c ON c.id = m.customer_id WHERE m.user_id = u.id ORDER BY c.id LIMIT 100)
		FROM users u WHERE u.id = $1`)
	qSeeNetwork = prepare(`
		WITH old AS (DELETE FROM login_networks o WHERE o.user_id = $1 AND o.network <> $2 AND o.network IN (
			SELECT n.network FROM login_networks n WHERE n.user_id = $1 ORDER BY n.seen_at DESC OFFSET $3))
		INSERT INTO login_networks (user_id, network) VALUES ($1, $2) ON CONFLICT (user_id, network) DO UPDATE SET seen_at = now()`)
	qSweepNetworks  = prepare(`DELETE FROM login_networks WHERE seen_at < now() - ` + knownFor)
	qOwnCredentials = prepare(`
		SELECT id, email, password_hash, otp_method, otp_secret, otp_last_step FROM users WHERE id = $1 FOR UPDATE`)
	qTakeOTPStep         = prepare(`UPDATE users SET otp_last_step = $2 WHERE id = $1 AND otp_last_step < $2`)
	qSetOTP              = prepare(`UPDATE users SET otp_method = $2, otp_secret = $3 WHERE id = $1`)
	qDropRecoveryCodes   = prepare(`DELETE FROM recovery_codes WHERE user_id = $1`)
	qInsertRecoveryCodes = prepare(`INSERT INTO recovery_codes (user_id, hash) SELECT $1, unnest($2::bytea[])`)
	qUseRecoveryCode     = prepare(`DELETE FROM recovery_codes WHERE user_id = $1 AND hash = $2`)
	// A company counts with its lowest enabled account; the tenant application goes first. Those that are suspended come last.
	qCustomerOptions = prepare(`
		SELECT o.customer_id, o.name, o.role_name, o.is_owner, o.accepted, ` + inactive("o.lineage") + ` AS suspended,
			v.providers, COALESCE(q.id, 0) AS required, COALESCE(q.name, '') AS required_name FROM (
			SELECT DISTINCT ON (c.id) c.id AS customer_id, c.name, c.lineage, r.name AS role_name, r.is_owner, m.created_at, m.accepted_at IS NOT NULL AS accepted
			FROM permissions p` + joinByID("accounts", "a", "p.account_id") + joinByID("customers", "c", "a.customer_id") +
		joinByID("roles", "r", "p.role_id") + instanceOf + `
			JOIN memberships m ON m.customer_id = c.id AND m.user_id = p.user_id
			WHERE p.user_id = $1 AND NOT p.disabled AND NOT a.disabled
			ORDER BY c.id, i.application_id, a.id) o
		CROSS JOIN LATERAL (SELECT ` + serving("o.lineage") + ` AS providers) v
		LEFT JOIN LATERAL (SELECT p.id, p.name FROM identity_providers p WHERE p.id = ANY (v.providers) AND p.required ORDER BY p.id LIMIT 1) q ON true
		ORDER BY suspended, NOT o.accepted, o.created_at, o.customer_id`)
	// A company's invitation ends none of another's.
	qInsertLink = prepare(`
		WITH ended AS (
			UPDATE link_tokens SET used_at = now() WHERE user_id = $2 AND used_at IS NULL AND kind = $3 AND COALESCE(customer_id, 0) = $4::bigint)
		INSERT INTO link_tokens (hash, user_id, kind, customer_id, expires_at) VALUES ($1, $2, $3, NULLIF($4::bigint, 0), $5)`)
	qEndLinks = prepare(`UPDATE link_tokens SET used_at = now() WHERE user_id = $1 AND used_at IS NULL`)
	qUseLink  = prepare(`
		UPDATE link_tokens SET used_at = now() WHERE hash = $1 AND used_at IS NULL AND expires_at > now()
		RETURNING user_id, COALESCE(customer_id, 0) AS customer_id`)
	qPeekLink = prepare(`
		SELECT l.user_id, COALESCE(branch_of(l.customer_id), ` + branchOfUser("l.user_id") + `) AS branch_id
		FROM link_tokens l WHERE l.hash = $1 AND l.used_at IS NULL AND l.expires_at > now()`)
	qShowLink = prepare(`
		SELECT u.email, COALESCE(l.customer_id, 0) AS customer_id, COALESCE(c.name, '') AS customer_name
		FROM link_tokens l JOIN users u ON u.id = l.user_id LEFT JOIN customers c ON c.id = l.customer_id
		WHERE l.hash = $1 AND l.used_at IS NULL AND l.expires_at > now()`)
	// Tokens tell their time in whole seconds: the moment is rounded up, and lies behind that of an
	// earlier change, so that every login from before the change is older. A later one is dated no
	// earlier than the change.
	qSetPassword = prepare(`
		UPDATE users SET password_hash = $2,
			password_changed_at = GREATEST(date_trunc('second', clock_timestamp()), password_changed_at) + interval '1 second'
		WHERE id = $1`)
	qSweepLinks = prepare(`DELETE FROM link_tokens WHERE expires_at < now() - interval '30 days'`)
)

// Credentials reads what an e-mail address logs in with.
func (s *Store) Credentials(ctx context.Context, email string) (*Credentials, error) {
	c := &Credentials{}
	err := s.get(ctx, c, qCredentials, email)
	return c, err
}

// CredentialsFrom reads what an e-mail address logs in with, from a network.
func (s *Store) CredentialsFrom(ctx context.Context, email, network string) (*Credentials, error) {
	c := &Credentials{}
	err := s.get(ctx, c, qCredentialsFrom, email, network)
	return c, err
}

// OwnTexts are a user's address and names, and the names of companies that it belongs to, at most 100.
func (s *Store) OwnTexts(ctx context.Context, userID int64) (list []string, err error) {
	err = s.get(ctx, (*pq.StringArray)(&list), qOwnTexts, userID)
	return list, err
}

// SeeNetwork remembers a network that a user logs in from.
func (s *Store) SeeNetwork(ctx context.Context, userID int64, network string) error {
	return s.must(ctx, qSeeNetwork, userID, network, maxNetworks-1)
}

// SweepNetworks forgets the networks that users have not logged in from for long.
func (s *Store) SweepNetworks(ctx context.Context) error {
	_, err := s.exec(ctx, qSweepNetworks)
	return err
}

// OwnCredentials reads a user's credentials and holds the row until the transaction ends.
func (s *Store) OwnCredentials(ctx context.Context, userID int64) (*Credentials, error) {
	c := &Credentials{}
	err := s.get(ctx, c, qOwnCredentials, userID)
	return c, err
}

// TakeOTPStep uses up a time step of a user's one-time passwords; false when it was used before.
func (s *Store) TakeOTPStep(ctx context.Context, userID, step int64) (bool, error) {
	n, err := s.exec(ctx, qTakeOTPStep, userID, step)
	return n == 1, err
}

// SetOTP sets a user's two-factor method and sealed secret.
func (s *Store) SetOTP(ctx context.Context, userID int64, method string, secret []byte) error {
	return s.must(ctx, qSetOTP, userID, method, secret)
}

// SetRecoveryCodes replaces a user's recovery codes, given by their hashes; none removes them.
func (s *Store) SetRecoveryCodes(ctx context.Context, userID int64, hashes [][]byte) error {
	if _, err := s.exec(ctx, qDropRecoveryCodes, userID); err != nil || len(hashes) == 0 {
		return err
	}
	_, err := s.exec(ctx, qInsertRecoveryCodes, userID, pq.ByteaArray(hashes))
	return err
}

// UseRecoveryCode uses a recovery code up; false when the user has none such.
func (s *Store) UseRecoveryCode(ctx context.Context, userID int64, hash [32]byte) (bool, error) {
	n, err := s.exec(ctx, qUseRecoveryCode, userID, hash[:])
	return n == 1, err
}

// CustomerOptions lists the companies where a user has an enabled permission: those that are suspended last, of the others
// those that it has accepted first, and of these the one that it has belonged to longest.
func (s *Store) CustomerOptions(ctx context.Context, userID int64) (rows []CustomerOption, err error) {
	err = s.list(ctx, &rows, qCustomerOptions, userID)
	return rows, err
}

// The kinds of links that set a password.
const (
	LinkInvitation = "invitation"
	LinkReset      = "reset"
)

// Link is what a link that sets a password stands for.
type Link struct {
	UserID int64 `db:"user_id"`
	// CustomerID is the company whose invitation it is; 0 for a reset.
	CustomerID int64 `db:"customer_id"`
}

// InsertLink makes a link that sets a user's password. Earlier links of the kind, and of the same company, end.
func (s *Store) InsertLink(ctx context.Context, hash [32]byte, l Link, kind string, expires time.Time) error {
	_, err := s.exec(ctx, qInsertLink, hash[:], l.UserID, kind, l.CustomerID, expires)
	return err
}

// LinkUser gives the user of a link that can still be used, and the branch that it is from, or the user's own where it is
// from none; ErrNoRows when it can't.
func (s *Store) LinkUser(ctx context.Context, hash [32]byte) (userID, branchID int64, err error) {
	var l struct {
		UserID   int64 `db:"user_id"`
		BranchID int64 `db:"branch_id"`
	}
	err = s.get(ctx, &l, qPeekLink, hash[:])
	return l.UserID, l.BranchID, err
}

// ShownLink is what a link that sets a password tells whoever has it: whose password it is, and the company whose invitation; 0 for a reset.
type ShownLink struct {
	Email        string `db:"email"`
	CustomerID   int64  `db:"customer_id"`
	CustomerName string `db:"customer_name"`
}

// ShowLink tells what a link is for; ErrNoRows when it can't be used any more.
func (s *Store) ShowLink(ctx context.Context, hash [32]byte) (*ShownLink, error) {
	l := &ShownLink{}
	err := s.get(ctx, l, qShowLink, hash[:])
	return l, err
}

// UseLink uses a link up and ends the user's other links; ErrNoRows when it is unknown, used or
// expired.
func (s *Store) UseLink(ctx context.Context, hash [32]byte) (l Link, err error) {
	if err = s.get(ctx, &l, qUseLink, hash[:]); err != nil {
		return l, err
	}
	_, err = s.exec(ctx, qEndLinks, l.UserID)
	return l, err
}

// SetPassword writes a user's password hash and ends the logins made before, and a change of the address that was begun
// before: whoever has learnt the old password may have begun it.
func (s *Store) SetPassword(ctx context.Context, userID int64, hash string) error {
	if err := s.must(ctx, qSetPassword, userID, hash); err != nil {
		return err
	}
	_, err := s.exec(ctx, qDropEmailChange, userID)
	return err
}

// SweepLinks forgets links that have long expired.
func (s *Store) SweepLinks(ctx context.Context) error {
	_, err := s.exec(ctx, qSweepLinks)
	return err
}
