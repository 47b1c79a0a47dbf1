package graph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"canopy/internal/globalid"
	"canopy/internal/hop"
	"canopy/internal/problem"
	"canopy/internal/rule"
	"canopy/resolvers"
)

// The names under which another cell is asked what an object is: its global id, and its type. A client's own would have to differ.
const (
	ownerName = "canopy_owner"
	typeName  = "canopy_type"
)

// part is a field of an operation on the way to values that another cell has, or one of these: then all below it is the cell's.
type part struct {
	step
	below  []*part
	values []*value
}

// take makes a tree of the ways to values, and gives those that stand below another one: these are asked for by themselves.
func (p *part) take(values []*value) (later []*value) {
	for _, v := range values {
		if !p.add(v) {
			later = append(later, v)
		}
	}
	return later
}

func (p *part) add(v *value) bool {
	at := p
	for i, s := range v.steps {
		k := slices.IndexFunc(at.below, func(b *part) bool { return b.object == s.object && b.field.Alias == s.field.Alias })
		if k < 0 {
			at.below = append(at.below, &part{step: s})
			k = len(at.below) - 1
		}
		at = at.below[k]
		if last := i == len(v.steps)-1; last && len(at.below) > 0 || !last && len(at.values) > 0 {
			return false
		}
	}
	at.values = append(at.values, v)
	return true
}

// mayAskByID tells whether a caller may ask for an object by its id: not all may who are led to it.
func mayAskByID(ctx context.Context, id globalid.ID) bool {
	need := rule.Of("Query." + strings.ToLower(id.Type[:1]) + id.Type[1:])
	return need != nil && resolvers.May(ctx, need) == nil
}

// listed is how many companies are asked for at once by their ids.
const listed = 200

// lead has what is asked for by ids begin there: companies are lists for many, so that many are as few statements as one.
func lead(values []*value) {
	var list, count *ast.Value
	lists := 0
	known := map[string]step{}
	names := map[*ast.Field]string{}
	for _, v := range values {
		if !v.byID {
			continue
		}
		last := v.steps[len(v.steps)-1]
		// Clients may call different fields alike in different places, which are one here.
		name, is := names[last.field.Field]
		if !is {
			name = fmt.Sprintf("v%d", len(names))
			names[last.field.Field] = name
		}
		field := *last.field.Field
		field.Alias, last.field.Field = name, &field
		id := &ast.Value{Kind: ast.StringValue, Raw: v.owner}
		if last.object != "Customer" {
			v.steps = []step{made("Query", fmt.Sprintf("n%x", v.owner), "node", argument("id", id)), last}
			continue
		}
		first, is := known[v.owner]
		if !is {
			if list == nil || len(list.Children) == listed {
				list, count = &ast.Value{Kind: ast.ListValue}, &ast.Value{Kind: ast.IntValue}
				lists++
			}
			list.Children = append(list.Children, &ast.ChildValue{Value: id})
			count.Raw = strconv.Itoa(len(list.Children)) // the cell counts the cost by it
			filter := &ast.Value{Kind: ast.ObjectValue, Children: ast.ChildValueList{{Name: "ids", Value: list}}}
			first = made("Query", fmt.Sprintf("c%d", lists), "customers", argument("first", count), argument("filter", filter))
			known[v.owner] = first
		}
		v.steps = []step{first, made("CustomerConnection", "nodes", "nodes"), last}
	}
}

// made is a step that no client has asked for.
func made(object, alias, name string, arguments ...*ast.Argument) step {
	return step{object, graphql.CollectedField{Field: &ast.Field{Alias: alias, Name: name, Arguments: arguments}}}
}

func argument(name string, value *ast.Value) *ast.Argument {
	return &ast.Argument{Name: name, Value: value}
}

// root is what is asked of the operation's own type.
func (p *part) root() (set ast.SelectionSet) {
	for _, b := range p.below {
		set = append(set, b.asked())
	}
	return set
}

// selection is what is asked of an object for all that is below a part.
func (p *part) selection() (set ast.SelectionSet) {
	for _, b := range p.below {
		if !slices.ContainsFunc(set, func(s ast.Selection) bool { return s.(*ast.InlineFragment).TypeCondition == b.object }) {
			set = append(set, &ast.InlineFragment{TypeCondition: b.object, SelectionSet: p.of(b.object)})
		}
	}
	return set
}

// of is what is asked of an object of a type.
func (p *part) of(object string) ast.SelectionSet {
	set := ast.SelectionSet{&ast.Field{Alias: typeName, Name: "__typename"}}
	owned := false
	for _, b := range p.below {
		if b.object == object {
			set = append(set, b.asked())
			owned = owned || slices.ContainsFunc(b.values, func(v *value) bool { return v.owner != "" })
		}
	}
	if owned {
		set = append(set, &ast.Field{Alias: ownerName, Name: "id"})
	}
	return set
}

// asked is the field as the cell is asked for it.
func (p *part) asked() *ast.Field {
	f := &ast.Field{Alias: p.field.Alias, Name: p.field.Name, Arguments: p.field.Arguments, SelectionSet: p.field.Selections}
	if len(p.values) == 0 {
		f.SelectionSet = p.selection()
	}
	return f
}

// said is what a cell has answered.
type said struct {
	Data   json.RawMessage `json:"data"`
	Errors gqlerror.List   `json:"errors"`

	found map[*value]*found
	// lacks: what leads to a value is not there, or was not found.
	lacks bool
	// rest are the errors that are of no value that was found.
	rest gqlerror.List
}

// found is a value as it was answered: where it stood in the answer, and what was wrong with it.
type found struct {
	path   ast.Path
	raw    json.RawMessage
	errors gqlerror.List
}

func (s *said) of(v *value) *found {
	if s == nil {
		return nil
	}
	return s.found[v]
}

// read finds the values in an answer, and the errors of each.
func (p *part) read(s *said) error {
	s.found = map[*value]*found{}
	var others []ast.Path // of what nobody has asked for, such as the same field of another object in a list
	if err := p.walk(s, s.Data, nil, &others); err != nil {
		return err
	}
	for _, err := range s.Errors {
		if err == nil {
			continue // null is no error
		}
		if after, ok := err.Extensions["retryAfter"].(float64); ok {
			err.Extensions["retryAfter"] = int(after)
		}
		if !s.attach(err) && !slices.ContainsFunc(others, func(path ast.Path) bool { return within(err.Path, path) }) {
			s.rest = append(s.rest, err)
		}
	}
	p.each(func(v *value) { s.lacks = s.lacks || s.found[v] == nil && s.unknown(v) })
	return nil
}

// each goes through the values below a part.
func (p *part) each(do func(*value)) {
	for _, v := range p.values {
		do(v)
	}
	for _, b := range p.below {
		b.each(do)
	}
}

// unknown tells whether a value is missing without a reason, or as something was not found.
func (s *said) unknown(v *value) bool {
	for _, err := range s.rest {
		if leads(err.Path, v.steps) {
			return err.Extensions["code"] == string(problem.NotFound)
		}
	}
	return true
}

// attach gives an error to the values that it is of.
func (s *said) attach(err *gqlerror.Error) (is bool) {
	for _, f := range s.found {
		if within(err.Path, f.path) {
			below := *err
			below.Path = slices.Clone(err.Path[len(f.path):])
			f.errors, is = append(f.errors, &below), true
		}
	}
	return is
}

// within tells whether a path is that of a value, or of something below it.
func within(path, of ast.Path) bool {
	return len(path) >= len(of) && path[:len(of)].String() == of.String()
}

// walk looks for values in what was answered for one or several objects.
func (p *part) walk(s *said, raw json.RawMessage, path ast.Path, others *[]ast.Path) error {
	switch {
	case len(raw) == 0 || raw[0] == 'n':
		return nil
	case raw[0] == '[':
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			return err
		}
		for i, element := range list {
			if err := p.walk(s, element, append(slices.Clone(path), ast.PathIndex(i)), others); err != nil {
				return err
			}
		}
		return nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return err
	}
	typ, owner := text(members[typeName]), text(members[ownerName])
	for _, b := range p.below {
		value, there := members[b.field.Alias]
		if !there || len(path) > 0 && b.object != typ {
			continue
		}
		at := append(slices.Clone(path), ast.PathName(b.field.Alias))
		if len(b.values) == 0 {
			if err := b.walk(s, value, at, others); err != nil {
				return err
			}
			continue
		}
		wanted := false
		for _, v := range b.values {
			if v.owner == "" || v.owner == owner {
				s.found[v], wanted = &found{path: at, raw: value}, true
			}
		}
		if !wanted {
			*others = append(*others, at)
		}
	}
	return nil
}

func text(raw json.RawMessage) (s string) {
	_ = json.Unmarshal(raw, &s) // what is no text is none
	return s
}

// whyMissing says why a cell has no value: what it says itself, or that it does not know yet what this one knows.
func (s *said) whyMissing(ctx context.Context, v *value) *gqlerror.Error {
	for _, err := range s.rest {
		if leads(err.Path, v.steps) && hasFace(err) {
			return &gqlerror.Error{Message: err.Message, Extensions: err.Extensions}
		}
	}
	return face(ctx, hop.Away(v.place, errors.New("it does not have what leads to the value: its replica is late, or that has gone meanwhile")))
}

// leads tells whether a path, whatever the places in its lists, is that of a field or above it; an error without a path is of all.
func leads(path ast.Path, steps []step) bool {
	i := 0
	for _, element := range path {
		if name, is := element.(ast.PathName); is {
			if i == len(steps) {
				return true // below the field
			}
			if string(name) != steps[i].field.Alias {
				return false
			}
			i++
		}
	}
	return true
}
