package isolation

import (
	"canopy/internal/access"
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
)

var everybody = []who{asRoot, asAncestor, asOwner, asViewer, asDescendant, asSibling, asStranger, asDisabled, asOtherApp, asExpired, asNobody}

// outside tells who must learn nothing of the company.
func (w who) outside() bool { return w == asDescendant || w == asSibling || w == asStranger }

// class is what comes of a request, the same word for both doors.
type class string

const (
	getsOK  class = "ok"
	getsBad class = "BAD_REQUEST"
	gets401 class = "UNAUTHENTICATED"
	gets403 class = "FORBIDDEN"
	gets404 class = "NOT_FOUND"
)

// rule says what each caller must get, for an object that is there and for one that is not. absent
// is nil where the operation names no object.
type rule struct{ present, absent map[who]class }

// reach: the company itself and those above, as far as the role has the right. Below the root,
// what is not there is as forbidden as what is out of reach.
func reach(right access.Features) rule {
	r := shared(right).found()
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

// shared: every caller of the application, whatever its company.
func shared(right access.Features) rule {
	r := rule{present: map[who]class{}}
	for _, as := range everybody {
		switch {
		case as == asExpired || as == asNobody:
			r.present[as] = gets401
		case as == asDisabled || as == asOtherApp, as == asViewer && !access.ViewerFeatures.Has(right):
			r.present[as] = gets403
		default:
			r.present[as] = getsOK
		}
	}
	return r
}

// found: whoever may see the object is told where there is none.
func (r rule) found() rule {
	r.absent = map[who]class{}
	for _, as := range everybody {
		if r.absent[as] = r.present[as]; r.present[as] == getsOK {
			r.absent[as] = gets404
		}
	}
	return r
}

// but gives a rule with another answer for some callers, whether the object is there or not.
func (r rule) but(c class, whom ...who) rule {
	for _, as := range whom {
		r.present[as] = c
		if r.absent != nil {
			r.absent[as] = c
		}
	}
	return r
}

// there gives a rule with another answer for some callers, for an object that is there.
func (r rule) there(c class, whom ...who) rule {
	for _, as := range whom {
		r.present[as] = c
	}
	return r
}

func (r rule) wants(as who, absent bool) class {
	if absent {
		return r.absent[as]
	}
	return r.present[as]
}
