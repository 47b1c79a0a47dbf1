package extract

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// wordStyle is what a paragraph style says about headings and lists.
type wordStyle struct {
	level   int    // of the heading that it makes; 0 for none
	list    string // the number of its list; "0" for none, "" where it says nothing
	at      int    // the list's level
	basedOn string
}

// maxStyleChain is how far basedOn is followed; a cycle ends there.
const maxStyleChain = 20

// styles gives the paragraph styles by their ids, each with what it has of those that it is based on. A heading is made by those with
// an outline level (ECMA-376 part 1, 17.3.1.20), and by those named "heading 1" to "heading 9" or "Title".
func (p *wordPackage) styles() (map[string]wordStyle, error) {
	parts, err := p.side("styles")
	if err != nil || len(parts) == 0 {
		return nil, err
	}
	styles := map[string]*wordStyle{}
	if err := p.read(parts[0], func(x *xmlReader) error { return readStyles(x, styles) }); err != nil {
		return nil, err
	}
	whole := map[string]wordStyle{}
	for id := range styles {
		if style := wholeStyle(styles, id); style.level > 0 || style.list != "" {
			whole[id] = style
		}
	}
	return whole, nil
}

func readStyles(x *xmlReader, styles map[string]*wordStyle) error {
	style := &wordStyle{}
	return x.each(func(e xml.StartElement) error {
		if e.Name.Space != "w" {
			return nil
		}
		switch e.Name.Local {
		case "style":
			style = &wordStyle{}
			if kind := attr(e, "type"); kind == "paragraph" || kind == "" {
				styles[attr(e, "styleId")] = style
			}
		case "name":
			style.level = max(style.level, namedLevel(attr(e, "val")))
		case "basedOn":
			style.basedOn = attr(e, "val")
		case "outlineLvl":
			style.level = outlineLevel(attr(e, "val"))
		case "numId":
			style.list = attr(e, "val")
		case "ilvl":
			style.at = levelNumber(attr(e, "val"))
		}
		return nil
	})
}

// namedLevel is the level of a style's name: 1 for a title, 2 for "heading 1".
func namedLevel(name string) int {
	name = strings.ToLower(name)
	level, found := strings.CutPrefix(name, "heading ")
	if found && len(level) == 1 && level >= "1" && level <= "9" {
		return int(level[0]-'0') + 1
	}
	if name == "title" {
		return 1
	}
	return 0
}

// outlineLevel is the level of a heading of an outline level, 0 to 8; 9 is body text.
func outlineLevel(value string) int {
	level, err := strconv.Atoi(value)
	if err != nil || level < 0 || level > 8 {
		return 0
	}
	return level + 2
}

// wholeStyle is a style with what it doesn't say itself.
func wholeStyle(styles map[string]*wordStyle, id string) (whole wordStyle) {
	for range maxStyleChain {
		style := styles[id]
		if style == nil {
			break
		}
		if whole.level == 0 {
			whole.level = style.level
		}
		if whole.list == "" {
			whole.list, whole.at = style.list, style.at
		}
		id = style.basedOn
	}
	return whole
}
