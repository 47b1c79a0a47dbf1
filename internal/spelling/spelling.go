// Package spelling tells which word may be meant by one that is not known.
package spelling

// Nearest is the known word that a name differs from by the fewest letters; none where that is more than one in three. form is what is compared of
// either.
func Nearest(name string, known []string, form func(string) string) (near string) {
	name = form(name)
	least := len(name)/3 + 1
	for _, k := range known {
		if d := distance(name, form(k)); d < least {
			near, least = k, d
		}
	}
	return near
}

// distance counts the letters that have to be put in, taken out or changed to get from one word to
// another (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1) // from what of a is done to each beginning of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, before+1, row[j]+1)
		}
	}
	return row[len(b)]
}
