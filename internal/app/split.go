package app

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"canopy/db"
	"canopy/internal/blob"
	"canopy/internal/config"
)

// objectsAtOnce is how many originals of documents are brought into a cell at the same time.
const objectsAtOnce = 8

// Mover moves what companies of a region have from the home into a cell: rows, and the originals of documents.
type Mover struct {
	*db.Split
	home, cell blob.Store
	// own is the part of the cell's store that its processes read.
	own blob.Store
	// noted is what the cell's store is called where it is noted what has come into it.
	noted string
	// Objects is how many originals have come, and Bytes how many bytes these have.
	Objects, Bytes atomic.Int64
}

// OpenMover opens the home and the cell by the settings of each.
func OpenMover(ctx context.Context, home, cell *config.Config, region string, told func(db.Difference)) (*Mover, error) {
	m := &Mover{}
	var err error
	if home.BlobURL != "" {
		if cell.BlobURL == "" || cell.BlobURL == home.BlobURL {
			return nil, errors.New("CANOPY_BLOB_URL of the cell must be set, to another store than the home's")
		}
		if m.home, err = blob.Open(ctx, home.BlobURL); err != nil {
			return nil, fmt.Errorf("CANOPY_BLOB_URL: %w", err)
		}
		if m.cell, err = blob.Open(ctx, cell.BlobURL); err != nil {
			m.Close()
			return nil, fmt.Errorf("CANOPY_BLOB_URL of the cell: %w", err)
		}
	}
	if m.Split, err = db.BeginSplit(ctx, home.DatabaseURL, cell.DatabaseURL, region, told); err != nil {
		m.Close()
		return nil, err
	}
	if m.cell != nil {
		m.own = blob.Below(m.cell, db.BlobsOfCell(m.Number()))
		m.noted = fmt.Sprintf("%x", sha256.Sum256([]byte(cell.BlobURL+" "+db.BlobsOfCell(m.Number()))))
	}
	return m, nil
}

// Close lets go of both. What was begun and not switched is begun anew by the next one.
func (m *Mover) Close() {
	if m.Split != nil {
		m.Split.Close()
	}
	for _, s := range []blob.Store{m.home, m.cell} {
		if s != nil {
			_ = s.Close()
		}
	}
}

// Move does all of it, from wherever it was left.
func (m *Mover) Move(ctx context.Context) error {
	st, err := m.State(ctx)
	if err != nil {
		return err
	}
	if st.SwitchedAt == nil {
		if err := m.apart(ctx); err != nil {
			return err
		}
		if err := m.Copy(ctx, func(ctx context.Context) error { return m.objects(ctx, true) }); err != nil {
			return err
		}
		if err := m.Switch(ctx, func(ctx context.Context) error { return m.objects(ctx, false) }); err != nil {
			return err
		}
	}
	return m.Erase(ctx)
}

// apart refuses to move from a store into itself, by whatever address: the home would delete in the end what the cell has.
func (m *Mover) apart(ctx context.Context) (err error) {
	if m.home == nil {
		return nil
	}
	key := "split/" + uuid.NewString()
	if err := m.cell.Write(ctx, key, strings.NewReader("is it the same?")); err != nil {
		return fmt.Errorf("the cell's store: %w", err)
	}
	defer func() { err = errors.Join(err, m.cell.Delete(context.WithoutCancel(ctx), key)) }()
	same, err := m.home.Open(ctx, key)
	switch {
	case errors.Is(err, blob.ErrNotFound):
		return nil
	case err != nil:
		return fmt.Errorf("the home's store: %w", err)
	}
	return errors.Join(errors.New("CANOPY_BLOB_URL of the cell leads to the home's store: it must be another"), same.Close())
}

// objects brings those that the cell lacks, and reads each there again. While the home goes on, one may be gone that a document had a moment ago.
func (m *Mover) objects(ctx context.Context, goesOn bool) error {
	return m.EachObject(ctx, m.noted, func(some []db.SplitObject) (came []string, err error) {
		if m.home == nil {
			return nil, fmt.Errorf("there is the original %s, and CANOPY_BLOB_URL is not set", some[0].Key)
		}
		all, ctx := errgroup.WithContext(ctx)
		all.SetLimit(objectsAtOnce)
		var mu sync.Mutex
		for _, o := range some {
			all.Go(func() error {
				err := m.object(ctx, o.Key)
				if goesOn && errors.Is(err, errNoObject) {
					return nil // it has not come: the last time it is looked for again
				}
				mu.Lock()
				defer mu.Unlock()
				came = append(came, o.Key)
				return err
			})
		}
		err = all.Wait()
		return came, err
	})
}

var errNoObject = errors.New("the home's store does not have it")

// object brings one, and compares its size and SHA-256 as the cell's store gives it.
func (m *Mover) object(ctx context.Context, key string) error {
	from, err := m.home.Open(ctx, key)
	if errors.Is(err, blob.ErrNotFound) {
		return fmt.Errorf("the original %s: %w", key, errNoObject)
	}
	if err != nil {
		return fmt.Errorf("the original %s at the home: %w", key, err)
	}
	defer func() { _ = from.Close() }()
	sent, came := newDigest(), newDigest()
	if err := m.own.Write(ctx, key, io.TeeReader(from, sent)); err != nil {
		return fmt.Errorf("the original %s in the cell: %w", key, err)
	}
	there, err := m.own.Open(ctx, key)
	if err == nil {
		_, err = io.Copy(came, there)
		err = errors.Join(err, there.Close())
	}
	if err != nil {
		return fmt.Errorf("the original %s in the cell: %w", key, err)
	}
	if sent.sum() != came.sum() {
		return fmt.Errorf("the original %s is other in the cell: %d bytes, and %d at the home", key, came.n, sent.n)
	}
	m.Objects.Add(1)
	m.Bytes.Add(sent.n)
	return nil
}

// digest is of what is written to it.
type digest struct {
	hash.Hash
	n int64
}

func newDigest() *digest { return &digest{Hash: sha256.New()} }

func (d *digest) Write(p []byte) (int, error) {
	d.n += int64(len(p))
	return d.Hash.Write(p)
}

func (d *digest) sum() string { return fmt.Sprintf("%d %x", d.n, d.Sum(nil)) }
