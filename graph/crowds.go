package graph

import "github.com/vektah/gqlparser/v2/ast"

// maxLooks bounds what crowded looks at: fragments in circles expand to more than any integer holds.
const maxLooks = 200_000

// crowded tells that more fields than maxAlike come together at one place of the answer of an operation, or of a fragment that stands
// in none, or that there is too much to tell.
func crowded(doc *ast.QueryDocument) bool {
	c := crowd{fragments: make(map[string]*ast.FragmentDefinition, len(doc.Fragments)), within: map[string]bool{}, seen: map[string]bool{}}
	for _, f := range doc.Fragments {
		c.fragments[f.Name] = f
	}
	for _, op := range doc.Operations {
		if c.gather(&place{}, op.SelectionSet) {
			return true
		}
	}
	for _, f := range doc.Fragments {
		if !c.seen[f.Name] && c.spread(&place{}, f.Name) {
			return true
		}
	}
	return false
}

// crowd goes through a document.
type crowd struct {
	fragments map[string]*ast.FragmentDefinition
	// within are the fragments around; seen are those that were looked at.
	within, seen map[string]bool
	looks        int
}

// place is where fields of an answer come together: those of one name, and the places below them.
type place struct {
	fields int
	below  map[string]*place
}

// gather puts a selection's fields to their places, and tells when one is crowded.
func (c *crowd) gather(at *place, set ast.SelectionSet) bool {
	if c.looks += len(set); c.looks > maxLooks {
		return true
	}
	for _, s := range set {
		full := false
		switch s := s.(type) {
		case *ast.Field:
			p := at.take(s.Alias)
			full = p.fields > maxAlike || c.gather(p, s.SelectionSet)
		case *ast.InlineFragment:
			full = c.gather(at, s.SelectionSet)
		case *ast.FragmentSpread:
			full = c.spread(at, s.Name)
		}
		if full {
			return true
		}
	}
	return false
}

// spread gathers the fields of a fragment. One within itself is passed over, as one that is missing: validation refuses both.
func (c *crowd) spread(at *place, name string) bool {
	f := c.fragments[name]
	if f == nil || c.within[name] {
		return false
	}
	c.seen[name], c.within[name] = true, true
	defer delete(c.within, name)
	return c.gather(at, f.SelectionSet)
}

// take puts one more field of a name below a place.
func (p *place) take(name string) *place {
	if p.below == nil {
		p.below = map[string]*place{}
	}
	q := p.below[name]
	if q == nil {
		q = &place{}
		p.below[name] = q
	}
	q.fields++
	return q
}
