package resolvers

import (
	"context"
	"errors"
	"strings"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/problem"
	"canopy/internal/rule"
)

// Invitations are the newest of the company's invitations, by id.
func (e CustomerEdges) Invitations(ctx context.Context, obj *db.Customer) ([]*db.Invitation, error) {
	if _, err := e.may(ctx, rule.CustomerInvitations); err != nil {
		return nil, err
	}
	return obj.Invitations(ctx, e.Store)
}

// Invitations are those that the person who has logged in can answer, by id; none for an API key.
func (e MeEdges) Invitations(ctx context.Context, _ *Me) ([]*db.Invitation, error) {
	c, err := e.may(ctx, rule.MeInvitations)
	if err != nil || !c.Login() {
		return nil, err
	}
	return e.Store.InvitationsTo(ctx, c.UserID, c.ProviderID)
}

// InvitationEdges resolves the edges of an invitation.
type InvitationEdges struct{ *Resolver }

// Customer is the company that invites.
func (e InvitationEdges) Customer(ctx context.Context, obj *db.Invitation) (*db.CustomerRef, error) {
	return obj.Customer(ctx, e.Store)
}

// Inviter is who has added the person; nil for the platform, and for who is not within reach.
func (e InvitationEdges) Inviter(ctx context.Context, obj *db.Invitation) (*db.User, error) {
	return obj.Inviter(ctx, e.Store, reach(ctx))
}

// GetInvitation gives one invitation of a company within reach.
func (q Query) GetInvitation(ctx context.Context, id globalid.ID) (*db.Invitation, error) {
	c, err := q.may(ctx, rule.CustomerInvitations)
	if err != nil {
		return nil, err
	}
	row, err := q.Store.Invitation(ctx, c.Scope(), id.Int)
	return row, c.unreached(err, "invitation", id.Int)
}

func (q Query) invitationNode(ctx context.Context, id globalid.ID) (*db.Invitation, error) {
	return q.GetInvitation(ctx, id)
}

// ListInvitations gives each invitation of a company within reach by id. after is the cursor of an earlier call;
// limit 0 gives all.
func (q Query) ListInvitations(ctx context.Context, id *globalid.ID, after paging.Cursor, limit int, each func(*db.Invitation) error) error {
	c, err := q.may(ctx, rule.CustomerInvitations)
	if err != nil {
		return err
	}
	customer, err := q.customer(ctx, c, id, "customerId")
	if err != nil {
		return err
	}
	return q.Store.StreamInvitations(ctx, customer.ID, lastID(after), limit, each)
}

// WithdrawInvitationInput names an invitation to take back.
type WithdrawInvitationInput struct{ ID globalid.ID }

// WithdrawInvitationPayload is what WithdrawInvitation took back.
type WithdrawInvitationPayload struct{ Invitation *db.Invitation }

// WithdrawInvitation takes an invitation back that was not answered yet, and the user out of the company.
func (m Mutation) WithdrawInvitation(ctx context.Context, in WithdrawInvitationInput) (*WithdrawInvitationPayload, error) {
	c, err := m.may(ctx, rule.WithdrawInvitation)
	if err != nil {
		return nil, err
	}
	id, err := in.ID.Of("Invitation", "id")
	if err != nil {
		return nil, err
	}
	out := &WithdrawInvitationPayload{}
	err = m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		read := func() (*db.Invitation, error) {
			i, err := tx.Invitation(ctx, c.Scope(), id)
			return i, c.unreached(err, "invitation", id)
		}
		out.Invitation, err = ch.answer(ctx, read, audit.InvitationWithdrawn, func(i *db.Invitation) error {
			_, err := ch.leave(ctx, i.UserID, i.CustomerID, c.mayTakeOut(ctx, tx, i.CustomerID))
			return err
		})
		return err
	})
	return out, err
}

// openInvitation holds the person of an invitation, and gives the invitation, which nobody else can answer then.
func (ch *changes) openInvitation(ctx context.Context, read func() (*db.Invitation, error)) (*db.Invitation, error) {
	i, err := read()
	if err != nil {
		return nil, err
	}
	// The accounts before the person, as whoever leaves does.
	if err := ch.tx.HoldAccountsOf(ctx, i.UserID, i.CustomerID); err != nil {
		return nil, err
	}
	if _, err := ch.tx.LockUser(ctx, i.UserID); err != nil {
		return nil, missing(err, "invitation", i.ID)
	}
	if i, err = read(); err == nil && !i.Open() {
		err = problem.Bad("the invitation is no longer open: it is %s", strings.ToLower(i.Status))
	}
	return i, err
}

// AcceptInvitationInput names an invitation of the caller's.
type AcceptInvitationInput struct{ ID globalid.ID }

// AcceptInvitationPayload is what AcceptInvitation answered.
type AcceptInvitationPayload struct{ Invitation *db.Invitation }

// AcceptInvitation accepts a company that has invited the caller.
func (m Mutation) AcceptInvitation(ctx context.Context, in AcceptInvitationInput) (*AcceptInvitationPayload, error) {
	i, err := m.answer(ctx, rule.AcceptInvitation, in.ID, audit.InvitationAccepted, func(tx *db.Store, _ *changes, i *db.Invitation) error {
		if i.Status == db.InvitationExpired {
			return problem.Bad("the invitation has expired: ask for a new one, or sign in to the company")
		}
		// Until then nothing is done there, as with a sign-in.
		suspended, err := tx.Suspended(ctx, i.CustomerID)
		if err == nil && suspended {
			err = problem.Conflicting("customer_suspended", "the company that has invited you is suspended: the invitation can be accepted once that has ended")
		}
		if err != nil {
			return err
		}
		return tx.Accept(ctx, i.CustomerID, i.UserID)
	})
	return &AcceptInvitationPayload{i}, err
}

// DeclineInvitationInput names an invitation of the caller's.
type DeclineInvitationInput struct{ ID globalid.ID }

// DeclineInvitationPayload is what DeclineInvitation answered.
type DeclineInvitationPayload struct{ Invitation *db.Invitation }

// DeclineInvitation declines a company that has invited the caller, who leaves it.
func (m Mutation) DeclineInvitation(ctx context.Context, in DeclineInvitationInput) (*DeclineInvitationPayload, error) {
	i, err := m.answer(ctx, rule.DeclineInvitation, in.ID, audit.InvitationDeclined, func(tx *db.Store, ch *changes, i *db.Invitation) error {
		if err := tx.DeclineInvitation(ctx, i.ID); err != nil {
			return err
		}
		_, err := ch.leave(ctx, i.UserID, i.CustomerID, func(p *db.Permission) error { return mayBeWithout(ctx, tx, p) })
		return err
	})
	return &DeclineInvitationPayload{i}, err
}

// declineOf declines what a company asks a person, who leaves it unanswered, if too late.
func (ch *changes) declineOf(ctx context.Context, userID, customerID int64) error {
	id, err := ch.tx.UnansweredInvitation(ctx, userID, customerID)
	if errors.Is(err, db.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	read := func() (*db.Invitation, error) { return ch.tx.InvitationTo(ctx, userID, 0, id) }
	decline := func(i *db.Invitation) error { return ch.tx.DeclineInvitation(ctx, i.ID) }
	_, err = ch.answer(ctx, read, audit.InvitationDeclined, decline)
	return err
}

// answer has the caller answer an invitation, wherever that comes from.
func (m Mutation) answer(ctx context.Context, need *rule.Rule, id globalid.ID, action audit.Action, do func(*db.Store, *changes, *db.Invitation) error) (*db.Invitation, error) {
	c, err := m.person(ctx, need)
	if err != nil {
		return nil, err
	}
	n, err := id.Of("Invitation", "id")
	if err != nil {
		return nil, err
	}
	var answered *db.Invitation
	err = m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		read := func() (*db.Invitation, error) {
			i, err := tx.InvitationTo(ctx, c.UserID, c.ProviderID, n)
			return i, missing(err, "invitation", n)
		}
		answered, err = ch.answer(ctx, read, action, func(i *db.Invitation) error { return do(tx, ch, i) })
		return err
	})
	return answered, err
}

// answer does what ends an invitation that is open, and writes down what became of it.
func (ch *changes) answer(ctx context.Context, read func() (*db.Invitation, error), action audit.Action, do func(*db.Invitation) error) (*db.Invitation, error) {
	i, err := ch.openInvitation(ctx, read)
	if err != nil {
		return nil, err
	}
	if err := do(i); err != nil {
		return nil, err
	}
	answered, err := read()
	if err != nil {
		return nil, err
	}
	return answered, ch.audit(i.CustomerID, action, i, audit.None().Value("status", i.Status, answered.Status))
}
