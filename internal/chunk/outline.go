package chunk

import "slices"

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
			o.sections = append(o.sections, m)
		}
		if err := o.advance(); err != nil {
			return err
		}
	}
	return nil
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
