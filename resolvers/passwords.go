package resolvers

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/internal/problem"
	"canopy/internal/rule"
	"canopy/internal/secret"
)

// passwordFaults judges a new password by itself.
func passwordFaults(field, password string) error {
	var v check
	switch n := utf8.RuneCountInString(password); {
	case !utf8.ValidString(password):
		v.fault(field, "is not valid UTF-8")
	case n < secret.MinPassword:
		v.fault(field, "must have at least %d characters", secret.MinPassword)
	case len(password) > secret.MaxPassword:
		v.fault(field, "must have at most %d bytes", secret.MaxPassword)
	case secret.IsCommon(password):
		v.fault(field, "is one of those that are used most: choose another")
	}
	return v.err()
}

// ownPassword refuses a password that has no more letters than those of words in texts that are the person's
// own: names, the e-mail address, companies.
func ownPassword(field, password string, texts ...string) error {
	var words []string
	for _, text := range texts {
		words = append(words, strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })...)
	}
	slices.SortFunc(words, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	letters := lettersOf(password)
	left := letters
	for _, word := range words {
		if utf8.RuneCountInString(word) > 1 {
			left = strings.ReplaceAll(left, word, "")
		}
	}
	var v check
	if letters != "" && left == "" {
		v.fault(field, "must be more than your name, your e-mail address or your company's name: choose another")
	}
	return v.err()
}

// ownPassword refuses a user's password that is made of what is known of the user.
func (r *Resolver) ownPassword(ctx context.Context, userID int64, field, password string) error {
	texts, err := r.Store.OwnTexts(ctx, userID)
	if err != nil {
		return err
	}
	return ownPassword(field, password, texts...)
}

// ChangePasswordInput is a new password, with the one that it takes the place of.
type ChangePasswordInput struct {
	Current    string
	New        string
	RevokeKeys *bool
}

// ChangePasswordPayload is whose password was changed.
type ChangePasswordPayload struct{ User *db.User }

// ChangePassword sets the caller's password. The caller's session goes on; all others end, as do earlier logins without one,
// and, unless they are to be kept, the caller's API keys.
func (m Mutation) ChangePassword(ctx context.Context, in ChangePasswordInput) (*ChangePasswordPayload, error) {
	c, err := m.ownWay(ctx, rule.ChangePassword)
	if err != nil {
		return nil, err
	}
	if err := passwordFaults("new", in.New); err != nil {
		return nil, err
	}
	if in.New == in.Current {
		return nil, problem.Invalid(problem.Fault{Location: "new", Message: "is the current password: choose another"})
	}
	proof, err := m.prove(ctx, c, "current", &in.Current)
	if err != nil {
		return nil, err
	}
	if err := m.ownPassword(ctx, c.UserID, "new", in.New); err != nil {
		return nil, err
	}
	hashed, err := secret.HashPassword(ctx, secret.Known(c.Lineage.Branch()), in.New)
	if err != nil {
		return nil, busy(err)
	}
	revoke := or(in.RevokeKeys, true)
	err = m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		if err := proof.holds(ctx, tx, c.UserID, "current"); err != nil {
			return err
		}
		if err := tx.SetPassword(ctx, c.UserID, hashed); err != nil {
			return err
		}
		ended, err := ch.endSessions(ctx, c.UserID, 0, c.SessionID)
		if err != nil {
			return err
		}
		if revoke {
			if err := revokeKeys(ctx, ch, c.UserID, 0); err != nil {
				return err
			}
		}
		what := audit.None().Secret("password", true, true).With("revokeKeys", revoke).With("sessions", len(ended))
		return ch.audit(c.CustomerID, audit.UserPasswordChanged, &db.User{ID: c.UserID}, m.from(ctx, what))
	})
	if err != nil {
		return nil, err
	}
	user, err := m.Store.User(ctx, c.Scope(), c.UserID)
	return &ChangePasswordPayload{user}, c.unreached(err, "user", c.UserID)
}

// lettersOf gives the letters of a text, in lower case.
func lettersOf(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}
