package diagram

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/expr-lang/expr"
)

// Names of the meter and of its functions. The lexer takes none of them for an identifier, so no
// expression can name them.
const (
	meterName  = "meter!"
	deepName   = "deep!"
	flatName   = "flat!"
	tickName   = "tick!"
	scaledName = "scaled!"
)

// function is one that expressions may call. The guard puts the meter before the arguments and has
// the arguments charged.
type function func(m *meter, args []any) (any, error)

// functions replaces the library's functions whose result can be far larger than their arguments,
// which take time beyond proportion, or whose JSON differs from ours; and adds urlEncode.
var functions = map[string]function{
	"replace":   replace,
	"repeat":    repeat,
	"join":      join,
	"uniq":      uniq,
	"string":    toString,
	"toJSON":    toJSON,
	"fromJSON":  fromJSON,
	"urlEncode": urlEncode,
}

// disabled are functions of the library that would make a run's result depend on the time or the
// machine, or whose values are not JSON.
var disabled = []string{"now", "date", "duration", "timezone"}

// flatFunctions don't look into the parts of their argument.
var flatFunctions = map[string]bool{
	"len": true, "first": true, "last": true, "get": true, "type": true, "int": true, "float": true,
	"abs": true, "ceil": true, "floor": true, "round": true,
}

// libraryOptions registers the functions above with the expression library.
func libraryOptions() []expr.Option {
	options := []expr.Option{
		hidden(deepName, func(m *meter, args []any) (any, error) { return args[0], m.deep(args[0]) }),
		hidden(flatName, func(m *meter, args []any) (any, error) { return args[0], m.flat(args[0]) }),
		hidden(tickName, func(m *meter, args []any) (any, error) { return args[0], m.spend(tickCost) }),
		hidden(scaledName, func(m *meter, args []any) (any, error) { return args[0], m.scaled(args[0], args[1].(int)) }),
	}
	for _, name := range disabled {
		options = append(options, expr.DisableBuiltin(name))
	}
	for name, fn := range functions {
		options = append(options, hidden(name, fn))
	}
	return options
}

func hidden(name string, fn function) expr.Option {
	return expr.Function(name, func(params ...any) (any, error) {
		m, ok := params[0].(*meter)
		if !ok {
			return nil, errors.New("no meter")
		}
		return fn(m, params[1:])
	})
}

func strs(name string, args []any, want int) ([]string, error) {
	if len(args) != want {
		return nil, fmt.Errorf("%s takes %d arguments, not %d", name, want, len(args))
	}
	out := make([]string, want)
	for i, arg := range args {
		s, ok := arg.(string)
		if !ok {
			return nil, fmt.Errorf("argument %d of %s must be a string, not %T", i+1, name, arg)
		}
		out[i] = s
	}
	return out, nil
}

// replace(text, old, new) replaces every occurrence.
func replace(m *meter, args []any) (any, error) {
	s, err := strs("replace", args, 3)
	if err != nil {
		return nil, err
	}
	if err := m.spend(len(s[0]) + strings.Count(s[0], s[1])*len(s[2])); err != nil {
		return nil, err
	}
	return strings.ReplaceAll(s[0], s[1], s[2]), nil
}

// repeat(text, times)
func repeat(m *meter, args []any) (any, error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("repeat takes 2 arguments, not %d", len(args))
	}
	s, isString := args[0].(string)
	n, isInt := args[1].(int)
	if !isString || !isInt || n < 0 {
		return nil, errors.New("repeat takes a string and a number of times")
	}
	// Each factor is bounded before the product is, which so can't overflow.
	if err := m.spend(n); err != nil {
		return nil, err
	}
	if err := m.spend(len(s) * min(n, stepBudget)); err != nil {
		return nil, err
	}
	return strings.Repeat(s, n), nil
}

// join(list, separator = "") joins the text of each element.
func join(m *meter, args []any) (any, error) {
	separator := ""
	if len(args) == 2 {
		s, ok := args[1].(string)
		if !ok {
			return nil, fmt.Errorf("the separator of join must be a string, not %T", args[1])
		}
		separator, args = s, args[:1]
	}
	items, err := list("join", args)
	if err != nil {
		return nil, err
	}
	if err := m.spend(len(items) * len(separator)); err != nil {
		return nil, err
	}
	texts := make([]string, len(items))
	for i, item := range items {
		if texts[i], err = text(item); err != nil {
			return nil, err
		}
	}
	return strings.Join(texts, separator), nil
}

// uniq(list) keeps the first of equal elements, compared by their JSON.
func uniq(_ *meter, args []any) (any, error) {
	items, err := list("uniq", args)
	if err != nil {
		return nil, err
	}
	seen := make(map[string]bool, len(items))
	out := []any{}
	for _, item := range items {
		raw, err := encode(item, stepBudget)
		if err != nil {
			return nil, err
		}
		if !seen[string(raw)] {
			seen[string(raw)] = true
			out = append(out, item)
		}
	}
	return out, nil
}

func list(name string, args []any) ([]any, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("%s takes one list", name)
	}
	switch items := args[0].(type) {
	case []any:
		return items, nil
	case []string:
		return anys(items), nil
	case []int:
		return anys(items), nil
	}
	return nil, fmt.Errorf("%s takes a list, not %T", name, args[0])
}

func anys[T any](items []T) []any {
	out := make([]any, len(items))
	for i, item := range items {
		out[i] = item
	}
	return out
}

// toString is the text of a value as it would stand inside a longer string.
func toString(_ *meter, args []any) (any, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("string takes 1 argument, not %d", len(args))
	}
	return text(args[0])
}

// toJSON is the canonical JSON of a value.
func toJSON(_ *meter, args []any) (any, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("toJSON takes 1 argument, not %d", len(args))
	}
	raw, err := encode(args[0], stepBudget)
	return string(raw), err
}

// fromJSON reads a JSON text with the rules for numbers that inputs have.
func fromJSON(m *meter, args []any) (any, error) {
	s, err := strs("fromJSON", args, 1)
	if err != nil {
		return nil, err
	}
	// Two bytes of text can become an element of a list.
	if err := m.scaled(s[0], valueCost/2); err != nil {
		return nil, err
	}
	return decode([]byte(s[0]))
}

// urlEncode makes a value safe as one part of a URL's path or query.
func urlEncode(_ *meter, args []any) (any, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("urlEncode takes 1 argument, not %d", len(args))
	}
	s, err := text(args[0])
	// A space as %20 is right in a path and in a query alike, a plus sign only in a query.
	return strings.ReplaceAll(url.QueryEscape(s), "+", "%20"), err
}
