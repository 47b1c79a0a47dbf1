package extract

import (
	"cmp"
	"slices"
	"unicode/utf16"

	"github.com/klippa-app/go-pdfium/requests"
)

// How a line is put together of its characters, in heights of the line.
const (
	sameLine = 0.35 // how far the marks of a line stand above and below it
	wordGap  = 0.16 // between two words
	plainGap = 0.3  // between two of which the engine says that they are one: Arabic letters that are drawn alone have gaps, too
)

// clearly is how many times the letters of one direction are those of the other in a line that has the first's, whatever the page's is.
const clearly = 2

// longLine is how many characters a line can have that is put in order: what it takes grows with their square.
const longLine = 2000

// takenApart is into how many parts more the engine takes a line apart at its marks, at most.
const takenApart = 64

// glyph is a character at its place.
type glyph struct {
	r           rune
	at          int // in the page
	left, right float64
	x, y        float64 // where drawing began: what was drawn as one piece has it in common
	height      float64
	line, word  int // of the engine
}

// rightToLeft gives lines with letters from right to left in the order in which they are read: the engine gives some words backwards,
// and takes a line apart at its marks. Such lines have no place: they are no rows of tables.
func (g *pdfGeometry) rightToLeft(lines []pdfLine) []pdfLine {
	page := directionsOf(lines...)
	if page.fromRight == 0 {
		return lines
	}
	read := make([]pdfLine, 0, len(lines))
	for at := 0; at < len(lines); {
		glyphs, next, ok := g.lineAt(lines, at)
		here := directionsOf(lines[at:next]...)
		if here.fromRight == 0 || !ok {
			read = append(read, lines[at:next]...)
		} else {
			text := utf16.Encode([]rune(spoken(tokensOf(glyphs), here.isFromRight(page))))
			read = append(read, pdfLine{text: text, at: lines[at].at})
		}
		at = next
	}
	return read
}

// directions counts the letters of both.
type directions struct{ fromLeft, fromRight int }

func directionsOf(lines ...pdfLine) (n directions) {
	for _, l := range lines {
		for _, r := range utf16.Decode(l.text) {
			switch {
			case isRightToLeft(r):
				n.fromRight++
			case r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r >= 0xc0 && r < 0x590:
				n.fromLeft++
			}
		}
	}
	return n
}

// isFromRight is the direction of a line: its own, where that is clear, or its page's.
func (n directions) isFromRight(page directions) bool {
	switch {
	case n.fromRight >= clearly*n.fromLeft:
		return true
	case n.fromLeft >= clearly*n.fromRight:
		return false
	}
	return page.fromRight >= page.fromLeft
}

// lineAt gives the characters of a line from left to right, and the line after it. ok is false where one has no place, or where they don't
// stand beside each other.
func (g *pdfGeometry) lineAt(lines []pdfLine, at int) (glyphs []glyph, next int, ok bool) {
	glyphs, ok = g.glyphs(lines[at])
	for next = at + 1; ok && len(glyphs) > 0 && next < len(lines) && next-at <= takenApart; next++ {
		more, okay := g.glyphs(lines[next])
		if !okay || len(more) == 0 || !beside(glyphs, more) {
			break
		}
		glyphs = append(glyphs, more...)
	}
	y, high := middle(glyphs)
	for _, c := range glyphs {
		ok = ok && c.y-y <= high/2 && y-c.y <= high/2
	}
	slices.SortStableFunc(glyphs, func(a, b glyph) int { return cmp.Compare(a.left+a.right, b.left+b.right) })
	return glyphs, next, ok && len(glyphs) > 0 && len(glyphs) <= longLine
}

// beside tells whether two parts are of one line.
func beside(a, b []glyph) bool {
	y, high := middle(a)
	other, higher := middle(b)
	high = max(high, higher) * sameLine
	return y-other < high && other-y < high
}

// middle is the usual base line of characters, and the height of the highest.
func middle(glyphs []glyph) (y, high float64) {
	if len(glyphs) == 0 {
		return 0, 0
	}
	lines := make([]float64, 0, len(glyphs))
	for _, c := range glyphs {
		lines, high = append(lines, c.y), max(high, c.height)
	}
	slices.Sort(lines)
	return lines[len(lines)/2], high
}

// glyphs are the characters of a line but for its spaces. ok is false where one has no place.
func (g *pdfGeometry) glyphs(l pdfLine) (glyphs []glyph, ok bool) {
	word := l.at
	for i := 0; i < len(l.text); i++ {
		c := glyph{r: rune(l.text[i]), at: l.at + i, line: l.at, word: word}
		if utf16.IsSurrogate(c.r) && i+1 < len(l.text) {
			c.r = utf16.DecodeRune(c.r, rune(l.text[i+1]))
			i++
		}
		if c.r == ' ' {
			word = c.at
			continue
		}
		var top float64
		if c.left, c.right, top, c.height, ok = g.box(c.at); !ok {
			return nil, false
		}
		c.x, c.y = c.left, top-c.height
		if o, err := g.instance.FPDFText_GetCharOrigin(&requests.FPDFText_GetCharOrigin{TextPage: g.page, Index: c.at}); err == nil {
			c.x, c.y = o.X, o.Y
		}
		glyphs = append(glyphs, c)
	}
	return glyphs, true
}

// tokensOf puts a line together of its characters from left to right.
func tokensOf(glyphs []glyph) (line []token) {
	_, high := middle(glyphs)
	before, reached := glyphs[0], glyphs[0].left
	for i := 0; i < len(glyphs); {
		first := glyphs[i]
		switch gap := first.left - reached; {
		case gap >= cellGap*high:
			line = append(line, token{" ", wide})
		case gap >= plainGap*high, gap >= wordGap*high && !within(before, first):
			line = append(line, newToken([]rune{' '}))
		}
		next := i + 1
		for next < len(glyphs) && glyphs[next].x == first.x && glyphs[next].y == first.y {
			next++
		}
		line = append(line, pieceOf(glyphs[i:next]))
		for ; i < next; i++ {
			before, reached = glyphs[i], max(reached, glyphs[i].right)
		}
	}
	return line
}

// within tells whether two characters are Arabic letters between which the engine has found no space.
func within(a, b glyph) bool {
	return isArabic(a.r) && isArabic(b.r) && (a.line != b.line || a.word == b.word)
}

// pieceOf are the characters that were drawn as one piece, in the order in which they are read.
func pieceOf(glyphs []glyph) token {
	piece := make([]rune, 0, len(glyphs))
	for _, c := range glyphs {
		piece = append(piece, c.r)
	}
	if slices.ContainsFunc(piece, isRightToLeft) {
		slices.Reverse(piece)
	}
	return newToken(piece)
}
