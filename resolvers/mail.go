package resolvers

import (
	"context"
	"time"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/mail"
	"canopy/internal/secret"
	"canopy/outbox"
)

// The lives of the links that set a password: an invitation waits for a person, a reset was just asked for.
const (
	invitationLife = 7 * 24 * time.Hour
	resetLife      = time.Hour
)

// maxInvitations is how many invitations a person is sent in a day, by whichever companies.
const maxInvitations = 5

// mayInvite tells whether a user has not been sent too many invitations today.
func mayInvite(ctx context.Context, tx *db.Store, userID int64) (bool, error) {
	sent, err := tx.MailsToday(ctx, userID, db.LinkInvitation)
	return sent < maxInvitations, err
}

// sendInvitation puts a company's invitation for a user who may be invited into the outbox, in the change's
// transaction, and gives the link that it carries.
func (r *Resolver) sendInvitation(ctx context.Context, ch *changes, m *db.Member) (string, error) {
	link, err := r.newLink(ctx, ch.tx, db.Link{UserID: m.UserID, CustomerID: m.CustomerID}, db.LinkInvitation, invitationLife)
	if err != nil {
		return "", err
	}
	message, err := mail.Invitation(mail.InvitationData{To: m.Email, Name: m.Name(), Customer: m.CustomerName, Link: link, ValidFor: invitationLife})
	if err != nil {
		return "", err
	}
	return link, r.post(ctx, ch, m.UserID, db.LinkInvitation, message)
}

// sendReset puts a reset link for a user into the outbox.
func (r *Resolver) sendReset(ctx context.Context, ch *changes, userID int64, email string) error {
	link, err := r.newLink(ctx, ch.tx, db.Link{UserID: userID}, db.LinkReset, resetLife)
	if err != nil {
		return err
	}
	message, err := mail.Reset(mail.ResetData{To: email, Link: link, ValidFor: resetLife})
	if err != nil {
		return err
	}
	return r.post(ctx, ch, userID, db.LinkReset, message)
}

// newLink makes a link to the set-up page. The token stands in the fragment, which browsers keep
// to themselves, so that it reaches no server's log.
func (r *Resolver) newLink(ctx context.Context, tx *db.Store, l db.Link, kind string, life time.Duration) (string, error) {
	plain := secret.NewLinkToken()
	if err := tx.InsertLink(ctx, secret.HashSecret(plain), l, kind, time.Now().Add(life)); err != nil {
		return "", err
	}
	link := r.PublicURL.JoinPath("setup").String() + "#token=" + plain
	if kind == db.LinkReset {
		link += "&reset=true" // so that the page can ask what a reset shall end
	}
	return link, nil
}

// post seals a message into the outbox, as work of the caller's branch.
func (r *Resolver) post(ctx context.Context, ch *changes, userID int64, kind string, m mail.Message) error {
	sealed, err := outbox.SealMail(r.Box, m)
	if err != nil {
		return err
	}
	ch.mail = true
	var askedBy int64 // nobody's, where people ask for themselves: what is counted would tell whom else a mail has gone to
	if ch.caller != nil && kind == db.LinkInvitation {
		askedBy = ch.caller.CustomerID
	}
	_, err = ch.tx.InsertMail(ctx, access.BranchOf(ctx), userID, askedBy, kind, sealed)
	return err
}
