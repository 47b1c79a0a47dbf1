package resolvers

import (
	"bytes"
	"context"
	"strconv"
	"time"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/internal/problem"
	"canopy/internal/rule"
	"canopy/internal/secret"
)

// The two-factor methods of a user.
const (
	otpNone = "none"
	otpTOTP = "totp"
)

// person allows what only a person may do, with a token of a login. An API key acts for its user in
// one company, and may be in other hands there; how the user logs in everywhere is not its business.
func (m Mutation) person(ctx context.Context, need *rule.Rule) (*caller, error) {
	c, err := m.may(ctx, need)
	if err == nil && !c.Login() {
		err = problem.Denied("two-factor is set with the token of a person's login (POST /auth/token), not of an API key")
	}
	return c, err
}

// EnableTotpInput says how an enrolment is named.
type EnableTotpInput struct{ Label *string }

// EnableTotpPayload is a secret for an authenticator, shown this once.
type EnableTotpPayload struct{ Secret, URI string }

// EnableTotp begins the caller's enrolment: the secret counts once ConfirmTotp has had a code.
func (m Mutation) EnableTotp(ctx context.Context, in EnableTotpInput) (*EnableTotpPayload, error) {
	c, err := m.person(ctx, rule.EnableTotp)
	if err != nil {
		return nil, err
	}
	var v check
	v.optional("label", in.Label)
	if err := v.err(); err != nil {
		return nil, err
	}
	plain := secret.NewTOTPSecret()
	err = m.ownOTP(ctx, c, audit.UserTotpStarted, func(tx *db.Store, own *db.Credentials) error {
		if own.OTPMethod == otpTOTP {
			return problem.Bad("two-factor is on already: turn it off first")
		}
		return tx.SetOTP(ctx, own.UserID, otpNone, m.Box.Seal([]byte(plain), otpSeal(own.UserID)))
	})
	if err != nil {
		return nil, err
	}
	return &EnableTotpPayload{Secret: plain, URI: secret.TOTPURI(plain, m.PublicURL.Hostname(), or(in.Label, c.Email))}, nil
}

// ConfirmTotpInput is a code of the authenticator.
type ConfirmTotpInput struct{ Code string }

// ConfirmTotpPayload is who is enrolled.
type ConfirmTotpPayload struct{ User *db.User }

// ConfirmTotp ends the enrolment: from now on logins need a code.
func (m Mutation) ConfirmTotp(ctx context.Context, in ConfirmTotpInput) (*ConfirmTotpPayload, error) {
	user, err := m.switchOTP(ctx, rule.ConfirmTotp, audit.UserTotpEnabled, in.Code, func(tx *db.Store, own *db.Credentials) error {
		if own.OTPMethod == otpTOTP || own.OTPSecret == nil {
			return problem.Bad("no enrolment has begun: enableTotp comes first")
		}
		return tx.SetOTP(ctx, own.UserID, otpTOTP, own.OTPSecret)
	})
	return &ConfirmTotpPayload{user}, err
}

// DisableTotpInput is a code of the authenticator.
type DisableTotpInput struct{ Code string }

// DisableTotpPayload is who is no longer enrolled.
type DisableTotpPayload struct{ User *db.User }

// DisableTotp turns the caller's two-factor off.
func (m Mutation) DisableTotp(ctx context.Context, in DisableTotpInput) (*DisableTotpPayload, error) {
	user, err := m.switchOTP(ctx, rule.DisableTotp, audit.UserTotpDisabled, in.Code, func(tx *db.Store, own *db.Credentials) error {
		if own.OTPMethod != otpTOTP {
			return problem.Bad("two-factor is not on")
		}
		return tx.SetOTP(ctx, own.UserID, otpNone, nil)
	})
	return &DisableTotpPayload{user}, err
}

// switchOTP changes the caller's two-factor with a code of it.
func (m Mutation) switchOTP(ctx context.Context, need *rule.Rule, action audit.Action, code string, do func(*db.Store, *db.Credentials) error) (*db.User, error) {
	c, err := m.person(ctx, need)
	if err != nil {
		return nil, err
	}
	account := "otp:" + strconv.FormatInt(c.UserID, 10)
	if m.Throttle.Wait(ctx, account) > 0 {
		return nil, problem.New(problem.RateLimited, "too many wrong codes: wait before the next")
	}
	err = m.ownOTP(ctx, c, action, func(tx *db.Store, own *db.Credentials) error {
		if err := do(tx, own); err != nil {
			return err
		}
		return m.takeCode(ctx, tx, own, code)
	})
	if err != nil {
		m.Throttle.Fail(ctx, account)
		return nil, err
	}
	m.Throttle.Succeed(ctx, account)
	user, err := m.Store.User(ctx, c.Scope(), c.UserID)
	return user, c.unreached(err, "user", c.UserID)
}

func (m Mutation) ownOTP(ctx context.Context, c *caller, action audit.Action, do func(*db.Store, *db.Credentials) error) error {
	return m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		own, err := tx.OwnCredentials(ctx, c.UserID)
		if err != nil {
			return err
		}
		if err := do(tx, own); err != nil {
			return err
		}
		now, err := tx.OwnCredentials(ctx, c.UserID)
		if err != nil {
			return err
		}
		what := audit.Between(own, now)
		if !bytes.Equal(own.OTPSecret, now.OTPSecret) {
			what = what.Secret("otpSecret", own.OTPSecret != nil, now.OTPSecret != nil)
		}
		return ch.audit(ctx, c.CustomerID, action, &db.User{ID: c.UserID}, what)
	})
}

// takeCode checks a one-time password and uses its time step up, so that it works once.
func (r *Resolver) takeCode(ctx context.Context, tx *db.Store, own *db.Credentials, code string) error {
	wrong := problem.Invalid(problem.Fault{Location: "code", Message: "is not the authenticator's current code"})
	plain, err := r.Box.Open(own.OTPSecret, otpSeal(own.UserID))
	if err != nil {
		return err
	}
	step, ok := secret.ValidateTOTP(string(plain), code, own.OTPLastStep, time.Now())
	if !ok {
		return wrong
	}
	taken, err := tx.TakeOTPStep(ctx, own.UserID, step)
	if err == nil && !taken {
		err = wrong
	}
	return err
}

func otpSeal(userID int64) string { return "totp:" + strconv.FormatInt(userID, 10) }
