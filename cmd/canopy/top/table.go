package top

import (
	"strings"
	"unicode/utf8"
)

// Size is how much room there is; 0 is as much as it takes.
type Size struct{ Width, Height int }

const (
	gap = 3 // between columns
	// leastName is how far the first column is cut before others are left out.
	leastName = 28
)

// table is shown in columns, below the names of which are its rows.
type table [][]string

// lines are those of the table as it fits a width: the first column is cut, and then the last ones are left out.
func (t table) lines(width int) []string {
	widths := make([]int, len(t[0]))
	total := -gap
	for i := range widths {
		for _, row := range t {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
		total += widths[i] + gap
	}
	if over := total - width; width > 0 && over > 0 {
		cut := min(over, max(0, widths[0]-leastName))
		widths[0], total = widths[0]-cut, total-cut
		for last := len(widths) - 1; total > width && last > 0; last-- {
			total -= widths[last] + gap
			widths = widths[:last]
		}
		widths[0] += min(cut, max(0, width-total)) // what those leave that are left out
	}
	lines := make([]string, len(t))
	for n, row := range t {
		var b strings.Builder
		for i, width := range widths {
			cell := shorten(row[i], width)
			b.WriteString(cell)
			b.WriteString(strings.Repeat(" ", width-utf8.RuneCountInString(cell)+gap))
		}
		lines[n] = strings.TrimRight(b.String(), " ")
	}
	return lines
}

// shorten cuts a text to a width.
func shorten(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	return string([]rune(s)[:max(0, width-1)]) + "…"
}

// share divides the lines that are left among two lists: each has half, and what the other leaves.
func share(left, first, second int) (int, int) {
	half := max(1, left/2)
	switch {
	case first+second <= left:
		return first, second
	case first <= half:
		return first, max(1, left-first)
	case second <= left-half:
		return max(1, left-second), second
	}
	return half, max(1, left-half)
}
