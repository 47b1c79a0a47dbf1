package resolvers

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"time"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/internal/globalid"
	"canopy/internal/passkey"
	"canopy/internal/problem"
	"canopy/internal/secret"
)

// PasskeyLife is how long an authenticator may take to answer a challenge.
const PasskeyLife = 5 * time.Minute

// The reasons for which somebody with a passkey is not let in, or is asked for one.
const (
	reasonOTP            = "otp_required"
	reasonPasskey        = "passkey_required"
	reasonPasskeyRefused = "passkey_refused"
	reasonPasskeyState   = "passkey_state"
	reasonNoPasskeys     = "no_passkeys"
)

var errPasskey = problem.Unauthorized("the passkey is unknown here, or its answer is not to be believed").With(reasonPasskeyRefused)

// PasskeyAnswerInput is what an authenticator has answered, with the state that the question came with.
type PasskeyAnswerInput struct {
	State      string
	Credential json.RawMessage
}

// AskedPasskey is what an authenticator is asked with, and the state to give back with its answer.
type AskedPasskey struct {
	State   string
	Options json.RawMessage
}

// ceremony is what is known of a challenge when it is answered: it is sealed in the state, so that any process goes on with it. That of a new
// passkey is for a person, in the session that has asked for it.
type ceremony struct {
	Challenge string `json:"c"`
	UserID    int64  `json:"u,omitempty"`
	SessionID int64  `json:"s,omitempty"`
	Expires   int64  `json:"e"`
}

// ask seals what is to be known of a challenge when its answer comes.
func (r *Resolver) ask(link db.SealedLink, begun *passkey.Begun, as ceremony) (*AskedPasskey, error) {
	as.Challenge, as.Expires = begun.Challenge, time.Now().Add(PasskeyLife).Unix()
	plain, err := json.Marshal(as)
	return &AskedPasskey{State: base64.RawURLEncoding.EncodeToString(link.Seal(r.Box, plain)), Options: begun.Options}, err
}

// asked gives what is known of a challenge, unless its answer was used already. field is where the state stands.
func (r *Resolver) asked(ctx context.Context, link db.SealedLink, field, state string) (*ceremony, error) {
	s := &ceremony{}
	sealed, err := base64.RawURLEncoding.DecodeString(state)
	if err != nil {
		return nil, foreignState(field)
	}
	plain, err := link.Open(r.Box, sealed)
	if err != nil {
		return nil, foreignState(field)
	}
	if err := json.Unmarshal(plain, s); err != nil {
		return nil, err
	}
	if !time.Now().Before(s.expires()) {
		return nil, foreignState(field)
	}
	used, err := r.Store.StateIsUsed(ctx, s.hash())
	if err == nil && used {
		err = foreignState(field)
	}
	return s, err
}

func foreignState(field string) error {
	return problem.Invalid(problem.Fault{Location: field, Message: "was not begun here, took too long, or has been used already: begin anew"}).With(reasonPasskeyState)
}

func (s *ceremony) hash() [32]byte     { return secret.HashSecret("passkey " + s.Challenge) }
func (s *ceremony) expires() time.Time { return time.Unix(s.Expires, 0) }

// use uses the challenge up.
func (s *ceremony) use(ctx context.Context, tx *db.Store, field string) error {
	fresh, err := tx.UseState(ctx, s.hash(), s.expires())
	if err == nil && !fresh {
		err = foreignState(field)
	}
	return err
}

// usedPasskey is a passkey that somebody has answered with; now is how it is from then on, nil where the answer was not taken, as reason says.
type usedPasskey struct {
	*ceremony
	row    *db.PasskeyCredential
	now    *passkey.Credential
	field  string
	reason string
}

// told adds what is to be known of an answer that was not taken.
func (u *usedPasskey) told(what audit.Changes) audit.Changes {
	if u == nil {
		return what
	}
	return what.With("passkey", u.row.ID).With("reason", u.reason)
}

// writeDown uses the answer up, with the passkey's counter: of two that come at once one is taken.
func (u *usedPasskey) writeDown(ctx context.Context, tx *db.Store) error {
	if err := u.use(ctx, tx, u.field); err != nil {
		return err
	}
	there, err := tx.UsePasskey(ctx, u.row.ID, int64(u.now.SignCount), u.now.BackedUp)
	if err == nil && !there {
		err = errPasskey
	}
	return err
}

// BeginPasskeyUse asks for any passkey, to sign in with. Anyone may call it; nothing is kept of it.
func (r *Resolver) BeginPasskeyUse(context.Context) (*AskedPasskey, error) {
	begun, err := r.Passkeys.BeginUse()
	if err != nil {
		return nil, noPasskeys(err)
	}
	return r.ask(db.SealedPasskeyUses, begun, ceremony{})
}

// noPasskeys is what callers hear where there can be no passkeys.
func noPasskeys(err error) error {
	if errors.Is(err, passkey.ErrNone) {
		return problem.Bad("there are no passkeys here: the platform has to be reached by a name (CANOPY_PUBLIC_URL)").With(reasonNoPasskeys)
	}
	return err
}

// takePasskey judges an answer; in is where it stands in the request. The passkey is given, too, where it is known and its answer is not taken.
func (r *Resolver) takePasskey(ctx context.Context, in string, answer PasskeyAnswerInput) (*usedPasskey, error) {
	a, err := passkey.Parse(answer.Credential)
	if err != nil {
		return nil, problem.Invalid(problem.Fault{Location: in + "credential", Message: "is not what PublicKeyCredential.toJSON() gives of an answer"})
	}
	s, err := r.asked(ctx, db.SealedPasskeyUses, in+"state", answer.State)
	if err != nil {
		return nil, err
	}
	row, err := r.Store.PasskeyByCredential(ctx, a.ID)
	if errors.Is(err, db.ErrNoRows) {
		err = errPasskey
	}
	if err != nil {
		return nil, err
	}
	u := &usedPasskey{ceremony: s, row: row, field: in + "state"}
	u.now, err = r.Passkeys.Use(passkey.Owner{ID: row.UserID}, credentialOf(row), s.Challenge, a)
	if err == nil {
		return u, nil
	}
	u.reason = "the answer is not to be believed"
	if errors.Is(err, passkey.ErrCounter) {
		u.reason = "the counter went back"
	}
	r.Log.InfoContext(ctx, "a passkey was refused", "passkey", row.ID, "user", row.UserID, "error", err)
	return u, errPasskey
}

func credentialOf(row *db.PasskeyCredential) passkey.Credential {
	return passkey.Credential{
		ID: row.CredentialID, PublicKey: row.PublicKey, Transports: row.Transports, SignCount: uint32(row.SignCount), Synced: row.Synced, BackedUp: row.BackedUp,
	}
}

// SecondFactor is what is given beside the password: a code of the authenticator, a recovery code, or a passkey's answer.
type SecondFactor struct {
	OTP     *string
	Passkey *PasskeyAnswerInput
}

// checkSecond checks the second factor of a person who has one. The passkey is given where it was one.
func (r *Resolver) checkSecond(ctx context.Context, own *db.Credentials, in SecondFactor) (*usedPasskey, error) {
	if own.OTPMethod == otpNone {
		return nil, nil
	}
	if in.Passkey != nil {
		u, err := r.takePasskey(ctx, "passkey.", *in.Passkey)
		if err == nil && u.row.UserID != own.UserID {
			u, err = nil, errPasskey // whose it is, is not this person's to hear of
		}
		return u, err
	}
	if in.OTP == nil || *in.OTP == "" {
		if own.OTPMethod == otpPasskey {
			return nil, problem.Unauthorized("a passkey is needed, as passkey, or a recovery code, as otp").With(reasonPasskey)
		}
		refusal := problem.Unauthorized("the authenticator's current code is needed, as otp, or a passkey, as passkey").With(reasonOTP)
		refusal.Faults = []problem.Fault{{Location: "otp", Message: "is needed"}}
		if own.Passkeys { // whoever has got here has shown who they are
			refusal.Faults = append(refusal.Faults, problem.Fault{Location: "passkey", Message: "would do as well"})
		}
		return nil, refusal
	}
	take := r.takeCode
	if own.OTPMethod == otpPasskey { // whose authenticator of codes, if there is one, is not confirmed
		take = takeRecoveryCode
	}
	err := take(ctx, r.Store, own, *in.OTP)
	if err != nil && problem.From(err).Code == problem.BadRequest {
		err = problem.Unauthorized("the one-time password is wrong")
	}
	return nil, err
}

// PasskeySignInInput is a person's sign-in by a passkey alone, which says who it is.
type PasskeySignInInput struct {
	PasskeyAnswerInput
	CustomerID *globalid.ID
}

// OpenPasskeySession is OpenSession by a passkey in place of the password and the second factor. Anyone may call it; failures slow the next
// try down.
func (r *Resolver) OpenPasskeySession(ctx context.Context, in PasskeySignInInput) (*SessionPayload, error) {
	try, err := r.tryNetwork(ctx, tryPasskey)
	if err != nil {
		return nil, err
	}
	u, err := r.takePasskey(ctx, "", in.PasskeyAnswerInput)
	if err != nil {
		if problem.From(err).Code == problem.Unauthenticated {
			try.failed(ctx)
			r.logFailure(ctx, u.person(), u.told(audit.None()))
		}
		return nil, err
	}
	by := way{passkeyID: u.row.ID}
	var e *entry
	var s *db.Session
	var refresh secret.SessionToken
	err = r.change(ctx, nil, func(tx *db.Store, ch *changes) error {
		ch.person = u.row.UserID
		if _, err := tx.LockUser(ctx, u.row.UserID); errors.Is(err, db.ErrNoRows) {
			return errPasskey
		} else if err != nil {
			return err
		}
		if err := u.writeDown(ctx, tx); err != nil {
			return err
		}
		if err := tx.SeeNetwork(ctx, u.row.UserID, try.network); err != nil {
			return err
		}
		if e, err = r.entry(ctx, tx, u.row.UserID, in.CustomerID, by); err != nil {
			return err
		}
		s, refresh, err = r.beginSession(ctx, ch, e, by)
		return err
	})
	if err != nil {
		return nil, err
	}
	return r.sessionPayload(ctx, e, s, refresh)
}

// person is whose passkey it is; 0 where that is not known.
func (u *usedPasskey) person() int64 {
	if u == nil {
		return 0
	}
	return u.row.UserID
}
