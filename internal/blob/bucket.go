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

	"github.com/aws/aws-sdk-go-v2/service/s3"
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
		return "", nil, missing(err, key)
	}
	return file.Name(), done, nil
}

// missing says of an object that is not there that the blob is not.
func missing(err error, key string) error {
	if gcerrors.Code(err) == gcerrors.NotFound {
		return fmt.Errorf("%w: %s", ErrNotFound, key)
	}
	return err
}

// Open implements Store: after a seek, the object is asked for anew from there.
func (b *bucket) Open(ctx context.Context, key string) (io.ReadSeekCloser, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	r, err := b.NewReader(ctx, key, nil)
	if err != nil {
		return nil, missing(err, key)
	}
	return r, nil
}

// Link implements Store with a presigned URL. No request is made for it.
func (b *bucket) Link(ctx context.Context, key string, life time.Duration, as Attachment) (string, error) {
	if err := checkKey(key); err != nil {
		return "", err
	}
	return b.SignedURL(ctx, key, &blob.SignedURLOptions{Expiry: life, BeforeSign: func(asFunc func(any) bool) error {
		var get *s3.GetObjectInput
		if asFunc(&get) {
			get.ResponseContentType, get.ResponseContentDisposition = &as.ContentType, &as.Disposition
		}
		return nil
	}})
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
