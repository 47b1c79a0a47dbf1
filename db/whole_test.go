package db

import (
	"context"
	"errors"
	"testing"

	"canopy/internal/share"
)

// TestWholeListsAreReadOnePageAhead: while a page is handed on the next one is read, and none beyond it.
func TestWholeListsAreReadOnePageAhead(t *testing.T) {
	const pages = 4
	begun := make(chan int, pages+1)
	list := wholeList[int, int]{
		place: func(n *int) int { return *n },
		read: func(_ context.Context, _ *Store, after, limit int) (rows []*int, _ error) {
			begun <- after / wholePage
			for n := after + 1; n <= min(after+limit, pages*wholePage-1); n++ {
				rows = append(rows, &n)
			}
			return rows, nil
		},
	}
	s := &Store{pages: share.NewGate[int64](2)}
	given := 0
	err := list.each(t.Context(), s, 0, 0, func(n *int) error {
		given++
		if page := given / wholePage; given%wholePage == 1 {
			if page == 0 {
				<-begun
			}
			if page < pages-1 {
				if ahead := <-begun; ahead != page+1 {
					t.Errorf("beside page %d page %d is read", page, ahead)
				}
			}
			if len(begun) > 0 {
				t.Errorf("beside page %d more than one is read", page)
			}
		}
		if *n != given {
			t.Fatalf("%d comes as row %d", *n, given)
		}
		return nil
	})
	if err != nil || given != pages*wholePage-1 {
		t.Errorf("%d rows, %v", given, err)
	}
}

// TestWholeListsEndWithTheirReader: nothing is read any more once a list has ended for its reader's sake.
func TestWholeListsEndWithTheirReader(t *testing.T) {
	gone := errors.New("the reader is gone")
	begun, ended := make(chan struct{}), false
	list := wholeList[int, int]{
		place: func(n *int) int { return *n },
		read: func(ctx context.Context, _ *Store, after, limit int) ([]*int, error) {
			if after == 0 {
				rows := make([]*int, limit)
				for i := range rows {
					n := i + 1
					rows[i] = &n
				}
				return rows, nil
			}
			close(begun)
			<-ctx.Done()
			ended = true
			return nil, ctx.Err()
		},
	}
	err := list.each(t.Context(), &Store{pages: share.NewGate[int64](2)}, 0, 0, func(*int) error {
		<-begun
		return gone
	})
	if !errors.Is(err, gone) || !ended {
		t.Errorf("%v, ended %v", err, ended)
	}
}
