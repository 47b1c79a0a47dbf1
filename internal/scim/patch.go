package scim

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Operation is one of a patch (RFC 7644, section 3.5.2).
type Operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// The ways in which a patch is wrong.
var (
	ErrPath   = errors.New("invalidPath")
	ErrTarget = errors.New("noTarget")
	ErrValue  = errors.New("invalidValue")
)

// maxValues is how many values an attribute of a resource has: those that come are compared with those that are there.
const maxValues = 100

// Patch applies operations to a resource, in their order. The errors are those above.
func Patch(r Resource, operations []Operation) error {
	for _, o := range operations {
		o.Op = strings.ToLower(o.Op)
		if o.Op != "add" && o.Op != "replace" && o.Op != "remove" {
			return fmt.Errorf("%w: op is add, replace or remove", ErrValue)
		}
		if o.Path != "" {
			if err := o.at(r); err != nil {
				return err
			}
			continue
		}
		values, ok := o.Value.(Resource)
		if !ok || o.Op == "remove" {
			return fmt.Errorf("%w: without a path the value has the attributes", ErrTarget)
		}
		for path, value := range values {
			each := Operation{o.Op, path, value}
			if err := each.at(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// at applies an operation at its path: name, name.sub, name[filter] or name[filter].sub.
func (o Operation) at(r Resource) error {
	p := &parser{rest: o.Path}
	path := p.path()
	var of Filter
	if p.word("[") {
		f, err := p.closed(0, "]")
		if err != nil {
			return fmt.Errorf("%w: %w", ErrPath, err)
		}
		of = f
		if rest, ok := strings.CutPrefix(p.rest, "."); ok {
			path, p.rest = path+"."+rest, ""
		}
	}
	name, sub, _ := strings.Cut(path, ".")
	if name == "" || strings.TrimSpace(p.rest) != "" || strings.Contains(sub, ".") {
		return fmt.Errorf("%w: %q", ErrPath, clip(o.Path))
	}
	name = known(r, name)
	if of != nil {
		return o.among(r, name, sub, of)
	}
	if more, several := o.Value.([]any); several {
		if had, _ := r[name].([]any); len(had)+len(more) > maxValues {
			return fmt.Errorf("%w: %s has at most %d values", ErrValue, clip(name), maxValues)
		}
	}
	if sub == "" {
		o.set(r, name)
		return nil
	}
	part, ok := r[name].(Resource)
	if !ok {
		if list, several := r[name].([]any); several && len(list) > 0 {
			part, ok = list[0].(Resource)
		}
	}
	if !ok {
		part = Resource{}
		r[name] = part
	}
	o.set(part, known(part, sub))
	return nil
}

// known is an attribute's name as the resource has it, in whichever case.
func known(r Resource, name string) string {
	for key := range r {
		if strings.EqualFold(key, name) {
			return key
		}
	}
	return name
}

// set changes one attribute. Of several values, those that come are added to those that are there.
func (o Operation) set(r Resource, name string) {
	if o.Op == "remove" {
		list, several := r[name].([]any)
		if gone, some := o.Value.([]any); several && some { // as some directories name whom they remove
			r[name] = slices.DeleteFunc(slices.Clone(list), func(v any) bool {
				return slices.ContainsFunc(gone, func(g any) bool { return valueOf(g) == valueOf(v) })
			})
			return
		}
		delete(r, name)
		return
	}
	list, several := r[name].([]any)
	if more, some := o.Value.([]any); o.Op == "add" && several && some {
		for _, v := range more {
			if !slices.ContainsFunc(list, func(other any) bool { return valueOf(other) == valueOf(v) }) {
				list = append(list, v)
			}
		}
		r[name] = list
		return
	}
	if old, complex := r[name].(Resource); complex {
		if now, ok := o.Value.(Resource); ok {
			maps.Copy(old, now)
			return
		}
	}
	r[name] = o.Value
}

func valueOf(v any) string {
	if r, ok := v.(Resource); ok {
		return fmt.Sprint(attributeOf(r, "value"))
	}
	return fmt.Sprint(v)
}

// among changes those of several values that fit.
func (o Operation) among(r Resource, name, sub string, of Filter) error {
	list, _ := r[name].([]any)
	var kept []any
	found := false
	for _, v := range list {
		part, ok := v.(Resource)
		if !ok || !of.fits(part) {
			kept = append(kept, v)
			continue
		}
		found = true
		switch {
		case sub != "":
			o.set(part, known(part, sub))
		case o.Op == "remove":
			continue
		default:
			if now, ok := o.Value.(Resource); ok {
				maps.Copy(part, now)
			}
		}
		kept = append(kept, part)
	}
	if !found && o.Op == "replace" {
		return fmt.Errorf("%w: %q", ErrTarget, clip(o.Path))
	}
	if kept == nil {
		kept = []any{}
	}
	r[name] = kept
	return nil
}
