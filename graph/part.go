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

// The names under which another cell is asked what an object is: its global id, and its type. A client's own would have to differ, as from those of what is asked for by ids.
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

// listed is how many objects are asked for at once by their ids.
const listed = 200

// listsOf are the lists that objects of some types are asked for in, by their ids.
var listsOf = map[string]struct {
	field string
	also  ast.ArgumentList
}{
	"Customer":        {field: "customers"},
	"Run":             {field: "runs"},
	"WebhookDelivery": {"webhookDeliveries", ast.ArgumentList{argument("subtree", &ast.Value{Kind: ast.BooleanValue, Raw: "true"})}},
}

// lead has what is asked for by ids begin there: there are lists for many, so that many are as few statements as one. Objects of one list are asked for the same: all of
// it together costs no more than the client's own request did.
func lead(values []*value) {
	names := names{}
	wanted := map[string][]string{} // the names of what is asked for of an object
	for _, v := range values {
		if !v.byID {
			continue
		}
		last := &v.steps[len(v.steps)-1]
		field := *last.field.Field
		field.Alias, last.field.Field = names.of(last.field), &field
		if !slices.Contains(wanted[v.owner], field.Alias) {
			wanted[v.owner] = append(wanted[v.owner], field.Alias)
		}
	}
	lists := &lists{open: map[string]*among{}, known: map[string]step{}}
	for _, v := range values {
		if !v.byID {
			continue
		}
		last := v.steps[len(v.steps)-1]
		if _, v.inList = listsOf[last.object]; !v.inList {
			v.alone()
			continue
		}
		v.steps = []step{lists.of(last.object, v.owner, wanted[v.owner]), made(last.object+"Connection", "nodes", "nodes"), last}
	}
}

// alone has a value asked for by its owner's id and no other: also of a company that lists leave out, as it is deleted, or below one that is.
func (v *value) alone() {
	v.inList = false
	id := &ast.Value{Kind: ast.StringValue, Raw: v.owner}
	v.steps = []step{made("Query", fmt.Sprintf("canopy_n%x", v.owner), "node", argument("id", id)), v.steps[len(v.steps)-1]}
}

// names call the fields that are asked for by ids. Clients may call different fields alike in different places, which are one here; and a fragment's field is another one where
// what is asked for below it is joined by what stands beside the fragment.
type names map[*ast.Field][]named

type named struct {
	name  string
	below ast.SelectionSet
}

func (n names) of(f graphql.CollectedField) string {
	for _, known := range n[f.Field] {
		if slices.Equal(known.below, f.Selections) {
			return known.name
		}
	}
	name := fmt.Sprintf("v%d", len(n))
	if alike := n[f.Field]; len(alike) > 0 {
		name = fmt.Sprintf("%s_%d", alike[0].name, len(alike))
	}
	n[f.Field] = append(n[f.Field], named{name, f.Selections})
	return name
}

// lists are the objects that are asked for together.
type lists struct {
	open  map[string]*among // by their type, and the names of what is asked for of them
	known map[string]step
	made  int
}

type among struct {
	first      step
	ids, count *ast.Value
}

// of is the list that an object is in.
func (l *lists) of(object, id string, wanted []string) step {
	if first, is := l.known[id]; is {
		return first
	}
	slices.Sort(wanted) // fields come in any order
	alike := object + " " + strings.Join(wanted, " ")
	c := l.open[alike]
	if c == nil || len(c.ids.Children) == listed {
		l.made++
		c = &among{ids: &ast.Value{Kind: ast.ListValue}, count: &ast.Value{Kind: ast.IntValue}}
		filter := &ast.Value{Kind: ast.ObjectValue, Children: ast.ChildValueList{{Name: "ids", Value: c.ids}}}
		c.first = made("Query", fmt.Sprintf("canopy_c%d", l.made), listsOf[object].field,
			slices.Concat(ast.ArgumentList{argument("first", c.count), argument("filter", filter)}, listsOf[object].also)...)
		l.open[alike] = c
	}
	c.ids.Children = append(c.ids.Children, &ast.ChildValue{Value: &ast.Value{Kind: ast.StringValue, Raw: id}})
	c.count.Raw = strconv.Itoa(len(c.ids.Children)) // the cell counts the cost by it
	l.known[id] = c.first
	return c.first
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

// changes tells whether it is asked for by a mutation.
func (p *part) changes() bool { return p.below[0].object == rootTypes[ast.Mutation] }

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
	f := whole(p.field)
	if len(p.values) == 0 {
		f.SelectionSet = p.selection()
	}
	return f
}

// whole is a field with all that a client has asked for below it.
func whole(f graphql.CollectedField) *ast.Field {
	return &ast.Field{Alias: f.Alias, Name: f.Name, Arguments: f.Arguments, SelectionSet: f.Selections}
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
	p.each(func(v *value) { s.lacks = s.lacks || s.found[v] == nil && !v.inList && s.unknown(v) })
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
