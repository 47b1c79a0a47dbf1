package scim

import (
	"fmt"
	"slices"
	"strings"
)

// Members says whose membership of a group a patch changes, by their ids: with Only nobody stays who is not added.
type Members struct {
	Only      bool
	Add, Drop []string
}

// PatchGroup reads what a patch does to the members of a group, without who they are: there may be many. The group is what else it has, and
// is changed by the rest. The errors are those of Patch.
func PatchGroup(group Resource, operations []Operation) (Members, error) {
	var m Members
	for _, o := range operations {
		rest := o
		values, several := o.Value.(Resource)
		if o.Path == "" && several {
			kept := Resource{}
			for name, value := range values {
				if !strings.EqualFold(bare(name), "members") {
					kept[name] = value
					continue
				}
				if err := m.apply(Operation{o.Op, name, value}); err != nil {
					return m, err
				}
			}
			if rest.Value = kept; len(kept) == 0 && len(values) > 0 {
				continue
			}
		}
		if name, _, _ := strings.Cut((&parser{rest: o.Path}).path(), "."); strings.EqualFold(name, "members") {
			if err := m.apply(o); err != nil {
				return m, err
			}
			continue
		}
		if err := Patch(group, []Operation{rest}); err != nil {
			return m, err
		}
	}
	return m, nil
}

// apply adds an operation on members to those before it.
func (m *Members) apply(o Operation) error {
	ids, all, err := o.members()
	if err != nil {
		return err
	}
	switch op := strings.ToLower(o.Op); {
	case op == "add" && !all:
		m.Add = append(m.Add, ids...)
		m.Drop = without(m.Drop, ids)
	case op == "remove" && all:
		*m = Members{Only: true}
	case op == "remove":
		m.Add = without(m.Add, ids)
		if !m.Only {
			m.Drop = append(m.Drop, ids...)
		}
	case op == "replace" && !all && !strings.Contains(o.Path, "["):
		*m = Members{Only: true, Add: ids}
	default:
		return fmt.Errorf("%w: members are added, replaced or removed, by their value", ErrValue)
	}
	return nil
}

func without(list, gone []string) []string {
	left := make(map[string]bool, len(gone))
	for _, id := range gone {
		left[id] = true
	}
	return slices.DeleteFunc(list, func(id string) bool { return left[id] })
}

// members gives the ids that an operation names, in its value or in the filter of its path; all where it names none.
func (o Operation) members() (ids []string, all bool, err error) {
	p := &parser{rest: o.Path}
	part := strings.Contains(p.path(), ".")
	if !part && p.word("[") {
		f, err := p.closed(0, "]")
		if err == nil && strings.TrimSpace(p.rest) != "" {
			err = p.fault("there is more behind its end")
		}
		if err != nil {
			return nil, false, fmt.Errorf("%w: %w", ErrPath, err)
		}
		c, ok := f.(Compare)
		id, text := c.Value.(string)
		if !ok || !text || c.Operator != "eq" || !strings.EqualFold(c.Attribute, "value") {
			return nil, false, fmt.Errorf("%w: members are found by value eq", ErrPath)
		}
		return []string{id}, false, nil
	}
	if part || strings.TrimSpace(p.rest) != "" {
		return nil, false, fmt.Errorf("%w: %q", ErrPath, clip(o.Path))
	}
	switch v := o.Value.(type) {
	case nil:
		return nil, true, nil
	case Resource:
		ids, err = MemberIDs([]any{v})
	case []any:
		ids, err = MemberIDs(v)
	default:
		err = fmt.Errorf("%w: members are a list", ErrValue)
	}
	return ids, false, err
}

// MemberIDs gives the ids of a list of members. The error is ErrValue.
func MemberIDs(list []any) ([]string, error) {
	ids := make([]string, len(list))
	for i, each := range list {
		r, _ := each.(Resource)
		id, ok := attributeOf(r, "value").(string)
		if !ok {
			return nil, fmt.Errorf("%w: a member has a value, which is the id of a user", ErrValue)
		}
		ids[i] = id
	}
	return ids, nil
}

// MembersIn gives the ids of the members that a filter of groups asks for: of no others does it say anything. The error is ErrFilter where
// it asks for members otherwise.
func MembersIn(f Filter) (ids []string, err error) {
	each := func(list []Filter) {
		for _, f := range list {
			more, bad := MembersIn(f)
			if ids = append(ids, more...); bad != nil {
				err = bad
			}
		}
	}
	switch f := f.(type) {
	case all:
		each(f)
	case some:
		each(f)
	case no:
		return MembersIn(f.Filter)
	case within:
		c, ok := f.of.(Compare)
		if strings.EqualFold(f.attribute, "members") && (!ok || strings.Contains(c.Attribute, ".")) {
			return nil, errMembers
		}
		return MembersIn(Compare{f.attribute + "." + c.Attribute, c.Operator, c.Value})
	case Compare:
		name, part, _ := strings.Cut(f.Attribute, ".")
		if !strings.EqualFold(name, "members") {
			return nil, nil
		}
		id, text := f.Value.(string)
		if part != "" && !strings.EqualFold(part, "value") || f.Operator != "eq" || !text {
			return nil, errMembers
		}
		return []string{id}, nil
	}
	return ids, err
}

var errMembers = fmt.Errorf("%w: members are found by members.value eq", ErrFilter)
