package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"os"
	"time"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/s3blob" // s3:// URLs
	"gocloud.dev/gcerrors"
)

// bucket keeps blobs with an S3-compatible server.
type bucket struct{ *blob.Bucket }

func openBucket(ctx context.Context, u *url.URL) (*bucket, error) {
	q := u.Query()
	prefix := q.Get("prefix")
	q.Del("prefix")
	bare := *u
	bare.RawQuery = q.Encode()
	b, err := blob.OpenBucket(ctx, bare.String())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrURL, err)
	}
	if prefix != "" {
		b = blob.PrefixedBucket(b, prefix)
	}
	return &bucket{b}, nil
}

// Write implements Store. The server has the object, whole, once it has answered the upload.
func (b *bucket) Write(ctx context.Context, key string, r io.Reader) error {
	if err := checkKey(key); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := b.NewWriter(ctx, key, &blob.WriterOptions{ContentType: "application/octet-stream", DisableContentTypeDetection: true})
	if err != nil {
		return err
	}
	if _, err := io.Copy(w, r); err != nil {
		cancel() // so that Close gives the upload up
		_ = w.Close()
		return err
	}
	return w.Close()
}

// Local implements Store with a temporary copy.
func (b *bucket) Local(ctx context.Context, key string) (string, func(), error) {
	if err := checkKey(key); err != nil {
		return "", nil, err
	}
	file, err := os.CreateTemp("", "canopy-original-")
	if err != nil {
		return "", nil, err
	}
	done := func() { _ = os.Remove(file.Name()) }
	err = b.Download(ctx, key, file, nil)
	if err = errors.Join(err, file.Close()); err != nil {
		done()
		if gcerrors.Code(err) == gcerrors.NotFound {
			err = fmt.Errorf("%w: %s", ErrNotFound, key)
		}
		return "", nil, err
	}
	return file.Name(), done, nil
}

// Delete implements Store.
func (b *bucket) Delete(ctx context.Context, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	if err := b.Bucket.Delete(ctx, key); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
		return err
	}
	return nil
}

// List implements Store.
func (b *bucket) List(ctx context.Context, prefix string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for it := b.Bucket.List(&blob.ListOptions{Prefix: prefix}); ; {
			o, err := it.Next(ctx)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(Entry{}, err)
				return
			}
			if !yield(Entry{o.Key, o.ModTime}, nil) {
				return
			}
		}
	}
}

// Sweep implements Store: a server forgets unfinished uploads by a rule of its own.
func (b *bucket) Sweep(context.Context, time.Time) error { return nil }
