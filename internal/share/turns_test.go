package share

import (
	"slices"
	"testing"
)

func TestTurns(t *testing.T) {
	var q Turns[string, int]
	nobody := func(string) bool { return false }
	if _, _, ok := q.Next(nobody); ok || !q.Empty() {
		t.Error("something waits")
	}
	for i, key := range []string{"a", "a", "a", "b", "c", "b"} {
		q.Add(key, i)
	}
	var got []int
	take := func(passed func(string) bool) {
		for {
			_, v, ok := q.Next(passed)
			if !ok {
				return
			}
			got = append(got, v)
		}
	}
	take(func(key string) bool { return key == "b" })
	if !slices.Equal(got, []int{0, 4, 1, 2}) || q.Empty() {
		t.Errorf("got %v", got)
	}
	take(nobody)
	if !slices.Equal(got, []int{0, 4, 1, 2, 3, 5}) || !q.Empty() {
		t.Errorf("got %v", got)
	}
	q.Add("a", 6)
	if q.Clear(); !q.Empty() {
		t.Error("something waits")
	}
}
