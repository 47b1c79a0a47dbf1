// Package paging is how a long list is read page by page: cursors, and what a caller asks of a list
// (Relay's cursor connections specification).
package paging

import (
	"cmp"
	"context"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"canopy/internal/problem"
)

// The page sizes of every connection.
const (
	DefaultFirst = 50
	MaxFirst     = 200
)

// Cursor is a place in an ordered list: the name of the order, and what the row there has of it, one key or more.
// Lists that have one order leave its name empty, and their keys are integers.
type Cursor struct {
	Order string
	Keys  []string
}

// IDs is a cursor of a list that has one order.
func IDs(keys ...int64) Cursor {
	c := Cursor{Keys: make([]string, len(keys))}
	for i, k := range keys {
		c.Keys[i] = strconv.FormatInt(k, 10)
	}
	return c
}

// With is the cursor with a key more, which says of what reading of the list it is.
func (c Cursor) With(reading string) Cursor {
	return Cursor{c.Order, append(slices.Clone(c.Keys), reading)}
}

// Without is the cursor without its last key; zero where it is.
func (c Cursor) Without() Cursor {
	return Cursor{c.Order, c.Keys[:max(0, len(c.Keys)-1)]}
}

// IsZero tells a cursor that stands for no place.
func (c Cursor) IsZero() bool { return len(c.Keys) == 0 }

// Ints are the keys of a cursor of IDs.
func (c Cursor) Ints() []int64 {
	ints := make([]int64, len(c.Keys))
	for i, k := range c.Keys {
		ints[i], _ = strconv.ParseInt(k, 10, 64) // they were checked when the cursor was read
	}
	return ints
}

// String is the opaque form of a cursor: integers in a row, or the order and its keys, each encoded, since a key may
// be any text.
func (c Cursor) String() string {
	parts := append([]string{"c"}, c.Keys...)
	if c.Order != "" {
		parts = []string{"o", c.Order}
		for _, k := range c.Keys {
			parts = append(parts, encode(k))
		}
	}
	return encode(strings.Join(parts, "."))
}

func encode(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }

// maxText bounds the text of a cursor that a caller gives, in bytes.
const maxText = 2731

// ParseCursor reads a cursor of exactly keys integers, of a list that has one order; keys 0 stands for any number of them.
func ParseCursor(s string, keys int) (Cursor, error) {
	return parseAs(s, "after", Order{Keys: keys})
}

// Order is an order of a list, as far as its cursors have to fit it.
type Order struct {
	// Name is empty where the list has one order.
	Name string
	// Keys is the number of keys, 0 for any.
	Keys int
	// Fits tells whether a text can be the key of a place; nil: keys are integers.
	Fits func(key int, text string) bool
	// Misfit is what is told of a cursor that does not fit; empty for what there is to say of any list.
	Misfit string
}

// Parse reads the cursor from which a list in the order goes on; the zero Cursor where there is none. argument is what the
// caller gave it as.
func (o Order) Parse(cursor, argument string) (Cursor, error) {
	if cursor == "" {
		return Cursor{}, nil
	}
	return parseAs(cursor, argument, o)
}

// parseAs reads a cursor of an order; argument is what the caller gave it as.
func parseAs(s, argument string, o Order) (Cursor, error) {
	var c Cursor
	if len(s) <= maxText {
		c = parse(s)
	}
	switch {
	case !c.IsZero() && c.Order == "" && o.Name != "":
		return Cursor{}, problem.Invalid(problem.Fault{Location: argument, Message: withoutOrder})
	case c.IsZero() || c.Order != o.Name || o.Keys > 0 && len(c.Keys) != o.Keys || !o.fit(c.Keys):
		return Cursor{}, problem.Invalid(problem.Fault{Location: argument, Message: cmp.Or(o.Misfit, "is not a cursor of this list in this order: begin the list anew, or ask for it as the page with the cursor was asked for")})
	}
	return c, nil
}

// withoutOrder is told of a cursor of a list that is read whole unless it is filtered or ordered, where one of an order is needed.
const withoutOrder = "is a cursor of the list without an order: name its order in orderBy, and take the cursor of a page of that, or begin the list anew"

func (o Order) fit(keys []string) bool {
	for i, k := range keys {
		if o.Fits == nil && !isInt(k) || o.Fits != nil && !o.Fits(i, k) {
			return false
		}
	}
	return true
}

// isInt tells an integer in its one form.
func isInt(s string) bool {
	n, err := strconv.ParseInt(s, 10, 64)
	return err == nil && strconv.FormatInt(n, 10) == s
}

// parse reads a cursor; the zero Cursor when it is none.
func parse(s string) Cursor {
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return Cursor{}
	}
	parts := strings.Split(string(raw), ".")
	var c Cursor
	switch {
	case parts[0] == "c" && len(parts) > 1:
		c.Keys = parts[1:]
	case parts[0] == "o" && len(parts) > 2 && parts[1] != "":
		c.Order = parts[1]
		for _, p := range parts[2:] {
			k, err := base64.RawURLEncoding.DecodeString(p)
			if err != nil {
				return Cursor{}
			}
			c.Keys = append(c.Keys, string(k))
		}
	}
	// A cursor has one form: the decoder alone would also take line breaks and spare bits.
	if c.String() != s {
		return Cursor{}
	}
	return c
}

// Page is what a caller asks of a list: at most Size rows, from after a cursor on or up to before one. Pages of the
// same rows are equal by ==.
type Page struct {
	Size int
	// Backward: the rows are the last ones, before the cursor or of the whole list.
	Backward bool
	// bound is the text of the cursor, which has one form; empty for the list's beginning, or its end.
	bound string
}

// NewPage is the page of so many rows from after the cursor on; the zero Cursor stands for the list's beginning.
func NewPage(size int, after Cursor) Page {
	p := Page{Size: size}
	if !after.IsZero() {
		p.bound = after.String()
	}
	return p
}

// IsOpen tells whether the page begins where the list does, or, backward, ends there.
func (p Page) IsOpen() bool { return p.bound == "" }

// Bound is the cursor behind which the page begins, or, backward, before which it ends; zero where the page is open.
func (p Page) Bound() Cursor {
	if p.IsOpen() {
		return Cursor{}
	}
	return parse(p.bound)
}

// Without is the page whose cursor has no more the last key.
func (p Page) Without() Page {
	if !p.IsOpen() {
		p.bound = p.Bound().Without().String()
	}
	return p
}

// Trim takes rows that were read with one more than asked for, in the direction of the page: it gives those of the page,
// in the order of the list, and whether there are more behind them in that direction.
func Trim[T any](p Page, rows []T) (of []T, more bool) {
	if more = len(rows) > p.Size; more {
		rows = rows[:p.Size]
	}
	if p.Backward {
		rows = slices.Clone(rows) // who asks for the same twice is given the same rows
		slices.Reverse(rows)
	}
	return rows, more
}

// Args are the arguments of a connection, as they were given: First and After, or Last and Before.
type Args struct {
	First, Last   *int
	After, Before *string
}

// Page checks the arguments of a connection in an order.
func (a Args) Page(o Order) (Page, error) {
	size, sizeName, bound, boundName := a.First, "first", a.After, "after"
	backward := a.Last != nil || a.Before != nil
	if backward {
		size, sizeName, bound, boundName = a.Last, "last", a.Before, "before"
		if a.First != nil || a.After != nil {
			fault := problem.Fault{Location: "last", Message: "goes neither with first nor with after"}
			if a.Last == nil {
				fault = problem.Fault{Location: "before", Message: "goes with last, and neither with first nor with after"}
			}
			return Page{}, problem.Invalid(fault)
		}
	}
	p := Page{Size: DefaultFirst, Backward: backward}
	if size != nil {
		if *size < 0 || *size > MaxFirst {
			return p, problem.Invalid(problem.Fault{Location: sizeName, Message: "must be between 0 and " + strconv.Itoa(MaxFirst)})
		}
		p.Size = *size
	}
	if bound != nil && *bound != "" {
		if _, err := parseAs(*bound, boundName, o); err != nil {
			return p, err
		}
		p.bound = *bound
	}
	return p, nil
}

type totalKey struct{}

// WithTotal says that it is asked for, too, how many rows the list has that is read in the context: who tells it may count them on the way.
func WithTotal(ctx context.Context) context.Context { return context.WithValue(ctx, totalKey{}, true) }

// WantsTotal tells whether it is.
func WantsTotal(ctx context.Context) bool { return ctx.Value(totalKey{}) != nil }
