package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
)

// readHTML reads a page (HTML Living Standard), in the encoding that it names, or that it looks like.
func readHTML(src source, limits Limits) (*Result, error) {
	data, err := src.readAll(int64(limits.Text))
	if err != nil {
		return nil, err
	}
	if !isHTML(data[:min(len(data), HeadSize)]) {
		return nil, wrongContent(HTML, data[:min(len(data), HeadSize)])
	}
	text, err := decodePage(data)
	if err != nil {
		return nil, err
	}
	b := newTextBuilder(limits)
	r := pageReader{b: b}
	r.read(text)
	return b.result()
}

// decodePage takes the encoding from the page's own words, where it says one.
func decodePage(data []byte) (string, error) {
	if enc, _, certain := charset.DetermineEncoding(data[:min(len(data), 1024)], ""); certain && encodingByMark(data) == nil {
		return decodeWith(enc, data)
	}
	return decode(data)
}

// Gaps between what was written and what comes next.
const (
	noGap = iota
	spaceGap
	lineGap
	paragraphGap
)

// pageReader writes the text of a page in the order of its source: a line for each block and each row of a table (see
// writeTable), list items with their number or a dash. It is a tokenizer's loop without a tree, so that a page costs what its
// text does; tags that are never closed do no harm.
type pageReader struct {
	b *textBuilder
	// part: the page is a part of a book, in XHTML. Its title is no text, and tags can close themselves.
	part bool

	gap     int
	hidden  string // the element that is passed over, until it is closed as often as it was opened
	hides   int
	inTitle bool
	pre     int
	heading int  // where the heading's text begins, when one is open
	level   int  // of the heading that is open; 0 for none
	begun   bool // the heading has text
	lists   []pageList
	tables  int
	table   *pageTable   // the outer one
	outer   *textBuilder // what it stands in, while its rows are collected in b
	inCell  bool
}

// pageList is a list that is open. Without a way its items have no numbers.
type pageList struct {
	way  string
	next int
	step int // -1 where it counts down
}

func (r *pageReader) read(page string) {
	r.readTags(page)
	r.tables = min(r.tables, 1)
	r.closeTable()
}

func (r *pageReader) readTags(page string) {
	z := html.NewTokenizer(strings.NewReader(page))
	for !r.b.full {
		switch z.Next() {
		case html.ErrorToken:
			r.endHeading()
			return
		case html.TextToken:
			r.text(string(z.Text()))
		case html.StartTagToken:
			name, _ := z.TagName()
			r.start(string(name), z)
		case html.SelfClosingTagToken:
			name, _ := z.TagName()
			tag := string(name)
			if r.start(tag, z); r.part { // HTML knows no such tags: it is open
				r.end(tag)
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			r.end(string(name))
		}
	}
}

// hiddenTags are passed over with what is inside them.
var hiddenTags = map[string]bool{"script": true, "style": true, "template": true, "noscript": true, "svg": true, "iframe": true, "object": true, "select": true, "rt": true, "rp": true}

// blockGaps are what stands before and after a block.
var blockGaps = map[string]int{
	"p": paragraphGap, "h1": paragraphGap, "h2": paragraphGap, "h3": paragraphGap, "h4": paragraphGap, "h5": paragraphGap, "h6": paragraphGap,
	"ul": paragraphGap, "ol": paragraphGap, "dl": paragraphGap, "pre": paragraphGap, "blockquote": paragraphGap, "table": paragraphGap, "hr": paragraphGap,
	"section": paragraphGap, "article": paragraphGap, "title": paragraphGap,
	"div": lineGap, "li": lineGap, "dt": lineGap, "dd": lineGap, "tr": lineGap, "header": lineGap, "footer": lineGap, "main": lineGap, "nav": lineGap, "aside": lineGap,
	"address": lineGap, "figure": lineGap, "figcaption": lineGap, "caption": lineGap, "form": lineGap, "fieldset": lineGap, "legend": lineGap, "details": lineGap,
	"summary": lineGap, "body": lineGap, "center": lineGap, "option": lineGap,
}

func (r *pageReader) start(tag string, z *html.Tokenizer) {
	if r.hidden != "" {
		if tag == r.hidden {
			r.hides++
		}
		return
	}
	if hiddenTags[tag] {
		r.hidden, r.hides = tag, 1
		return
	}
	if tag == "tr" {
		r.row()
	}
	r.block(tag)
	switch tag {
	case "title":
		r.inTitle, r.level, r.begun = true, 1, false
	case "h1", "h2", "h3", "h4", "h5", "h6":
		r.endHeading()
		r.level, r.begun = int(tag[1]-'0')+1, false
	case "pre":
		r.pre++
	case "ul", "menu":
		r.open(pageList{})
	case "ol":
		r.open(numberedList(z))
	case "table":
		r.openTable()
	case "td", "th":
		r.cell(tag, z)
	case "li":
		r.item(attribute(z, "value"))
	case "br":
		r.want(lineGap)
	case "img":
		r.text(attribute(z, "alt"))
	}
}

// attribute is the value of one of the tag's attributes, or "".
func attribute(z *html.Tokenizer, name string) string {
	for {
		key, value, more := z.TagAttr()
		if string(key) == name {
			return string(value)
		}
		if !more {
			return ""
		}
	}
}

func (r *pageReader) end(tag string) {
	if r.hidden != "" {
		if tag == r.hidden {
			if r.hides--; r.hides == 0 {
				r.hidden = ""
			}
		}
		return
	}
	switch tag {
	case "title":
		r.endHeading()
		r.inTitle = false
	case "h1", "h2", "h3", "h4", "h5", "h6":
		r.endHeading()
	case "pre":
		r.pre = max(0, r.pre-1)
	case "ul", "ol", "menu":
		r.lists = r.lists[:max(0, len(r.lists)-1)]
	case "table":
		r.closeTable()
	}
	r.block(tag)
}

// block sets what comes next off from what was written. Lists within lists, and what is in a table, stay close.
func (r *pageReader) block(tag string) {
	gap := blockGaps[tag]
	if gap == paragraphGap && (len(r.lists) > 0 && (tag == "ul" || tag == "ol") || r.tables > 0 && tag != "table") {
		gap = lineGap
	}
	r.want(gap)
}

// want asks for a gap before the next text. Inside a table's cell a line's end would end the row.
func (r *pageReader) want(gap int) {
	if r.inCell && r.tables > 0 && gap > spaceGap {
		gap = spaceGap
	}
	r.gap = max(r.gap, gap)
}

// open begins a list.
func (r *pageReader) open(list pageList) {
	if len(r.lists) < maxDepth {
		r.lists = append(r.lists, list)
	}
}

// numberedList is the list that a tag begins. One that counts down without saying from where has no numbers, as they are known only at
// its end.
func numberedList(z *html.Tokenizer) pageList {
	list := pageList{way: digits, next: 1, step: 1}
	begins := false
	for {
		key, value, more := z.TagAttr()
		switch string(key) {
		case "start":
			if n, given := listNumber(string(value)); given {
				list.next, begins = n, true
			}
		case "type":
			list.way = string(value)
		case "reversed":
			list.step = -1
		}
		if !more {
			break
		}
	}
	if list.step < 0 && !begins {
		return pageList{}
	}
	return list
}

// item begins an item of the innermost list, where it says so with this number.
func (r *pageReader) item(value string) {
	if r.tables > 0 {
		return
	}
	mark := "- "
	if n := len(r.lists); n > 0 && r.lists[n-1].way != "" {
		list := &r.lists[n-1]
		if n, given := listNumber(value); given {
			list.next = n
		}
		mark = numeral(list.next, list.way) + ". "
		list.next += list.step
	}
	r.put(strings.Repeat("  ", min(max(len(r.lists)-1, 0), 8)) + mark)
}

// text writes characters. White space is folded, but in preformatted text.
func (r *pageReader) text(s string) {
	if s == "" || r.hidden != "" || r.inTitle && r.part {
		return
	}
	s = clean(s)
	if r.pre > 0 && r.tables == 0 {
		r.put(s)
		return
	}
	for i, word := range strings.Fields(s) {
		if i > 0 || isSpaceAt(s, 0) {
			r.want(spaceGap)
		}
		r.put(word)
	}
	if isSpaceAt(s, len(s)-1) {
		r.want(spaceGap)
	}
}

func isSpaceAt(s string, i int) bool {
	return i >= 0 && i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t')
}

// put writes a piece of text after the gap that was asked for.
func (r *pageReader) put(s string) {
	if s == "" {
		return
	}
	r.fill()
	if r.level > 0 && !r.begun {
		r.begun, r.heading = true, r.b.len()
	}
	r.b.write(s)
}

// fill makes the gap.
func (r *pageReader) fill() {
	switch r.gap {
	case paragraphGap:
		r.b.paragraph()
	case lineGap:
		r.b.newline()
	case spaceGap:
		if text := r.b.text.String(); text != "" && !isSpaceAt(text, len(text)-1) {
			r.b.write(" ")
		}
	}
	r.gap = noGap
}

// endHeading marks where the heading begins that has ended.
func (r *pageReader) endHeading() {
	if r.level > 0 && r.begun && r.tables == 0 {
		if title := r.b.text.String()[min(r.heading, r.b.len()):]; !isBlank(title) {
			r.b.mark(Mark{Offset: r.heading, Heading: title, Level: r.level})
		}
	}
	r.level, r.begun = 0, false
}
