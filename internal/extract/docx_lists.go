package extract

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// Bounds of what is kept of a document's lists.
const (
	maxLists     = 10_000
	listLevels   = 9
	maxLevelText = 60 // bytes
)

// wordLevel is how the items of a level are numbered (ECMA-376 part 1, 17.9.6).
type wordLevel struct {
	start   int
	format  string
	text    string // "%1.%2" stands for the numbers of the levels 1 and 2
	legal   bool   // all numbers in digits
	forever bool   // the count goes on after an item of a higher level
}

// wordKind is a kind of list, of which lists can be made (17.9.1).
type wordKind struct {
	levels map[int]wordLevel
	counts [listLevels]int
	begun  [listLevels]bool
}

// wordList is a list. Those of one kind go on counting where another one has ended, but for the levels whose start they say (17.9.15).
type wordList struct {
	kind   string
	starts map[int]int       // not yet used
	levels map[int]wordLevel // in place of the kind's
}

// wordLists are the lists of a document, and how far each has been counted.
type wordLists struct {
	kinds map[string]*wordKind
	lists map[string]*wordList
}

// lists reads the part that says how lists are numbered.
func (p *wordPackage) lists() (*wordLists, error) {
	lists := &wordLists{kinds: map[string]*wordKind{}, lists: map[string]*wordList{}}
	parts, err := p.side("numbering")
	if err != nil || len(parts) == 0 {
		return lists, err
	}
	r := listsReader{lists: lists}
	return lists, p.read(parts[0], func(x *xmlReader) error {
		return x.each(func(e xml.StartElement) error {
			if e.Name.Space == "w" {
				r.take(e)
			}
			return nil
		})
	})
}

// listsReader is what the elements that follow belong to.
type listsReader struct {
	lists  *wordLists
	list   *wordList
	levels map[int]wordLevel
	at     int
}

func (r *listsReader) take(e xml.StartElement) {
	switch e.Name.Local {
	case "abstractNum":
		r.list, r.levels = nil, map[int]wordLevel{}
		if len(r.lists.kinds) < maxLists {
			r.lists.kinds[attr(e, "abstractNumId")] = &wordKind{levels: r.levels}
		}
	case "num":
		r.levels = map[int]wordLevel{}
		r.list = &wordList{levels: r.levels, starts: map[int]int{}}
		if len(r.lists.lists) < maxLists {
			r.lists.lists[attr(e, "numId")] = r.list
		}
	case "abstractNumId":
		if r.list != nil {
			r.list.kind = attr(e, "val")
		}
	case "lvlOverride":
		r.at = levelNumber(attr(e, "ilvl"))
	case "startOverride":
		if n, given := listNumber(attr(e, "val")); given && r.list != nil {
			r.list.starts[r.at] = n
		}
	case "lvl":
		if r.levels != nil {
			r.at = levelNumber(attr(e, "ilvl"))
			r.levels[r.at] = wordLevel{format: "decimal"}
		}
	default:
		r.takeLevel(e)
	}
}

// takeLevel takes what is said of a level.
func (r *listsReader) takeLevel(e xml.StartElement) {
	level, open := r.levels[r.at]
	if !open {
		return
	}
	value := attr(e, "val")
	switch e.Name.Local {
	case "start":
		level.start, _ = listNumber(value)
	case "numFmt":
		level.format = value
	case "lvlText":
		level.text = levelText(value)
	case "isLgl":
		level.legal = value != "0" && value != "false"
	case "lvlRestart":
		level.forever = value == "0"
	}
	r.levels[r.at] = level
}

// levelText cuts what stands around a number.
func levelText(value string) string {
	return clean(strings.ToValidUTF8(value[:min(len(value), maxLevelText)], ""))
}

func levelNumber(value string) int {
	n, _ := strconv.Atoi(value)
	return min(max(n, 0), listLevels-1)
}

// label counts an item, and gives what stands before it: "- " where its list has no numbers, or isn't known, and "" for nothing.
func (l *wordLists) label(number string, at int) string {
	at = min(max(at, 0), listLevels-1)
	list := l.lists[number]
	if list == nil || l.kinds[list.kind] == nil {
		return "- "
	}
	kind := l.kinds[list.kind]
	level, known := list.level(kind, at)
	if !known || level.format == "bullet" {
		return "- "
	}
	list.count(kind, at)
	var b strings.Builder
	for i := 0; i < len(level.text); i++ {
		if c := level.text[i]; c != '%' || i+1 == len(level.text) || level.text[i+1] < '1' || level.text[i+1] > '9' {
			b.WriteByte(c)
			continue
		}
		i++
		b.WriteString(list.number(kind, int(level.text[i]-'1'), level.legal))
	}
	if label := strings.TrimSpace(b.String()); label != "" {
		return label + " "
	}
	return ""
}

func (l *wordList) level(kind *wordKind, at int) (level wordLevel, known bool) {
	if level, known = l.levels[at]; known {
		return level, true
	}
	level, known = kind.levels[at]
	return level, known
}

// count goes on to the next item of a level, with which the levels below begin anew.
func (l *wordList) count(kind *wordKind, at int) {
	level, _ := l.level(kind, at)
	start, given := l.starts[at]
	switch {
	case given:
		kind.counts[at] = start
		delete(l.starts, at)
	case kind.begun[at]:
		kind.counts[at]++
	default:
		kind.counts[at] = level.start
	}
	kind.begun[at] = true
	for below := at + 1; below < listLevels; below++ {
		if lower, _ := l.level(kind, below); !lower.forever {
			kind.begun[below] = false
		}
	}
}

// number is that of a level, in its own way.
func (l *wordList) number(kind *wordKind, at int, legal bool) string {
	level, _ := l.level(kind, at)
	n := level.start
	if kind.begun[at] {
		n = kind.counts[at]
	}
	if legal {
		return numeral(n, digits)
	}
	switch level.format {
	case "none":
		return ""
	case "decimalZero":
		if n >= 0 && n < 10 {
			return "0" + strconv.Itoa(n)
		}
	case "lowerLetter":
		return numeral(n, lowerLetters)
	case "upperLetter":
		return numeral(n, upperLetters)
	case "lowerRoman":
		return numeral(n, lowerRoman)
	case "upperRoman":
		return numeral(n, upperRoman)
	}
	return numeral(n, digits)
}
