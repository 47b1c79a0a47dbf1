package scalar

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"canopy/internal/globalid"
)

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

// TestTextsAreWritten: a text comes back as it was, into whatever it is written.
func TestTextsAreWritten(t *testing.T) {
	for _, text := range []string{"", "Ada", "a\"b\\c", "tab\tline\nreturn\r\x01\x7f", "é🙂\u2028<&>", strings.Repeat("long ", 10_000)} {
		var buffer bytes.Buffer
		var builder strings.Builder
		buffer.WriteString("[")
		MarshalString(text).MarshalGQL(&buffer)
		buffer.WriteString(",")
		MarshalBoolean(true).MarshalGQL(&buffer)
		buffer.WriteString("]")
		MarshalString(text).MarshalGQL(&builder)
		var list []any
		var alone string
		if err := json.Unmarshal(buffer.Bytes(), &list); err != nil || len(list) != 2 || list[0] != text || list[1] != true {
			t.Errorf("%.20q became %.40q: %v", text, buffer.String(), err)
		}
		if err := json.Unmarshal([]byte(builder.String()), &alone); err != nil || alone != text {
			t.Errorf("%.20q became %.40q: %v", text, builder.String(), err)
		}
	}
}

// TestIDsAreWritten: an id is written in its global form, into whatever it is written, and knows nothing of that itself.
func TestIDsAreWritten(t *testing.T) {
	id := globalid.ID{Type: "User", Int: 7}
	var buffer bytes.Buffer
	var builder strings.Builder
	buffer.WriteString("[")
	MarshalID(id).MarshalGQL(&buffer)
	MarshalID(id).MarshalGQL(&builder)
	if want := strconv.Quote(id.Global()); buffer.String() != "["+want || builder.String() != want {
		t.Errorf("%s and %s are not %s", buffer.String(), builder.String(), want)
	}
	row := &account{7}
	if allocated := testing.AllocsPerRun(100, func() { written = MarshalIDOf(row) }); allocated > 0 {
		t.Errorf("the id of a row takes %v pieces of memory", allocated)
	}
	builder.Reset()
	if written.MarshalGQL(&builder); builder.String() != strconv.Quote(row.GlobalID().Global()) {
		t.Errorf("%s is not the id of %+v", builder.String(), row)
	}
	if _, knows := any(id).(graphql.Marshaler); knows {
		t.Error("the id knows of GraphQL")
	}
}

type account struct{ id int64 }

func (a *account) GlobalID() globalid.ID { return globalid.ID{Type: "Account", Int: a.id} }

var written graphql.Marshaler

// TestUnmarshalID: an id is its global form, or the integer that REST shows.
func TestUnmarshalID(t *testing.T) {
	for name, c := range map[string]struct {
		in   any
		want globalid.ID
		ok   bool
	}{
		"global":      {globalid.ID{Type: "User", Int: 7}.Global(), globalid.ID{Type: "User", Int: 7}, true},
		"text":        {"7", globalid.ID{Int: 7}, true},
		"number":      {json.Number("-7"), globalid.ID{Int: -7}, true},
		"int64":       {int64(math.MaxInt64), globalid.ID{Int: math.MaxInt64}, true},
		"int":         {7, globalid.ID{Int: 7}, true},
		"fraction":    {json.Number("1.5"), globalid.ID{}, false},
		"exponent":    {json.Number("1e3"), globalid.ID{}, false},
		"too large":   {json.Number("9223372036854775808"), globalid.ID{}, false},
		"float":       {7.0, globalid.ID{}, false},
		"boolean":     {true, globalid.ID{}, false},
		"null":        {nil, globalid.ID{}, false},
		"object":      {map[string]any{}, globalid.ID{}, false},
		"text beyond": {strings.Repeat("9", 100), globalid.ID{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			id, err := UnmarshalID(c.in)
			if (err == nil) != c.ok || id != c.want {
				t.Errorf("got %+v, %v", id, err)
			}
		})
	}
}
