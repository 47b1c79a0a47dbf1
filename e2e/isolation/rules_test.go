package isolation

import (
	"slices"

	"canopy/internal/access"
	"canopy/internal/rule"
)

// who is a kind of caller, as it stands to the company that is asked about.
type who string

const (
	asRoot       who = "root owner"
	asAncestor   who = "owner of an ancestor"
	asOwner      who = "owner of the company"
	asViewer     who = "viewer of the company"
	asDescendant who = "owner of a descendant"
	asSibling    who = "owner of a sibling"
	asStranger   who = "owner in another subtree"
	asDisabled   who = "owner with a disabled permission"
	asOtherApp   who = "owner with a token for another application"
	asExpired    who = "owner with an expired token"
	asNobody     who = "no token"
	// Those who had more: they come with tokens from before, which have not expired.
	asRemoved    who = "owner who was removed, with a key's token"
	asLeft       who = "owner who has left, with a session's token"
	asLeftBehind who = "owner of a company that it was moved away from"
)

var everybody = []who{
	asRoot, asAncestor, asOwner, asViewer, asDescendant, asSibling, asStranger, asDisabled, asOtherApp, asExpired, asNobody, asRemoved, asLeft, asLeftBehind,
}

// standAs are those who are answered as somebody else is who never had more.
var standAs = map[who]who{asRemoved: asExpired, asLeft: asExpired, asLeftBehind: asSibling}

// outside tells who must learn nothing of the company.
func (w who) outside() bool {
	return w == asDescendant || w == asSibling || w == asStranger || w == asLeftBehind
}

// class is what comes of a request, the same word for both doors.
type class string

const (
	getsOK  class = "ok"
	getsBad class = "BAD_REQUEST"
	gets401 class = "UNAUTHENTICATED"
	gets403 class = "FORBIDDEN"
	gets404 class = "NOT_FOUND"
)

// quoted is the class as answers have it.
func (c class) quoted() string { return `"` + string(c) + `"` }

// needs is what the declared rules of a request ask for together.
type needs struct {
	rights access.Features
	// otherApp: a token for the other application, which one of the callers comes with, serves them all.
	otherApp bool
}

func needsOf(rules []*rule.Rule, other access.App) needs {
	n := needs{otherApp: true}
	for _, r := range rules {
		n.rights |= r.Right
		n.otherApp = n.otherApp && slices.Contains(r.Apps, other)
	}
	return n
}

// answers are what each caller must get, for an object that is there and for one that is not. absent
// is nil where the operation names no object.
type answers struct{ present, absent map[who]class }

// shape gives the answers to a request by what its rules need.
type shape func(needs) answers

// reach: the company itself and those above, as far as the role has the right. Below the root,
// what is not there is as forbidden as what is out of reach.
func reach(n needs) answers {
	r := shape(shared).found()(n)
	for _, as := range everybody {
		if as.outside() {
			r.present[as] = gets403
		}
		r.absent[as] = r.present[as]
		switch {
		case as == asRoot:
			r.absent[as] = gets404
		case r.present[as] == getsOK:
			r.absent[as] = gets403
		}
	}
	return r
}

// operators: who has all rights at the root company, and nobody else.
func operators(n needs) answers {
	others := shape(reach).but(gets403, asAncestor, asOwner, asViewer, asDescendant, asSibling, asStranger)
	return others(n)
}

// shared: every caller of the application, whatever its company.
func shared(n needs) answers {
	r := answers{present: map[who]class{}}
	for _, as := range everybody {
		switch {
		case as == asExpired || as == asNobody:
			r.present[as] = gets401
		case as == asDisabled, as == asOtherApp && !n.otherApp, as == asViewer && !access.ViewerFeatures.Has(n.rights):
			r.present[as] = gets403
		default:
			r.present[as] = getsOK
		}
	}
	return r
}

// between: an edge between two applications, which only a login's token serves at once.
func between(n needs) answers {
	keys := shape(shared).but(gets403, asRoot, asAncestor, asOwner, asViewer, asDescendant, asSibling, asStranger, asOtherApp)
	return keys.there(getsOK, asDeputy)(n)
}

// found: whoever may see the object is told where there is none.
func (s shape) found() shape {
	return func(n needs) answers {
		r := s(n)
		r.absent = map[who]class{}
		for _, as := range everybody {
			if r.absent[as] = r.present[as]; r.present[as] == getsOK {
				r.absent[as] = gets404
			}
		}
		return r
	}
}

// but gives another answer to some callers, whether the object is there or not.
func (s shape) but(c class, whom ...who) shape {
	return func(n needs) answers {
		r := s.there(c, whom...)(n)
		if r.absent != nil {
			for _, as := range whom {
				r.absent[as] = c
			}
		}
		return r
	}
}

// there gives another answer to some callers, for an object that is there.
func (s shape) there(c class, whom ...who) shape {
	return func(n needs) answers {
		r := s(n)
		for _, as := range whom {
			r.present[as] = c
		}
		return r
	}
}

// deputys is what the deputy gets: as an owner, unless it is said.
func (r answers) deputys() class {
	if c, said := r.present[asDeputy]; said {
		return c
	}
	return r.present[asOwner]
}

func (r answers) wants(as who, absent bool) class {
	if other, is := standAs[as]; is {
		as = other
	}
	if absent {
		return r.absent[as]
	}
	return r.present[as]
}
