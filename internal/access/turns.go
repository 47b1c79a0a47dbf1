package access

import (
	"context"
	"hash/fnv"
)

type turnKey struct{}

// WithTurn says whom a request takes turns with as long as nobody knows which branch it is for: those of the same name.
func WithTurn(ctx context.Context, name string) context.Context {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return context.WithValue(ctx, turnKey{}, int64(h.Sum64()|1<<63)) // below zero, as no branch is
}

// TurnOf is what takes turns for the database: the branch of BranchOf, otherwise what WithTurn has named; 0 when there is neither.
func TurnOf(ctx context.Context) int64 {
	if branch := BranchOf(ctx); branch != 0 {
		return branch
	}
	name, _ := ctx.Value(turnKey{}).(int64)
	return name
}
