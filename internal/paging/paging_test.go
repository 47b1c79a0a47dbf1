package paging

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"canopy/internal/problem/problemtest"
)

func encode(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }

func TestCursorRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Cursor(rapid.SliceOfN(rapid.Int64(), 1, 64).Draw(t, "keys"))
		for _, keys := range []int{0, len(c)} {
			got, err := ParseCursor(c.String(), keys)
			if err != nil || got.String() != c.String() || len(got) != len(c) {
				t.Fatalf("%v became %v, %v", c, got, err)
			}
		}
		if _, err := ParseCursor(c.String(), len(c)+1); err == nil {
			t.Fatal("a cursor of another list is taken")
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

func TestParsePage(t *testing.T) {
	number := func(n int) *int { return &n }
	text := func(s string) *string { return &s }
	for name, c := range map[string]struct {
		first *int
		after *string
		want  int
		ok    bool
	}{
		"nothing asked":    {nil, nil, DefaultFirst, true},
		"none":             {number(0), nil, 0, true},
		"the most":         {number(MaxFirst), nil, MaxFirst, true},
		"one too many":     {number(MaxFirst + 1), nil, 0, false},
		"below 0":          {number(-1), nil, 0, false},
		"an empty cursor":  {nil, text(""), DefaultFirst, true},
		"a cursor":         {nil, text(Cursor{7}.String()), DefaultFirst, true},
		"of another list":  {nil, text(Cursor{7, 8}.String()), 0, false},
		"a cursor of junk": {nil, text("junk"), 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := ParsePage(c.first, c.after, 1)
			if (err == nil) != c.ok || c.ok && p.First != c.want {
				t.Errorf("got %+v, %v", p, err)
			}
		})
	}
}

// TestPagesAreToldApart: pages are equal where they ask for the same rows, however they were made.
func TestPagesAreToldApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first, after := rapid.IntRange(0, 3), rapid.SliceOfN(rapid.Int64Range(-2, 2), 0, 3)
		a, b := first.Draw(t, "a"), first.Draw(t, "b")
		afterA, afterB := Cursor(after.Draw(t, "after a")), Cursor(after.Draw(t, "after b"))
		same := a == b && slices.Equal(afterA, afterB)
		if (NewPage(a, afterA) == NewPage(b, afterB)) != same {
			t.Fatalf("%d from %v and %d from %v: equal is not %v", a, afterA, b, afterB, same)
		}
		asked := ""
		if len(afterA) > 0 {
			asked = afterA.String()
		}
		if p, err := ParsePage(&a, &asked, 0); err != nil || p != NewPage(a, afterA) || !slices.Equal(p.After(), afterA) {
			t.Fatalf("%d from %v became %+v, %v", a, afterA, p, err)
		}
	})
}

func FuzzParseCursor(f *testing.F) {
	for _, seed := range []string{"", Cursor{1}.String(), Cursor{1, -2, 3}.String(), encode("c.-0"), encode("c")} {
		f.Add(seed, 0)
		f.Add(seed, 1)
	}
	f.Fuzz(func(t *testing.T, s string, keys int) {
		keys = max(keys, 0)
		c, err := ParseCursor(s, keys)
		switch {
		case err != nil:
			problemtest.IsBad(t, err)
		case c.String() != s, keys > 0 && len(c) != keys, len(c) == 0:
			t.Errorf("%q became %v", s, c)
		}
	})
}
