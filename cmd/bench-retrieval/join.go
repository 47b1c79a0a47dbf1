package main

// stride gives how far apart the documents are that are joined, of so many, so that they are about other things: without a common divisor, so that
// each comes once.
func stride(count int) int {
	n := 101
	for commonDivisor(n, count) > 1 {
		n++
	}
	return n
}

func commonDivisor(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

// join makes long documents of a collection, of so many each: one answers what any of those in it answers.
func (c collection) join(n int) collection {
	count := len(c.Documents)
	longs, step := (count+n-1)/n, stride(count)
	out := collection{Documents: make([]entry, longs), Queries: c.Queries, Relevant: map[int]map[int]bool{}}
	in := make(map[int]int, count) // the long document of each
	for i := range count {
		d, long := c.Documents[i*step%count], i/n
		out.Documents[long].ID = long + 1
		out.Documents[long].Text += d.Text + "\n\n"
		in[d.ID] = long + 1
	}
	for query, documents := range c.Relevant {
		out.Relevant[query] = map[int]bool{}
		for d := range documents {
			if long, known := in[d]; known {
				out.Relevant[query][long] = true
			}
		}
	}
	return out
}
