package blob_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"canopy/internal/blob"
)

// stores opens one store of each kind.
func stores(t *testing.T) map[string]blob.Store {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("originals"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	list := map[string]blob.Store{}
	for name, address := range map[string]string{
		"folder":      "file://" + t.TempDir() + "/made/for/it",
		"bucket":      "s3://originals?region=eu-central-1&use_path_style=true&endpoint=" + server.URL,
		"with prefix": "s3://originals?region=eu-central-1&use_path_style=true&prefix=a/b/&endpoint=" + server.URL,
	} {
		s, err := blob.Open(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		list[name] = s
	}
	return list
}

// documents lists what is stored under the prefix of that name.
func documents(t *testing.T, s blob.Store) (list []string) {
	t.Helper()
	for e, err := range s.List(t.Context(), "documents/") {
		if err != nil {
			t.Fatal(err)
		}
		if e.Written.IsZero() {
			t.Errorf("%s has no time", e.Key)
		}
		list = append(list, e.Key)
	}
	slices.Sort(list)
	return list
}

func TestStores(t *testing.T) {
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<20) // more than one part of an upload
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			if got := documents(t, s); got != nil {
				t.Fatalf("a new store holds %v", got)
			}
			for _, key := range []string{"documents/a", "documents/b", "other/c"} {
				if err := s.Write(ctx, key, bytes.NewReader(big)); err != nil {
					t.Fatal(err)
				}
			}
			path, done, err := s.Local(ctx, "documents/a")
			if err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, big) {
				t.Errorf("read %d bytes: %v", len(got), err)
			}
			done()
			open, err := s.Open(ctx, "documents/a")
			if err != nil {
				t.Fatal(err)
			}
			part := make([]byte, 4)
			if _, err := open.Seek(-4, io.SeekEnd); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(open, part); err != nil || string(part) != "cdef" || open.Close() != nil {
				t.Errorf("the end: %s: %v", part, err)
			}
			for range 2 { // the second time there is nothing to delete
				if err := s.Delete(ctx, "documents/a"); err != nil {
					t.Fatal(err)
				}
			}
			if _, _, err := s.Local(ctx, "documents/a"); !errors.Is(err, blob.ErrNotFound) {
				t.Errorf("a deleted blob: %v", err)
			}
			if _, err := s.Open(ctx, "documents/a"); !errors.Is(err, blob.ErrNotFound) {
				t.Errorf("a deleted blob, opened: %v", err)
			}
			if got := documents(t, s); !slices.Equal(got, []string{"documents/b"}) {
				t.Errorf("left: %v", got)
			}
		})
	}
}

func TestAFailedWriteLeavesNothing(t *testing.T) {
	broken := errors.New("the client has gone")
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			r := io.MultiReader(strings.NewReader("the beginning"), iotest.ErrReader(broken))
			if err := s.Write(t.Context(), "documents/a", r); !errors.Is(err, broken) {
				t.Errorf("the reader's error: %v", err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := s.Write(ctx, "documents/a", strings.NewReader("x")); err == nil {
				t.Error("a cancelled write succeeded")
			}
			if got := documents(t, s); got != nil {
				t.Errorf("left: %v", got)
			}
		})
	}
}

func TestAFailedWriteLeavesNoFile(t *testing.T) {
	root := t.TempDir()
	s, err := blob.Open(t.Context(), "file://"+root)
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Write(t.Context(), "documents/a", iotest.ErrReader(io.ErrUnexpectedEOF))
	entries, err := os.ReadDir(filepath.Join(root, "documents"))
	if err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestSweepRemovesWhatDeadWritersLeft(t *testing.T) {
	root := t.TempDir()
	s, err := blob.Open(t.Context(), "file://"+root)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Write(t.Context(), "documents/whole", strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "documents", ".writing-123"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	count := func() int {
		entries, err := os.ReadDir(filepath.Join(root, "documents"))
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	if err := s.Sweep(t.Context(), time.Now().Add(-time.Hour)); err != nil || count() != 2 {
		t.Errorf("a young one was swept: %v", err)
	}
	if err := s.Sweep(t.Context(), time.Now().Add(time.Hour)); err != nil || count() != 1 {
		t.Errorf("%d files are left: %v", count(), err)
	}
	if got := documents(t, s); !slices.Equal(got, []string{"documents/whole"}) {
		t.Errorf("left: %v", got)
	}
}

func TestKeys(t *testing.T) {
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			for _, key := range []string{"", "/a", "a/", "../a", "a/../../b", "a//b", ".hidden", "a b", "a\x00", "ä", `a\b`} {
				if err := s.Write(t.Context(), key, strings.NewReader("x")); !errors.Is(err, blob.ErrKey) {
					t.Errorf("%q was written: %v", key, err)
				}
				if _, _, err := s.Local(t.Context(), key); !errors.Is(err, blob.ErrKey) {
					t.Errorf("%q was read: %v", key, err)
				}
				if _, err := s.Open(t.Context(), key); !errors.Is(err, blob.ErrKey) {
					t.Errorf("%q was opened: %v", key, err)
				}
				if err := s.Delete(t.Context(), key); !errors.Is(err, blob.ErrKey) {
					t.Errorf("%q was deleted: %v", key, err)
				}
			}
		})
	}
}

func TestAddresses(t *testing.T) {
	for _, address := range []string{"", "ftp://x", "file://", "file://host/path", "file:///tmp?x=1", "s3://", "%"} {
		if s, err := blob.Open(t.Context(), address); !errors.Is(err, blob.ErrURL) {
			t.Errorf("%q: %v, %v", address, s, err)
		}
	}
}

// TestBelow: of two parts of a store, and of the whole, none lists or opens what another has.
func TestBelow(t *testing.T) {
	for name, whole := range stores(t) {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			parts := map[string]blob.Store{"whole": whole, "one": blob.Below(whole, "cells/1/"), "two": blob.Below(whole, "cells/12/")}
			for said, s := range parts {
				if err := s.Write(ctx, "documents/"+said, strings.NewReader(said)); err != nil {
					t.Fatal(err)
				}
			}
			for said, s := range parts {
				if list := documents(t, s); !slices.Equal(list, []string{"documents/" + said}) {
					t.Errorf("%s lists %v", said, list)
				}
				for other := range parts {
					path, done, err := s.Local(ctx, "documents/"+other)
					if other != said {
						if !errors.Is(err, blob.ErrNotFound) {
							t.Errorf("%s has the file of %s: %v", said, other, err)
						}
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					if content, err := os.ReadFile(path); err != nil || string(content) != said {
						t.Errorf("%s reads %q: %v", said, content, err)
					}
					done()
					r, err := s.Open(ctx, "documents/"+other)
					if err != nil {
						t.Fatal(err)
					}
					if content, err := io.ReadAll(r); err != nil || string(content) != said {
						t.Errorf("%s opens %q: %v", said, content, err)
					}
					_ = r.Close()
				}
			}
			if err := parts["one"].Delete(ctx, "documents/one"); err != nil {
				t.Fatal(err)
			}
			if list := slices.Concat(documents(t, parts["one"]), documents(t, parts["two"])); !slices.Equal(list, []string{"documents/two"}) {
				t.Errorf("left: %v", list)
			}
		})
	}
}
