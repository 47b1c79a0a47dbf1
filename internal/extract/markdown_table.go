package extract

import (
	"regexp"
	"strings"
)

// delimiterRow stands below the header of a table (GitHub Flavored Markdown 4.10).
var delimiterRow = regexp.MustCompile(`^ {0,3}\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$`)

// markdownTable gives the rows of the table that begins at an offset (see writeTable), and where it ends; "" where none begins there.
func markdownTable(text string, at int) (rows string, end int) {
	header, next := cutLine(text, at)
	if !strings.Contains(header, "|") || next == len(text) || isCode(header) {
		return "", at
	}
	delimiter, next := cutLine(text, next)
	if len(delimiter) > maxWideHeader || !strings.Contains(delimiter, "|") || !delimiterRow.MatchString(delimiter) {
		return "", at
	}
	head := markdownCells(header)
	if len(head) != len(markdownCells(delimiter)) {
		return "", at
	}
	var b strings.Builder
	b.WriteString(headCell + strings.Join(head, "\t"+headCell) + "\n")
	for end = next; end < len(text); end = next {
		var line string
		if line, next = cutLine(text, end); endsTable(line) {
			break
		}
		cells := markdownCells(line)
		b.WriteString(strings.Join(cells[:min(len(cells), len(head))], "\t") + "\n")
	}
	return b.String(), end
}

// endsTable tells whether a line is none of a table's: it is blank, or begins another block.
func endsTable(line string) bool {
	body := strings.TrimSpace(line)
	if body == "" || isCode(line) {
		return true
	}
	_, level := atxTitle(body)
	return level > 0 || strings.HasPrefix(body, "```") || strings.HasPrefix(body, "~~~") || strings.HasPrefix(body, "> ")
}

// isCode tells whether a line is so far from the margin that it is code.
func isCode(line string) bool {
	return strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
}

// markdownCells takes a row apart. A bar after a backslash is none.
func markdownCells(line string) (cells []string) {
	line = strings.TrimSpace(line)
	line = strings.TrimPrefix(line, "|")
	if strings.HasSuffix(line, "|") && !strings.HasSuffix(line, `\|`) {
		line = line[:len(line)-1]
	}
	from := 0
	for i := range len(line) {
		if line[i] == '|' && (i == 0 || line[i-1] != '\\') {
			cells = append(cells, markdownCell(line[from:i]))
			from = i + 1
		}
	}
	return append(cells, markdownCell(line[from:]))
}

func markdownCell(s string) string {
	return strings.TrimSpace(cellBreaks.Replace(strings.ReplaceAll(s, `\|`, "|")))
}
