package extract

import (
	"cmp"
	"encoding/xml"
	"strconv"
	"strings"
)

// odtLevel is how the items of a level are numbered (ISO/IEC 26300-1, 19.500, 20.10); without a way they have no numbers.
type odtLevel struct {
	way            string
	start          int
	prefix, suffix string
	shown          int // how many levels' numbers are shown
}

// odtList is a list with those inside it.
type odtList struct {
	styles [listLevels]string
	counts [listLevels]int // of the last items
	begun  [listLevels]bool
}

// odtLists are the styles of a document's lists, and the lists that are open.
type odtLists struct {
	styles map[string]map[int]odtLevel
	levels map[int]odtLevel // of the style that is being read

	depth int // lists that are open, one in another
	outer *odtList
	last  map[string]*odtList
	byID  map[string]*odtList
}

func newODTLists() *odtLists {
	return &odtLists{styles: map[string]map[int]odtLevel{}, last: map[string]*odtList{}, byID: map[string]*odtList{}}
}

// read takes the styles of a part.
func (l *odtLists) read(x *xmlReader) error {
	return x.each(func(e xml.StartElement) error {
		l.take(e.Name.Space+":"+e.Name.Local, e)
		return nil
	})
}

// take takes what an element says about the style of a list.
func (l *odtLists) take(name string, e xml.StartElement) {
	switch name {
	case "text:list-style":
		l.levels = map[int]odtLevel{}
		if len(l.styles) < maxLists {
			l.styles[attr(e, "name")] = l.levels
		}
	case "text:list-level-style-number":
		if at, err := strconv.Atoi(attr(e, "level")); l.levels != nil && err == nil && at >= 1 && at <= listLevels {
			l.levels[at-1] = levelOf(e)
		}
	}
}

func levelOf(e xml.StartElement) odtLevel {
	level := odtLevel{start: 1, shown: 1}
	if n, given := listNumber(attr(e, "start-value")); given {
		level.start = n
	}
	if n, err := strconv.Atoi(attr(e, "display-levels")); err == nil {
		level.shown = min(max(n, 1), listLevels)
	}
	level.way = attr(e, "num-format")
	level.prefix, level.suffix = levelText(attr(e, "num-prefix")), levelText(attr(e, "num-suffix"))
	return level
}

// open begins a list. One inside another belongs to it; one that continues another counts on.
func (l *odtLists) open(e xml.StartElement) {
	l.depth++
	style := attr(e, "style-name")
	if at := l.depth - 1; at > 0 {
		if at < listLevels {
			l.outer.styles[at], l.outer.begun[at] = cmp.Or(style, l.outer.styles[at-1]), false
		}
		return
	}
	before := l.byID[attr(e, "continue-list")]
	if before == nil && attr(e, "continue-numbering") == "true" {
		before = l.last[style]
	}
	list := &odtList{}
	if before != nil {
		*list = *before
	}
	list.styles[0] = cmp.Or(style, list.styles[0])
	l.outer = list
	keepList(l.last, style, list)
	if id := attr(e, "id"); id != "" {
		keepList(l.byID, id, list)
	}
}

func keepList(lists map[string]*odtList, name string, list *odtList) {
	if len(lists) < maxLists {
		lists[name] = list
	}
}

func (l *odtLists) close() { l.depth = max(0, l.depth-1) }

// item counts an item, and gives what stands before it: "- " where it has no number.
func (l *odtLists) item(e xml.StartElement) string {
	if l.depth == 0 {
		return "- "
	}
	at, list := min(l.depth, listLevels)-1, l.outer
	levels := l.styles[list.styles[at]]
	switch start, given := listNumber(attr(e, "start-value")); {
	case given:
		list.counts[at] = start
	case list.begun[at]:
		list.counts[at]++
	default:
		list.counts[at] = max(levels[at].start, 0)
	}
	list.begun[at] = true
	level := levels[at]
	if level.way == "" {
		return "- "
	}
	var numbers []string
	for i := max(0, at+1-level.shown); i <= at; i++ {
		if way := levels[i].way; way != "" {
			numbers = append(numbers, numeral(list.counts[i], way))
		}
	}
	return strings.TrimSpace(level.prefix+strings.Join(numbers, ".")+level.suffix) + " "
}
