package extract

import "strings"

// markdownText finds the headings of a Markdown text (CommonMark 4.2 and 4.3, outside code fences and front matter). The text itself
// stays as it is, but for tables, whose rows are written so that each can be read alone.
func markdownText(text string, limits Limits) (*Result, error) {
	b := newTextBuilder(limits)
	var doc markdown
	previous, previousAt := "", 0
	at := skipFrontMatter(text)
	for b.write(text[:at]); at < len(text) && !b.full; {
		if doc.fence == "" {
			if rows, end := markdownTable(text, at); rows != "" {
				writeTable(b, rows)
				previous, at = "", end
				continue
			}
		}
		line, next := cutLine(text, at)
		here := b.len()
		b.write(text[at:next])
		switch title, level := doc.heading(line, previous); {
		case level > 0 && title == "":
			b.mark(Mark{Offset: previousAt, Heading: previous, Level: level})
			line = ""
		case title != "":
			b.mark(Mark{Offset: here, Heading: title, Level: level})
			line = ""
		}
		previous, previousAt = doc.paragraph(line), here
		at = next
	}
	return b.result()
}

// cutLine gives the line that starts at an offset, without its end, and where the next one starts.
func cutLine(text string, at int) (line string, next int) {
	if end := strings.IndexByte(text[at:], '\n'); end >= 0 {
		return text[at : at+end], at + end + 1
	}
	return text[at:], len(text)
}

// skipFrontMatter gives the end of a YAML block at the very start of the text, or 0.
func skipFrontMatter(text string) int {
	if !strings.HasPrefix(text, "---\n") {
		return 0
	}
	if end := strings.Index(text[3:], "\n---\n"); end >= 0 {
		return 3 + end + len("\n---\n")
	}
	return 0
}

// markdown is the state between lines: the code fence that is open, if any.
type markdown struct{ fence string }

// heading reads one line, and gives the level of the heading that it makes; 0 for none. title is that of an ATX heading; without
// one the line makes a heading of the paragraph line before it.
func (m *markdown) heading(line, previous string) (title string, level int) {
	indent := len(line) - len(strings.TrimLeft(line, " "))
	body := strings.TrimSpace(line)
	if m.fence != "" {
		if indent < 4 && strings.HasPrefix(body, m.fence) && strings.Trim(body, m.fence[:1]) == "" {
			m.fence = ""
		}
		return "", 0
	}
	if indent >= 4 {
		return "", 0
	}
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(body, mark) {
			m.fence = body[:len(body)-len(strings.TrimLeft(body, mark[:1]))]
			return "", 0
		}
	}
	switch {
	case body == "" || previous == "":
	case strings.Trim(body, "=") == "":
		return "", 1
	case strings.Trim(body, "-") == "":
		return "", 2
	}
	return atxTitle(body)
}

// paragraph gives the line if a setext underline may follow it.
func (m *markdown) paragraph(line string) string {
	body := strings.TrimSpace(line)
	if m.fence != "" || isCode(line) || body == "" {
		return ""
	}
	if strings.ContainsRune(">-*+|=`~#", rune(body[0])) {
		return ""
	}
	return body
}

// atxTitle is the text of a line such as "## Title ##" and its level, or nothing.
func atxTitle(body string) (title string, level int) {
	title = strings.TrimLeft(body, "#")
	level = len(body) - len(title)
	if level < 1 || level > 6 || title != "" && title[0] != ' ' && title[0] != '\t' {
		return "", 0
	}
	title = strings.TrimSpace(title)
	if open := strings.TrimRight(title, "#"); open == "" || strings.HasSuffix(open, " ") {
		title = strings.TrimSpace(open)
	}
	if title == "" {
		return "", 0
	}
	return title, level
}
