package extract

import (
	"strings"
)

// Marks within the rows of a table that is read. Text that is clean has none of them.
const (
	headCell = "\x01" // the cell is of a header
	sameCell = "\v"   // the cell is the one above
)

const (
	maxName = 100 // bytes of a column's name
	maxSpan = 100 // columns or rows that a cell can take
	// maxNaming is how much longer than its values a table gets by the names of its columns; what comes after has tabs.
	maxNaming = 16
)

// rowWriter writes rows so that each can be read alone: each value with its column's name.
type rowWriter struct {
	b           *textBuilder
	head        []string
	named, said int
}

// newRowWriter is for a table with a header, or with nil for one without.
func newRowWriter(b *textBuilder, head []string) *rowWriter {
	if head == nil {
		return &rowWriter{b: b}
	}
	names := make([]string, len(head))
	for i, name := range head {
		if len(name) > maxName {
			name = strings.ToValidUTF8(name[:maxName], "") + "…"
		}
		names[i] = strings.TrimSpace(name)
	}
	return &rowWriter{b: b, head: names}
}

// write writes a row on a line of its own. Values that are empty are left out.
func (w *rowWriter) write(cells []string) {
	w.b.newline()
	if w.head == nil || w.named > maxNaming*w.said+64<<10 {
		w.b.write(strings.TrimRight(strings.Join(cells, "\t"), "\t"))
		return
	}
	begun := false
	for i, value := range cells {
		if isBlank(value) {
			continue
		}
		if begun {
			w.b.write("; ")
		}
		begun = true
		if i < len(w.head) && w.head[i] != "" {
			w.b.write(w.head[i] + ": ")
			w.named += len(w.head[i]) + 2
		}
		w.b.write(value)
		w.said += len(value)
	}
}

// writeTable writes a table whose rows are lines, with tabs between the cells.
func writeTable(b *textBuilder, text string) {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return
	}
	head, at := tableHead(text)
	plain, named := newRowWriter(b, nil), newRowWriter(b, head)
	var above []string
	row := 0
	for line := range strings.SplitSeq(text, "\n") {
		above = cellsOf(line, above)
		if head == nil || row <= at {
			plain.write(above)
		} else {
			named.write(above)
		}
		row++
	}
	b.newline()
}

// cellsOf takes a row apart.
func cellsOf(line string, above []string) []string {
	cells := strings.Split(line, "\t")
	for i, c := range cells {
		if strings.Contains(c, sameCell) && i < len(above) {
			c = above[i]
		}
		cells[i] = strings.TrimSpace(tableMarks.Replace(c))
	}
	return cells
}

var tableMarks = strings.NewReplacer(headCell, "", sameCell, "")

// tableHead finds the header among the first rows, and the last row that belongs to it: one that is said to be, below titles, or that looks
// like one.
func tableHead(text string) (head []string, at int) {
	var rows [][]string
	said := true
	var above []string
	for line := range strings.SplitSeq(text, "\n") {
		cells := cellsOf(line, above)
		switch {
		case said && isHead(line) && (filled(cells) > 1 || len(cells) == 1 || head != nil):
			head, at = fallBack(cells, above), len(rows)
		case head != nil || filled(cells) > 1:
			said = false
		}
		above = cells
		if rows = append(rows, cells); len(rows) > headRows {
			break
		}
	}
	if head != nil {
		return head, at
	}
	for i, row := range rows {
		if filled(row) > 1 {
			if looksLikeHead(row, rows[i+1:]) {
				return row, i
			}
			break
		}
	}
	return nil, 0
}

// isHead tells whether all cells of a row that say something are of a header.
func isHead(line string) bool {
	marked := false
	for cell := range strings.SplitSeq(line, "\t") {
		is := strings.Contains(cell, headCell)
		if !is && !isBlank(cell) {
			return false
		}
		marked = marked || is
	}
	return marked
}

// fallBack fills the names that a header's row lacks with those above.
func fallBack(cells, above []string) []string {
	head := make([]string, len(cells))
	for i, c := range cells {
		if head[i] = c; c == "" && i < len(above) {
			head[i] = above[i]
		}
	}
	return head
}

func filled(row []string) (n int) {
	for _, c := range row {
		if c != "" {
			n++
		}
	}
	return n
}

// looksLikeHead tells whether a row names the columns of those that follow: short texts that differ, and no numbers but years. Two
// columns alone can as well be names and values; they need a column of numbers to be told apart.
func looksLikeHead(row []string, below [][]string) bool {
	seen := map[string]bool{}
	for i, c := range row {
		if c == "" && i > 0 || seen[c] || len(c) > maxName || isNumberLike(c) && !isYearLike(c) {
			return false
		}
		seen[c] = true
	}
	if len(row) > 2 {
		return len(below) > 0 && filled(below[0]) > 1
	}
	for i := 1; i < len(row); i++ {
		numbers, others := 0, 0
		for _, r := range below {
			switch {
			case i >= len(r) || r[i] == "":
			case isNumberLike(r[i]):
				numbers++
			default:
				others++
			}
		}
		if numbers > 1 && others == 0 {
			return true
		}
	}
	return false
}

// isNumberLike tells whether a text begins as a number does, after signs and currencies.
func isNumberLike(s string) bool {
	s = strings.TrimLeft(s, "+-−±<>≈~(€$£¥ ")
	return s != "" && s[0] >= '0' && s[0] <= '9'
}

// isYearLike tells whether a text is a year, or begins with one, as "2024 Q1" and "2023/24" do.
func isYearLike(s string) bool {
	return len(s) >= 4 && isYear(s[:4]) && (len(s) == 4 || strings.IndexByte(" /-–", s[4]) >= 0)
}
