// Package paging is how a long list is read page by page: cursors, and what a caller asks of a list
// (Relay's cursor connections specification).
package paging

import (
	"encoding/base64"
	"strconv"
	"strings"

	"canopy/internal/problem"
)

// The page sizes of every connection (contract, section 8).
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

// ParseCursor reads a cursor of exactly keys integers; keys 0 stands for any number of them.
func ParseCursor(s string, keys int) (Cursor, error) {
	fault := problem.Invalid(problem.Fault{Location: "after", Message: "is not a cursor of this list"})
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(raw) > 2048 {
		return nil, fault
	}
	parts := strings.Split(string(raw), ".")
	if parts[0] != "c" || len(parts) < 2 || (keys > 0 && len(parts) != keys+1) {
		return nil, fault
	}
	c := make(Cursor, len(parts)-1)
	for i, p := range parts[1:] {
		if c[i], err = strconv.ParseInt(p, 10, 64); err != nil {
			return nil, fault
		}
	}
	// A cursor has one form: the decoder alone would also take line breaks and spare bits.
	if c.String() != s {
		return nil, fault
	}
	return c, nil
}

// Page is what a caller asks of a list: at most First rows, from after the cursor on.
type Page struct {
	First int
	After Cursor
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
		c, err := ParseCursor(*after, keys)
		if err != nil {
			return p, err
		}
		p.After = c
	}
	return p, nil
}

// Key names the page among the edges of a row.
func (p Page) Key() string {
	return strconv.Itoa(p.First) + "/" + p.After.String()
}
