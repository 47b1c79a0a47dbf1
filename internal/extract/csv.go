package extract

import (
	"strconv"
	"strings"
)

// maxHeader is the longest CSV header that is worth repeating in every chunk, in bytes.
const maxHeader = 4 << 10

// csvMarks finds where the records of a CSV text start (RFC 4180, read as encoding/csv does: line
// ends inside quotes belong to the record, blank lines are no records), and its header row. The
// text itself stays as it is.
func csvMarks(text string) (marks []Mark, header string) {
	comma := sniffComma(text)
	row := 0
	for at := 0; at < len(text); {
		end := recordEnd(text, at, comma)
		if text[at] != '\n' {
			row++
			marks = appendMark(marks, Mark{Offset: at, Row: row})
			if row == 1 {
				header = headerRow(strings.TrimSuffix(text[at:end], "\n"), comma)
			}
		}
		at = end
	}
	return marks, header
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

// sniffComma is the separator that stands most often in the first line, outside quotes.
func sniffComma(text string) byte {
	line, _ := cutLine(text, 0)
	counts := map[byte]int{}
	quoted := false
	for i := range min(len(line), maxHeader) {
		if line[i] == '"' {
			quoted = !quoted
		}
		if !quoted {
			counts[line[i]]++
		}
	}
	best := byte(',')
	for _, c := range []byte{';', '\t', '|'} {
		if counts[c] > counts[best] {
			best = c
		}
	}
	return best
}

// headerRow gives the first record if it looks like a header: no empty field and no number.
func headerRow(record string, comma byte) string {
	if len(record) > maxHeader {
		return ""
	}
	for field := range strings.SplitSeq(record, string(comma)) {
		field = strings.Trim(field, "\" \t")
		if field == "" {
			return ""
		}
		if _, err := strconv.ParseFloat(strings.ReplaceAll(field, ",", "."), 64); err == nil {
			return ""
		}
	}
	return record
}
