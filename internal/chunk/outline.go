package chunk

import (
	"slices"
	"strings"
)

// outline is what is known of a text's structure: where pages, sections and rows begin.
type outline struct {
	marks    []Mark // pages and headings, each with both in force from there on
	sections []int  // their offsets
	rows     []int  // offsets at which rows begin
	numbers  []int  // numbers of the rows; nil when they count from 1
}

func newOutline(text string, marks []Mark, kind Kind) outline {
	var o outline
	var page int
	var heading string
	for _, m := range marks {
		m.Offset = runeStart(text, m.Offset)
		if m.Row > 0 {
			o.rows = append(o.rows, m.Offset)
			o.numbers = append(o.numbers, m.Row)
		}
		if m.Row > 0 && m.Page == 0 && m.Heading == "" {
			continue
		}
		if m.Page > 0 {
			page = m.Page
		}
		if m.Heading != "" {
			heading = m.Heading
		}
		o.marks = append(o.marks, Mark{Offset: m.Offset, Page: page, Heading: heading})
	}
	if kind == Markdown && heading == "" {
		o.addHeadings(text)
	}
	if kind == CSV && o.rows == nil {
		o.rows = records(text)
	}
	for _, m := range o.marks {
		o.sections = append(o.sections, m.Offset)
	}
	return o
}

// addHeadings adds the headings of a Markdown text to its marks.
func (o *outline) addHeadings(text string) {
	merged := append(o.marks, headings(text)...)
	slices.SortStableFunc(merged, func(a, b Mark) int { return a.Offset - b.Offset })
	var page int
	var heading string
	for i := range merged {
		if merged[i].Page > 0 {
			page = merged[i].Page
		}
		if merged[i].Heading != "" {
			heading = merged[i].Heading
		}
		merged[i].Page, merged[i].Heading = page, heading
	}
	o.marks = merged
}

// last returns the last strongest border of the outline in (low, high].
func (o *outline) last(low, high int) (int, bool) {
	for _, offsets := range [][]int{o.sections, o.rows} {
		i, _ := slices.BinarySearch(offsets, high+1)
		if i > 0 && offsets[i-1] > low {
			return offsets[i-1], true
		}
	}
	return 0, false
}

// first returns the first strongest border of the outline in [low, high].
func (o *outline) first(low, high int) (int, bool) {
	for _, offsets := range [][]int{o.sections, o.rows} {
		i, _ := slices.BinarySearch(offsets, low)
		if i < len(offsets) && offsets[i] <= high {
			return offsets[i], true
		}
	}
	return 0, false
}

// at returns the page, heading and row in force at an offset.
func (o *outline) at(offset int) (page int, heading string, row int) {
	if i, _ := slices.BinarySearch(o.sections, offset+1); i > 0 {
		page, heading = o.marks[i-1].Page, o.marks[i-1].Heading
	}
	if i, _ := slices.BinarySearch(o.rows, offset+1); i > 0 {
		row = i
		if o.numbers != nil {
			row = o.numbers[i-1]
		}
	}
	return page, heading, row
}

// headings finds the ATX headings of a Markdown text outside of fenced code (CommonMark 4.2, 4.5).
func headings(text string) []Mark {
	var found []Mark
	fence := ""
	offset := 0
	for line := range strings.Lines(text) {
		body := strings.TrimRight(line, "\r\n")
		trimmed := strings.TrimLeft(body, " ")
		switch mark := fenceOf(trimmed); {
		case len(body)-len(trimmed) > 3: // indented code
		case fence == "" && mark != "":
			fence = mark
		case fence != "":
			if strings.HasPrefix(mark, fence) && strings.TrimRight(trimmed, " \t") == mark {
				fence = ""
			}
		default:
			if title := headingOf(trimmed); title != "" {
				found = append(found, Mark{Offset: offset, Heading: title})
			}
		}
		offset += len(line)
	}
	return found
}

// fenceOf returns the run of three or more backticks or tildes that a line begins with.
func fenceOf(line string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// headingOf returns the text of an ATX heading line, or "".
func headingOf(line string) string {
	title := strings.TrimLeft(line, "#")
	if n := len(line) - len(title); n == 0 || n > 6 || title == "" || (title[0] != ' ' && title[0] != '\t') {
		return ""
	}
	title = strings.TrimSpace(title)
	if bare := strings.TrimRight(title, "#"); bare == "" || strings.HasSuffix(bare, " ") {
		title = strings.TrimSpace(bare)
	}
	return title
}

// records returns where the records of a delimited text begin. A quote opens a quoted field only at
// a field's beginning (RFC 4180), so one in the midst of a field does no harm; a quoted field that
// never ends is taken for text from its quote on.
func records(text string) []int {
	starts := []int{0}
	quoted, opened := false, 0
	fieldStart := true
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quoted:
			quoted = c != '"'
			if i == len(text)-1 && quoted {
				return appendLines(starts, text, opened)
			}
		case c == '"' && (fieldStart || i > 0 && text[i-1] == '"'): // opened, or an escaped quote goes on
			if fieldStart {
				opened = i
			}
			quoted, fieldStart = true, false
		case c == '\n':
			if i+1 < len(text) {
				starts = append(starts, i+1)
			}
			fieldStart = true
		default:
			fieldStart = c == ',' || c == ';' || c == '\t' || c == '|'
		}
	}
	return starts
}

// appendLines appends the starts of the lines after an offset.
func appendLines(starts []int, text string, from int) []int {
	for i := from; i < len(text)-1; i++ {
		if text[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}
