package resolvers

// Nullable is what an input says of a value that can be unset: nothing, another value, or none.
type Nullable[T any] struct {
	given bool
	to    *T
}

// NullableOf is a change to a value; nil unsets it.
func NullableOf[T any](value *T) Nullable[T] { return Nullable[T]{true, value} }

// or gives the value after the change.
func (c Nullable[T]) or(before *T) *T {
	if c.given {
		return c.to
	}
	return before
}
