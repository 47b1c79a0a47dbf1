package main

import (
	"fmt"
	"io"
	"strings"
)

// curve is the mean precision at a recall of 0, 0.1 … 1, interpolated: the greatest at that recall or beyond.
type curve [11]float64

// curveOf is that of one ranking.
func curveOf(ranked []int, relevant map[int]bool) (c curve) {
	found := 0
	for i, id := range ranked {
		if !relevant[id] {
			continue
		}
		found++
		precision := float64(found) / float64(i+1)
		for level := 0; level <= 10*found/len(relevant); level++ {
			c[level] = max(c[level], precision)
		}
	}
	return c
}

// The picture's size and margins.
const (
	pictureWidth, pictureHeight = 640, 400
	pictureLeft, pictureTop     = 60, 20
	plotWidth, plotHeight       = 420, 330
)

var pictureColours = []string{"#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#d98200"}

// row is what was measured of one way to search.
type row struct {
	name string
	quality
}

// drawCurves writes an SVG of precision over recall.
func drawCurves(w io.Writer, rows []row) error {
	var b strings.Builder
	at := func(recall, precision float64) string {
		return fmt.Sprintf("%.1f,%.1f", pictureLeft+recall*plotWidth, pictureTop+(1-precision)*plotHeight)
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", pictureWidth, pictureHeight)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", pictureWidth, pictureHeight)
	for i := range 6 {
		level := float64(i) / 5
		fmt.Fprintf(&b, `<polyline points="%s %s" stroke="#ddd"/><polyline points="%s %s" stroke="#ddd"/>`+"\n", at(level, 0), at(level, 1), at(0, level), at(1, level))
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">%.1f</text>`, pictureLeft+level*plotWidth, pictureTop+plotHeight+18, level)
		fmt.Fprintf(&b, `<text x="%d" y="%.1f" text-anchor="end">%.1f</text>`+"\n", pictureLeft-8, pictureTop+(1-level)*plotHeight+4, level)
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">recall</text><text x="12" y="14">precision</text>`+"\n", pictureLeft+plotWidth/2, pictureHeight-12)
	for i, r := range rows {
		var points []string
		for level, precision := range r.Curve {
			points = append(points, at(float64(level)/10, precision))
		}
		colour, y := pictureColours[i%len(pictureColours)], pictureTop+20*(i+1)
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`, strings.Join(points, " "), colour)
		fmt.Fprintf(&b, `<text x="%d" y="%d" fill="%s">%s</text>`+"\n", pictureLeft+plotWidth+12, y, colour, textOf(r.name))
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// textOf escapes a name for SVG.
func textOf(s string) string { return strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(s) }
