package access

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/lib/pq"
	"pgregory.net/rapid"
)

// near draws lineages that often have a beginning in common.
func near() *rapid.Generator[Lineage] {
	return rapid.Custom(func(t *rapid.T) Lineage {
		return rapid.SliceOfN(rapid.Int64Range(1, 4), 1, 5).Draw(t, "ids")
	})
}

// below tells whether the company of a lineage is another one's own or a descendant, by the ids.
func below(top, l Lineage) bool { return len(l) >= len(top) && slices.Equal(top, l[:len(top)]) }

// holds asks a scope as the database is asked: by its range, in which NULL holds nothing.
func holds(s Scope, l Lineage) bool {
	return s.From() != nil && slices.Compare(s.From(), pq.Int64Array(l)) <= 0 && slices.Compare(pq.Int64Array(l), s.To()) < 0
}

// agree checks that the two ways to ask for a descendant say the same.
func agree(t rapid.TB, top, other Lineage) {
	t.Helper()
	if want, got := below(top, other), holds(top.Subtree(), other); got != want {
		t.Fatalf("%v over %v: %v by ids, %v by range", top, other, want, got)
	}
}

func TestSubtreeIsARange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { agree(t, near().Draw(t, "top"), near().Draw(t, "other")) })
}

// TestOrderIsPreorder: sorted lineages are a tree's preorder, so a company's subtree is contiguous
// and begins with the company.
func TestOrderIsPreorder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(near(), 1, 30).Draw(t, "lineages")
		slices.SortFunc(list, func(a, b Lineage) int { return slices.Compare(a, b) })
		for i, top := range list {
			left := false
			for _, other := range list[i:] {
				if in := below(top, other); in && left {
					t.Fatalf("%v: its subtree goes on behind what is not in it: %v", top, list)
				} else if !in {
					left = true
				}
			}
			for _, before := range list[:i] {
				if below(top, before) && !slices.Equal(top, before) {
					t.Fatalf("%v comes before %v, which is above it", before, top)
				}
			}
		}
	})
}

func TestSubtreeKeepsTheLineage(t *testing.T) {
	l := Lineage{1, 2, 3}
	scope := l.Subtree()
	if !slices.Equal(l, Lineage{1, 2, 3}) {
		t.Errorf("the lineage became %v", l)
	}
	if !slices.Equal(scope.From(), []int64{1, 2, 3}) || !slices.Equal(scope.To(), []int64{1, 2, 4}) {
		t.Errorf("the range is %v to %v", scope.From(), scope.To())
	}
}

// TestZeroScopeHoldsNothing: a forgotten scope finds no rows, for its bounds are NULL in SQL.
func TestZeroScopeHoldsNothing(t *testing.T) {
	for name, scope := range map[string]Scope{"zero": {}, "of no lineage": Lineage{}.Subtree(), "of nil": Lineage(nil).Subtree()} {
		t.Run(name, func(t *testing.T) {
			for _, l := range []Lineage{nil, {}, {1}, {0}, {-1}, {1, 2}} {
				if holds(scope, l) {
					t.Errorf("holds %v", l)
				}
			}
			for bound, value := range map[string]any{"from": must(scope.From().Value()), "to": must(scope.To().Value())} {
				if value != nil {
					t.Errorf("%s is %v, not NULL", bound, value)
				}
			}
		})
	}
}

func must(v any, err error) any {
	if err != nil {
		panic(err)
	}
	return v
}

func TestScan(t *testing.T) {
	var l Lineage
	if err := l.Scan([]byte("{1,20,300}")); err != nil || !slices.Equal(l, Lineage{1, 20, 300}) {
		t.Errorf("%v, %v", l, err)
	}
	if err := l.Scan([]byte("{1,x}")); err == nil {
		t.Error("a word is taken for an id")
	}
}

// FuzzSubtree is TestSubtreeIsARange over any ids.
func FuzzSubtree(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x01"), []byte("\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x02"))
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x01"), []byte("\x00\x00\x00\x00\x00\x00\x00\x02"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if top, other := ids(a), ids(b); len(top) > 0 {
			agree(t, top, other)
		}
	})
}

// ids reads company ids: above 0, and below the largest integer, which no sequence reaches.
func ids(raw []byte) (l Lineage) {
	for ; len(raw) >= 8; raw = raw[8:] {
		l = append(l, int64(binary.BigEndian.Uint64(raw)>>2)+1) // shifted, so it fits
	}
	return l
}
