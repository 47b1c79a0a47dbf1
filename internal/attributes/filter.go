package attributes

import (
	"maps"
	"slices"
	"strings"

	"canopy/internal/problem"
)

// The bounds of a filter: its length in bytes, how deep its combinations lie, how many conditions it has in all, and
// the values of an in.
const (
	maxFilter     = 64 << 10
	maxDepth      = 8
	maxConditions = 100
	maxValues     = 200
)

// Everything is the filter that holds of all documents.
const Everything = "1 == 1"

// Filter gives a filter as a predicate of SQL/JSON paths (ISO/IEC 19075-6) that is true or false of every document's
// attributes, never unknown; or each fault, located below at. A condition is false where there is no such attribute, or
// one of another type.
func Filter(at string, raw []byte) (predicate string, faults []problem.Fault) {
	if len(raw) > maxFilter {
		return "", []problem.Fault{{Location: at, Message: "is longer than 64 KiB"}}
	}
	var c compiler
	var filter any
	if !c.read(at, raw, &filter) {
		c.fault(at, "must be a JSON object")
	}
	if c.faults != nil {
		return "", c.faults
	}
	predicate = c.filter(at, filter, 1)
	if c.conditions > maxConditions {
		c.fault(at, "has more than %d conditions", maxConditions)
	}
	return predicate, c.faults
}

// compiler writes a filter as a predicate.
type compiler struct {
	checker
	conditions int
}

// joined joins predicates, of which there may be none.
func joined(list []string, by string) string {
	if len(list) == 0 {
		return Everything
	}
	return "(" + strings.Join(list, " "+by+" ") + ")"
}

// filter writes an object whose members all have to hold.
func (c *compiler) filter(at string, v any, depth int) string {
	members, ok := v.(map[string]any)
	switch {
	case !ok:
		c.fault(at, "must be an object")
		return ""
	case depth > maxDepth:
		c.fault(at, "lies deeper than %d filters", maxDepth)
		return ""
	case len(members) == 0:
		c.conditions++ // it is written as one, and a list may have any number of it
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		at, v := at+"."+name, members[name]
		switch name {
		case "and":
			all = append(all, c.list(at, v, "&&", depth))
		case "or":
			all = append(all, c.list(at, v, "||", depth))
		case "not":
			all = append(all, "!("+c.filter(at, v, depth+1)+")")
		default:
			all = append(all, c.conditionsOn(at, name, v))
		}
	}
	return joined(all, "&&")
}

// list writes the filters of an and or an or.
func (c *compiler) list(at string, v any, by string, depth int) string {
	filters, ok := v.([]any)
	if !ok || len(filters) == 0 {
		c.fault(at, "must be a list of filters that is not empty")
		return ""
	}
	var all []string
	for _, f := range filters {
		if c.conditions > maxConditions || len(c.faults) > maxConditions {
			return ""
		}
		all = append(all, c.filter(at, f, depth+1))
	}
	return joined(all, by)
}

// comparisons are the conditions that compare, as paths write them.
var comparisons = map[string]string{"eq": "==", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}

// conditionsOn writes what has to hold of one attribute.
func (c *compiler) conditionsOn(at, name string, v any) string {
	conditions, ok := v.(map[string]any)
	if !ok || len(conditions) == 0 {
		c.fault(at, "must be an object with eq, in, gt, gte, lt, lte or exists")
		return ""
	}
	if !c.name(at, name) {
		return ""
	}
	path := "$." + string(kept(name))
	var all []string
	for _, op := range slices.Sorted(maps.Keys(conditions)) {
		c.conditions++
		all = append(all, c.condition(at+"."+op, path, op, conditions[op]))
	}
	return joined(all, "&&")
}

// condition writes one condition. A comparison stands in a filter of the path, where what is unknown counts as false.
func (c *compiler) condition(at, path, op string, v any) string {
	if by := comparisons[op]; by != "" {
		_, truth := v.(bool)
		switch {
		case truth && op != "eq":
			c.fault(at, "must be a string or a number")
		case c.value(at, v):
			return "exists(" + path + " ? (@ " + by + " " + string(kept(v)) + "))"
		}
		return ""
	}
	switch op {
	case "in":
		return c.anyOf(at, path, v)
	case "exists":
		switch v {
		case true:
			return "exists(" + path + ")"
		case false:
			return "!(exists(" + path + "))"
		}
		c.fault(at, "must be true or false")
	default:
		c.fault(at, "is no condition: there are eq, in, gt, gte, lt, lte and exists")
	}
	return ""
}

// anyOf writes that an attribute is one of some values, of which there may be none.
func (c *compiler) anyOf(at, path string, v any) string {
	values, ok := v.([]any)
	if !ok || len(values) > maxValues {
		c.fault(at, "must be a list of at most %d values", maxValues)
		return ""
	}
	if len(values) == 0 {
		return "!(" + Everything + ")"
	}
	var all []string
	for _, v := range values {
		if !c.value(at, v) {
			return ""
		}
		all = append(all, "@ == "+string(kept(v)))
	}
	return "exists(" + path + " ? (" + strings.Join(all, " || ") + "))"
}
