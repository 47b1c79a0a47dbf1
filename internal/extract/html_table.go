package extract

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// pageTable is the outer table that is being read: its rows are collected, until it ends (see writeTable).
type pageTable struct {
	rows *textBuilder
	// below counts, for each column, the rows that the cell above goes on for.
	below  []int
	column int // where the row's next cell begins
	cells  int // written in the row
	// pending are further columns that the last cell takes.
	pending int
}

// openTable begins a table. One inside another is a part of its cell.
func (r *pageReader) openTable() {
	if r.tables++; r.tables > 1 {
		return
	}
	r.endHeading()
	r.fill()
	r.outer, r.table = r.b, &pageTable{rows: newTextBuilder(Limits{Text: r.b.limit})}
	r.b = r.table.rows
}

// closeTable ends a table, and writes the outer one.
func (r *pageReader) closeTable() {
	if r.tables = max(0, r.tables-1); r.tables > 0 || r.table == nil {
		return
	}
	r.endHeading()
	r.table.endRow()
	rows := r.table.rows
	r.b, r.outer, r.table, r.inCell, r.gap = r.outer, nil, nil, false, noGap
	r.b.full = r.b.full || rows.full
	writeTable(r.b, rows.text.String())
}

// row begins a row of the outer table.
func (r *pageReader) row() {
	if r.tables == 1 && r.table != nil {
		r.inCell = false
		r.table.endRow()
	}
}

// cell begins a cell.
func (r *pageReader) cell(tag string, z *html.Tokenizer) {
	if r.tables != 1 || r.table == nil {
		r.want(spaceGap)
		return
	}
	r.gap = noGap
	wide, high := spans(z)
	r.table.begin(wide, high)
	if tag == "th" {
		r.b.write(headCell)
	}
	r.inCell = true
}

// spans are how many columns and rows a cell takes.
func spans(z *html.Tokenizer) (wide, high int) {
	wide, high = 1, 1
	for {
		key, value, more := z.TagAttr()
		switch n, _ := strconv.Atoi(string(value)); string(key) {
		case "colspan":
			wide = min(max(n, 1), maxSpan)
		case "rowspan":
			high = min(max(n, 1), maxSpan)
		}
		if !more {
			return wide, high
		}
	}
}

// begin writes what stands before the text of a cell: the cells above that go on, and the columns that the one before it takes.
func (t *pageTable) begin(wide, high int) {
	if t.cells == 0 && t.column == 0 {
		t.rows.newline()
	}
	t.goOn()
	t.next()
	t.cells++
	for i := range wide {
		if t.column+i == len(t.below) {
			t.below = append(t.below, 0)
		}
		t.below[t.column+i] = high - 1
	}
	t.column += wide
	t.pending = wide - 1
}

// next ends the cell before.
func (t *pageTable) next() {
	if t.cells > 0 || t.column > 0 {
		t.rows.write(strings.Repeat("\t", 1+t.pending))
	}
	t.pending = 0
}

// goOn writes the cells that the row above has begun, from the next column on.
func (t *pageTable) goOn() {
	for t.column < len(t.below) && t.below[t.column] > 0 {
		t.next()
		t.rows.write(sameCell)
		t.below[t.column]--
		t.column++
		t.cells++
	}
}

// endRow ends a row that has cells.
func (t *pageTable) endRow() {
	if t.cells > 0 {
		t.goOn()
	}
	t.column, t.cells, t.pending = 0, 0, 0
}
