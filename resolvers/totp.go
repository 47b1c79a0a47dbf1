package resolvers

import (
	"bytes"
	"context"
	"errors"
	"time"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/internal/problem"
	"canopy/internal/rule"
	"canopy/internal/secret"
	"canopy/internal/sso"
)

// The two-factor methods of a user. Who has an authenticator of codes may have passkeys beside it; otpPasskey is that of who has these alone.
const (
	otpNone    = "none"
	otpTOTP    = "totp"
	otpPasskey = "passkey"
)

// EnableTotpInput says how an enrolment is named, with the caller's password.
type EnableTotpInput struct{ Label, Password *string }

// EnableTotpPayload is a secret for an authenticator, shown this once.
type EnableTotpPayload struct{ Secret, URI string }

// EnableTotp begins the caller's enrolment: the secret counts once ConfirmTotp has had a code.
func (m Mutation) EnableTotp(ctx context.Context, in EnableTotpInput) (*EnableTotpPayload, error) {
	c, err := m.ownWay(ctx, rule.EnableTotp)
	if err != nil {
		return nil, err
	}
	var v check
	v.optional("label", in.Label)
	if err := v.err(); err != nil {
		return nil, err
	}
	plain := secret.NewTOTPSecret()
	proof, err := m.prove(ctx, c, "password", in.Password)
	if err != nil {
		return nil, err
	}
	err = m.ownOTP(ctx, c, proof, audit.UserTotpStarted, func(tx *db.Store, own *db.Credentials) error {
		if own.OTPMethod == otpTOTP {
			return problem.Bad("two-factor is on already: turn it off first")
		}
		return tx.SetOTP(ctx, own.UserID, own.OTPMethod, db.SealedOTPSecrets.Seal(m.Box, own.UserID, []byte(plain)))
	})
	if err != nil {
		return nil, err
	}
	return &EnableTotpPayload{Secret: plain, URI: secret.TOTPURI(plain, m.PublicURL.Hostname(), or(in.Label, c.Email))}, nil
}

// ConfirmTotpInput is a code of the authenticator.
type ConfirmTotpInput struct{ Code string }

// ConfirmTotpPayload is who is enrolled, with the recovery codes, which are shown this once.
type ConfirmTotpPayload struct {
	User          *db.User
	RecoveryCodes []string
}

// ConfirmTotp ends the enrolment: from now on logins need a code.
func (m Mutation) ConfirmTotp(ctx context.Context, in ConfirmTotpInput) (*ConfirmTotpPayload, error) {
	c, err := m.ownWay(ctx, rule.ConfirmTotp)
	if err != nil {
		return nil, err
	}
	codes, hashes := secret.NewRecoveryCodes()
	user, err := m.switchOTP(ctx, c, proof{}, audit.UserTotpEnabled, in.Code, func(own *db.Credentials) error {
		if own.OTPMethod == otpTOTP || own.OTPSecret == nil {
			return problem.Bad("no enrolment has begun: enableTotp comes first")
		}
		return nil
	}, func(tx *db.Store, own *db.Credentials) error {
		if err := tx.SetRecoveryCodes(ctx, own.UserID, hashes); err != nil {
			return err
		}
		return tx.SetOTP(ctx, own.UserID, otpTOTP, own.OTPSecret)
	})
	return &ConfirmTotpPayload{user, codes}, err
}

// DisableTotpInput is a code of the authenticator or a recovery code, with the caller's password.
type DisableTotpInput struct {
	Code     string
	Password *string
}

// DisableTotpPayload is who is no longer enrolled.
type DisableTotpPayload struct{ User *db.User }

// DisableTotp turns the caller's two-factor off.
func (m Mutation) DisableTotp(ctx context.Context, in DisableTotpInput) (*DisableTotpPayload, error) {
	c, err := m.ownWay(ctx, rule.DisableTotp)
	if err != nil {
		return nil, err
	}
	proof, err := m.prove(ctx, c, "password", in.Password)
	if err != nil {
		return nil, err
	}
	user, err := m.switchOTP(ctx, c, proof, audit.UserTotpDisabled, in.Code, func(own *db.Credentials) error {
		if own.OTPMethod != otpTOTP {
			return problem.Bad("two-factor is not on")
		}
		return nil
	}, func(tx *db.Store, own *db.Credentials) error { return turnOff(ctx, tx, own.UserID) })
	return &DisableTotpPayload{user}, err
}

// turnOff ends a user's authenticator of codes. The recovery codes stay as long as there are passkeys.
func turnOff(ctx context.Context, tx *db.Store, userID int64) error {
	passkeys, err := tx.PasskeyIDs(ctx, userID)
	if err != nil {
		return err
	}
	if len(passkeys) > 0 {
		return tx.SetOTP(ctx, userID, otpPasskey, nil)
	}
	if err := tx.SetRecoveryCodes(ctx, userID, nil); err != nil {
		return err
	}
	return tx.SetOTP(ctx, userID, otpNone, nil)
}

// RegenerateRecoveryCodesInput is the caller's password.
type RegenerateRecoveryCodesInput struct{ Password *string }

// RegenerateRecoveryCodesPayload are new recovery codes, shown this once.
type RegenerateRecoveryCodesPayload struct {
	User          *db.User
	RecoveryCodes []string
}

// RegenerateRecoveryCodes gives the caller new recovery codes; the old ones are void.
func (m Mutation) RegenerateRecoveryCodes(ctx context.Context, in RegenerateRecoveryCodesInput) (*RegenerateRecoveryCodesPayload, error) {
	c, err := m.ownWay(ctx, rule.RegenerateRecoveryCodes)
	if err != nil {
		return nil, err
	}
	proof, err := m.prove(ctx, c, "password", in.Password)
	if err != nil {
		return nil, err
	}
	codes, hashes := secret.NewRecoveryCodes()
	err = m.ownOTP(ctx, c, proof, audit.UserCodesRegenerated, func(tx *db.Store, own *db.Credentials) error {
		if own.OTPMethod == otpNone {
			return problem.Bad("two-factor is not on")
		}
		return tx.SetRecoveryCodes(ctx, own.UserID, hashes)
	})
	if err != nil {
		return nil, err
	}
	user, err := m.Store.User(ctx, c.Scope(), c.UserID)
	return &RegenerateRecoveryCodesPayload{user, codes}, c.unreached(err, "user", c.UserID)
}

// proof is the password hash that a caller's password was good for. Hashing is slow: it comes before the
// transaction, which asks whether the hash is still the same.
type proof struct{ hash *string }

// holds tells whether a password that was right still is, and holds its user's row until the transaction ends.
func (p proof) holds(ctx context.Context, tx *db.Store, userID int64, field string) error {
	own, err := tx.OwnCredentials(ctx, userID)
	if err == nil && !p.of(own) {
		err = problem.Invalid(problem.Fault{Location: field, Message: "was changed meanwhile"})
	}
	return err
}

func (p proof) of(own *db.Credentials) bool {
	return p.hash == nil || own.PasswordHash != nil && *own.PasswordHash == *p.hash
}

// prove checks the caller's own password, which changes of how it logs in ask for. Failures slow the next
// try down, as those of a login do.
func (m Mutation) prove(ctx context.Context, c *caller, field string, password *string) (proof, error) {
	if password == nil || *password == "" {
		return proof{}, m.proveAnew(ctx, c, field)
	}
	try, err := m.try(ctx, tryLogin, c.Email)
	if err != nil {
		return proof{}, err
	}
	if err := checkPassword(ctx, try, *password); err != nil {
		if errors.Is(err, errLogin) {
			try.failed(ctx)
			err = problem.Invalid(problem.Fault{Location: field, Message: "is wrong"})
		}
		return proof{}, err
	}
	return proof{try.own.PasswordHash}, nil
}

// proveAnew lets a caller do without a password who has none, and has signed in a moment ago at an identity provider that serves all companies
// of the caller's.
func (m Mutation) proveAnew(ctx context.Context, c *caller, field string) error {
	own, err := m.Store.Credentials(ctx, c.Email)
	if err == nil && own.PasswordHash != nil {
		err = problem.Invalid(problem.Fault{Location: field, Message: "is required"})
	}
	if err != nil {
		return err
	}
	if err := c.vouchedWhole(ctx, m.Store); err != nil {
		return err
	}
	x, err := m.Store.ProviderSession(ctx, c.SessionID)
	if err == nil && time.Since(x.SignedInAt) <= sso.FreshFor {
		return nil
	}
	if err != nil && !errors.Is(err, db.ErrNoRows) {
		return err
	}
	return problem.Denied("sign in at your identity provider anew, which may be %d minutes ago at most: GET /auth/sso with fresh=true", int(sso.FreshFor.Minutes())).With("sign_in_again")
}

// switchOTP changes the caller's two-factor with a code of it: judge comes first, and do once the code
// was taken.
func (m Mutation) switchOTP(ctx context.Context, c *caller, p proof, action audit.Action, code string, judge func(*db.Credentials) error, do func(*db.Store, *db.Credentials) error) (*db.User, error) {
	try, err := m.try(ctx, tryCode, c.Email)
	if err != nil {
		return nil, err
	}
	err = m.ownOTP(ctx, c, p, action, func(tx *db.Store, own *db.Credentials) error {
		if err := judge(own); err != nil {
			return err
		}
		if err := m.takeCode(ctx, tx, own, code); err != nil {
			return err
		}
		return do(tx, own)
	})
	if err != nil {
		try.failed(ctx)
		return nil, err
	}
	try.succeeded(ctx)
	user, err := m.Store.User(ctx, c.Scope(), c.UserID)
	return user, c.unreached(err, "user", c.UserID)
}

func (m Mutation) ownOTP(ctx context.Context, c *caller, p proof, action audit.Action, do func(*db.Store, *db.Credentials) error) error {
	return m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		own, err := tx.OwnCredentials(ctx, c.UserID)
		if err != nil {
			return err
		}
		if !p.of(own) {
			return problem.Invalid(problem.Fault{Location: "password", Message: "was changed meanwhile"})
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
		if had, has := own.OTPMethod != otpNone, now.OTPMethod != otpNone; had != has || action == audit.UserCodesRegenerated || action == audit.UserTotpEnabled {
			what = what.Secret("recoveryCodes", had, has)
		}
		return ch.audit(c.CustomerID, action, &db.User{ID: c.UserID}, m.from(ctx, what))
	})
}

var errCode = problem.Invalid(problem.Fault{Location: "code", Message: "is not the authenticator's current code"})

// takeCode checks a one-time password and uses its time step up, so that it works once. A recovery code
// does as well while two-factor is on.
func (r *Resolver) takeCode(ctx context.Context, tx *db.Store, own *db.Credentials, code string) error {
	if _, is := secret.HashRecoveryCode(code); is && own.OTPMethod != otpNone {
		return takeRecoveryCode(ctx, tx, own, code)
	}
	plain, err := db.SealedOTPSecrets.Open(r.Box, own.UserID, own.OTPSecret)
	if err != nil {
		return err
	}
	step, ok := secret.ValidateTOTP(string(plain), code, own.OTPLastStep, time.Now())
	if !ok {
		return errCode
	}
	taken, err := tx.TakeOTPStep(ctx, own.UserID, step)
	if err == nil && !taken {
		err = errCode
	}
	return err
}

// takeRecoveryCode uses a recovery code up.
func takeRecoveryCode(ctx context.Context, tx *db.Store, own *db.Credentials, code string) error {
	hash, ok := secret.HashRecoveryCode(code)
	if !ok {
		return errCode
	}
	used, err := tx.UseRecoveryCode(ctx, own.UserID, hash)
	if err == nil && !used {
		err = errCode
	}
	return err
}
