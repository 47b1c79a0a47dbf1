// Package scalar writes and reads the graph's scalars in the forms of GraphQL.
package scalar

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/go-json-experiment/json/jsontext"

	"canopy/internal/globalid"
	"canopy/internal/intake"
	"canopy/internal/problem"
)

// room is what a value is appended to that goes into w: the end of w itself, where it is a buffer.
func room(w io.Writer) []byte {
	if b, is := w.(*bytes.Buffer); is {
		return b.AvailableBuffer()
	}
	return nil
}

type moment time.Time

// MarshalGQL implements graphql.Marshaler.
func (m moment) MarshalGQL(w io.Writer) {
	b := time.Time(m).UTC().AppendFormat(append(room(w), '"'), time.RFC3339Nano)
	_, _ = w.Write(append(b, '"'))
}

// MarshalDateTime writes a moment as RFC 3339 in UTC, with as much of the second as it has.
func MarshalDateTime(t time.Time) graphql.Marshaler { return moment(t) }

// UnmarshalDateTime reads a moment in any of RFC 3339's zones.
func UnmarshalDateTime(v any) (time.Time, error) {
	if s, ok := v.(string); ok {
		if t, err := time.Parse(time.RFC3339, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, problem.Bad("a DateTime is a string as RFC 3339 writes it, such as 2026-01-31T12:00:00Z")
}

type stored json.RawMessage

// MarshalGQL implements graphql.Marshaler.
func (s stored) MarshalGQL(w io.Writer) { _, _ = w.Write(s) }

// MarshalJSON writes a stored JSON value as it is.
func MarshalJSON(raw json.RawMessage) graphql.Marshaler { return stored(raw) }

// UnmarshalJSON keeps a JSON value as it came.
func UnmarshalJSON(v any) (json.RawMessage, error) { return json.Marshal(v) }

type text string

// MarshalGQL implements graphql.Marshaler.
func (s *text) MarshalGQL(w io.Writer) {
	b, _ := jsontext.AppendQuote(room(w), string(*s)) // the only error is invalid UTF-8, which is replaced
	_, _ = w.Write(b)
}

type id globalid.ID

// MarshalGQL implements graphql.Marshaler.
func (i id) MarshalGQL(w io.Writer) {
	b := globalid.ID(i).AppendGlobal(append(room(w), '"'))
	_, _ = w.Write(append(b, '"'))
}

// MarshalID writes an id in its global form.
func MarshalID(i globalid.ID) graphql.Marshaler { return id(i) }

// identified is a row with a global id.
type identified interface{ GlobalID() globalid.ID }

type idOf[R identified] struct{ row R }

// MarshalGQL implements graphql.Marshaler.
func (i idOf[R]) MarshalGQL(w io.Writer) { id(i.row.GlobalID()).MarshalGQL(w) }

// MarshalIDOf writes the id of a row that is pointed to, which has to stay as it is until then. It takes no memory.
func MarshalIDOf[R identified](row R) graphql.Marshaler { return idOf[R]{row} }

// UnmarshalID reads an id in its global form, or the integer that REST shows.
func UnmarshalID(v any) (globalid.ID, error) {
	switch v := v.(type) {
	case string:
		return globalid.ParseID(v)
	case json.Number:
		return globalid.ParseID(v.String())
	case int64:
		return globalid.ID{Int: v}, nil
	case int:
		return globalid.ID{Int: int64(v)}, nil
	}
	return globalid.ID{}, problem.Bad("an ID is a string or an integer")
}

type truth bool

// MarshalGQL implements graphql.Marshaler.
func (b truth) MarshalGQL(w io.Writer) { _, _ = w.Write(strconv.AppendBool(room(w), bool(b))) }

// MarshalBoolean writes true or false.
func MarshalBoolean(b bool) graphql.Marshaler { return truth(b) }

// UnmarshalBoolean reads true or false.
func UnmarshalBoolean(v any) (bool, error) { return graphql.UnmarshalBoolean(v) }

// MarshalString writes a text as JSON.
func MarshalString(s string) graphql.Marshaler { return MarshalStringAt(&s) }

// MarshalStringAt writes a text as JSON from where it stands, which has to stay as it is until then: a row's members do. It takes no memory.
func MarshalStringAt(s *string) graphql.Marshaler { return (*text)(s) }

// UnmarshalString reads a text and nothing else: a number or a boolean is no String (GraphQL
// specification, section 3.5.3).
func UnmarshalString(v any) (string, error) {
	if s, ok := v.(string); ok {
		return s, nil
	}
	return "", problem.Bad("a String is a text in quotes")
}

// MarshalUpload writes null: a file goes in only.
func MarshalUpload(intake.File) graphql.Marshaler { return graphql.Null }

// UnmarshalUpload takes the file of a form, which stands in the variables at its place.
func UnmarshalUpload(v any) (intake.File, error) {
	if f, ok := v.(intake.File); ok {
		return f, nil
	}
	return intake.File{}, problem.Bad("an Upload is the file of a multipart request")
}
