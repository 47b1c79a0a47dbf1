package extract

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// wordStyle is what a paragraph style says about headings.
type wordStyle struct {
	level   int // of the heading that it makes; 0 for none
	basedOn string
}

// maxStyleChain is how far basedOn is followed; a cycle ends there.
const maxStyleChain = 20

// headingStyles gives the ids of the paragraph styles that make a heading: those with an outline
// level (ECMA-376 part 1, 17.3.1.20), those named "heading 1" to "heading 9" or "Title", and those
// based on one of them.
func (p *wordPackage) headingStyles() (map[string]int, error) {
	parts, err := p.side("styles")
	if err != nil || len(parts) == 0 {
		return nil, err
	}
	styles := map[string]*wordStyle{}
	if err := p.read(parts[0], func(x *xmlReader) error { return readStyles(x, styles) }); err != nil {
		return nil, err
	}
	headings := map[string]int{}
	for id := range styles {
		if level := styleLevel(styles, id); level > 0 {
			headings[id] = level
		}
	}
	return headings, nil
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

func styleLevel(styles map[string]*wordStyle, id string) int {
	for range maxStyleChain {
		style := styles[id]
		if style == nil {
			return 0
		}
		if style.level > 0 {
			return style.level
		}
		id = style.basedOn
	}
	return 0
}
