package extract

import (
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

// How tables are told from prose, in heights of a line.
const (
	cellGap   = 0.8  // between two cells; the widest of justified prose are half of it
	rowGap    = 3.0  // from a row's top to the next one's
	tableRows = 3    // rows of the shortest table, its header among them
	shortLine = 15   // characters of a line whose width says nothing
	stretched = 1.1  // how much wider than others of the page a line with gaps is
	proseWide = 0.45 // how wide a character of prose is at most, on a page that is all tables
)

// pdfLine is a line of a page with the places of its characters, which the engine counts in UTF-16.
type pdfLine struct {
	text        []uint16
	at          int // of its first character in the page
	left, right float64
	top, height float64
	cells       []pdfCell
}

// pdfCell is a part of a line that wide gaps set off.
type pdfCell struct {
	text        string
	left, right float64
}

// tables gives a page's text with the rows of its tables written so that each can be read alone (see writeTable): those whose rows are
// lines, with gaps between their columns and a header above. count is the number of the page's characters.
func (d *pdfDocument) tables(page references.FPDF_TEXTPAGE, text string, count int) string {
	units := utf16.Encode([]rune(text))
	if len(units) != count { // the places of its characters are not known
		return text
	}
	g := &pdfGeometry{pdfDocument: d, page: page}
	lines := g.rightToLeft(g.lines(units))
	g.findCells(lines)
	var b strings.Builder
	for i := 0; i < len(lines); {
		rows, next := tableAt(lines, i)
		if rows == "" {
			rows = joined(lines[i:next])
		}
		b.WriteString(rows)
		if i = next; i < len(lines) {
			b.WriteString("\r\n")
		}
	}
	return b.String()
}

// joined are lines as the engine writes them.
func joined(lines []pdfLine) string {
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = string(utf16.Decode(l.text))
	}
	return strings.Join(texts, "\r\n")
}

// pdfGeometry asks the engine for the places of characters.
type pdfGeometry struct {
	*pdfDocument
	page references.FPDF_TEXTPAGE
}

// box is the place of a character, as high as its font.
func (g *pdfGeometry) box(at int) (left, right, top, height float64, ok bool) {
	b, err := g.instance.FPDFText_GetLooseCharBox(&requests.FPDFText_GetLooseCharBox{TextPage: g.page, Index: at})
	if err != nil {
		return 0, 0, 0, 0, false
	}
	l, r, t, h := float64(b.Rect.Left), float64(b.Rect.Right), float64(b.Rect.Top), float64(b.Rect.Top-b.Rect.Bottom)
	return l, r, t, h, r >= l && h > 0
}

// lines takes a text apart, and finds out how wide each line is. One whose place can't be told has no height.
func (g *pdfGeometry) lines(text []uint16) (lines []pdfLine) {
	for at := 0; at <= len(text); {
		l := pdfLine{text: text[at:lineEnd(text, at)], at: at}
		at += len(l.text) + 2
		if from, to := trimmed(l.text); from < to {
			first, _, top, high, ok := g.box(l.at + from)
			_, last, _, other, okay := g.box(l.at + to - 1)
			if ok && okay && last > first {
				l.left, l.right, l.top, l.height = first, last, top, max(high, other)
			}
		}
		lines = append(lines, l)
	}
	return lines
}

// lineEnd is where the line ends that an offset is in.
func lineEnd(text []uint16, at int) int {
	for ; at+1 < len(text); at++ {
		if text[at] == '\r' && text[at+1] == '\n' {
			return at
		}
	}
	return len(text)
}

// trimmed are the bounds of a line without the spaces around it.
func trimmed(line []uint16) (from, to int) {
	for to = len(line); to > 0 && line[to-1] == ' '; to-- {
	}
	for from < to && line[from] == ' ' {
		from++
	}
	return from, to
}

// findCells takes the lines apart that can be rows: those that are wider than their characters are, and their neighbours.
func (g *pdfGeometry) findCells(lines []pdfLine) {
	var widths []float64
	for _, l := range lines {
		if l.height > 0 && len(l.text) >= shortLine {
			widths = append(widths, l.perCharacter())
		}
	}
	plain := proseWide
	if slices.Sort(widths); len(widths) > 0 {
		plain = min(plain, widths[len(widths)/5])
	}
	can := func(i int) bool {
		return i >= 0 && i < len(lines) && lines[i].height > 0 &&
			(len(lines[i].text) < shortLine || lines[i].perCharacter() > plain*stretched)
	}
	for i := range lines {
		if l := &lines[i]; l.height > 0 && (can(i-1) || can(i) || can(i+1)) {
			l.cells = g.cells(l, false)
		}
	}
	// Some gaps have no space: in and below rows each character is looked at.
	for i := range lines {
		if l := &lines[i]; l.height > 0 && (len(l.cells) > 1 || i > 0 && len(lines[i-1].cells) > 1) {
			l.cells = g.cells(l, true)
		}
	}
}

func (l *pdfLine) perCharacter() float64 { return (l.right - l.left) / float64(len(l.text)) / l.height }

// cells are the parts of a line, from left to right; one alone where there is no gap. Gaps are looked for at spaces, or everywhere.
func (g *pdfGeometry) cells(l *pdfLine, everywhere bool) (cells []pdfCell) {
	from, to := trimmed(l.text)
	begin, left := from, l.left
	for i := from + 1; i < to; i++ {
		end := i
		for l.text[i] == ' ' { // the last is none
			i++
		}
		if end == i && !everywhere {
			continue
		}
		_, before, _, _, ok := g.box(l.at + end - 1)
		after, _, _, _, okay := g.box(l.at + i)
		if !ok || !okay || after < before-l.height { // from right to left, or drawn twice
			return nil
		}
		if after-before >= cellGap*l.height {
			cells = append(cells, pdfCell{string(utf16.Decode(l.text[begin:end])), left, before})
			begin, left = i, after
		}
	}
	return append(cells, pdfCell{string(utf16.Decode(l.text[begin:to])), left, l.right})
}

// tableAt gives the table that begins with a line, and the line after it; "" where the lines until there are none.
func tableAt(lines []pdfLine, at int) (rows string, next int) {
	t := &pdfTable{}
	for next = at; next < len(lines); next++ {
		if next > at && !near(lines[next-1], lines[next]) || !t.add(lines[next]) {
			break
		}
	}
	if len(t.rows) < tableRows {
		return "", at + 1
	}
	text := t.text()
	if head, _ := tableHead(text); head == nil {
		return "", next
	}
	b := newTextBuilder(Limits{}.withDefaults())
	writeTable(b, text)
	return strings.TrimSuffix(b.text.String(), "\n"), next
}

func near(above, below pdfLine) bool {
	return below.height > 0 && below.top < above.top && above.top-below.top < rowGap*max(above.height, below.height)
}

// pdfTable is a table that grows line by line.
type pdfTable struct {
	columns []pdfColumn // from left to right
	rows    [][]pdfPart
	made    int
}

// pdfColumn is how far the cells of a column reach.
type pdfColumn struct {
	left, right float64
	id          int
}

// pdfPart is a cell, and the column that it is in.
type pdfPart struct {
	text   string
	column int // its id
}

// add adds a line, if it is a row, or goes on with cells of the one above that has begun in other columns than the first.
func (t *pdfTable) add(l pdfLine) bool {
	if len(l.cells) == 0 || len(l.cells) < 2 && len(t.rows) < tableRows-1 {
		return false
	}
	columns, row := slices.Clone(t.columns), make([]pdfPart, 0, len(l.cells))
	made := t.made
	for _, c := range l.cells {
		first, last := overlapping(columns, c)
		switch {
		case last-first > 1 || first < len(columns) && slices.ContainsFunc(row, func(p pdfPart) bool { return last > first && p.column == columns[first].id }):
			return false
		case last > first:
			columns[first].left, columns[first].right = min(columns[first].left, c.left), max(columns[first].right, c.right)
		case len(l.cells) < 2 || len(columns) == maxSpan:
			return false
		default:
			columns = slices.Insert(columns, first, pdfColumn{c.left, c.right, made})
			made++
		}
		row = append(row, pdfPart{c.text, columns[first].id})
	}
	if len(l.cells) == 1 {
		return t.goOn(row[0])
	}
	t.columns, t.made = columns, made
	t.rows = append(t.rows, row)
	return true
}

// goOn adds to a cell of the last row.
func (t *pdfTable) goOn(p pdfPart) bool {
	last := t.rows[len(t.rows)-1]
	if p.column == t.columns[0].id {
		return false
	}
	for i := range last {
		if last[i].column == p.column {
			if !strings.HasSuffix(last[i].text, engineHyphen) {
				last[i].text += " "
			}
			last[i].text += p.text
			return true
		}
	}
	return false
}

// overlapping gives the columns that a cell lies over, or where a new one belongs.
func overlapping(columns []pdfColumn, c pdfCell) (first, last int) {
	for first < len(columns) && columns[first].right <= c.left {
		first++
	}
	for last = first; last < len(columns) && columns[last].left < c.right; last++ {
	}
	return first, last
}

// text are the rows as lines, with tabs between the cells.
func (t *pdfTable) text() string {
	place := make(map[int]int, len(t.columns))
	for i, c := range t.columns {
		place[c.id] = i
	}
	var b strings.Builder
	for _, row := range t.rows {
		cells := make([]string, len(t.columns))
		for _, p := range row {
			cells[place[p.column]] = p.text
		}
		b.WriteString(strings.Join(cells, "\t") + "\n")
	}
	return b.String()
}
