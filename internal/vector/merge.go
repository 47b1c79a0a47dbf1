package vector

// size is the number of chunks in a segment.
type size struct{ live, gone int }

// run is a range of segments that become one.
type run struct {
	from, to int
	rewrite  bool // false: a single segment stays as it is
}

// mergePlan says which neighbouring segments become one, so that each is larger than all later ones
// together: a chunk is then copied a logarithmic number of times over a context's life, and a
// context has a logarithmic number of segments. A segment is also rewritten when a third of it is
// removed. limit is the largest merged segment, in chunks; 0 for none.
func mergePlan(sizes []size, limit int) []run {
	tail := len(sizes) // where the merged segments begin
	later, live := 0, 0
	for i := len(sizes) - 1; i >= 0; i-- {
		live += sizes[i].live
		if limit > 0 && live > limit {
			break
		}
		if sizes[i].live+sizes[i].gone <= later {
			tail = i
		}
		later += sizes[i].live + sizes[i].gone
	}
	var plan []run
	for i := range tail {
		plan = append(plan, run{from: i, to: i + 1, rewrite: sizes[i].gone > sizes[i].live/2})
	}
	if tail < len(sizes) {
		plan = append(plan, run{from: tail, to: len(sizes), rewrite: true})
	}
	return plan
}
