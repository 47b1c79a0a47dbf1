package db

import (
	"context"
	"time"

	"canopy/internal/access"
	"canopy/internal/globalid"
)

// The states of an invitation. Pending ones expire by themselves.
const (
	InvitationPending   = "PENDING"
	InvitationAccepted  = "ACCEPTED"
	InvitationDeclined  = "DECLINED"
	InvitationExpired   = "EXPIRED"
	InvitationWithdrawn = "WITHDRAWN"
)

// MaxInvitations is how many invitations of a company, or of a person, are shown at once: the newest.
const MaxInvitations = 200

// Invitation asks a person to accept a company that has added it. The database makes and ends it with the membership.
type Invitation struct {
	ID         int64 `db:"id"`
	CustomerID int64 `db:"customer_id"`
	UserID     int64 `db:"user_id"`
	// Email is as the company has entered it.
	Email     string    `db:"email"`
	Status    string    `db:"status,joined"`
	CreatedAt time.Time `db:"created_at"`
	ExpiresAt time.Time `db:"expires_at"`
	// InvitedBy is who has added the person; nil for the platform.
	InvitedBy *int64 `db:"created_by"`

	siblings
}

// GlobalID is the node id of the invitation.
func (i *Invitation) GlobalID() globalid.ID { return globalid.ID{Type: "Invitation", Int: i.ID} }

// Open tells whether the invitation was neither answered nor taken back, if its time may be over.
func (i *Invitation) Open() bool {
	return i.Status == InvitationPending || i.Status == InvitationExpired
}

var invitationColumns = columns[Invitation]("i") + `, CASE WHEN i.status = 'PENDING' AND i.expires_at <= now() THEN 'EXPIRED' ELSE i.status END AS status`

// invitedFrom is that a provider serves the company of invitation i, or with 0 that none is asked for.
func invitedFrom(provider string) string {
	return `(` + provider + `::bigint = 0 OR ` + provider + ` = ANY (` + serving("(SELECT c.lineage FROM customers c WHERE c.id = i.customer_id)::bigint[]") + `))`
}

var (
	qInvitation = prepare(`
		SELECT ` + invitationColumns + ` FROM invitations i JOIN customers c ON c.id = i.customer_id WHERE i.id = $3 AND ` + withinScope)
	qInvitationTo         = prepare(`SELECT ` + invitationColumns + ` FROM invitations i WHERE i.id = $1 AND i.user_id = $2 AND ` + invitedFrom("$3"))
	qInvitationUnanswered = prepare(`SELECT i.id FROM invitations i WHERE i.user_id = $1 AND i.customer_id = $2 AND i.status = 'PENDING'`)
	qInvitationsOf        = prepare(`
		SELECT x.* FROM unnest($1::bigint[]) k(id) CROSS JOIN LATERAL (
			SELECT ` + invitationColumns + ` FROM invitations i WHERE i.customer_id = k.id ORDER BY i.id DESC LIMIT $2) x
		ORDER BY x.customer_id, x.id`)
	qStreamInvitations = prepare(`
		SELECT ` + invitationColumns + ` FROM (SELECT * FROM invitations WHERE customer_id = $1 AND id > $2 ORDER BY id LIMIT $3) i ORDER BY i.id`)
	qInvitationsTo = prepare(`
		SELECT ` + invitationColumns + ` FROM (SELECT * FROM invitations WHERE user_id = $1 OFFSET 0) i
		WHERE i.status = 'PENDING' AND i.expires_at > now()
			AND NOT ` + inactive("(SELECT c.lineage FROM customers c WHERE c.id = i.customer_id)::bigint[]") + ` AND ` + invitedFrom("$3") + ` ORDER BY i.id LIMIT $2`)
	qRenewInvitation   = prepare(`UPDATE invitations SET expires_at = now() + $3 * interval '1 second' WHERE user_id = $1 AND customer_id = $2 AND status = 'PENDING'`)
	qDeclineInvitation = prepare(`UPDATE invitations SET status = 'DECLINED', ended_at = now() WHERE id = $1 AND status = 'PENDING'`)
	qDropInvitationsTo = prepare(`DELETE FROM invitations WHERE user_id = $1`)
	qForgetInvitations = prepare(`
		DELETE FROM invitations WHERE id = ANY (ARRAY(SELECT id FROM invitations WHERE ended_at < now() - interval '90 days' ORDER BY ended_at LIMIT $1))`)
)

var (
	customerInvitations = edgeBy((*Customer).key, invitationsOf)
	invitationCustomer  = edgeBy(func(i *Invitation) int64 { return i.CustomerID }, refsByID)
	invitationInviter   = edgeBy(func(i *Invitation) int64 { return orZero(i.InvitedBy) }, usersByID)
)

func invitationsOf(ctx context.Context, s *Store, _ none, ids []int64) (map[int64][]*Invitation, error) {
	var rows []*Invitation
	err := s.list(ctx, &rows, qInvitationsOf, ids, MaxInvitations)
	return byKey(join(rows), func(i *Invitation) int64 { return i.CustomerID }), err
}

// Invitation reads one invitation of a company within the scope.
func (s *Store) Invitation(ctx context.Context, scope access.Scope, id int64) (*Invitation, error) {
	i := &Invitation{}
	err := s.get(ctx, i, qInvitation, scope.From(), scope.To(), id)
	return i, err
}

// InvitationTo reads one invitation of a person, of whichever company, or of one that a provider serves; 0 for any.
func (s *Store) InvitationTo(ctx context.Context, userID, providerID, id int64) (*Invitation, error) {
	i := &Invitation{}
	err := s.get(ctx, i, qInvitationTo, id, userID, providerID)
	return i, err
}

// UnansweredInvitation is the id of a company's invitation to a person that was not answered, if its time may be over; ErrNoRows where there is none.
func (s *Store) UnansweredInvitation(ctx context.Context, userID, customerID int64) (id int64, err error) {
	err = s.get(ctx, &id, qInvitationUnanswered, userID, customerID)
	return id, err
}

// Invitations are the newest of the company's invitations, by id.
func (c *Customer) Invitations(ctx context.Context, s *Store) ([]*Invitation, error) {
	return follow(ctx, s, c, customerInvitations, none{})
}

// StreamInvitations gives a company's invitations by id, from after the id on, at most limit of them (0: all).
func (s *Store) StreamInvitations(ctx context.Context, customerID, after int64, limit int, each func(*Invitation) error) error {
	list := rowsOf(qStreamInvitations, func(after int64, limit int) []any { return []any{customerID, after, limit} }, func(i *Invitation) int64 { return i.ID })
	return list.each(ctx, s, after, limit, each)
}

// InvitationsTo are the invitations that a person can answer, or those of companies that a provider serves, 0 for any, by id.
func (s *Store) InvitationsTo(ctx context.Context, userID, providerID int64) (rows []*Invitation, err error) {
	err = s.list(ctx, &rows, qInvitationsTo, userID, MaxInvitations, providerID)
	return join(rows), err
}

// Customer is the edge from an invitation to its company, which whoever is invited may know by name.
func (i *Invitation) Customer(ctx context.Context, s *Store) (*CustomerRef, error) {
	return follow(ctx, s, i, invitationCustomer, none{})
}

// Inviter is the edge from an invitation to who has added the person; nil for who is not within reach.
func (i *Invitation) Inviter(ctx context.Context, s *Store, scope access.Scope) (*User, error) {
	return follow(ctx, s, i, invitationInviter, scope)
}

// RenewInvitation gives the pending invitation of a user to a company, if there is one, so long from now on.
func (s *Store) RenewInvitation(ctx context.Context, userID, customerID int64, life time.Duration) error {
	_, err := s.exec(ctx, qRenewInvitation, userID, customerID, life.Seconds())
	return err
}

// DeclineInvitation ends a pending invitation by the word of the person.
func (s *Store) DeclineInvitation(ctx context.Context, id int64) error {
	return s.must(ctx, qDeclineInvitation, id)
}

// ForgetInvitations deletes invitations that ended long ago, at most limit of them, and tells how many.
func (s *Store) ForgetInvitations(ctx context.Context, limit int) (int64, error) {
	return s.exec(ctx, qForgetInvitations, limit)
}
