package resolvers

import (
	"encoding/json"
	"fmt"
	"net/mail"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"canopy/internal/attributes"
	letter "canopy/internal/mail"
	"canopy/internal/problem"
	"canopy/internal/unseen"
)

// The lengths of texts, in characters.
const (
	maxName  = 200
	maxText  = 2000
	maxEmail = 254
)

// check collects the faults of an input, so that a caller hears of all of them at once.
type check struct{ faults []problem.Fault }

func (v *check) fault(field, format string, args ...any) {
	v.faults = append(v.faults, problem.Fault{Location: field, Message: fmt.Sprintf(format, args...)})
}

// err is a 400 that names every fault; nil when there is none.
func (v *check) err() error {
	if len(v.faults) == 0 {
		return nil
	}
	return problem.Invalid(v.faults...)
}

// line checks a text of one line that may be empty.
func (v *check) line(field, s string, limit int) {
	switch {
	case !utf8.ValidString(s):
		v.fault(field, "is not valid UTF-8")
	case utf8.RuneCountInString(s) > limit:
		v.fault(field, "is longer than %d characters", limit)
	case strings.ContainsFunc(s, unseen.Is):
		v.fault(field, "must not contain control characters, nor such as turn the direction of writing")
	}
}

// text checks a text that may have several lines.
func (v *check) text(field, s string, limit int) {
	switch {
	case !utf8.ValidString(s):
		v.fault(field, "is not valid UTF-8")
	case utf8.RuneCountInString(s) > limit:
		v.fault(field, "is longer than %d characters", limit)
	case strings.ContainsRune(s, 0):
		v.fault(field, "must not contain NUL bytes")
	}
}

// name checks a text of one line that must say something.
func (v *check) name(field, s string) {
	if strings.TrimSpace(s) == "" {
		v.fault(field, "must not be empty")
		return
	}
	v.line(field, s, maxName)
}

// optional checks the line behind a pointer, if there is any.
func (v *check) optional(field string, s *string) {
	if s != nil {
		v.line(field, *s, maxName)
	}
}

// attributes checks those of a document, if there are any, and gives them in the form in which they are kept.
func (v *check) attributes(field string, raw json.RawMessage) json.RawMessage {
	return v.attributesBy(attributes.Check, field, raw)
}

// storedAttributes are those of a document in an archive.
func (v *check) storedAttributes(field string, raw json.RawMessage) json.RawMessage {
	return v.attributesBy(attributes.Stored, field, raw)
}

func (v *check) attributesBy(checked func(string, []byte) (json.RawMessage, []problem.Fault), field string, raw json.RawMessage) json.RawMessage {
	if len(given(raw)) == 0 {
		return json.RawMessage("{}")
	}
	kept, faults := checked(field, raw)
	v.faults = append(v.faults, faults...)
	return kept
}

// person checks a name of a person, if there is any. One that has nothing but blanks becomes the empty one.
func (v *check) person(field string, s *string) {
	v.optional(field, s)
	if s == nil {
		return
	}
	if strings.TrimSpace(*s) == "" {
		*s = ""
	}
	if link := letter.Leads(*s); link != "" {
		v.fault(field, "must be a name, without %s", link)
	}
}

// filled gives the text behind a pointer, or the default where it is left out or has nothing but blanks.
func filled(p *string, otherwise string) string {
	if p == nil || strings.TrimSpace(*p) == "" {
		return otherwise
	}
	return *p
}

// email checks the address in the field of that name: what RFC 5321 calls a mailbox, without a
// display name. Addresses are one person's without regard to case, and that must be safe: beyond ASCII, a capital may
// have the small letter of another (U+0130 that of I, U+212A that of K), which is another mailbox, or another domain.
func (v *check) email(s string) { v.address("email", s) }

// address is email for a field of another name.
func (v *check) address(field, s string) {
	a, err := mail.ParseAddress(s)
	switch {
	case s == "":
		v.fault(field, "is required")
	case len(s) > maxEmail:
		v.fault(field, "is longer than %d bytes", maxEmail)
	case err != nil, a.Address != s, strings.ContainsFunc(s, unicode.IsSpace):
		v.fault(field, "is not an e-mail address")
	case strings.ContainsFunc(s, foreignCapital):
		v.fault(field, "must not contain capital letters other than A to Z")
	default:
		v.line(field, s, maxEmail)
	}
}

// foreignCapital tells a letter beyond ASCII that has a small one.
func foreignCapital(r rune) bool { return r > unicode.MaxASCII && unicode.ToLower(r) != r }

// future checks a moment that must lie ahead.
func (v *check) future(field string, t *time.Time) {
	switch {
	case t == nil:
	case !t.After(time.Now()):
		v.fault(field, "must lie in the future")
	default:
		v.moment(field, *t)
	}
}

// moment checks that a moment has, in UTC, one of the years that RFC 3339 and the database know, 1 to 9999.
func (v *check) moment(field string, t time.Time) {
	if year := t.UTC().Year(); year < 1 || year > 9999 {
		v.fault(field, "must be of the years 1 to 9999 in UTC")
	}
}

// orEmpty gives a list that may be null in the graph: null says that it is not known what there is, so where there is nothing it is empty.
func orEmpty[T any](list []T, err error) ([]T, error) {
	if list == nil && err == nil {
		list = []T{}
	}
	return list, err
}

// or gives the value behind a pointer, or the default.
func or[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}
