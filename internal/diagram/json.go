package diagram

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

var (
	errDepth    = fmt.Errorf("nested deeper than %d levels", MaxDepth)
	errTooLarge = errors.New("too large")
)

// decode reads one JSON value (RFC 8259, valid UTF-8, unique member names) into nil, bool, int,
// float64, string, []any and map[string]any.
func decode(raw []byte) (any, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw))
	v, err := decodeValue(d)
	if err != nil {
		return nil, err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more after the end of the value")
	}
	return v, nil
}

func decodeValue(d *jsontext.Decoder) (any, error) {
	token, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	if d.StackDepth() > MaxDepth {
		return nil, errDepth
	}
	switch token.Kind() {
	case 't', 'f':
		return token.Bool(), nil
	case '"':
		return token.String(), nil
	case '0':
		return decodeNumber(token.String())
	case '[':
		return decodeArray(d)
	case '{':
		return decodeObject(d)
	}
	return nil, nil
}

func decodeNumber(text string) (any, error) {
	if !strings.ContainsAny(text, ".eE") {
		if n, err := strconv.Atoi(text); err == nil {
			return n, nil
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, fmt.Errorf("the number %.40s is out of range", text)
	}
	return f, nil
}

func decodeArray(d *jsontext.Decoder) (any, error) {
	out := []any{}
	for d.PeekKind() != ']' {
		v, err := decodeValue(d)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	_, err := d.ReadToken()
	return out, err
}

func decodeObject(d *jsontext.Decoder) (any, error) {
	out := map[string]any{}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String() // before the next read, which may overwrite the token
		if out[key], err = decodeValue(d); err != nil {
			return nil, err
		}
	}
	_, err := d.ReadToken()
	return out, err
}

// encode writes a value as canonical JSON of at most limit bytes. It stops as soon as it has
// written more, so a small value that refers to one part many times can't grow without bound.
func encode(v any, limit int) ([]byte, error) {
	return appendValue(nil, v, limit, 0)
}

func appendValue(dst []byte, v any, limit, depth int) ([]byte, error) {
	var err error
	switch v := v.(type) {
	case nil:
		dst = append(dst, "null"...)
	case bool:
		dst = strconv.AppendBool(dst, v)
	case string:
		dst = appendString(dst, v)
	case int:
		dst = strconv.AppendInt(dst, int64(v), 10)
	case float64:
		dst, err = appendFloat(dst, v)
	case []any:
		dst, err = appendArray(dst, len(v), func(i int) any { return v[i] }, limit, depth)
	case map[string]any:
		dst, err = appendObject(dst, v, limit, depth)
	default:
		dst, err = appendOther(dst, reflect.ValueOf(v), limit, depth)
	}
	if err == nil && len(dst) > limit {
		return nil, errTooLarge
	}
	return dst, err
}

// appendOther writes the further types that the expression library's functions give: numbers of
// other sizes, typed lists (ranges, split) and maps with keys of any type (groupBy).
func appendOther(dst []byte, v reflect.Value, limit, depth int) ([]byte, error) {
	switch {
	case v.CanInt():
		return strconv.AppendInt(dst, v.Int(), 10), nil
	case v.CanUint():
		return strconv.AppendUint(dst, v.Uint(), 10), nil
	case v.CanFloat():
		return appendFloat(dst, v.Float())
	case v.Kind() == reflect.Slice, v.Kind() == reflect.Array:
		return appendArray(dst, v.Len(), func(i int) any { return v.Index(i).Interface() }, limit, depth)
	case v.Kind() == reflect.Map:
		object := make(map[string]any, v.Len())
		for it := v.MapRange(); it.Next(); {
			key, err := text(it.Key().Interface())
			if err != nil {
				return nil, err
			}
			object[key] = it.Value().Interface()
		}
		return appendObject(dst, object, limit, depth)
	}
	return nil, fmt.Errorf("a value of type %s is not JSON", v.Type())
}

func appendArray(dst []byte, n int, item func(int) any, limit, depth int) ([]byte, error) {
	if depth >= MaxDepth {
		return nil, errDepth
	}
	dst = append(dst, '[')
	for i := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendValue(dst, item(i), limit, depth+1); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

func appendObject(dst []byte, object map[string]any, limit, depth int) ([]byte, error) {
	if depth >= MaxDepth {
		return nil, errDepth
	}
	dst = append(dst, '{')
	for i, key := range slices.Sorted(maps.Keys(object)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendString(dst, key), ':')
		var err error
		if dst, err = appendValue(dst, object[key], limit, depth+1); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

func appendString(dst []byte, s string) []byte {
	// The error only tells of invalid UTF-8, which has been replaced by U+FFFD.
	dst, _ = jsontext.AppendQuote(dst, s)
	return dst
}

// appendFloat writes the shortest text that reads back as the same double, as ECMAScript does.
func appendFloat(dst []byte, f float64) ([]byte, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, errors.New("the number is not finite")
	}
	if f == 0 {
		return append(dst, '0'), nil // negative zero too
	}
	if abs := math.Abs(f); abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64), nil
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	if n := len(dst); dst[n-4] == 'e' && dst[n-2] == '0' { // e-09 is written e-9
		dst = append(dst[:n-2], dst[n-1])
	}
	return dst, nil
}

// text is a value inside a longer string: strings as they are, null as nothing, the rest as JSON.
func text(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	}
	raw, err := encode(v, MaxOutput)
	return string(raw), err
}
