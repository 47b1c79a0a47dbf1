package db

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"

	"canopy/internal/problem"
)

type roomKey struct{}

// room is how many bytes of text the rows that an answer is made of may still have. It is safe for concurrent use.
type room struct{ left atomic.Int64 }

// errNoRoom says that the rows asked for have more text than there is room for.
var errNoRoom = errors.New("the rows have more text than one answer may")

// Within bounds the text of the rows that are read in a context, for an answer that is not begun before all of it is there.
func Within(ctx context.Context, most int64) context.Context {
	r := &room{}
	r.left.Store(most)
	return context.WithValue(ctx, roomKey{}, r)
}

// roomIn is the room of a context; nil where nothing bounds it.
func roomIn(ctx context.Context) *room {
	r, _ := ctx.Value(roomKey{}).(*room)
	return r
}

// take takes the room of what a row was scanned into.
func (r *room) take(row []any) error {
	if r == nil {
		return nil
	}
	size := 0
	for _, value := range row {
		switch v := value.(type) {
		case *string:
			size += len(*v)
		case *[]byte:
			size += len(*v)
		case *json.RawMessage:
			size += len(*v)
		case **json.RawMessage:
			if *v != nil {
				size += len(**v)
			}
		case *pointer[string]:
			if v.to != nil {
				size += len(*v.to)
			}
		}
	}
	if r.left.Add(-int64(size)) < 0 {
		return problem.Bad("what is asked for has too much text for one answer: ask for fewer rows").With("cost_limit").Because(errNoRoom)
	}
	return nil
}
