package db

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lib/pq"

	"canopy/internal/access"
	"canopy/internal/share"
)

// rights are those of a role, read from the array of their names: with each request.
type rights access.Features

// Scan implements sql.Scanner. Names that are unknown are passed over.
func (r *rights) Scan(src any) error {
	var text string
	switch src := src.(type) {
	case []byte:
		text = string(src)
	case string:
		text = src
	default:
		return fmt.Errorf("rights are no %T", src)
	}
	*r = 0
	inner, _ := strings.CutPrefix(text, "{")
	inner, _ = strings.CutSuffix(inner, "}")
	for name := range strings.SplitSeq(inner, ",") {
		f, _ := access.ParseFeature(strings.Trim(name, `"`))
		*r |= rights(f)
	}
	return nil
}

// grantRow is one application's side of a caller: permission, account and role.
type grantRow struct {
	PermissionID       int64  `db:"permission_id"`
	PermissionDisabled bool   `db:"permission_disabled"`
	AccountID          int64  `db:"account_id"`
	AccountDisabled    bool   `db:"account_disabled"`
	RoleID             int64  `db:"role_id"`
	RoleName           string `db:"role_name"`
	RoleOwner          bool   `db:"role_owner"`
	Features           rights `db:"features"`
	Stale              bool   `db:"stale"`
}

func (g *grantRow) grant() *access.Grant {
	return &access.Grant{
		PermissionID: g.PermissionID, AccountID: g.AccountID, RoleID: g.RoleID, RoleName: g.RoleName,
		Owner: g.RoleOwner, Features: access.Features(g.Features), Stale: g.Stale,
	}
}

const grantColumns = `p.id AS permission_id, p.disabled AS permission_disabled, a.id AS account_id, a.disabled AS account_disabled,
	r.id AS role_id, r.name AS role_name, r.is_owner AS role_owner, r.features,
	COALESCE(p.last_access < now() - interval '1 minute', true) AS stale`

// withdrawn tells whether the key $3 that has signed a token is published no more.
const withdrawn = `NOT EXISTS (SELECT FROM signing_keys s WHERE s.kid = $3 AND (s.retires_at IS NULL OR s.retires_at > now())) AS withdrawn`

// rates are the limits on what is done in a minute that the companies of the lineage of c have of their own.
const rates = `ARRAY(SELECT l.customer_id || ' ' || l.name || ' ' || l.most FROM customer_limits l
	WHERE l.customer_id = ANY (c.lineage) AND l.name IN ('requestsPerMinute', 'costPerMinute')) AS rates`

// parseRates reads what rates gives.
func parseRates(rows pq.StringArray) []access.Rate {
	list := make([]access.Rate, len(rows))
	for i, row := range rows {
		_, _ = fmt.Sscan(row, &list[i].CustomerID, &list[i].Name, &list[i].Most) // the statement above wrote it
	}
	return list
}

var (
	qKeyCaller = prepare(`
		SELECT k.id AS key_id, k.user_id, u.email, k.features AS key_features, k.allowed_addresses, k.revoked_at IS NOT NULL OR COALESCE(k.expires_at <= now(), false) AS dead,
			COALESCE(k.last_used_at < now() - interval '1 minute', true) AS key_stale,
			COALESCE(a.customer_id, 0) AS customer_id, COALESCE(c.lineage, '{}') AS lineage, COALESCE(c.moves, 0) AS moves, COALESCE(c.region_id, 0) AS region_id,
			COALESCE(p.id, 0) AS permission_id, COALESCE(p.disabled, true) AS permission_disabled,
			COALESCE(a.id, 0) AS account_id, COALESCE(a.disabled, true) AS account_disabled,
			COALESCE(r.id, 0) AS role_id, COALESCE(r.name, '') AS role_name, COALESCE(r.is_owner, false) AS role_owner, COALESCE(r.features, '{}') AS features,
			COALESCE(p.last_access < now() - interval '1 minute', true) AS stale, ` + withdrawn + `, ` + inactive("c.lineage") + ` AS suspended, ` + rates + `
		FROM api_keys k JOIN users u ON u.id = k.user_id
		LEFT JOIN (permissions p JOIN accounts a ON a.id = p.account_id JOIN customers c ON c.id = a.customer_id JOIN roles r ON r.id = p.role_id)
			ON p.user_id = k.user_id AND p.account_id = $2 AND k.customer_id = ANY(c.lineage)
		WHERE k.client_id = $1`)
	qLoginCaller = prepare(`
		SELECT u.email, u.password_changed_at, s.alive AS in_session, COALESCE(s.provider_id, 0) AS provider_id, s.provider_features, c.lineage, c.moves, c.region_id, COALESCE(g.code, '') AS code,
			COALESCE(g.permission_id, 0) AS permission_id, COALESCE(g.account_id, 0) AS account_id,
			COALESCE(g.role_id, 0) AS role_id, COALESCE(g.role_name, '') AS role_name, COALESCE(g.role_owner, false) AS role_owner,
			COALESCE(g.features, '{}') AS features, COALESCE(g.stale, false) AS stale, ` + withdrawn + `, ` + inactive("c.lineage") + ` AS suspended, ` + rates + `
		FROM users u JOIN customers c ON c.id = $2
		LEFT JOIN LATERAL (
			SELECT o.ended_at IS NULL AS alive, o.provider_id, p.features AS provider_features FROM sessions o LEFT JOIN identity_providers p ON p.id = o.provider_id
			WHERE o.id = $4 AND o.user_id = u.id OFFSET 0) s ON true
		LEFT JOIN LATERAL (
			SELECT DISTINCT ON (i.application_id) app.code, ` + grantColumns + `
			FROM accounts a` + permissionOf("u.id") + instanceOf + joinByID("applications", "app", "i.application_id") + joinByID("roles", "r", "p.role_id") + `
			WHERE a.customer_id = $2 AND NOT p.disabled AND NOT a.disabled
			ORDER BY i.application_id, a.id) g ON true
		WHERE u.id = $1`)
	qExchange = prepare(`
		SELECT k.id AS key_id, k.user_id, k.features AS key_features, k.allowed_addresses, k.revoked_at IS NOT NULL OR COALESCE(k.expires_at <= now(), false) AS dead,
			COALESCE(k.last_used_at < now() - interval '1 minute', true) AS key_stale,
			ARRAY(SELECT s.hash FROM api_key_secrets s WHERE s.api_key_id = k.id AND (s.expires_at IS NULL OR s.expires_at > now())) AS hashes,
			COALESCE(g.customer_id, 0) AS customer_id, COALESCE(g.account_id, 0) AS account_id,
			COALESCE(g.permission_id, 0) AS permission_id, COALESCE(g.features, '{}') AS features, COALESCE(g.stale, false) AS stale,
			COALESCE(g.suspended, false) AS suspended, COALESCE(g.branch_id, 0) AS branch_id
		FROM api_keys k
		LEFT JOIN LATERAL (
			SELECT a.customer_id, ` + grantColumns + `, ` + inactive("c.lineage") + ` AS suspended,
				CASE WHEN k.customer_id <> c.lineage[1] THEN c.lineage[2] END AS branch_id
			FROM accounts a` + permissionOf("k.user_id") + joinByID("customers", "c", "a.customer_id") + instanceOf +
		joinByID("applications", "app", "i.application_id") + joinByID("roles", "r", "p.role_id") + `
			WHERE a.id = ANY(CASE WHEN $3::bigint = 0 THEN ARRAY(SELECT o.id FROM accounts o WHERE o.customer_id = k.customer_id) ELSE ARRAY[$3] END)
			  AND k.customer_id = ANY(c.lineage) AND NOT p.disabled AND NOT a.disabled AND app.code = $2
			ORDER BY a.id LIMIT 1) g ON true
		WHERE k.client_id = $1`)
	qTouchPermission = prepare(`
		UPDATE permissions SET last_access = now() WHERE id = $1 AND COALESCE(last_access < now() - interval '1 minute', true)`)
	qTouchKey = prepare(`
		UPDATE api_keys SET last_used_at = now() WHERE id = $1 AND COALESCE(last_used_at < now() - interval '1 minute', true)`)
)

// lookups look the callers of tokens up. Requests with the same token that come while one of them is looked up wait for the
// next look-up, which is for all of them: each has an answer that was begun after it came.
type lookups[Token comparable] struct {
	together share.Together[Token, *Caller]
}

// ask gives the caller of a token, as find finds it. A caller belongs to one request, so each has one of its own.
func (l *lookups[Token]) ask(ctx context.Context, t Token, find func(context.Context, Token) (*Caller, error)) (*Caller, error) {
	if l == nil {
		return find(ctx, t)
	}
	c, err := l.together.Ask(Alone(ctx), t, func(ctx context.Context) (*Caller, error) { return find(ctx, t) })
	if err != nil {
		return nil, err
	}
	own := *c
	for i, g := range own.Grants {
		if g != nil {
			grant := *g
			own.Grants[i] = &grant
		}
	}
	return &own, nil
}

// keyBounds is what an API key may less than its user.
type keyBounds struct {
	KeyFeatures      pq.StringArray `db:"key_features"`
	AllowedAddresses pq.StringArray `db:"allowed_addresses"`
}

func (b *keyBounds) bound(users access.Features) access.Features {
	return boundBy(b.KeyFeatures, users)
}

// Caller is the database's word on who a token stands for.
type Caller struct {
	access.Principal
	// Dead: the API key was revoked or has expired, the session was ended, or the password changed after a login without one.
	Dead bool
	// Withdrawn: the key that has signed the token is published no more.
	Withdrawn bool
	// Suspended: the company is suspended or deleted, or one above it is.
	Suspended bool
	// LoginsSince is the earliest time that a login may be dated, zero for any.
	LoginsSince time.Time
	// AllowedAddresses are the networks that the key works from; nil: any.
	AllowedAddresses []string
}

// KeyCaller looks up the caller of an API key's token on an account; kid names the key that has signed it. The grant is nil where the
// permission is gone or disabled, or the account is disabled. ErrNoRows: there is no such key.
func (s *Store) KeyCaller(ctx context.Context, clientID string, app access.App, accountID int64, kid string) (*Caller, error) {
	return s.callers.ask(ctx, keyToken{clientID: clientID, app: app, accountID: accountID, kid: kid}, s.keyCaller)
}

// keyToken is what the token of an API key says.
type keyToken struct {
	clientID  string
	app       access.App
	accountID int64
	// kid names the key that has signed it.
	kid string
}

func (s *Store) keyCaller(ctx context.Context, t keyToken) (*Caller, error) {
	var r struct {
		grantRow
		keyBounds
		KeyID      int64          `db:"key_id"`
		UserID     int64          `db:"user_id"`
		Email      string         `db:"email"`
		Dead       bool           `db:"dead"`
		KeyStale   bool           `db:"key_stale"`
		CustomerID int64          `db:"customer_id"`
		Lineage    access.Lineage `db:"lineage"`
		Moves      int            `db:"moves"`
		RegionID   int64          `db:"region_id"`
		Rates      pq.StringArray `db:"rates"`
		Withdrawn  bool           `db:"withdrawn"`
		Suspended  bool           `db:"suspended"`
	}
	if err := s.get(ctx, &r, qKeyCaller, t.clientID, t.accountID, t.kid); err != nil {
		return nil, err
	}
	c := &Caller{Principal: access.Principal{
		UserID: r.UserID, Email: r.Email, CustomerID: r.CustomerID, Lineage: r.Lineage, Moves: r.Moves, RegionID: r.RegionID,
		KeyID: r.KeyID, ClientID: t.clientID, KeyStale: r.KeyStale, Rates: parseRates(r.Rates),
	}, Dead: r.Dead, Withdrawn: r.Withdrawn, Suspended: r.Suspended, AllowedAddresses: r.AllowedAddresses}
	if r.PermissionID != 0 && !r.PermissionDisabled && !r.AccountDisabled {
		g := r.grant()
		g.Features = r.bound(g.Features)
		c.Grants[t.app] = g
	}
	return c, nil
}

// LoginToken is what the token of a person's login says.
type LoginToken struct {
	UserID, CustomerID int64
	// SessionID is the session that it belongs to; 0 for a login without one.
	SessionID int64
	IssuedAt  time.Time
	// KeyID names the key that has signed it; "" where it is yet to be signed.
	KeyID string
}

// LoginCaller looks up the caller of a login token in a company: one grant for each application,
// on the account of the lowest id. ErrNoRows: there is no such user, company or session.
func (s *Store) LoginCaller(ctx context.Context, t LoginToken) (*Caller, error) {
	return s.logins.ask(ctx, t, s.loginCaller)
}

func (s *Store) loginCaller(ctx context.Context, t LoginToken) (*Caller, error) {
	var rows []struct {
		grantRow
		Email             string         `db:"email"`
		PasswordChangedAt *time.Time     `db:"password_changed_at"`
		InSession         *bool          `db:"in_session"`
		ProviderID        int64          `db:"provider_id"`
		ProviderFeatures  pq.StringArray `db:"provider_features"`
		Lineage           access.Lineage `db:"lineage"`
		Moves             int            `db:"moves"`
		RegionID          int64          `db:"region_id"`
		Rates             pq.StringArray `db:"rates"`
		Code              string         `db:"code"`
		Withdrawn         bool           `db:"withdrawn"`
		Suspended         bool           `db:"suspended"`
	}
	if err := s.list(ctx, &rows, qLoginCaller, t.UserID, t.CustomerID, t.KeyID, t.SessionID); err != nil {
		return nil, err
	}
	if len(rows) == 0 || t.SessionID != 0 && rows[0].InSession == nil {
		return nil, ErrNoRows
	}
	c := &Caller{Principal: access.Principal{
		UserID: t.UserID, Email: rows[0].Email, CustomerID: t.CustomerID, SessionID: t.SessionID, ProviderID: rows[0].ProviderID, Lineage: rows[0].Lineage, Moves: rows[0].Moves, RegionID: rows[0].RegionID, Rates: parseRates(rows[0].Rates),
		Withheld: access.AllFeatures &^ boundBy(rows[0].ProviderFeatures, access.AllFeatures),
	}}
	c.Withdrawn, c.Suspended = rows[0].Withdrawn, rows[0].Suspended
	if at := rows[0].PasswordChangedAt; at != nil {
		c.Dead, c.LoginsSince = t.IssuedAt.Before(*at), *at
	}
	if t.SessionID != 0 { // which a change of the password ends, or lets go on
		c.Dead = !*rows[0].InSession
	}
	for _, r := range rows {
		if app, ok := access.ParseApp(r.Code); ok {
			g := r.grant()
			g.KeptBack = g.Features & c.Withheld
			g.Features &^= c.Withheld
			c.Grants[app] = g
		}
	}
	return c, nil
}

// Exchange is what a token request of an API key finds.
type Exchange struct {
	keyBounds
	KeyID        int64         `db:"key_id"`
	UserID       int64         `db:"user_id"`
	Dead         bool          `db:"dead"`
	KeyStale     bool          `db:"key_stale"`
	Hashes       pq.ByteaArray `db:"hashes"`
	CustomerID   int64         `db:"customer_id"`
	AccountID    int64         `db:"account_id"`
	PermissionID int64         `db:"permission_id"`
	Features     rights        `db:"features"`
	Stale        bool          `db:"stale"`
	// Suspended: the account's company is suspended or deleted, or one above it is.
	Suspended bool `db:"suspended"`
	// BranchID is the company right below root that the key belongs to or is below; 0 for a key of root.
	BranchID int64 `db:"branch_id"`
}

// Rights are those that a token of the key has on the account.
func (x *Exchange) Rights() access.Features { return x.bound(access.Features(x.Features)) }

// FindExchange looks up an API key and the account that a token of it for the application would
// stand on: the one asked for, or with 0 the one of the lowest id in the key's company. AccountID
// is 0 when none is eligible. ErrNoRows: there is no such key.
func (s *Store) FindExchange(ctx context.Context, clientID string, app access.App, accountID int64) (*Exchange, error) {
	x := &Exchange{}
	err := s.get(ctx, x, qExchange, clientID, app.String(), accountID)
	return x, err
}

// Touch writes down that a permission and an API key were used; 0 passes one over. A use within a
// minute of the last is not written, so a busy key does not queue on its own row.
//
// A cell has the uses sent home later: SendMarks.
func (s *Store) Touch(ctx context.Context, permissionID, keyID int64) error {
	if s.cell != nil {
		return s.mark(ctx, permissionID, keyID)
	}
	if permissionID != 0 {
		if _, err := s.exec(ctx, qTouchPermission, permissionID); err != nil {
			return err
		}
	}
	if keyID != 0 {
		_, err := s.exec(ctx, qTouchKey, keyID)
		return err
	}
	return nil
}

// mark writes down in a cell what Touch writes at the home.
func (s *Store) mark(ctx context.Context, permissionID, keyID int64) error {
	for kind, id := range map[string]int64{usedPermission: permissionID, usedKey: keyID} {
		if id == 0 {
			continue
		}
		if _, err := s.exec(ctx, qMarkUse, kind, id); err != nil {
			return err
		}
	}
	return nil
}
