package diagram

import (
	"maps"
	"slices"
	"strings"
)

// fields reads the members of one object and notes which were known.
type fields struct {
	p      *parser
	at     string // empty for the diagram itself
	object map[string]any
	known  []string
}

func (f *fields) path(name string) string {
	if f.at == "" {
		return name
	}
	return f.at + "." + name
}

// take gives a member, nil where it is missing; null counts as missing.
func (f *fields) take(name string) any {
	f.known = append(f.known, name)
	return f.object[name]
}

func (f *fields) fault(name, format string, args ...any) {
	f.p.fault(f.path(name), format, args...)
}

// rest faults the members that nobody asked for: a misspelt field must not be passed over.
func (f *fields) rest() {
	for _, name := range slices.Sorted(maps.Keys(f.object)) {
		if !slices.Contains(f.known, name) {
			f.fault(name, "unknown field")
		}
	}
}

// literalText is a member that must be a plain string, without expressions.
func (f *fields) literalText(name, missing string) string {
	switch v := f.take(name).(type) {
	case nil:
		return missing
	case string:
		if strings.Contains(v, "{{") {
			f.fault(name, "must not hold expressions")
		}
		return v
	default:
		f.fault(name, "must be a text, not %s", kind(v))
	}
	return missing
}

// text is a template that must give a text; nil where it is missing.
func (f *fields) text(name string, required bool) value {
	switch v := f.take(name).(type) {
	case nil:
		if required {
			f.fault(name, "is required")
		}
	case string:
		if v == "" && required {
			f.fault(name, "must not be empty")
		}
		return f.p.value(f.path(name), v)
	default:
		f.fault(name, "must be a text, not %s", kind(v))
	}
	return nil
}

// typed is a member of a JSON type other than text, or one expression that gives it. check judges
// the literal form.
func (f *fields) typed(name string, required bool, check func(any) error) value {
	v := f.take(name)
	if v == nil {
		if required {
			f.fault(name, "is required")
		}
		return nil
	}
	if s, ok := v.(string); ok {
		before := len(f.p.faults)
		compiled := f.p.value(f.path(name), s)
		if _, ok := compiled.(computed); ok || len(f.p.faults) > before {
			return compiled
		}
	}
	if err := check(v); err != nil {
		f.fault(name, "%v", err)
	}
	return f.p.value(f.path(name), v)
}

func (f *fields) id() string {
	id := f.literalText("id", "")
	switch {
	case f.object["id"] == nil:
		f.fault("id", "is required")
	case !identifier.MatchString(id):
		f.fault("id", "must be letters, digits and underscores, at most 64, not beginning with a digit")
	case f.p.earlier[id]:
		f.fault("id", "another step has the id %q", id)
	}
	return id
}

// when is the condition of a step: true or false, or an expression that gives one.
func (f *fields) when() value {
	return f.typed("when", false, func(v any) error {
		_, err := asBool(v)
		return err
	})
}

// readers builds the action of each type of step.
var readers = map[Type]func(*fields) action{
	Set: readSet, Search: readSearch, Ask: readAsk, Chat: readChat, HTTP: readHTTP, Fail: readFail,
}

func (f *fields) action() (Type, action) {
	t := Type(f.literalText("type", ""))
	read, ok := readers[t]
	switch {
	case ok:
		f.p.secrets = t == HTTP || t == Chat
		defer func() { f.p.secrets = false }()
		return t, read(f)
	case f.object["type"] == nil:
		f.fault("type", "is required")
	default:
		f.fault("type", "unknown type %q; a step is set, search, ask, chat, http or fail", string(t))
	}
	f.known = slices.Collect(maps.Keys(f.object)) // what belongs to an unknown type can't be told
	return t, nil
}
