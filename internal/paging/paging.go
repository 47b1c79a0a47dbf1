// Package paging is how a long list is read page by page: cursors, and what a caller asks of a list
// (Relay's cursor connections specification).
package paging

import (
	"encoding/base64"
	"strconv"
	"strings"

	"canopy/internal/problem"
)

// The page sizes of every connection.
const (
	DefaultFirst = 50
	MaxFirst     = 200
)

// Cursor is a place in an ordered list: the key of a row, one or more integers.
type Cursor []int64

// String is the opaque form of a cursor.
func (c Cursor) String() string {
	var b strings.Builder
	b.WriteString("c")
	for _, n := range c {
		b.WriteByte('.')
		b.WriteString(strconv.FormatInt(n, 10))
	}
	return base64.RawURLEncoding.EncodeToString([]byte(b.String()))
}

// maxText bounds the text of a cursor that a caller gives, in bytes.
const maxText = 2731

// ParseCursor reads a cursor of exactly keys integers; keys 0 stands for any number of them.
func ParseCursor(s string, keys int) (Cursor, error) {
	var c Cursor
	if len(s) <= maxText {
		c = parse(s)
	}
	if c == nil || keys > 0 && len(c) != keys {
		return nil, problem.Invalid(problem.Fault{Location: "after", Message: "is not a cursor of this list"})
	}
	return c, nil
}

// parse reads a cursor; nil when it is none.
func parse(s string) Cursor {
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return nil
	}
	parts := strings.Split(string(raw), ".")
	if parts[0] != "c" || len(parts) < 2 {
		return nil
	}
	c := make(Cursor, len(parts)-1)
	for i, p := range parts[1:] {
		if c[i], err = strconv.ParseInt(p, 10, 64); err != nil {
			return nil
		}
	}
	// A cursor has one form: the decoder alone would also take line breaks and spare bits.
	if c.String() != s {
		return nil
	}
	return c
}

// Page is what a caller asks of a list: at most First rows, from after a cursor on. Pages of the
// same rows are equal by ==.
type Page struct {
	First int
	// after is the text of the cursor, which has one form; empty for the list's beginning.
	after string
}

// NewPage is the page of first rows from after the cursor on; nil stands for the list's beginning.
func NewPage(first int, after Cursor) Page {
	p := Page{First: first}
	if len(after) > 0 {
		p.after = after.String()
	}
	return p
}

// IsFirst tells whether the page begins where the list does.
func (p Page) IsFirst() bool { return p.after == "" }

// After is the cursor from behind which the page begins; nil at the list's beginning.
func (p Page) After() Cursor {
	if p.IsFirst() {
		return nil
	}
	return parse(p.after)
}

// ParsePage checks the arguments of a connection whose cursors have keys integers.
func ParsePage(first *int, after *string, keys int) (Page, error) {
	p := Page{First: DefaultFirst}
	if first != nil {
		if *first < 0 || *first > MaxFirst {
			return p, problem.Invalid(problem.Fault{Location: "first", Message: "must be between 0 and " + strconv.Itoa(MaxFirst)})
		}
		p.First = *first
	}
	if after != nil && *after != "" {
		if _, err := ParseCursor(*after, keys); err != nil {
			return p, err
		}
		p.after = *after
	}
	return p, nil
}
