package resolvers

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"canopy/internal/secret"
)

// passwordFaults judges a new password by itself.
func passwordFaults(password string) error {
	var v check
	switch n := utf8.RuneCountInString(password); {
	case !utf8.ValidString(password):
		v.fault("password", "is not valid UTF-8")
	case n < secret.MinPassword:
		v.fault("password", "must have at least %d characters", secret.MinPassword)
	case len(password) > secret.MaxPassword:
		v.fault("password", "must have at most %d bytes", secret.MaxPassword)
	case secret.IsCommon(password):
		v.fault("password", "is one of those that are used most: choose another")
	}
	return v.err()
}

// ownPassword refuses a password that has no more letters than those of words in texts that are the person's
// own: names, the e-mail address, companies.
func ownPassword(password string, texts ...string) error {
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
		v.fault("password", "must be more than your name, your e-mail address or your company's name: choose another")
	}
	return v.err()
}

// ownPassword refuses a user's password that is made of what is known of the user.
func (r *Resolver) ownPassword(ctx context.Context, userID int64, password string) error {
	texts, err := r.Store.OwnTexts(ctx, userID)
	if err != nil {
		return err
	}
	return ownPassword(password, texts...)
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
