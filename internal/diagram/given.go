package diagram

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// give tells what a step was given, before the step does anything with it: so it is known also where that takes too long.
func (ev *evaluation) give(given map[string]any) error {
	defer ev.meter.rest()
	if ev.redactor != nil {
		if err := ev.meter.next(); err != nil {
			return err
		}
	}
	kept := ev.kept(given)
	if ev.given != nil && kept != nil {
		ev.given(kept)
	}
	return ev.meter.pass(len(kept))
}

// kept is a value as JSON of at most MaxGiven bytes, without secrets: where it is longer, its texts are cut. It is nil where that is not enough, which is no
// fault of the step.
func (ev *evaluation) kept(given any) json.RawMessage {
	whole, err := encode(given, MaxOutput)
	if err != nil || ev.redactor == nil && len(whole) <= MaxGiven {
		return whole
	}
	plain, err := decode(whole) // expressions give further types, which a redactor does not look into
	if err != nil {
		return nil
	}
	plain = ev.redactor.value(plain)
	raw, err := encode(plain, MaxGiven)
	for most := MaxGiven / 4; err != nil && most >= leastCut; most /= 4 {
		raw, err = encode(cut(plain, most), MaxGiven)
	}
	return raw
}

// leastCut is the length in bytes below which texts are not cut.
const leastCut = 256

// cut is a value whose texts have no more than most bytes, and then "…".
func cut(v any, most int) any {
	switch v := v.(type) {
	case string:
		if len(v) <= most {
			return v
		}
		for most > 0 && !utf8.RuneStart(v[most]) {
			most--
		}
		return v[:most] + "…"
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = cut(item, most)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			out[name] = cut(item, most)
		}
		return out
	}
	return v
}

// shown is a value as it may be kept, once it was worked out: where an expression reads secrets stand their names, whatever it has made of them. A
// redactor alone knows no text again that is short.
func (ev *evaluation) shown(v value) any {
	switch v := v.(type) {
	case literal:
		return v.v
	case computed:
		if len(v.refs.secrets) > 0 {
			return labelOf(slices.Sorted(maps.Keys(v.refs.secrets))...)
		}
		return ev.made[v.expression]
	case composed:
		var out strings.Builder
		for _, part := range v {
			out.WriteString(ev.shownText(part))
		}
		return out.String()
	case listOf:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = ev.shown(item)
		}
		return out
	case objectOf:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = ev.shown(item)
		}
		return out
	}
	return nil
}

// shownText is shown for what must be a text.
func (ev *evaluation) shownText(v value) string {
	s, _ := text(ev.shown(v)) // it was one when it was worked out
	return s
}

// labelOf is what stands in place of secrets.
func labelOf(names ...string) string { return "[secret " + strings.Join(names, ", ") + "]" }
