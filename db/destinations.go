package db

import (
	"context"
	"time"

	"github.com/lib/pq"

	"canopy/internal/access"
	"canopy/internal/globalid"
)

// Destination is where a company has events delivered to. Events nil stands for all types.
type Destination struct {
	ID         int64          `db:"id"`
	CustomerID int64          `db:"customer_id"`
	URL        string         `db:"url" audit:"url"`
	Name       string         `db:"name" audit:"name"`
	Events     pq.StringArray `db:"events" audit:"events"`
	Enabled    bool           `db:"enabled" audit:"enabled"`
	// Signing is webhook.SigningSpec or webhook.SigningStandard.
	Signing string `db:"signing" audit:"signing"`
	// AutoDisabledAt is when the platform disabled it for failing too long; nil when it did not.
	AutoDisabledAt *time.Time `db:"auto_disabled_at"`
	// FailingSince is when the first delivery failed after the last one that got through; nil where none has.
	FailingSince *time.Time `db:"failing_since"`
	// NextAt is when the secret of the last rotation with overlap is in force alone.
	NextAt    *time.Time `db:"next_at"`
	CreatedAt time.Time  `db:"created_at"`
	Version   int        `db:"row_version"`

	siblings
}

// GlobalID is the node id of the destination.
func (d *Destination) GlobalID() globalid.ID {
	return globalid.ID{Type: "WebhookDestination", Int: d.ID}
}

func (d *Destination) key() int64 { return d.ID }

// OverlapEndsAt is until when the secret of before the last rotation goes on signing; nil while one signs alone.
func (d *Destination) OverlapEndsAt() *time.Time {
	if d.NextAt == nil || !d.NextAt.After(time.Now()) {
		return nil
	}
	return d.NextAt
}

var destinationColumns = columns[Destination]("d")

var (
	qDestinationsByID = prepare(`
		SELECT ` + destinationColumns + eachByID("webhook_destinations", "d") + joinByID("customers", "c", "d.customer_id") + `
		WHERE d.deleted_at IS NULL AND ` + withinScope)
	qDestinationForUpdate = prepare(`
		SELECT ` + destinationColumns + ` FROM webhook_destinations d JOIN customers c ON c.id = d.customer_id
		WHERE d.id = $3 AND ` + unindexed("d.deleted_at IS NULL") + ` AND ` + withinScope + ` FOR UPDATE OF d`)
	qInsertDestination = prepare(`
		INSERT INTO webhook_destinations AS d (customer_id, url, name, events, signing, secret)
		VALUES ($1, $2, $3, $4, $5, '') RETURNING ` + destinationColumns)
	qUpdateDestination = prepare(`
		UPDATE webhook_destinations SET url = $2, name = $3, events = $4, enabled = $5, signing = $6,
			auto_disabled_at = CASE WHEN $5 THEN NULL ELSE auto_disabled_at END,
			failing_since = CASE WHEN $5 AND NOT enabled OR url <> $2 THEN NULL ELSE failing_since END,
			failures = CASE WHEN $5 AND NOT enabled OR url <> $2 THEN 0 ELSE failures END
		WHERE id = $1 RETURNING auto_disabled_at, row_version`)
	qDeleteDestination = prepare(`UPDATE webhook_destinations SET deleted_at = now() WHERE id = $1`)
	restorable         = `SELECT d.id FROM webhook_destinations d JOIN customers c ON c.id = d.customer_id
		WHERE d.id = $3 AND ` + unindexed("d.deleted_at > now() - $4 * interval '1 second' AND d.secret <> ''") + ` AND ` + withinScope
	qRestorableDestination = prepare(restorable)
	qRestoreDestination    = prepare(`
		UPDATE webhook_destinations SET deleted_at = NULL, failing_since = NULL, failures = 0 WHERE id = (` + restorable + ` FOR UPDATE OF d)`)
	// Whoever has a row of these lets it go soon, and waits for none of them.
	qHoldOrphans = prepare(`
		SELECT delivery_id FROM webhook_due WHERE destination_id = $1 AND EXISTS (SELECT FROM webhook_destinations d WHERE d.id = $1 AND d.deleted_at IS NOT NULL)
		ORDER BY begun, next_attempt_at, delivery_id FOR UPDATE`)
	qForgetDestinationSecrets = prepare(`
		UPDATE webhook_destinations SET secret = '', next_secret = NULL, next_at = NULL WHERE id = ANY (ARRAY(
			SELECT id FROM webhook_destinations WHERE deleted_at < now() - $1 * interval '1 second' AND secret <> '' ORDER BY deleted_at LIMIT $2 FOR UPDATE SKIP LOCKED))`)
	qSetSecret = prepare(`
		UPDATE webhook_destinations SET secret = $2, next_secret = NULL, next_at = NULL WHERE id = $1`)
	// The secret that is in force goes on signing.
	qSetNextSecret = prepare(`
		UPDATE webhook_destinations SET secret = CASE WHEN next_at <= now() THEN next_secret ELSE secret END,
			next_secret = $2, next_at = $3 WHERE id = $1`)
	qSigningSecrets = prepare(`
		SELECT s FROM webhook_destinations d
		CROSS JOIN LATERAL (VALUES (CASE WHEN next_at <= now() THEN next_secret ELSE secret END), (CASE WHEN next_at > now() THEN next_secret END)) v(s)
		WHERE d.id = $1 AND s IS NOT NULL`)
	qFailingDestinations = prepare(`
		SELECT ` + destinationColumns + ` FROM webhook_destinations d
		WHERE d.failing_since < now() - $1 * interval '1 second' AND d.failures >= $2 AND d.enabled AND ` + unindexed("d.deleted_at IS NULL") + `
		ORDER BY d.failing_since LIMIT 100 FOR UPDATE SKIP LOCKED`)
	qAutoDisable = prepare(`UPDATE webhook_destinations SET enabled = false, auto_disabled_at = now() WHERE id = $1`)
	qOwnersOf    = prepare(ownersOf(willing))
	// A cell does not know who has a password, and so who is known elsewhere: who has not accepted the company is not written to.
	qOwnersInCell = prepare(ownersOf(`m.accepted_at IS NOT NULL`))
)

var (
	destinationsByID = rowsBy(qDestinationsByID, scoped, (*Destination).key)

	customerDestinations     = edgeBy((*Customer).key, pagesOf[Destination](destinationsOfCustomer))
	customerDestinationCount = edgeBy((*Customer).key, countsOf(destinationsOfCustomer))
	destinationCustomer      = edgeBy(func(d *Destination) int64 { return d.CustomerID }, customersByID)
)

// Destination reads one destination of a company within the scope.
func (s *Store) Destination(ctx context.Context, scope access.Scope, id int64) (*Destination, error) {
	return oneHere(ctx, s, "webhook_destinations", destinationsByID, scope, id)
}

// DestinationForUpdate reads one destination and holds its row until the transaction ends.
func (s *Store) DestinationForUpdate(ctx context.Context, scope access.Scope, id int64) (*Destination, error) {
	d := &Destination{}
	err := s.get(ctx, d, qDestinationForUpdate, scope.From(), scope.To(), id)
	return d, err
}

// Destinations is a page of a company's destinations.
func (c *Customer) Destinations(ctx context.Context, s *Store, ask Ask) ([]*Destination, error) {
	return follow(ctx, s, c, customerDestinations, scopedAsk{ask: ask})
}

// DestinationCount counts a company's destinations.
func (c *Customer) DestinationCount(ctx context.Context, s *Store, ask Ask) (int, error) {
	return follow(ctx, s, c, customerDestinationCount, scopedAsk{ask: ask})
}

// Customer is the edge from a destination to its company.
func (d *Destination) Customer(ctx context.Context, s *Store, scope access.Scope) (*Customer, error) {
	return follow(ctx, s, d, destinationCustomer, scope)
}

// InsertDestination makes a destination, without a secret yet: that is sealed to its id.
func (s *Store) InsertDestination(ctx context.Context, d Destination) (*Destination, error) {
	row := &Destination{}
	err := s.get(ctx, row, qInsertDestination, d.CustomerID, d.URL, d.Name, d.Events, d.Signing)
	return row, err
}

// UpdateDestination writes a destination's URL, name, events, signing and whether it is enabled. What
// is enabled again, or moves, begins without failures.
func (s *Store) UpdateDestination(ctx context.Context, d *Destination) error {
	return s.get(ctx, d, qUpdateDestination, d.ID, d.URL, d.Name, d.Events, d.Enabled, d.Signing)
}

// HiddenFor is how long after its deletion an agent, a destination, a context, a document or a secret can be brought back.
const HiddenFor = 30 * 24 * time.Hour

// DeleteDestination hides a destination; its log stays.
func (s *Store) DeleteDestination(ctx context.Context, id int64) error {
	return s.must(ctx, qDeleteDestination, id)
}

// FailOrphansOf ends, some at a time, what waits for a destination of a company within the scope that was deleted within HiddenFor;
// ErrNoRows where there is none.
func (s *Store) FailOrphansOf(ctx context.Context, scope access.Scope, id int64) error {
	if err := s.restorable(ctx, scope, id); err != nil {
		return err
	}
	return s.failAllOrphans(ctx, id)
}

// RestoreDestination shows a destination of a company within the scope again that was deleted within HiddenFor, and holds its row;
// ErrNoRows where there is none. What waited when it was deleted, and has not been ended yet, fails before: it is held before the destination is, as what comes of
// attempts holds both in that order.
func (s *Store) RestoreDestination(ctx context.Context, scope access.Scope, id int64) (*Destination, error) {
	if err := s.restorable(ctx, scope, id); err != nil {
		return nil, err
	}
	if _, err := s.exec(ctx, qHoldOrphans, id); err != nil {
		return nil, err
	}
	if err := s.failAllOrphans(ctx, id); err != nil {
		return nil, err
	}
	if err := s.must(ctx, qRestoreDestination, scope.From(), scope.To(), id, HiddenFor.Seconds()); err != nil {
		return nil, err
	}
	return s.DestinationForUpdate(ctx, scope, id)
}

// restorable gives ErrNoRows where a scope has no such destination that was deleted within HiddenFor. It waits for nobody.
func (s *Store) restorable(ctx context.Context, scope access.Scope, id int64) error {
	return s.must(ctx, qRestorableDestination, scope.From(), scope.To(), id, HiddenFor.Seconds())
}

func (s *Store) failAllOrphans(ctx context.Context, id int64) error {
	const atOnce = 1000
	for {
		if n, err := s.FailOrphans(ctx, id, atOnce); err != nil || n < atOnce {
			return err
		}
	}
}

// ForgetDestinationSecrets forgets the secrets of so many destinations that can't be brought back any more, and gives of how many.
func (s *Store) ForgetDestinationSecrets(ctx context.Context, limit int) (int64, error) {
	return s.exec(ctx, qForgetDestinationSecrets, HiddenFor.Seconds(), limit)
}

// SigningSecrets reads a destination's sealed secrets: the one in force and, while a rotation overlaps,
// the next.
func (s *Store) SigningSecrets(ctx context.Context, id int64) (sealed [][]byte, err error) {
	err = s.list(ctx, &sealed, qSigningSecrets, id)
	return sealed, err
}

// SetSigningSecret gives a destination a sealed secret that is in force at once.
func (s *Store) SetSigningSecret(ctx context.Context, id int64, sealed []byte) error {
	return s.must(ctx, qSetSecret, id, sealed)
}

// SetNextSigningSecret gives a destination a sealed secret that is in force from a moment on;
// until then it signs beside the one that is.
func (s *Store) SetNextSigningSecret(ctx context.Context, id int64, sealed []byte, from time.Time) error {
	return s.must(ctx, qSetNextSecret, id, sealed, from)
}

// FailingDestinations holds the enabled destinations whose deliveries have all failed for so
// long, at least so many of them.
func (s *Store) FailingDestinations(ctx context.Context, since time.Duration, failures int) (rows []*Destination, err error) {
	err = s.list(ctx, &rows, qFailingDestinations, since.Seconds(), failures)
	return rows, err
}

// AutoDisable disables a destination for the platform's own reasons.
func (s *Store) AutoDisable(ctx context.Context, id int64) error {
	return s.must(ctx, qAutoDisable, id)
}

// Owner is a person to tell of what befalls a company.
type Owner struct {
	UserID   int64  `db:"id"`
	Email    string `db:"email"`
	Customer string `db:"customer"`
}

// ownersOf finds the owners of a company of whom something holds.
func ownersOf(holds string) string {
	return `
		SELECT DISTINCT u.id, u.email, c.name AS customer
		FROM customers c JOIN accounts a ON a.customer_id = c.id CROSS JOIN LATERAL (SELECT * FROM permissions WHERE account_id = a.id OFFSET 0) p` +
		joinByID("roles", "r", "p.role_id") + joinByID("users", "u", "p.user_id") + `
		JOIN memberships m ON m.customer_id = c.id AND m.user_id = u.id
		WHERE c.id = $1 AND r.is_owner AND NOT p.disabled AND NOT a.disabled AND ` + holds + ` ORDER BY u.id`
}

// OwnersOf lists the users with an enabled owner permission on one of a company's accounts, without those who are known
// elsewhere and have not accepted it: they are not written to.
func (s *Store) OwnersOf(ctx context.Context, customerID int64) (rows []Owner, err error) {
	q := qOwnersOf
	if s.cell != nil {
		q = qOwnersInCell
	}
	err = s.list(ctx, &rows, q, customerID)
	return rows, err
}
