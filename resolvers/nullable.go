package resolvers

// Nullable is what an input says of a value that can be unset: nothing, another value, or none.
type Nullable[T any] struct {
	given bool
	to    *T
}

// NullableOf is a change to a value; nil unsets it.
func NullableOf[T any](value *T) Nullable[T] { return Nullable[T]{true, value} }

// MapNullable is a change in another form of the value.
func MapNullable[S, T any](c Nullable[S], form func(S) T) Nullable[T] {
	if c.to == nil {
		return Nullable[T]{given: c.given}
	}
	to := form(*c.to)
	return Nullable[T]{c.given, &to}
}

// or gives the value after the change.
func (c Nullable[T]) or(before *T) *T {
	if c.given {
		return c.to
	}
	return before
}
