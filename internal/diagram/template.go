package diagram

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// value is a part of a diagram that is worked out at run time: a literal, an expression, a text
// with expressions in it, or an object or array of values.
type value interface {
	eval(ev *evaluation) (any, error)
}

type (
	literal   struct{ v any }
	computed  struct{ *expression }
	composed  []value // texts and expressions in turn
	listOf    []value
	objectOf  map[string]value
	evalError struct {
		at  string
		err error
	}
)

func (e *evalError) Error() string { return e.at + ": " + e.err.Error() }
func (e *evalError) Unwrap() error { return e.err }

// evaluation is the working-out of one step.
type evaluation struct {
	meter *meter
	env   map[string]any
	// redactor knows the secrets that the step may have told somebody; nil where there are none.
	redactor *redactor
	// made is what expressions gave, other than those that read secrets.
	made map[*expression]any
	// given is told what the step was given, as it is kept; nil where nobody asks.
	given func(json.RawMessage)
}

// evalAt works out a field by turns, and says in the error which one it was.
func (ev *evaluation) evalAt(field string, v value) (any, error) {
	defer ev.meter.rest()
	out, err := v.eval(ev)
	if err != nil {
		return nil, &evalError{field, err}
	}
	return out, nil
}

func (l literal) eval(*evaluation) (any, error) { return l.v, nil }

func (c computed) eval(ev *evaluation) (any, error) {
	out, err := c.run(ev.env)
	if err != nil {
		return nil, err
	}
	if err := ev.meter.deep(out); err != nil {
		return nil, err
	}
	if len(c.refs.secrets) == 0 {
		ev.made[c.expression] = out
	}
	return out, ev.redactor.learn(ev.meter, c.refs.secrets, out)
}

func (c composed) eval(ev *evaluation) (any, error) {
	var out strings.Builder
	for _, part := range c {
		v, err := part.eval(ev)
		if err != nil {
			return nil, err
		}
		s, err := text(v)
		if err != nil {
			return nil, err
		}
		if out.Len()+len(s) > MaxOutput {
			return nil, errTooLarge
		}
		out.WriteString(s)
	}
	return out.String(), nil
}

func (l listOf) eval(ev *evaluation) (any, error) {
	out := make([]any, len(l))
	for i, item := range l {
		v, err := item.eval(ev)
		if err != nil {
			return nil, &evalError{fmt.Sprintf("[%d]", i), err}
		}
		out[i] = v
	}
	return out, nil
}

func (o objectOf) eval(ev *evaluation) (any, error) {
	out := make(map[string]any, len(o))
	for key, item := range o {
		v, err := item.eval(ev)
		if err != nil {
			return nil, &evalError{key, err}
		}
		out[key] = v
	}
	return out, nil
}

// segment is a stretch of a template: either text or the source of an expression.
type segment struct {
	text         string
	isExpression bool
}

// split cuts a template at its {{ and }}. The end of an expression is the first }} outside its
// strings and braces, so that strings and maps in an expression may hold }} themselves.
func split(s string) ([]segment, error) {
	var out []segment
	for rest := s; rest != ""; {
		before, after, found := strings.Cut(rest, "{{")
		if before != "" {
			out = append(out, segment{text: before})
		}
		if !found {
			break
		}
		end := endOfExpression(after)
		if end < 0 {
			at := utf8.RuneCountInString(s[:len(s)-len(after)]) - 1
			return nil, fmt.Errorf("the {{ at character %d is not closed", at)
		}
		out = append(out, segment{after[:end], true})
		rest = after[end+2:]
	}
	return out, nil
}

// endOfExpression is the index of the closing }}, or -1.
func endOfExpression(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"', '\'', '`':
			n := endOfString(s[i+1:], c)
			if n < 0 {
				return -1
			}
			i += n + 1
		case '{':
			depth++
		case '}':
			if depth == 0 && strings.HasPrefix(s[i:], "}}") {
				return i
			}
			depth--
		}
	}
	return -1
}

// endOfString is the index of the closing quote, or -1. Backquoted strings know no escapes.
func endOfString(s string, quote byte) int {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == quote:
			return i
		case s[i] == '\\' && quote != '`':
			i++
		}
	}
	return -1
}

// asText is the text of a field that must be one: strings, numbers and booleans are.
func asText(v any) (string, error) {
	switch v.(type) {
	case string, bool, int, float64:
		return text(v)
	}
	return "", fmt.Errorf("must be a text, not %s", kind(v))
}

// asInt is a whole number.
func asInt(v any) (int, error) {
	switch v := v.(type) {
	case int:
		return v, nil
	case float64:
		if n := int(v); float64(n) == v {
			return n, nil
		}
	}
	return 0, fmt.Errorf("must be a whole number, not %s", kind(v))
}

func asFloat(v any) (float64, error) {
	switch v := v.(type) {
	case int:
		return float64(v), nil
	case float64:
		return v, nil
	}
	return 0, fmt.Errorf("must be a number, not %s", kind(v))
}

func asBool(v any) (bool, error) {
	b, ok := v.(bool)
	if !ok {
		return false, errors.New("must be true or false, not " + kind(v))
	}
	return b, nil
}

// kind names the JSON type of a value for a message.
func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a text"
	case int, float64:
		return "a number"
	case map[string]any:
		return "an object"
	case []any, []string, []int:
		return "an array"
	}
	return fmt.Sprintf("a %T", v)
}
