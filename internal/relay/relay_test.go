package relay

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"canopy/internal/problem"
)

// isBad checks that an error is a 400.
func isBad(t testing.TB, err error) {
	t.Helper()
	var p *problem.Error
	if !errors.As(err, &p) || p.Code != problem.BadRequest {
		t.Errorf("got %v, want a %s", err, problem.BadRequest)
	}
}

func encode(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }

func TestIDRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := ID{rapid.StringMatching(`[A-Za-z]{1,40}`).Draw(t, "type"), rapid.Int64().Draw(t, "int")}
		if got, err := ParseID(id.Global()); err != nil || got != id {
			t.Fatalf("%+v became %+v, %v", id, got, err)
		}
		if got, err := ParseID(strconv.FormatInt(id.Int, 10)); err != nil || got != (ID{Int: id.Int}) {
			t.Fatalf("%d became %+v, %v", id.Int, got, err)
		}
	})
}

func TestParseIDRefuses(t *testing.T) {
	for name, s := range map[string]string{
		"nothing":        "",
		"a word":         "abc",
		"a fraction":     "1.5",
		"beyond 64 bits": "9223372036854775808",
		"no type":        encode(":7"),
		"no number":      encode("User:"),
		"no colon":       encode("User7"),
		"a second form":  encode("User:007"),
		"a plus":         encode("User:+7"),
		"type of signs":  encode("Us er:7"),
		"a long type":    encode(strings.Repeat("T", 41) + ":7"),
		"NUL":            encode("User\x00:7"),
		"spare bits":     "VXNlcjo3Nx",
		"a line break":   "Yzo0M\nA",
	} {
		t.Run(name, func(t *testing.T) {
			id, err := ParseID(s)
			if err == nil {
				t.Fatalf("%q is %+v", s, id)
			}
			isBad(t, err)
		})
	}
}

func TestOf(t *testing.T) {
	for name, c := range map[string]struct {
		id ID
		ok bool
	}{
		"of the type":         {ID{"User", 7}, true},
		"a plain integer":     {ID{"", 7}, true},
		"of another type":     {ID{"Account", 7}, false},
		"in other upper case": {ID{"USER", 7}, false},
	} {
		t.Run(name, func(t *testing.T) {
			n, err := c.id.Of("User", "userId")
			if c.ok != (err == nil) || c.ok && n != 7 {
				t.Fatalf("got %d, %v", n, err)
			}
			var p *problem.Error
			if !c.ok && (!errors.As(err, &p) || p.Faults[0].Location != "userId") {
				t.Errorf("%v does not name the field", err)
			}
		})
	}
}

func TestUnmarshalID(t *testing.T) {
	for name, c := range map[string]struct {
		in   any
		want ID
		ok   bool
	}{
		"global":      {ID{"User", 7}.Global(), ID{"User", 7}, true},
		"text":        {"7", ID{Int: 7}, true},
		"number":      {json.Number("-7"), ID{Int: -7}, true},
		"int64":       {int64(math.MaxInt64), ID{Int: math.MaxInt64}, true},
		"int":         {7, ID{Int: 7}, true},
		"fraction":    {json.Number("1.5"), ID{}, false},
		"exponent":    {json.Number("1e3"), ID{}, false},
		"too large":   {json.Number("9223372036854775808"), ID{}, false},
		"float":       {7.0, ID{}, false},
		"boolean":     {true, ID{}, false},
		"null":        {nil, ID{}, false},
		"object":      {map[string]any{}, ID{}, false},
		"text beyond": {strings.Repeat("9", 100), ID{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var id ID
			if err := id.UnmarshalGQL(c.in); (err == nil) != c.ok || id != c.want {
				t.Errorf("got %+v, %v", id, err)
			}
		})
	}
}

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
			isBad(t, err)
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

func TestPageKeyTellsPagesApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		page := rapid.Custom(func(t *rapid.T) Page {
			return Page{rapid.IntRange(0, 3).Draw(t, "first"), rapid.SliceOfN(rapid.Int64Range(-2, 2), 0, 3).Draw(t, "after")}
		})
		a, b := page.Draw(t, "a"), page.Draw(t, "b")
		same := a.First == b.First && a.After.String() == b.After.String()
		if (a.Key() == b.Key()) != same {
			t.Fatalf("%+v and %+v: %q and %q", a, b, a.Key(), b.Key())
		}
	})
}

func TestDateTime(t *testing.T) {
	var b strings.Builder
	MarshalDateTime(time.Date(2026, 1, 31, 13, 0, 0, 500_000_000, time.FixedZone("", 3600))).MarshalGQL(&b)
	if b.String() != `"2026-01-31T12:00:00.5Z"` {
		t.Errorf("written as %s", b.String())
	}
	for in, ok := range map[any]bool{
		"2026-01-31T12:00:00Z": true, "2026-01-31T12:00:00.123+01:00": true,
		"2026-01-31": false, "": false, "2026-02-30T12:00:00Z": false, json.Number("7"): false, nil: false,
	} {
		if got, err := UnmarshalDateTime(in); (err == nil) != ok || ok && got.Location() != time.UTC {
			t.Errorf("%v: %v, %v", in, got, err)
		}
	}
}

func TestUnmarshalString(t *testing.T) {
	if s, err := UnmarshalString("7"); err != nil || s != "7" {
		t.Errorf("%q, %v", s, err)
	}
	for _, v := range []any{json.Number("7"), int64(7), 7.5, true, nil, []any{"a"}, map[string]any{}} {
		if s, err := UnmarshalString(v); err == nil {
			t.Errorf("%T became %q", v, s)
		}
	}
}

// FuzzParseID: what is taken has one global form, which means the same.
func FuzzParseID(f *testing.F) {
	for _, seed := range []string{"7", "-7", "+7", "007", ID{"User", 7}.Global(), ID{"User", 7}.Global() + "=", encode("A:-0"), "VXNlcjo3Nx"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, err := ParseID(s)
		if err != nil {
			isBad(t, err)
			return
		}
		if id.Type == "" {
			if n, err := strconv.ParseInt(s, 10, 64); err != nil || n != id.Int {
				t.Errorf("%q became %+v", s, id)
			}
			return
		}
		if strings.TrimRight(s, "=") != id.Global() {
			t.Errorf("%q became %+v, which is %q", s, id, id.Global())
		}
	})
}

// FuzzParseCursor: what is taken is the one form of its cursor.
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
			isBad(t, err)
		case c.String() != s, keys > 0 && len(c) != keys, len(c) == 0:
			t.Errorf("%q became %v", s, c)
		}
	})
}
