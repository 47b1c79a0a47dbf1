package resolvers

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/audit"
	"canopy/internal/globalid"
	"canopy/internal/limit"
	"canopy/internal/problem"
	"canopy/internal/secret"
	"canopy/internal/token"
)

// LoginInput is a person's login.
type LoginInput struct {
	Email      string
	Password   string
	CustomerID *globalid.ID
	SecondFactor
}

// LoginPayload is a token for every application that the user has in the company, and the
// companies that it can log in to.
type LoginPayload struct {
	Token string
	// ExpiresIn is the token's life in seconds.
	ExpiresIn       int
	CustomerOptions []db.CustomerOption
}

var errLogin = problem.Unauthorized("the e-mail address or the password is wrong")

// Login checks a person's password and, where it is on, the second factor. Anyone may call it;
// failures slow the next try down.
func (r *Resolver) Login(ctx context.Context, in LoginInput) (*LoginPayload, error) {
	e, err := r.signIn(ctx, in, func(ch *changes, try *tried, e *entry) error {
		return ch.signsIn(ctx, e, try.way().told(r.from(ctx, audit.None())))
	})
	if err != nil {
		return nil, err
	}
	return r.accessToken(ctx, e, nil)
}

// signIn is a try with the right password and second factor. The way in is found while the person is held, so that none leads into a company that the
// person is taken out of meanwhile, and goOn goes on from there.
func (r *Resolver) signIn(ctx context.Context, in LoginInput, goOn func(ch *changes, try *tried, e *entry) error) (e *entry, err error) {
	try, err := r.rightTry(ctx, in)
	if err != nil {
		return nil, err
	}
	err = r.change(ctx, nil, func(tx *db.Store, ch *changes) error {
		if err := ch.confirm(ctx, try); err != nil {
			return err
		}
		if e, err = r.entry(ctx, tx, try.own.UserID, in.CustomerID, byPassword); err != nil {
			return err
		}
		return goOn(ch, try, e)
	})
	return e, err
}

// rightTry is a try with the right password and second factor.
func (r *Resolver) rightTry(ctx context.Context, in LoginInput) (*tried, error) {
	if err := loginFaults(in); err != nil {
		return nil, err
	}
	try, err := r.try(ctx, tryLogin, in.Email)
	if err != nil {
		return nil, err
	}
	err = checkPassword(ctx, try, in.Password)
	if err == nil {
		try.passkey, err = r.checkSecond(ctx, try.own, in.SecondFactor)
	}
	if err != nil {
		if p := problem.From(err); p.Code == problem.Unauthenticated && p.Reason != reasonOTP && p.Reason != reasonPasskey {
			try.failed(ctx)
			r.logFailure(ctx, try.person(), try.passkey.told(audit.None()))
		}
		return nil, err
	}
	try.succeeded(ctx)
	return try, nil
}

func loginFaults(in LoginInput) error {
	var v check
	if in.Email == "" {
		v.fault("email", "is required")
	}
	v.line("email", in.Email, maxEmail)
	if in.Password == "" {
		v.fault("password", "is required")
	}
	v.text("password", in.Password, maxText)
	return v.err()
}

// checkPassword takes as long where there is no such person, or no password.
func checkPassword(ctx context.Context, try *tried, password string) error {
	if try.own == nil || try.own.PasswordHash == nil {
		if err := secret.DummyCheck(ctx, try.asker(), password); err != nil {
			return busy(err)
		}
		return errLogin
	}
	ok, err := secret.CheckPassword(ctx, try.asker(), *try.own.PasswordHash, password)
	if err == nil && !ok {
		err = errLogin
	}
	return busy(err)
}

// busy is what callers hear where too many ask for hashes: soon there is room again.
func busy(err error) error {
	if errors.Is(err, secret.ErrBusy) {
		return &problem.Error{Code: problem.RateLimited, Detail: "too many people sign in at the moment: try again", RetryAfter: time.Second}
	}
	return err
}

// entry is a person's way into one of the companies that it can log in to.
type entry struct {
	options []db.CustomerOption
	chosen  db.CustomerOption
	*db.Caller
}

// entry finds the way into a company; by default into one that the person has accepted before, if there is any. Companies that are
// suspended, or closed to who comes that way, are no options.
func (r *Resolver) entry(ctx context.Context, s *db.Store, userID int64, customerID *globalid.ID, by way) (*entry, error) {
	e := &entry{}
	var err error
	if e.options, err = s.CustomerOptions(ctx, userID); err != nil {
		return nil, err
	}
	if len(e.options) == 0 {
		return nil, problem.Denied("the user has no enabled permission in any company")
	}
	shut := func(o db.CustomerOption) bool { return o.Suspended || by.closed(&o) != nil }
	i := 0
	if customerID != nil {
		customer, err := customerID.Of("Customer", "customerId")
		if err != nil {
			return nil, err
		}
		i = slices.IndexFunc(e.options, func(o db.CustomerOption) bool { return o.CustomerID == customer })
		if i < 0 {
			return nil, problem.Denied("the user has no enabled permission in the company %d", customer)
		}
	} else if open := slices.IndexFunc(e.options, func(o db.CustomerOption) bool { return !shut(o) }); open >= 0 {
		i = open
	} else { // what keeps the person out of a company that it could come to is told first
		i = max(0, slices.IndexFunc(e.options, func(o db.CustomerOption) bool { return by.closed(&o) == nil }))
	}
	e.chosen = e.options[i]
	if e.chosen.Suspended { // by default only where all are
		return nil, errSuspended
	}
	if err := by.closed(&e.chosen); err != nil {
		return nil, err
	}
	e.options = slices.DeleteFunc(e.options, shut)
	e.Caller, err = s.LoginCaller(ctx, db.LoginToken{UserID: userID, CustomerID: e.chosen.CustomerID, IssuedAt: time.Now()})
	return e, err
}

// confirm holds the person of a try that was right, and remembers where it came from. Between the try and this the
// password may have been changed: then the try was wrong.
func (ch *changes) confirm(ctx context.Context, try *tried) error {
	ch.person = try.own.UserID
	own, err := ch.tx.OwnCredentials(ctx, try.own.UserID)
	if err != nil {
		return err
	}
	if own.PasswordHash == nil || *own.PasswordHash != *try.own.PasswordHash || own.OTPMethod != try.own.OTPMethod {
		return errLogin
	}
	if try.passkey != nil {
		if err := try.passkey.writeDown(ctx, ch.tx); err != nil {
			return err
		}
	}
	return see(ctx, ch.tx, try)
}

// signsIn has the person accept the company of an entry, and tells of it.
func (ch *changes) signsIn(ctx context.Context, e *entry, what audit.Changes) error {
	if !e.chosen.Accepted {
		if err := ch.tx.Accept(ctx, e.chosen.CustomerID, e.UserID); err != nil {
			return err
		}
	}
	return ch.audit(e.chosen.CustomerID, audit.UserSignedIn, &db.User{ID: e.UserID}, what)
}

// accessToken signs a token for the company of an entry, which lives no longer than the session that it belongs to,
// if it does to one.
func (r *Resolver) accessToken(ctx context.Context, e *entry, in *db.Session) (*LoginPayload, error) {
	claims := token.Claims{
		Subject: strconv.FormatInt(e.UserID, 10), ClientID: loginClient, CustomerID: e.chosen.CustomerID, IssuedAt: later(time.Now(), e.LoginsSince),
	}
	for _, app := range access.Apps() {
		if g := e.Grants[app]; g != nil {
			claims.Audience = append(claims.Audience, app.String())
			r.touch(ctx, &e.Principal, g)
		}
	}
	claims.ExpiresAt = claims.IssuedAt.Add(TokenLife)
	if in != nil {
		claims.SessionID = in.ID
		if in.ExpiresAt.Before(claims.ExpiresAt) {
			claims.ExpiresAt = in.ExpiresAt
		}
	}
	signed, err := r.sign(claims)
	return &LoginPayload{Token: signed, ExpiresIn: int(claims.ExpiresAt.Sub(claims.IssuedAt) / time.Second), CustomerOptions: e.options}, err
}

// see remembers where a person logs in from, once a day.
func see(ctx context.Context, tx *db.Store, try *tried) error {
	if at := try.own.SeenAt; at != nil && time.Since(*at) < 24*time.Hour {
		return nil
	}
	return tx.SeeNetwork(ctx, try.own.UserID, try.network)
}

// later gives the later of two moments.
func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// ShowLink tells whoever has an invitation or a reset link whose password it sets, and which company has invited. It changes nothing.
func (r *Resolver) ShowLink(ctx context.Context, link string) (*db.ShownLink, error) {
	shown, err := r.Store.ShowLink(ctx, secret.HashSecret(link))
	if errors.Is(err, db.ErrNoRows) {
		return nil, errLink
	}
	return shown, err
}

// SetUp redeems an invitation or a reset link: it sets the user's password and ends the user's
// other links, logins and sessions, and with a reset, unless keepKeys is set, the user's API keys. Whoever has the link may
// call it.
func (r *Resolver) SetUp(ctx context.Context, link, password string, keepKeys bool) error {
	if err := passwordFaults("password", password); err != nil {
		return err
	}
	// The costly hash comes after a look whether the link lives, and before it is used up.
	hash := secret.HashSecret(link)
	userID, branchID, err := r.Store.LinkUser(ctx, hash)
	if errors.Is(err, db.ErrNoRows) {
		return errLink
	}
	if err != nil {
		return err
	}
	if err := r.ownPassword(ctx, userID, "password", password); err != nil {
		return err
	}
	hashed, err := secret.HashPassword(ctx, secret.Known(branchID), password)
	if err != nil {
		return busy(err)
	}
	return r.change(ctx, nil, func(tx *db.Store, ch *changes) error {
		ch.person = userID
		// The user first: whoever sends a new link holds the user, too, and then ends this one.
		held, err := tx.LockUser(ctx, userID)
		if errors.Is(err, db.ErrNoRows) {
			return errLink
		}
		if err != nil {
			return err
		}
		used, err := tx.UseLink(ctx, hash)
		if errors.Is(err, db.ErrNoRows) {
			return errLink
		}
		if err != nil {
			return err
		}
		if err := tx.Redeem(ctx, used.CustomerID, userID); err != nil {
			return err
		}
		if err := tx.SetPassword(ctx, userID, hashed); err != nil {
			return err
		}
		if _, err := ch.endSessions(ctx, userID, 0, 0); err != nil {
			return err
		}
		// Who holds the mailbox gets in, whoever else tries.
		if err := tx.SeeNetwork(ctx, userID, limit.AddressGroup(r.ClientAddress(ctx))); err != nil {
			return err
		}
		return r.endSetUp(ctx, ch, used, held.HasPassword, keepKeys)
	})
}

// endSetUp tells of a redeemed link, and ends the API keys of whoever had a password before, unless they are to be
// kept.
func (r *Resolver) endSetUp(ctx context.Context, ch *changes, used db.Link, had, keepKeys bool) error {
	what := r.from(ctx, audit.None().Secret("password", had, true))
	if used.CustomerID != 0 {
		return ch.audit(used.CustomerID, audit.UserSetUp, &db.User{ID: used.UserID}, what)
	}
	if had {
		what = what.With("revokeKeys", !keepKeys)
	}
	if had && !keepKeys {
		if err := revokeKeys(ctx, ch, used.UserID, 0); err != nil {
			return err
		}
	}
	return ch.auditAtHome(ctx, used.UserID, audit.UserPasswordReset, what)
}

// revokeKeys ends what acts as a user in a company, or, with 0, in all: API keys, and SCIM tokens that the user has made, each of which is
// told of in its own.
func revokeKeys(ctx context.Context, ch *changes, userID, customerID int64) error {
	ch.callers = append(ch.callers, userID)
	keys, err := ch.tx.RevokeAPIKeysIn(ctx, userID, customerID)
	if err != nil {
		return err
	}
	for _, k := range keys {
		live := *k
		live.RevokedAt = nil
		if err := ch.audit(k.CustomerID, audit.APIKeyRevoked, k, audit.Between(&live, k)); err != nil {
			return err
		}
	}
	tokens, err := ch.tx.DropScimTokensIn(ctx, userID, customerID)
	if err != nil {
		return err
	}
	for _, t := range tokens {
		if err := ch.audit(t.CustomerID, audit.ScimTokenDeleted, t, audit.Removed(t).Secret("token", true, false)); err != nil {
			return err
		}
	}
	return nil
}

var errLink = problem.Invalid(problem.Fault{Location: "token", Message: "is unknown, used or expired: ask for a new link"})

// evenAnswer is how long an answer takes at least that must not tell whether there is such a user: longer than the
// rows that are written for one.
const evenAnswer = 100 * time.Millisecond

// RequestReset sends a link that sets a password to the user of an address, whether or not it has
// one already. Anyone may call it, and learns nothing of whether there is such a user; a text that is no
// address is one that nobody has.
func (r *Resolver) RequestReset(ctx context.Context, email string) error {
	var v check
	v.line("email", email, maxEmail)
	if err := v.err(); err != nil {
		return err
	}
	// The answer takes as long whether or not there is such a user.
	answered := time.After(evenAnswer)
	defer func() { <-answered }()
	try, err := r.try(ctx, tryReset, email)
	if err != nil {
		return unlessLimited(err)
	}
	try.failed(ctx) // none is taken back
	if try.own == nil {
		return nil
	}
	return r.change(ctx, nil, func(tx *db.Store, ch *changes) error {
		if _, err := tx.LockUser(ctx, try.own.UserID); err != nil {
			return unlessGone(err)
		}
		if err := r.sendReset(ctx, ch, try.own.UserID, try.own.Email); err != nil {
			return err
		}
		return ch.auditAtHome(ctx, try.own.UserID, audit.UserResetRequested, r.from(ctx, audit.None()))
	})
}

// unlessGone keeps to itself that a user was erased a moment ago.
func unlessGone(err error) error {
	if errors.Is(err, db.ErrNoRows) {
		return nil
	}
	return err
}

// unlessLimited keeps to itself that there were too many tries.
func unlessLimited(err error) error {
	if problem.From(err).Code == problem.RateLimited {
		return nil
	}
	return err
}
