package extract

import (
	"iter"
	"strconv"
	"strings"
)

// maxHeader is the longest CSV header that is worth repeating in every chunk, in bytes.
const maxHeader = 4 << 10

// csvText finds where the records of a CSV text start (RFC 4180, read as encoding/csv does: line
// ends inside quotes belong to the record, blank lines are no records), and its header row, below
// which a wide table has its columns' names in each row. Otherwise the text stays as it is.
func csvText(text string, limits Limits) (*Result, error) {
	comma := sniffComma(text)
	head := findHeader(text, comma)
	if len(head.names) > wideColumns {
		return wideText(text, comma, head, limits)
	}
	result := &Result{Text: text, Header: head.text}
	for r := range records(text, comma) {
		result.Marks = appendMark(result.Marks, head.mark(r.at, r.row))
	}
	return result, nil
}

// maxWideHeader is the longest header of a wide table, in bytes.
const maxWideHeader = 256 << 10

// wideColumns is from how many columns on a reader has lost count, and rows have the names of theirs.
const wideColumns = 8

// wideText writes the rows below the header as columns with their values.
func wideText(text string, comma byte, head csvHeader, limits Limits) (*Result, error) {
	b := newTextBuilder(limits)
	rows := newRowWriter(b, head.names)
	for r := range records(text, comma) {
		b.newline()
		b.mark(head.mark(b.len(), r.row))
		if record := strings.TrimSuffix(text[r.at:r.end], "\n"); r.row <= head.row {
			b.write(record)
		} else {
			rows.write(csvFields(record, comma))
		}
		if b.full {
			return nil, failTooLarge
		}
	}
	b.newline()
	return b.result()
}

// csvRecord is where a record stands, and its number, from 1.
type csvRecord struct{ at, end, row int }

func records(text string, comma byte) iter.Seq[csvRecord] {
	return func(yield func(csvRecord) bool) {
		row := 0
		for at := 0; at < len(text); {
			end := recordEnd(text, at, comma)
			if text[at] != '\n' {
				if row++; !yield(csvRecord{at, end, row}) {
					return
				}
			}
			at = end
		}
	}
}

// csvHeader is the header row, or none, and what stands above it.
type csvHeader struct {
	text  string
	names []string
	row   int
	title string
}

// mark is that of a row. What is said above the header is the heading of all.
func (h csvHeader) mark(at, row int) Mark {
	if h.title == "" {
		return Mark{Offset: at, Row: row}
	}
	return Mark{Offset: at, Row: row, Heading: h.title, Level: 1}
}

// findHeader looks for the header in the first records, below titles, which have text in one field alone.
func findHeader(text string, comma byte) (none csvHeader) {
	title := ""
	for r := range records(text, comma) {
		if r.row > headRows || r.end-r.at > maxWideHeader {
			break
		}
		record := strings.TrimSuffix(text[r.at:r.end], "\n")
		fields := csvFields(record, comma)
		next := recordAfter(text, r.end, comma)
		if alone := onlyField(fields); alone != "" && columnsAt(next, 0, comma) > 1 {
			if title == "" {
				title = alone
			}
			continue
		}
		if len(fields) <= wideColumns && len(record) > maxHeader || !isHeaderRow(fields, csvFields(next, comma)) {
			break
		}
		return csvHeader{text: record, names: fields, row: r.row, title: title}
	}
	return none
}

// recordEnd is where the record that starts at an offset ends, its line end included. A quote opens
// a quoted field only at the field's start. One that is never closed within maxQuoted bytes is an
// ordinary character, so that a stray quote does not swallow the file.
func recordEnd(text string, at int, comma byte) int {
	for i := at; i < len(text); {
		if text[i] == '"' {
			if end := closingQuote(text, i+1); end > 0 {
				i = end
			}
		}
		// To the end of the field.
		for i < len(text) && text[i] != comma && text[i] != '\n' {
			i++
		}
		if i < len(text) && text[i] == '\n' {
			return i + 1
		}
		i++
	}
	return len(text)
}

// maxQuoted is the longest quoted field, in bytes; a spreadsheet's cell holds 32,767 characters.
const maxQuoted = 256 << 10

// closingQuote is the place after the quote that closes the field whose content starts at i, or -1.
// A quote closes where a comma, line end or another kind of text follows; a doubled one does not.
func closingQuote(text string, i int) int {
	limit := min(len(text), i+maxQuoted)
	for i < limit {
		at := strings.IndexByte(text[i:limit], '"')
		if at < 0 {
			return -1
		}
		i += at + 1
		if i >= len(text) || text[i] != '"' {
			return i
		}
		i++
	}
	return -1
}

// recordAfter is the next record, or its beginning.
func recordAfter(text string, at int, comma byte) string {
	for at < len(text) && text[at] == '\n' {
		at++
	}
	record := text[at:recordEnd(text, at, comma)]
	return record[:min(len(record), maxWideHeader)]
}

// sniffRecords is how many records decide on the separator.
const sniffRecords = 20

// sniffComma is the separator by which most of the first records have as many fields as others, above one; of equals the one that
// stands most often in the first record.
func sniffComma(text string) byte {
	best, agree, inFirst := byte(','), 0, 0
	for _, comma := range []byte{',', ';', '\t', '|'} {
		counts, most, first := map[int]int{}, 0, 0
		for r := range records(text, comma) {
			if r.row > sniffRecords {
				break
			}
			n := columnsAt(text, r.at, comma)
			if r.row == 1 {
				first = n
			}
			if counts[n]++; n > 1 {
				most = max(most, counts[n])
			}
		}
		if most > agree || most == agree && first > inFirst {
			best, agree, inFirst = comma, most, first
		}
	}
	return best
}

// columnsAt counts the fields of a record.
func columnsAt(text string, at int, comma byte) int {
	n := 0
	for range fieldsOf(text[at:recordEnd(text, at, comma)], comma) {
		n++
	}
	return n
}

// fieldsOf yields the fields of a record as they are written.
func fieldsOf(record string, comma byte) iter.Seq[string] {
	record = strings.TrimSuffix(record, "\n")
	return func(yield func(string) bool) {
		for at := 0; at <= len(record); {
			i := at
			if i < len(record) && record[i] == '"' {
				if end := closingQuote(record, i+1); end > 0 {
					i = end
				}
			}
			end := len(record)
			if n := strings.IndexByte(record[i:], comma); n >= 0 {
				end = i + n
			}
			if !yield(record[at:end]) {
				return
			}
			at = end + 1
		}
	}
}

// csvFields are the values of a record, each on one line.
func csvFields(record string, comma byte) (fields []string) {
	for field := range fieldsOf(record, comma) {
		field = strings.TrimSpace(field)
		if len(field) > 1 && field[0] == '"' && field[len(field)-1] == '"' {
			field = strings.ReplaceAll(field[1:len(field)-1], `""`, `"`)
		}
		fields = append(fields, strings.TrimSpace(cellBreaks.Replace(field)))
	}
	return fields
}

// onlyField is the text of a record that has text in one field alone.
func onlyField(fields []string) (only string) {
	for _, field := range fields {
		if field != "" && only != "" {
			return ""
		}
		only += field
	}
	return only
}

// isHeaderRow tells whether a record looks like a header: no empty field but the first, and no number but years, unless the next
// record is of years, too.
func isHeaderRow(fields, next []string) bool {
	years := 0
	for i, field := range fields {
		_, err := strconv.ParseFloat(strings.ReplaceAll(field, ",", "."), 64)
		switch {
		case isYear(field):
			years++
		case err == nil, field == "" && (i > 0 || len(fields) == 1):
			return false
		}
	}
	if years < len(fields) {
		return true
	}
	for _, field := range next {
		if !isYear(field) {
			return years > 1
		}
	}
	return false
}
