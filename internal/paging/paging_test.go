package paging

import (
	"encoding/base64"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"canopy/internal/problem"
	"canopy/internal/problem/problemtest"
)

func TestCursorRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := IDs(rapid.SliceOfN(rapid.Int64(), 1, 64).Draw(t, "keys")...)
		for _, keys := range []int{0, len(c.Keys)} {
			got, err := ParseCursor(c.String(), keys)
			if err != nil || got.String() != c.String() || !slices.Equal(got.Ints(), c.Ints()) {
				t.Fatalf("%v became %v, %v", c, got, err)
			}
		}
		if _, err := ParseCursor(c.String(), len(c.Keys)+1); err == nil {
			t.Fatal("a cursor of another list is taken")
		}
	})
}

// TestCursorsOfOrdersRoundTrip: keys may be any text, and a cursor fits the order that it was made for alone.
func TestCursorsOfOrdersRoundTrip(t *testing.T) {
	anything := func(int, string) bool { return true }
	rapid.Check(t, func(t *rapid.T) {
		c := Cursor{Order: rapid.SampledFrom([]string{"NAME", "-CREATED_AT,ID"}).Draw(t, "order"), Keys: rapid.SliceOfN(rapid.StringN(0, 20, 40), 1, 4).Draw(t, "keys")}
		o := Order{Name: c.Order, Keys: len(c.Keys), Fits: anything}
		got, err := o.Parse(c.String(), "after")
		if err != nil || got.Order != c.Order || !slices.Equal(got.Keys, c.Keys) {
			t.Fatalf("%q became %q, %v", c, got, err)
		}
		for _, other := range []Order{
			{Name: c.Order + "x", Keys: len(c.Keys), Fits: anything},
			{Name: c.Order, Keys: len(c.Keys) + 1, Fits: anything},
			{Name: c.Order, Keys: len(c.Keys), Fits: func(int, string) bool { return false }},
			{Keys: len(c.Keys)},
		} {
			if _, err := other.Parse(c.String(), "after"); err == nil {
				t.Fatalf("%q is taken for a cursor of %+v", c, other)
			}
		}
	})
}

func TestParseCursorRefuses(t *testing.T) {
	for name, s := range map[string]string{
		"nothing":       "",
		"not base64":    "!",
		"padded":        base64.URLEncoding.EncodeToString([]byte("c.1")) + "=",
		"no keys":       encode("c"),
		"an empty key":  encode("c."),
		"other letter":  encode("d.1"),
		"an order":      encode("o.NAME.MQ"),
		"leading zeros": encode("c.01"),
		"plus":          encode("c.+1"),
		"beyond":        encode("c.9223372036854775808"),
		"a word":        encode("c.x"),
		"a line break":  "\n" + encode("c.1"),
		"too long":      encode("c" + strings.Repeat(".1", 2000)),
	} {
		t.Run(name, func(t *testing.T) {
			c, err := ParseCursor(s, 0)
			if err == nil {
				t.Fatalf("%q is %v", s, c)
			}
			problemtest.IsBad(t, err)
		})
	}
}

func TestPageOfArguments(t *testing.T) {
	number := func(n int) *int { return &n }
	text := func(s string) *string { return &s }
	seven := text(IDs(7).String())
	for name, c := range map[string]struct {
		args Args
		want Page
		ok   bool
	}{
		"nothing asked":      {Args{}, Page{Size: DefaultFirst}, true},
		"none":               {Args{First: number(0)}, Page{}, true},
		"the most":           {Args{First: number(MaxFirst)}, Page{Size: MaxFirst}, true},
		"one too many":       {Args{First: number(MaxFirst + 1)}, Page{}, false},
		"below 0":            {Args{First: number(-1)}, Page{}, false},
		"an empty cursor":    {Args{After: text("")}, Page{Size: DefaultFirst}, true},
		"a cursor":           {Args{After: seven}, NewPage(DefaultFirst, IDs(7)), true},
		"of another list":    {Args{After: text(IDs(7, 8).String())}, Page{}, false},
		"a cursor of junk":   {Args{After: text("junk")}, Page{}, false},
		"the last ones":      {Args{Last: number(3)}, Page{Size: 3, Backward: true}, true},
		"before a cursor":    {Args{Last: number(3), Before: seven}, Page{Size: 3, Backward: true, bound: *seven}, true},
		"before alone":       {Args{Before: seven}, Page{Size: DefaultFirst, Backward: true, bound: *seven}, true},
		"too many last":      {Args{Last: number(MaxFirst + 1)}, Page{}, false},
		"before junk":        {Args{Before: text("junk")}, Page{}, false},
		"both directions":    {Args{First: number(1), Last: number(1)}, Page{}, false},
		"after and before":   {Args{After: seven, Before: seven}, Page{}, false},
		"after, of the last": {Args{After: seven, Last: number(1)}, Page{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := c.args.Page(Order{Keys: 1})
			if (err == nil) != c.ok || c.ok && p != c.want {
				t.Errorf("got %+v, %v", p, err)
			}
			if err != nil {
				problemtest.IsBad(t, err)
			}
		})
	}
}

// TestPagesAreToldApart: pages are equal where they ask for the same rows, however they were made.
// TestDirectionsAreToldApart: who gives both directions is told of what was given.
func TestDirectionsAreToldApart(t *testing.T) {
	one, at := 1, "x"
	for location, args := range map[string]Args{"last": {First: &one, Last: &one}, "before": {First: &one, Before: &at}} {
		_, err := args.Page(Order{})
		if e, ok := errors.AsType[*problem.Error](err); !ok || len(e.Faults) != 1 || e.Faults[0].Location != location {
			t.Errorf("%+v: %v", args, err)
		}
	}
}

func TestPagesAreToldApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first, after := rapid.IntRange(0, 3), rapid.SliceOfN(rapid.Int64Range(-2, 2), 0, 3)
		a, b := first.Draw(t, "a"), first.Draw(t, "b")
		afterA, afterB := IDs(after.Draw(t, "after a")...), IDs(after.Draw(t, "after b")...)
		same := a == b && slices.Equal(afterA.Keys, afterB.Keys)
		if (NewPage(a, afterA) == NewPage(b, afterB)) != same {
			t.Fatalf("%d from %v and %d from %v: equal is not %v", a, afterA, b, afterB, same)
		}
		asked := ""
		if !afterA.IsZero() {
			asked = afterA.String()
		}
		p, err := Args{First: &a, After: &asked}.Page(Order{})
		if err != nil || p != NewPage(a, afterA) || !slices.Equal(p.Bound().Keys, afterA.Keys) {
			t.Fatalf("%d from %v became %+v, %v", a, afterA, p, err)
		}
	})
}

// TestReadings: what is said of a reading comes off a cursor and a page again.
func TestReadings(t *testing.T) {
	c := Cursor{Order: "POSITION", Keys: []string{"7"}}
	with := c.With("3")
	if slices.Equal(with.Keys, c.Keys) || with.Without().String() != c.String() || !(Cursor{}).Without().IsZero() {
		t.Errorf("%v of %v", with, c)
	}
	if NewPage(5, with).Without() != NewPage(5, c) || NewPage(5, Cursor{}).Without() != NewPage(5, Cursor{}) {
		t.Errorf("%v", NewPage(5, with).Without())
	}
}

// TestTrim: one row more than asked for tells that there are more, and the last ones come in the order of the list, however often they are
// asked for.
func TestTrim(t *testing.T) {
	for name, c := range map[string]struct {
		page       Page
		rows, want string
		more       bool
	}{
		"all there is":      {Page{Size: 3}, "ab", "ab", false},
		"more":              {Page{Size: 2}, "abc", "ab", true},
		"the last":          {Page{Size: 3, Backward: true}, "zy", "yz", false},
		"the last, of more": {Page{Size: 2, Backward: true}, "zyx", "yz", true},
	} {
		t.Run(name, func(t *testing.T) {
			rows := strings.Split(c.rows, "")
			for range 2 {
				if got, more := Trim(c.page, rows); strings.Join(got, "") != c.want || more != c.more {
					t.Errorf("%v %v", got, more)
				}
			}
		})
	}
}

func FuzzParseCursor(f *testing.F) {
	for _, seed := range []string{"", IDs(1).String(), IDs(1, -2, 3).String(), encode("c.-0"), encode("c"), Cursor{"NAME", []string{"x", "1"}}.String()} {
		f.Add(seed, 0)
		f.Add(seed, 1)
	}
	f.Fuzz(func(t *testing.T, s string, keys int) {
		keys = max(keys, 0)
		c, err := ParseCursor(s, keys)
		switch {
		case err != nil:
			problemtest.IsBad(t, err)
		case c.String() != s, keys > 0 && len(c.Keys) != keys, c.IsZero():
			t.Errorf("%q became %v", s, c)
		}
		for _, k := range c.Keys {
			if _, err := strconv.ParseInt(k, 10, 64); err != nil {
				t.Errorf("%q became %v", s, c)
			}
		}
	})
}
