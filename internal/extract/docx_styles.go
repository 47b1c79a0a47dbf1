package extract

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// wordStyle is what a paragraph style says about headings.
type wordStyle struct {
	heading bool
	basedOn string
}

// maxStyleChain is how far basedOn is followed; a cycle ends there.
const maxStyleChain = 20

// headingStyles gives the ids of the paragraph styles that make a heading: those with an outline
// level (ECMA-376 part 1, 17.3.1.20), those named "heading 1" to "heading 9" or "Title", and those
// based on one of them.
func (p *wordPackage) headingStyles() (map[string]bool, error) {
	parts, err := p.side("styles")
	if err != nil || len(parts) == 0 {
		return nil, err
	}
	styles := map[string]*wordStyle{}
	if err := p.read(parts[0], func(x *xmlReader) error { return readStyles(x, styles) }); err != nil {
		return nil, err
	}
	headings := map[string]bool{}
	for id := range styles {
		if isHeadingStyle(styles, id) {
			headings[id] = true
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
			style.heading = style.heading || isHeadingName(attr(e, "val"))
		case "basedOn":
			style.basedOn = attr(e, "val")
		case "outlineLvl":
			style.heading = isOutlineLevel(attr(e, "val"))
		}
		return nil
	})
}

func isHeadingName(name string) bool {
	name = strings.ToLower(name)
	level, found := strings.CutPrefix(name, "heading ")
	if found && len(level) == 1 && level >= "1" && level <= "9" {
		return true
	}
	return name == "title"
}

// isOutlineLevel tells levels 0 to 8 from 9, which is body text.
func isOutlineLevel(value string) bool {
	level, err := strconv.Atoi(value)
	return err == nil && level >= 0 && level <= 8
}

func isHeadingStyle(styles map[string]*wordStyle, id string) bool {
	for range maxStyleChain {
		style := styles[id]
		if style == nil {
			return false
		}
		if style.heading {
			return true
		}
		id = style.basedOn
	}
	return false
}
