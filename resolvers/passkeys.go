package resolvers

import (
	"context"
	"encoding/json"
	"errors"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/passkey"
	"canopy/internal/problem"
	"canopy/internal/rule"
	"canopy/internal/secret"
)

// A passkey lets its person in without the password, in every company that takes passwords. So whoever makes or removes one gives the
// password first: an access token alone, in whichever hands, is not enough, and neither is an identity provider, which vouches for people in
// its own companies alone.

// Passkeys are those of the person who has logged in, by id; none for an API key.
func (e MeEdges) Passkeys(ctx context.Context, _ *Me) ([]*db.Passkey, error) {
	c, err := e.may(ctx, rule.MePasskeys)
	if err != nil || !c.Login() {
		return nil, err
	}
	return e.Store.PasskeysOf(ctx, c.UserID, 0, 0)
}

// ListPasskeys gives each passkey of the person who has logged in, by id. after is the cursor of an earlier call; limit 0 gives all.
func (q Query) ListPasskeys(ctx context.Context, after paging.Cursor, limit int, each func(*db.Passkey) error) error {
	c, err := q.may(ctx, rule.MePasskeys)
	if err != nil || !c.Login() {
		return err
	}
	rows, err := q.Store.PasskeysOf(ctx, c.UserID, lastID(after), limit)
	for _, p := range rows {
		if err := each(p); err != nil {
			return err
		}
	}
	return err
}

// GetPasskey gives a passkey of the caller's own.
func (q Query) GetPasskey(ctx context.Context, id globalid.ID) (*db.Passkey, error) {
	c, err := q.may(ctx, rule.MePasskeys)
	if err != nil {
		return nil, err
	}
	p, err := q.Store.Passkey(ctx, id.Int)
	if err == nil && (p.UserID != c.UserID || !c.Login()) {
		err = db.ErrNoRows
	}
	return p, missing(err, "passkey", id.Int)
}

func (q Query) passkeyNode(ctx context.Context, id globalid.ID) (*db.Passkey, error) {
	return q.GetPasskey(ctx, id)
}

// BeginPasskeyInput is the caller's password.
type BeginPasskeyInput struct{ Password string }

// BeginPasskeyPayload is what the browser makes a passkey with.
type BeginPasskeyPayload = AskedPasskey

// BeginPasskey asks for a new passkey of the caller's. It counts once CreatePasskey has had the authenticator's answer.
func (m Mutation) BeginPasskey(ctx context.Context, in BeginPasskeyInput) (*BeginPasskeyPayload, error) {
	c, err := m.ownWay(ctx, rule.BeginPasskey)
	if err != nil {
		return nil, err
	}
	if _, err := m.provePassword(ctx, c, in.Password); err != nil {
		return nil, err
	}
	have, err := m.Store.PasskeyIDs(ctx, c.UserID)
	if err == nil {
		err = mayHaveMore(len(have))
	}
	if err != nil {
		return nil, err
	}
	begun, err := m.Passkeys.BeginNew(passkey.Owner{ID: c.UserID, Name: c.Email}, have)
	if err != nil {
		return nil, noPasskeys(err)
	}
	return m.ask(db.SealedNewPasskeys, begun, ceremony{UserID: c.UserID, SessionID: c.SessionID})
}

func mayHaveMore(have int) error {
	if have >= db.MaxPasskeys {
		return problem.Bad("a person has at most %d passkeys: remove one first", db.MaxPasskeys).With("too_many_passkeys")
	}
	return nil
}

// provePassword checks the caller's password. Who has none can't prove enough.
func (m Mutation) provePassword(ctx context.Context, c *caller, password string) (proof, error) {
	if password == "" {
		return proof{}, problem.Invalid(problem.Fault{Location: "password", Message: "is required"})
	}
	own, err := m.Store.Credentials(ctx, c.Email)
	if err == nil && own.PasswordHash == nil {
		err = problem.Denied("passkeys are for people who have a password: set one by the link of a reset first").With("password_needed")
	}
	if err != nil {
		return proof{}, err
	}
	return m.prove(ctx, c, "password", &password)
}

// CreatePasskeyInput is what the authenticator has answered, with the state of BeginPasskey.
type CreatePasskeyInput struct {
	State      string
	Credential json.RawMessage
	Name       *string
}

// CreatePasskeyPayload is what CreatePasskey made. RecoveryCodes are shown this once, where the passkey is the person's first second factor.
type CreatePasskeyPayload struct {
	Passkey       *db.Passkey
	RecoveryCodes []string
}

// CreatePasskey makes the passkey that BeginPasskey has asked for, in the same session. From then on the password takes it, or another second factor, beside it.
func (m Mutation) CreatePasskey(ctx context.Context, in CreatePasskeyInput) (*CreatePasskeyPayload, error) {
	c, err := m.ownWay(ctx, rule.CreatePasskey)
	if err != nil {
		return nil, err
	}
	var v check
	name := or(in.Name, "Passkey")
	v.name("name", name)
	if err := v.err(); err != nil {
		return nil, err
	}
	s, err := m.asked(ctx, db.SealedNewPasskeys, "state", in.State)
	if err == nil && (s.UserID != c.UserID || s.SessionID != c.SessionID) {
		err = foreignState("state")
	}
	if err != nil {
		return nil, err
	}
	made, err := m.Passkeys.FinishNew(passkey.Owner{ID: c.UserID, Name: c.Email}, s.Challenge, in.Credential)
	if err != nil {
		if errors.Is(err, passkey.ErrRefused) {
			m.Log.InfoContext(ctx, "a new passkey was refused", "user", c.UserID, "error", err)
			err = problem.Invalid(problem.Fault{Location: "credential", Message: "is not the answer of an authenticator that may be believed"}).With(reasonPasskeyRefused)
		}
		return nil, err
	}
	row := db.PasskeyCredential{
		Passkey:      db.Passkey{UserID: c.UserID, Name: name, Synced: made.Synced, BackedUp: made.BackedUp},
		CredentialID: made.ID, PublicKey: made.PublicKey, SignCount: int64(made.SignCount), Transports: made.Transports,
	}
	out := &CreatePasskeyPayload{}
	return out, m.change(ctx, c, func(_ *db.Store, ch *changes) error {
		if err := s.use(ctx, ch.tx, "state"); err != nil {
			return err
		}
		return m.addPasskey(ctx, ch, row, out)
	})
}

// addPasskey writes a passkey of the caller's. The first second factor comes with recovery codes.
func (m Mutation) addPasskey(ctx context.Context, ch *changes, as db.PasskeyCredential, out *CreatePasskeyPayload) error {
	own, err := ch.tx.OwnCredentials(ctx, as.UserID)
	if err != nil {
		return err
	}
	have, err := ch.tx.PasskeyIDs(ctx, as.UserID)
	if err == nil {
		err = mayHaveMore(len(have))
	}
	if err != nil {
		return err
	}
	out.Passkey, err = ch.tx.InsertPasskey(ctx, as)
	if db.Violates(err, db.PasskeysOnce) {
		err = problem.Invalid(problem.Fault{Location: "credential", Message: "is a passkey already"})
	}
	if err != nil {
		return err
	}
	what := audit.Created(out.Passkey)
	if own.OTPMethod == otpNone {
		codes, hashes := secret.NewRecoveryCodes()
		if err := ch.tx.SetRecoveryCodes(ctx, as.UserID, hashes); err != nil {
			return err
		}
		if err := ch.tx.SetOTP(ctx, as.UserID, otpPasskey, own.OTPSecret); err != nil {
			return err
		}
		out.RecoveryCodes = codes
		what = what.Value("otpMethod", otpNone, otpPasskey).Secret("recoveryCodes", false, true)
	}
	return ch.audit(ch.caller.CustomerID, audit.PasskeyCreated, out.Passkey, m.from(ctx, what))
}

// UpdatePasskeyInput is a passkey's new name.
type UpdatePasskeyInput struct {
	ID        globalid.ID
	Name      *string
	IfVersion *int
}

// UpdatePasskeyPayload is what UpdatePasskey changed.
type UpdatePasskeyPayload struct{ Passkey *db.Passkey }

// UpdatePasskey renames a passkey of the caller's.
func (m Mutation) UpdatePasskey(ctx context.Context, in UpdatePasskeyInput) (*UpdatePasskeyPayload, error) {
	c, err := m.ownWay(ctx, rule.UpdatePasskey)
	if err != nil {
		return nil, err
	}
	var v check
	if in.Name != nil {
		v.name("name", *in.Name)
	}
	if err := v.err(); err != nil {
		return nil, err
	}
	out := &UpdatePasskeyPayload{}
	err = m.changePasskey(ctx, c, in.ID, in.IfVersion, proof{}, func(ch *changes, old *db.Passkey, _ *db.Credentials) error {
		if err := c.vouchedWhole(ctx, ch.tx); err != nil { // as no password is asked for
			return err
		}
		name := or(in.Name, old.Name)
		if out.Passkey = old; name == old.Name {
			return nil
		}
		if out.Passkey, err = ch.tx.RenamePasskey(ctx, old.ID, name); err != nil {
			return err
		}
		return ch.audit(c.CustomerID, audit.PasskeyUpdated, old, m.from(ctx, audit.Between(old, out.Passkey)))
	})
	return out, err
}

// DeletePasskeyInput names a passkey to remove, with the caller's password.
type DeletePasskeyInput struct {
	ID        globalid.ID
	Password  string
	IfVersion *int
}

// DeletePasskeyPayload tells what DeletePasskey removed.
type DeletePasskeyPayload struct{ DeletedID globalid.ID }

// DeletePasskey removes a passkey of the caller's: nobody is let in by it any more. With the last second factor its recovery codes go, too.
func (m Mutation) DeletePasskey(ctx context.Context, in DeletePasskeyInput) (*DeletePasskeyPayload, error) {
	c, err := m.ownWay(ctx, rule.DeletePasskey)
	if err != nil {
		return nil, err
	}
	if _, err := in.ID.Of("Passkey", "id"); err != nil {
		return nil, err
	}
	p, err := m.provePassword(ctx, c, in.Password)
	if err != nil {
		return nil, err
	}
	out := &DeletePasskeyPayload{}
	return out, m.changePasskey(ctx, c, in.ID, in.IfVersion, p, func(ch *changes, old *db.Passkey, own *db.Credentials) error {
		out.DeletedID = old.GlobalID()
		if err := ch.tx.DeletePasskey(ctx, old.ID); err != nil {
			return err
		}
		what := audit.Removed(old)
		left, err := ch.tx.PasskeyIDs(ctx, c.UserID)
		if err != nil {
			return err
		}
		if len(left) == 0 && own.OTPMethod == otpPasskey {
			if err := turnOff(ctx, ch.tx, c.UserID); err != nil {
				return err
			}
			what = what.Value("otpMethod", otpPasskey, otpNone).Secret("recoveryCodes", true, false)
		}
		return ch.audit(c.CustomerID, audit.PasskeyDeleted, old, m.from(ctx, what))
	})
}

// changePasskey changes a passkey of the caller's own, whose row is held, too.
func (m Mutation) changePasskey(ctx context.Context, c *caller, id globalid.ID, version *int, p proof, do func(*changes, *db.Passkey, *db.Credentials) error) error {
	n, err := id.Of("Passkey", "id")
	if err != nil {
		return err
	}
	return m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		own, err := tx.OwnCredentials(ctx, c.UserID)
		if err != nil {
			return err
		}
		if !p.of(own) {
			return problem.Invalid(problem.Fault{Location: "password", Message: "was changed meanwhile"})
		}
		row, err := tx.PasskeyForUpdate(ctx, n)
		if err == nil && row.UserID != c.UserID {
			err = db.ErrNoRows
		}
		if err == nil {
			err = unchanged(row.Version, version)
		}
		if err != nil {
			return missing(err, "passkey", n)
		}
		return do(ch, row, own)
	})
}
