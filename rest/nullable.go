package rest

import (
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"canopy/resolvers"
)

// nullable is a member where null is not the same as left out: it unsets the value.
type nullable[T any] struct{ resolvers.Nullable[T] }

// UnmarshalJSON reads a value that is there.
func (n *nullable[T]) UnmarshalJSON(raw []byte) error {
	var value *T
	err := json.Unmarshal(raw, &value)
	n.Nullable = resolvers.NullableOf(value)
	return err
}

// Schema documents the value itself.
func (nullable[T]) Schema(r huma.Registry) *huma.Schema {
	s := huma.SchemaFromType(r, reflect.TypeFor[T]())
	s.Nullable = true
	return s
}
