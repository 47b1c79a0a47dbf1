// Package scalar writes and reads the graph's scalars in the forms of GraphQL.
package scalar

import (
	"encoding/json"
	"io"
	"strconv"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"canopy/internal/intake"
	"canopy/internal/problem"
)

// MarshalDateTime writes a moment as RFC 3339 in UTC, with as much of the second as it has.
func MarshalDateTime(t time.Time) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) {
		_, _ = io.WriteString(w, strconv.Quote(t.UTC().Format(time.RFC3339Nano)))
	})
}

// UnmarshalDateTime reads a moment in any of RFC 3339's zones.
func UnmarshalDateTime(v any) (time.Time, error) {
	if s, ok := v.(string); ok {
		if t, err := time.Parse(time.RFC3339, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, problem.Bad("a DateTime is a string as RFC 3339 writes it, such as 2026-01-31T12:00:00Z")
}

// MarshalJSON writes a stored JSON value as it is.
func MarshalJSON(raw json.RawMessage) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) { _, _ = w.Write(raw) })
}

// UnmarshalJSON keeps a JSON value as it came.
func UnmarshalJSON(v any) (json.RawMessage, error) { return json.Marshal(v) }

// MarshalString writes a text as JSON.
func MarshalString(s string) graphql.Marshaler { return graphql.MarshalString(s) }

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
