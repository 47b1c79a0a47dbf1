package resolvers

import (
	"context"
	"errors"
	"time"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/internal/mail"
	"canopy/internal/problem"
	"canopy/internal/rule"
	"canopy/internal/secret"
)

const (
	// emailChangeLife is how long both addresses have to confirm a change, and the old one to stop it.
	emailChangeLife = 24 * time.Hour
	// maxEmailChanges is how many a person may begin in a day, each of which is two mails at most.
	maxEmailChanges = 5
	mailEmailChange = "emailChange"
	mailEmailNotice = "emailNotice"
)

// RequestEmailChangeInput is a new address of the caller's, with the password.
type RequestEmailChangeInput struct{ Email, Password string }

// RequestEmailChangePayload is whose address is to change.
type RequestEmailChangePayload struct{ User *db.User }

// RequestEmailChange begins a change of the caller's address, which both confirm: each is sent a link, and the old one another that
// stops it. Whether the new one is somebody else's nobody learns: then it is sent nothing.
func (m Mutation) RequestEmailChange(ctx context.Context, in RequestEmailChangeInput) (*RequestEmailChangePayload, error) {
	c, err := m.ownWay(ctx, rule.RequestEmailChange)
	if err != nil {
		return nil, err
	}
	var v check
	v.email(in.Email)
	if in.Email == c.Email {
		v.fault("email", "is your address already")
	}
	if err := v.err(); err != nil {
		return nil, err
	}
	proof, err := m.prove(ctx, c, "password", &in.Password)
	if err != nil {
		return nil, err
	}
	answered := time.After(evenAnswer)
	err = m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		if err := proof.holds(ctx, tx, c.UserID, "password"); err != nil {
			return err
		}
		// Counted by the mail that each of them is, whosever the new address.
		if sent, err := tx.MailsToday(ctx, c.UserID, mailEmailNotice); err != nil || sent >= maxEmailChanges {
			return manyChanges(err)
		}
		if err := m.sendEmailChange(ctx, ch, c, in.Email); err != nil {
			return err
		}
		return ch.audit(c.CustomerID, audit.UserEmailRequested, &db.User{ID: c.UserID}, m.from(ctx, audit.None()))
	})
	<-answered
	if err != nil {
		return nil, err
	}
	user, err := m.Store.User(ctx, c.Scope(), c.UserID)
	return &RequestEmailChangePayload{user}, c.unreached(err, "user", c.UserID)
}

func manyChanges(err error) error {
	if err == nil {
		err = &problem.Error{Code: problem.RateLimited, Detail: "too many changes of the address were asked for today", RetryAfter: time.Hour}
	}
	return err
}

// sendEmailChange writes the change down, and both mails.
func (r *Resolver) sendEmailChange(ctx context.Context, ch *changes, c *caller, email string) error {
	confirm, agree, stop := secret.NewLinkToken(), secret.NewLinkToken(), secret.NewLinkToken()
	hashes := db.ChangeHashes{Confirm: secret.HashSecret(confirm), Agree: secret.HashSecret(agree), Stop: secret.HashSecret(stop)}
	err := ch.tx.InsertEmailChange(ctx, db.EmailChange{UserID: c.UserID, Email: email}, hashes, time.Now().Add(emailChangeLife))
	if err != nil {
		return err
	}
	page := r.PublicURL.JoinPath("setup").String()
	notice, err := mail.EmailNotice(mail.EmailData{To: c.Email, New: email, Link: page + "#email=" + agree, StopLink: page + "#stop=" + stop, ValidFor: emailChangeLife})
	if err != nil {
		return err
	}
	if err := r.post(ctx, ch, c.UserID, mailEmailNotice, notice); err != nil {
		return err
	}
	if taken, err := ch.tx.EmailTaken(ctx, email, c.UserID); err != nil || taken {
		return err
	}
	message, err := mail.EmailChange(mail.EmailData{To: email, New: email, Link: page + "#email=" + confirm, ValidFor: emailChangeLife})
	if err != nil {
		return err
	}
	return r.post(ctx, ch, c.UserID, mailEmailChange, message)
}

// SettleEmail confirms a change of an address, by a token that either address was sent, or stops it, by the other one of the old
// address. It tells whether the change is settled, or waits for the other address. Whoever has the token may call it.
func (r *Resolver) SettleEmail(ctx context.Context, token string) (settled bool, err error) {
	hash := secret.HashSecret(token)
	found, err := r.Store.EmailChange(ctx, hash)
	if err != nil {
		return false, unknownLink(err)
	}
	err = r.change(ctx, nil, func(tx *db.Store, ch *changes) error {
		ch.person = found.UserID
		own, err := tx.OwnCredentials(ctx, found.UserID)
		if err != nil {
			return unknownLink(err)
		}
		// Now that the person is held, the change stays as it is.
		if found, err = tx.EmailChange(ctx, hash); err != nil {
			return unknownLink(err)
		}
		if found.By != db.StopsChange {
			if settled, err = tx.MarkEmailChange(ctx, found.UserID, found.By); err != nil {
				return err
			}
			if !settled {
				return ch.auditAtHome(ctx, found.UserID, audit.UserEmailConfirmed, r.from(ctx, audit.None()))
			}
		}
		settled = true
		if err := tx.DropEmailChange(ctx, found.UserID); err != nil {
			return err
		}
		if found.By == db.StopsChange {
			return ch.auditAtHome(ctx, found.UserID, audit.UserEmailStopped, r.from(ctx, audit.None()))
		}
		return r.setEmail(ctx, ch, own, found)
	})
	return settled, err
}

// setEmail gives a person the address that both have confirmed.
func (r *Resolver) setEmail(ctx context.Context, ch *changes, own *db.Credentials, next db.EmailChange) error {
	err := ch.tx.SetEmail(ctx, next.UserID, next.Email)
	if db.Violates(err, db.UsersEmail) {
		return problem.Invalid(problem.Fault{Location: "token", Message: "is for an address that belongs to somebody else"})
	}
	if err != nil {
		return err
	}
	return ch.auditAtHome(ctx, next.UserID, audit.UserEmailChanged, r.from(ctx, audit.None().Value("email", own.Email, next.Email)))
}

// unknownLink is what whoever comes with a link hears where there is none such.
func unknownLink(err error) error {
	if errors.Is(err, db.ErrNoRows) {
		return errLink
	}
	return err
}
