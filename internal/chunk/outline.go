package chunk

import (
	"slices"
	"strings"
)

// outline is what is known of a text's structure around the part at hand: where pages, sections and
// rows begin. Offsets are into that part.
type outline struct {
	next func() (Mark, error, bool) // reads the marks one by one
	// ahead is the next mark, which stands behind the part at hand; its offset is into the whole text.
	ahead Mark
	more  bool
	last  int // offset of the latest mark, into the whole text

	sections []Mark // of pages and headings
	rows     []Mark
	open     []Mark // the headings above, each on another level
}

func newOutline(next func() (Mark, error, bool)) (*outline, error) {
	o := &outline{next: next}
	return o, o.advance()
}

// advance reads the mark ahead.
func (o *outline) advance() (err error) {
	if o.ahead, err, o.more = o.next(); err != nil || !o.more {
		return err
	}
	if o.ahead.Offset < o.last {
		return ErrMarks
	}
	o.last = o.ahead.Offset
	return nil
}

// load takes in the marks that stand in a part of the text, which begins at base.
func (o *outline) load(text string, base int) error {
	for o.more && o.ahead.Offset <= base+len(text) {
		m := o.ahead
		m.Offset = runeStart(text, m.Offset-base)
		if m.Row > 0 {
			o.rows = append(o.rows, m)
		}
		if m.Row == 0 || m.Page > 0 || m.Heading != "" {
			m.path = o.enter(m)
			o.sections = append(o.sections, m)
		}
		if err := o.advance(); err != nil {
			return err
		}
	}
	return nil
}

// maxPath bounds the headings of a path together, in bytes.
const maxPath = 1000

// enter has a heading take the place of those on its level and below, and gives the path to it. Of a longer one than maxPath
// the headings on top are left out.
func (o *outline) enter(m Mark) string {
	if m.Heading == "" {
		o.open = o.open[:0]
		return ""
	}
	i := slices.IndexFunc(o.open, func(above Mark) bool { return above.Level >= m.Level })
	if i >= 0 {
		if above := o.open[i]; above.Level == m.Level && above.Heading == m.Heading && i == len(o.open)-1 {
			return above.path
		}
		o.open = o.open[:i]
	}
	m.path = m.Heading
	if n := len(o.open); n > 0 {
		m.path = o.open[n-1].path + PathMark + m.Heading
	}
	for len(m.path) > maxPath {
		_, rest, more := strings.Cut(m.path, PathMark)
		if !more {
			break
		}
		m.path = rest
	}
	o.open = append(o.open, m)
	return m.path
}

// places gives the places of the text in [from, end), where it stands that many bytes into a content.
func (o *outline) places(from, end, into int) []Place {
	s, r := max(0, search(o.sections, from+1)-1), max(0, search(o.rows, from+1)-1)
	var list []Place
	for now := (Place{}); ; {
		at := end
		if s < len(o.sections) {
			at = min(at, o.sections[s].Offset)
		}
		if r < len(o.rows) {
			at = min(at, o.rows[r].Offset)
		}
		if at >= end {
			break
		}
		if s < len(o.sections) && o.sections[s].Offset == at {
			now.Page, now.Heading = o.sections[s].Page, o.sections[s].path
			s++
		}
		if r < len(o.rows) && o.rows[r].Offset == at {
			now.Row = o.rows[r].Row
			r++
		}
		if now.Offset = max(at-from, 0) + into; len(list) > 0 && list[len(list)-1].Offset == now.Offset {
			list[len(list)-1] = now
			continue
		}
		list = append(list, now)
	}
	return list
}

// move takes the place of the text on by some bytes, and forgets what no longer matters.
func (o *outline) move(by int) {
	for _, marks := range []*[]Mark{&o.sections, &o.rows} {
		past := search(*marks, by+1)
		*marks = slices.Delete(*marks, 0, max(0, past-1)) // the one in force stays
		for i := range *marks {
			(*marks)[i].Offset -= by
		}
	}
}

// search gives the first of the marks that stands at an offset or behind it.
func search(marks []Mark, offset int) int {
	i, _ := slices.BinarySearchFunc(marks, offset, func(m Mark, offset int) int { return m.Offset - offset })
	return i
}

// latest returns the last strongest border of the outline in (low, high].
func (o *outline) latest(low, high int) (int, bool) {
	for _, marks := range [][]Mark{o.sections, o.rows} {
		if i := search(marks, high+1); i > 0 && marks[i-1].Offset > low {
			return marks[i-1].Offset, true
		}
	}
	return 0, false
}

// first returns the first strongest border of the outline in [low, high].
func (o *outline) first(low, high int) (int, bool) {
	for _, marks := range [][]Mark{o.sections, o.rows} {
		if i := search(marks, low); i < len(marks) && marks[i].Offset <= high {
			return marks[i].Offset, true
		}
	}
	return 0, false
}

// at returns the page, heading and row in force at an offset.
func (o *outline) at(offset int) (page int, heading string, row int) {
	if i := search(o.sections, offset+1); i > 0 {
		page, heading = o.sections[i-1].Page, o.sections[i-1].Heading
	}
	if i := search(o.rows, offset+1); i > 0 {
		row = o.rows[i-1].Row
	}
	return page, heading, row
}
