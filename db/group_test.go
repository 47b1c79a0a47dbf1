package db

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"canopy/internal/access"
	"canopy/internal/paging"
)

// leaf is a row with an edge that takes arguments. It tells which ones it was loaded with.
type leaf struct {
	id int64

	siblings
}

func (l *leaf) key() int64 { return l.id }

func leaves(n int) []*leaf {
	rows := make([]*leaf, n)
	for i := range rows {
		rows[i] = &leaf{id: int64(i)}
	}
	return join(rows)
}

// echo is an edge whose value is its arguments and its keys; it counts its loads.
func echo(loads *atomic.Int64) *edge[leaf, scopedAsk, int64, answer] {
	return edgeBy((*leaf).key, func(_ context.Context, _ *Store, args scopedAsk, keys []int64) (map[int64]answer, error) {
		loads.Add(1)
		found := make(map[int64]answer, len(keys))
		for _, k := range keys {
			found[k] = answer{args: args, key: k, of: len(keys)}
		}
		return found, nil
	})
}

type answer struct {
	args scopedAsk
	key  int64
	of   int
}

// TestFollowKeepsArgumentsApart: what one page, or one scope, was answered is not another's answer,
// and each is loaded once for all siblings, whoever asks first.
func TestFollowKeepsArgumentsApart(t *testing.T) {
	var loads atomic.Int64
	rows, e, other := leaves(20), echo(&loads), echo(&loads)
	var asked []scopedAsk
	for _, scope := range []access.Scope{{}, access.Lineage{1}.Subtree(), access.Lineage{1, 2}.Subtree()} {
		for _, page := range []paging.Page{paging.NewPage(1, paging.Cursor{}), paging.NewPage(2, paging.Cursor{}), paging.NewPage(1, paging.IDs(1))} {
			asked = append(asked, scopedAsk{scope, NewAsk(Where{}, "", page)})
		}
	}
	var all sync.WaitGroup
	for _, r := range rows {
		all.Go(func() {
			for _, args := range asked {
				for _, e := range []*edge[leaf, scopedAsk, int64, answer]{e, other} {
					got, err := follow(t.Context(), nil, r, e, args)
					if want := (answer{args: args, key: r.id, of: len(rows)}); err != nil || got != want {
						t.Errorf("%+v of row %d is %+v, %v", args, r.id, got, err)
					}
				}
			}
		})
	}
	all.Wait()
	if n := loads.Load(); n != int64(2*len(asked)) {
		t.Errorf("%d loads for two edges with %d arguments each", n, len(asked))
	}
}

func TestFollowOfALoneRow(t *testing.T) {
	var loads atomic.Int64
	got, err := follow(t.Context(), nil, &leaf{id: 7}, echo(&loads), scopedAsk{})
	if err != nil || got.key != 7 || got.of != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestFollowTellsWhatWentWrong(t *testing.T) {
	broken := errors.New("broken")
	e := edgeBy((*leaf).key, func(context.Context, *Store, none, []int64) (map[int64]int, error) {
		return map[int64]int{1: 1}, broken
	})
	for _, r := range leaves(2) {
		if n, err := follow(t.Context(), nil, r, e, none{}); n != 0 || !errors.Is(err, broken) {
			t.Errorf("%d, %v", n, err)
		}
	}
}

// TestFollowAllocatesNothing: rows ask by the hundred for what is loaded already.
func TestFollowAllocatesNothing(t *testing.T) {
	var loads atomic.Int64
	rows, e := leaves(2), echo(&loads)
	args := scopedAsk{access.Lineage{1, 2, 3}.Subtree(), NewAsk(Where{Terms: []Term{{"status", "x"}}}, "ID", paging.NewPage(5, paging.IDs(1, 2)))}
	if n := testing.AllocsPerRun(100, func() { _, _ = follow(t.Context(), nil, rows[1], e, args) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
