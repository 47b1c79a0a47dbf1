// Package scim has what the protocol says of any resource (RFC 7643, RFC 7644): filters, paths, and patches.
package scim

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Resource is one as JSON has it.
type Resource = map[string]any

// Filter tells whether a resource fits.
type Filter interface{ fits(r Resource) bool }

const (
	maxFilter = 2000
	maxDepth  = 20
	// maxTerms is how many comparisons a filter has: a list tries it with many resources.
	maxTerms = 30
)

// ErrFilter says that a filter can't be read.
var ErrFilter = errors.New("invalidFilter")

// Fits tells whether a resource fits a filter; nil fits all.
func Fits(f Filter, r Resource) bool { return f == nil || f.fits(r) }

type (
	all  []Filter
	some []Filter
	no   struct{ Filter }
	// within is a filter of the values of an attribute with several.
	within struct {
		attribute string
		of        Filter
	}
	// Compare compares an attribute with a value.
	Compare struct {
		Attribute string
		Operator  string
		Value     any
	}
)

func (f all) fits(r Resource) bool {
	for _, each := range f {
		if !each.fits(r) {
			return false
		}
	}
	return true
}

func (f some) fits(r Resource) bool {
	for _, each := range f {
		if each.fits(r) {
			return true
		}
	}
	return false
}

func (f no) fits(r Resource) bool { return !f.Filter.fits(r) }

func (f within) fits(r Resource) bool {
	list, _ := attributeOf(r, f.attribute).([]any)
	for _, v := range list {
		if sub, ok := v.(Resource); ok && f.of.fits(sub) {
			return true
		}
	}
	return false
}

func (f Compare) fits(r Resource) bool {
	have := valuesAt(r, f.Attribute)
	if f.Operator == "pr" {
		return len(have) > 0
	}
	for _, v := range have {
		if f.holds(v) {
			return f.Operator != "ne" || len(have) == 1
		}
	}
	return f.Operator == "ne" && len(have) == 0
}

// holds compares one value. Texts are compared without regard to case, as all those of the resources here are.
func (f Compare) holds(have any) bool {
	a, isText := have.(string)
	b, same := f.Value.(string)
	if !isText || !same {
		equal := have == f.Value
		return f.Operator == "eq" && equal || f.Operator == "ne" && !equal
	}
	a, b = strings.ToLower(a), strings.ToLower(b)
	switch f.Operator {
	case "eq":
		return a == b
	case "ne":
		return a != b
	case "co":
		return strings.Contains(a, b)
	case "sw":
		return strings.HasPrefix(a, b)
	case "ew":
		return strings.HasSuffix(a, b)
	case "gt":
		return a > b
	case "ge":
		return a >= b
	case "lt":
		return a < b
	case "le":
		return a <= b
	}
	return false
}

// attributeOf gives an attribute's value by its name in any case.
func attributeOf(r Resource, name string) any {
	for key, value := range r {
		if strings.EqualFold(key, name) {
			return value
		}
	}
	return nil
}

// valuesAt gives the simple values behind a path: of several complex ones that of value, where no part is named.
func valuesAt(r Resource, path string) (list []any) {
	name, sub, deep := strings.Cut(path, ".")
	switch v := attributeOf(r, name).(type) {
	case nil:
	case []any:
		for _, each := range v {
			if part, ok := each.(Resource); ok {
				if !deep {
					sub = "value"
				}
				list = append(list, valuesAt(part, sub)...)
			} else if !deep {
				list = append(list, each)
			}
		}
	case Resource:
		if deep {
			return valuesAt(v, sub)
		}
		list = append(list, v)
	default:
		if !deep && v != "" {
			list = append(list, v)
		}
	}
	return list
}

// ParseFilter reads a filter (RFC 7644, section 3.4.2.2). The error is ErrFilter.
func ParseFilter(text string) (Filter, error) {
	if len(text) > maxFilter || !utf8.ValidString(text) {
		return nil, fmt.Errorf("%w: it is longer than %d bytes", ErrFilter, maxFilter)
	}
	p := &parser{rest: text}
	f, err := p.some(0)
	if err == nil && strings.TrimSpace(p.rest) != "" {
		err = p.fault("there is more behind its end")
	}
	return f, err
}

type parser struct {
	rest  string
	terms int
}

func (p *parser) fault(what string) error {
	return fmt.Errorf("%w: %s, at %q", ErrFilter, what, clip(p.rest))
}

func clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}

// word takes a word, if it comes next.
func (p *parser) word(w string) bool {
	rest := strings.TrimLeft(p.rest, " ")
	if len(rest) < len(w) || !strings.EqualFold(rest[:len(w)], w) {
		return false
	}
	if after := rest[len(w):]; isLetter(w[0]) && after != "" && (isLetter(after[0]) || after[0] >= '0' && after[0] <= '9') {
		return false
	}
	p.rest = rest[len(w):]
	return true
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func (p *parser) some(depth int) (Filter, error) {
	if depth > maxDepth {
		return nil, p.fault("it is too deep")
	}
	var list some
	for {
		var of all
		for {
			f, err := p.one(depth)
			if err != nil {
				return nil, err
			}
			of = append(of, f)
			if !p.word("and") {
				break
			}
		}
		if list = append(list, of); !p.word("or") {
			return unwrap(list), nil
		}
	}
}

// unwrap leaves a single comparison as it is.
func unwrap(list some) Filter {
	if only, ok := list[0].(all); ok && len(list) == 1 && len(only) == 1 {
		return only[0]
	}
	return list
}

func (p *parser) one(depth int) (Filter, error) {
	switch {
	case p.word("not"):
		if !p.word("(") {
			return nil, p.fault("not is followed by brackets")
		}
		f, err := p.closed(depth, ")")
		return no{f}, err
	case p.word("("):
		return p.closed(depth, ")")
	}
	attribute := p.path()
	if attribute == "" {
		return nil, p.fault("an attribute is missing")
	}
	if p.terms++; p.terms > maxTerms {
		return nil, p.fault("it has too many comparisons")
	}
	if p.word("[") {
		f, err := p.closed(depth, "]")
		return within{attribute, f}, err
	}
	for _, op := range []string{"eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le"} {
		if p.word(op) {
			value, err := p.value()
			return Compare{attribute, op, value}, err
		}
	}
	if p.word("pr") {
		return Compare{attribute, "pr", nil}, nil
	}
	return nil, p.fault("an operator is missing")
}

func (p *parser) closed(depth int, by string) (Filter, error) {
	f, err := p.some(depth + 1)
	if err == nil && !p.word(by) {
		err = p.fault("a bracket is not closed")
	}
	return f, err
}

// path takes the path of an attribute, without the name of its schema.
func (p *parser) path() string {
	rest := strings.TrimLeft(p.rest, " ")
	end := strings.IndexFunc(rest, func(r rune) bool {
		return r >= utf8.RuneSelf || !isLetter(byte(r)) && (r < '0' || r > '9') && !strings.ContainsRune("_$-.:", r)
	})
	if end < 0 {
		end = len(rest)
	}
	path := rest[:end]
	p.rest = rest[end:]
	return bare(path)
}

// bare takes the name of the schema off a path.
func bare(path string) string {
	if i := strings.LastIndexByte(path, ':'); i >= 0 {
		path = path[i+1:]
	}
	return path
}

func (p *parser) value() (any, error) {
	d := json.NewDecoder(strings.NewReader(p.rest))
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, p.fault("a value is missing")
	}
	switch v.(type) {
	case Resource, []any:
		return nil, p.fault("the value is not a simple one")
	}
	p.rest = p.rest[d.InputOffset():]
	return v, nil
}
