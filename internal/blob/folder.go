package blob

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// folder keeps blobs as files.
type folder struct{ root string }

// unfinished is what the names of files that are being written begin with; no key does.
const unfinished = ".writing-"

func openFolder(root string) (*folder, error) {
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrURL, err)
	}
	return &folder{filepath.Clean(root)}, nil
}

func (f *folder) path(key string) string { return filepath.Join(f.root, filepath.FromSlash(key)) }

// Write implements Store: the file appears whole, under its name, and both are on the disk.
func (f *folder) Write(ctx context.Context, key string, r io.Reader) (err error) {
	if err := checkKey(key); err != nil {
		return err
	}
	path := f.path(key)
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, unfinished)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = file.Close()
			_ = os.Remove(file.Name())
		}
	}()
	if err := copyTo(file, readerOf(ctx, r)); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

// writeSize is how much is written to a file at one go, in bytes: what is read comes in smaller pieces.
const writeSize = 64 << 10

func copyTo(file *os.File, r io.Reader) error {
	w := bufio.NewWriterSize(struct{ io.Writer }{file}, writeSize) // a file alone would read for itself, piece by piece
	if _, err := io.Copy(w, r); err != nil {
		return err
	}
	return w.Flush()
}

// syncDir makes a rename in a folder durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	return errors.Join(err, d.Close())
}

// readerOf reads until ctx ends.
func readerOf(ctx context.Context, r io.Reader) io.Reader { return &contextReader{ctx, r} }

type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.r.Read(p)
}

// Local implements Store with the file itself.
func (f *folder) Local(_ context.Context, key string) (string, func(), error) {
	if err := checkKey(key); err != nil {
		return "", nil, err
	}
	path := f.path(key)
	if _, err := os.Stat(path); err != nil {
		return "", nil, absent(err, key)
	}
	return path, func() {}, nil
}

// absent says of a file that is not there that its blob is not.
func absent(err error, key string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s", ErrNotFound, key)
	}
	return err
}

// Open implements Store. What is open can be read to its end, even if it is deleted meanwhile.
func (f *folder) Open(_ context.Context, key string) (io.ReadSeekCloser, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	file, err := os.Open(f.path(key))
	if err != nil {
		return nil, absent(err, key)
	}
	return file, nil
}

// Link implements Store: a folder is reached through this program alone.
func (f *folder) Link(context.Context, string, time.Duration, Attachment) (string, error) {
	return "", nil
}

// Delete implements Store.
func (f *folder) Delete(_ context.Context, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	if err := os.Remove(f.path(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// List implements Store.
func (f *folder) List(ctx context.Context, prefix string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		err := f.walk(ctx, prefix, func(path string, written time.Time) error {
			if strings.HasPrefix(filepath.Base(path), unfinished) {
				return nil
			}
			key, err := filepath.Rel(f.root, path)
			if err == nil && !yield(Entry{filepath.ToSlash(key), written}, nil) {
				err = fs.SkipAll
			}
			return err
		})
		if err != nil {
			yield(Entry{}, err)
		}
	}
}

// Sweep implements Store.
func (f *folder) Sweep(ctx context.Context, before time.Time) error {
	return f.walk(ctx, "", func(path string, written time.Time) error {
		if !strings.HasPrefix(filepath.Base(path), unfinished) || !written.Before(before) {
			return nil
		}
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

// walk gives each file below a prefix. Files come and go meanwhile.
func (f *folder) walk(ctx context.Context, prefix string, each func(path string, written time.Time) error) error {
	return filepath.WalkDir(f.path(prefix), func(path string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil && !d.IsDir() {
			var info fs.FileInfo
			if info, err = d.Info(); err == nil {
				return each(path, info.ModTime())
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

// Close implements Store.
func (f *folder) Close() error { return nil }
