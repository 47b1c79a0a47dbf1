package globalid

import (
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"canopy/internal/problem"
	"canopy/internal/problem/problemtest"
)

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
			problemtest.IsBad(t, err)
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

func FuzzParseID(f *testing.F) {
	for _, seed := range []string{"7", "-7", "+7", "007", ID{"User", 7}.Global(), ID{"User", 7}.Global() + "=", encode("A:-0"), "VXNlcjo3Nx"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, err := ParseID(s)
		if err != nil {
			problemtest.IsBad(t, err)
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
