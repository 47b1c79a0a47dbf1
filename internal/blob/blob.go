// Package blob keeps originals: files that are written once, read now and then, and deleted. They
// live in a folder (file:///…) or with an S3-compatible server (s3://…).
package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"strings"
	"time"
)

// Errors of a store, told apart with errors.Is.
var (
	// ErrNotFound says that there is nothing under a key.
	ErrNotFound = errors.New("blob: not found")
	// ErrKey says that a key is none: not made of slash-separated names of letters, digits, '-', '_'
	// and '.'.
	ErrKey = errors.New("blob: bad key")
	// ErrURL says that a store's address can't be used.
	ErrURL = errors.New("blob: bad store URL")
)

// Entry is one stored blob.
type Entry struct {
	Key string
	// Written is when the blob was.
	Written time.Time
}

// Attachment says as what a blob is fetched by a link: the values of two headers of the answer.
type Attachment struct{ ContentType, Disposition string }

// Store keeps blobs by key. It is safe for concurrent use.
type Store interface {
	// Write stores all that r gives, durably, before it returns. Nothing is stored when r fails, and
	// r's error is given back as it is.
	Write(ctx context.Context, key string, r io.Reader) error
	// Local gives a file with the blob's content, to be read until done is called.
	Local(ctx context.Context, key string) (path string, done func(), err error)
	// Open gives a blob to be read from any place in it, piece by piece, until it is closed or ctx ends.
	Open(ctx context.Context, key string) (io.ReadSeekCloser, error)
	// Link gives an address at which anybody can fetch a blob for that long, past this program; "" where the
	// store has none.
	Link(ctx context.Context, key string, life time.Duration, as Attachment) (address string, err error)
	// Delete removes a blob; one that is not there is no error.
	Delete(ctx context.Context, key string) error
	// List yields the blobs whose keys begin with the prefix, or one error. A prefix ends in a slash.
	List(ctx context.Context, prefix string) iter.Seq2[Entry, error]
	// Sweep removes what writers that died before that moment left unfinished.
	Sweep(ctx context.Context, before time.Time) error
	// Close lets go of connections.
	Close() error
}

// Open opens the store at an address: file:///folder, made if need be, or
// s3://bucket?region=…&endpoint=…&use_path_style=true&prefix=…, with the credentials of the
// environment as the AWS tools read them.
func Open(ctx context.Context, address string) (Store, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrURL, err)
	}
	switch u.Scheme {
	case "file":
		if u.Host != "" || u.Path == "" || u.RawQuery != "" {
			return nil, fmt.Errorf("%w: a folder is file:///absolute/path", ErrURL)
		}
		return openFolder(u.Path)
	case "s3":
		return openBucket(ctx, u)
	}
	return nil, fmt.Errorf("%w: it must begin with file:// or s3://", ErrURL)
}

// checkKey lets only names through that are the same in every store and can't leave a folder.
func checkKey(key string) error {
	for name := range strings.SplitSeq(key, "/") {
		if name == "" || name[0] == '.' || strings.ContainsFunc(name, func(r rune) bool {
			return r != '-' && r != '_' && r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
		}) {
			return fmt.Errorf("%w: %q", ErrKey, key)
		}
	}
	return nil
}
