package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// again is when work that failed is tried again.
const again = 5 * time.Second

// inbox keeps events in a folder, one file each: ID.new until its work is done, ID.done from then on.
// With a database this is a table with a unique index on the id, and a column for what is done.
type inbox struct {
	dir   string
	mu    sync.Mutex
	fresh chan struct{}
}

func openInbox(dir string) (*inbox, error) {
	return &inbox{dir: dir, fresh: make(chan struct{}, 1)}, os.MkdirAll(dir, 0o700)
}

// file is where an event is kept. The id is written in hex: it comes from elsewhere.
func (b *inbox) file(id, state string) string {
	return filepath.Join(b.dir, hex.EncodeToString([]byte(id))+state)
}

// keep stores an event and tells whether it is a new one. When it returns the event is on the disk.
func (b *inbox) keep(id string, body []byte) (fresh bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, state := range []string{".new", ".done"} {
		if _, err := os.Stat(b.file(id, state)); !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
	}
	// First under another name: a file that was half written when the power went is no event.
	if err := writeThrough(b.file(id, ".part"), body); err != nil {
		return false, err
	}
	if err := os.Rename(b.file(id, ".part"), b.file(id, ".new")); err != nil {
		return false, err
	}
	select {
	case b.fresh <- struct{}{}:
	default: // it is awake already
	}
	return true, nil
}

func writeThrough(name string, content []byte) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Sync(), f.Close())
}

// work does the work of each event, those first that were left when the program ended. What failed is
// tried again. Where the program ends between the work and its record, the work is done twice.
func (b *inbox) work(ctx context.Context, do func(context.Context, event) error) {
	for {
		waiting, err := filepath.Glob(filepath.Join(b.dir, "*.new"))
		for _, name := range waiting {
			err = errors.Join(err, b.workOn(ctx, name, do)) // the others are not kept waiting
		}
		var later <-chan time.Time
		if err != nil {
			log.Println(err)
			later = time.After(again)
		}
		select {
		case <-b.fresh:
		case <-later:
		case <-ctx.Done():
			return
		}
	}
}

func (b *inbox) workOn(ctx context.Context, name string, do func(context.Context, event) error) error {
	raw, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var e event
	if err := json.Unmarshal(raw, &e); err != nil {
		return err
	}
	if err := do(ctx, e); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return os.Rename(name, strings.TrimSuffix(name, ".new")+".done")
}
