package share

// Turns are things that wait, each under a key: the keys take turns, and of one key what came first goes first. However much one
// has, the first of another is among the next. It is not safe for concurrent use; the zero value is ready.
type Turns[K comparable, V any] struct {
	waiting map[K][]V
	// order is that of the keys which have something.
	order []K
}

// Add has a thing wait.
func (t *Turns[K, V]) Add(key K, v V) {
	if t.waiting == nil {
		t.waiting = map[K][]V{}
	}
	if len(t.waiting[key]) == 0 {
		t.order = append(t.order, key)
	}
	t.waiting[key] = append(t.waiting[key], v)
}

// Next takes the thing whose turn it is, of the keys that are not passed over; false where there is none.
func (t *Turns[K, V]) Next(passed func(K) bool) (key K, v V, ok bool) {
	for i, key := range t.order {
		if passed(key) {
			continue
		}
		t.order = append(t.order[:i], t.order[i+1:]...)
		list := t.waiting[key]
		if t.waiting[key] = list[1:]; len(list) > 1 {
			t.order = append(t.order, key)
		} else {
			delete(t.waiting, key)
		}
		return key, list[0], true
	}
	return key, v, false
}

// Empty tells that nothing waits.
func (t *Turns[K, V]) Empty() bool { return len(t.order) == 0 }

// Len is how many things wait.
func (t *Turns[K, V]) Len() (n int) {
	for _, list := range t.waiting {
		n += len(list)
	}
	return n
}

// Clear forgets what waits.
func (t *Turns[K, V]) Clear() { *t = Turns[K, V]{} }
