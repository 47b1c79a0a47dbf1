package rest

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// jsonFormat reads and writes bodies. It reads a body twice: into any, for the check against the
// schema, and then into the input. Integers stay whole on the way: a number that is an integer of
// 64 bits passes the check in any notation (1, 1.0, 1e0), and one beyond does not.
var jsonFormat = huma.Format{
	Marshal: func(w io.Writer, v any) error {
		b, err := marshal(v)
		if err == nil {
			_, err = w.Write(b)
		}
		return err
	},
	Unmarshal: func(data []byte, v any) error {
		return json.Unmarshal(data, v, json.WithUnmarshalers(numbers))
	},
}

// marshal writes a value as JSON: no HTML escapes, [] for a list that is nil.
func marshal(v any) ([]byte, error) { return json.Marshal(v, jsontext.AllowInvalidUTF8(true)) }

// beyond is a number that no integer of 64 bits holds, as the schema check sees it: no number.
type beyond string

var numbers = json.JoinUnmarshalers(
	json.UnmarshalFromFunc(func(d *jsontext.Decoder, v *any) error {
		if d.PeekKind() != '0' {
			return errors.ErrUnsupported
		}
		raw, err := d.ReadValue()
		if err == nil {
			*v = number(raw)
		}
		return err
	}),
	json.UnmarshalFromFunc(func(d *jsontext.Decoder, v *int64) error {
		if d.PeekKind() != '0' {
			return errors.ErrUnsupported
		}
		raw, err := d.ReadValue()
		if err == nil {
			*v, _ = number(raw).(int64)
		}
		return err
	}),
)

// number reads a JSON number: int64 where it is one, beyond where it is a larger integer, float64
// otherwise.
func number(raw []byte) any {
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	switch {
	case err != nil:
		return beyond(clip(string(raw)))
	case f != math.Trunc(f):
		return f
	case math.Abs(f) < 1<<53 && bytes.ContainsAny(raw, ".eE"):
		return int64(f)
	}
	return beyond(clip(string(raw)))
}
