package resolvers

// Change is what an input says of a value that can be unset: nothing, another value, or none.
type Change[T any] struct {
	given bool
	to    *T
}

// ChangeTo is a change to a value; nil unsets it.
func ChangeTo[T any](value *T) Change[T] { return Change[T]{true, value} }

// or gives the value after the change.
func (c Change[T]) or(before *T) *T {
	if c.given {
		return c.to
	}
	return before
}
