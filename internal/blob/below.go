package blob

import (
	"context"
	"io"
	"iter"
	"time"
)

// below keeps all its blobs under keys with the same beginning.
type below struct {
	Store
	prefix string
}

// Below is a part of a store: no key of it is one of another part, or of who uses the whole by keys that begin otherwise. The prefix ends in a slash.
func Below(whole Store, prefix string) Store { return &below{whole, prefix} }

func (b *below) Write(ctx context.Context, key string, r io.Reader) error {
	return b.Store.Write(ctx, b.prefix+key, r)
}

func (b *below) Local(ctx context.Context, key string) (string, func(), error) {
	return b.Store.Local(ctx, b.prefix+key)
}

func (b *below) Open(ctx context.Context, key string) (io.ReadSeekCloser, error) {
	return b.Store.Open(ctx, b.prefix+key)
}

func (b *below) Link(ctx context.Context, key string, life time.Duration, as Attachment) (string, error) {
	return b.Store.Link(ctx, b.prefix+key, life, as)
}

func (b *below) Delete(ctx context.Context, key string) error {
	return b.Store.Delete(ctx, b.prefix+key)
}

func (b *below) List(ctx context.Context, prefix string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for e, err := range b.Store.List(ctx, b.prefix+prefix) {
			if err == nil {
				e.Key = e.Key[len(b.prefix):]
			}
			if !yield(e, err) {
				return
			}
		}
	}
}
