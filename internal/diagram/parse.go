package diagram

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Parse reads and validates a diagram of a branch, when it is the branch's turn. It returns the diagram, or every fault that
// it found (the first MaxFaults of them), each with its place, in the order of the steps. The error is the context's.
func Parse(ctx context.Context, branch int64, raw []byte) (d *Diagram, faults []Fault, err error) {
	d, err = inTurn(ctx, branch, func() (d *Diagram) {
		d, faults = read(ctx, raw)
		return d
	})
	if err != nil || len(faults) > 0 {
		return nil, faults, err
	}
	return d, nil, nil
}

// read gives what can be read of a diagram, and every fault that it found.
func read(ctx context.Context, raw []byte) (*Diagram, []Fault) {
	if len(raw) > MaxDiagram {
		return &Diagram{}, []Fault{{"", fmt.Sprintf("the diagram is longer than %d KiB", MaxDiagram>>10)}}
	}
	v, err := decode(raw)
	if err != nil {
		return &Diagram{}, []Fault{jsonFault(err)}
	}
	object, ok := v.(map[string]any)
	if !ok {
		return &Diagram{}, []Fault{{"", "the diagram must be an object, not " + kind(v)}}
	}
	p := &parser{ctx: ctx, earlier: map[string]bool{}, all: map[string]bool{}}
	d := p.diagram(&fields{p: p, object: object})
	return d, p.faults
}

func jsonFault(err error) Fault {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return Fault{"", fmt.Sprintf("not valid JSON at byte %d: %v", syntax.ByteOffset, syntax.Err)}
	}
	return Fault{"", "not valid: " + err.Error()}
}

// parser collects the faults of a diagram.
type parser struct {
	ctx          context.Context // of who waits for the diagram
	faults       []Fault
	earlier, all map[string]bool // step ids
	refs         *refs           // of the step being read
	secrets      bool            // may be read where the parser is
	named        names           // secrets, so far

	expressions, patterns int // so far
	full                  bool
}

func (p *parser) fault(at, format string, args ...any) {
	if len(p.faults) == MaxFaults {
		return
	}
	p.faults = append(p.faults, Fault{at, fmt.Sprintf(format, args...)})
}

func (p *parser) diagram(f *fields) *Diagram {
	d := &Diagram{}
	list, ok := f.take("steps").([]any)
	switch {
	case !ok:
		p.fault("steps", "must be an array of steps")
	case len(list) > MaxSteps:
		p.fault("steps", "there are %d steps; at most %d are allowed", len(list), MaxSteps)
	default:
		d.Steps = p.steps(list)
	}
	p.refs = &d.refs
	d.output = p.output(f)
	d.secrets = slices.Sorted(maps.Keys(p.named))
	f.rest()
	return d
}

// output is an object, or a string that is one expression.
func (p *parser) output(f *fields) value {
	switch v := f.take("output").(type) {
	case map[string]any:
		return p.value("output", v)
	case string:
		if out, ok := p.value("output", v).(computed); ok {
			return out
		}
		p.fault("output", "must be an object, or one {{ expression }} that gives one")
	default:
		p.fault("output", "must be an object")
	}
	return nil
}

func (p *parser) steps(list []any) []Step {
	p.collectIDs(list)
	steps := make([]Step, 0, len(list))
	for i, item := range list {
		at := fmt.Sprintf("steps[%d]", i)
		object, ok := item.(map[string]any)
		if !ok {
			p.fault(at, "must be an object, not %s", kind(item))
			steps = append(steps, Step{})
			continue
		}
		steps = append(steps, p.step(&fields{p: p, at: at, object: object}))
	}
	return steps
}

// collectIDs notes every id before the steps are read, so that a reference to a later step is told
// apart from one to a step that does not exist.
func (p *parser) collectIDs(list []any) {
	for _, item := range list {
		object, _ := item.(map[string]any)
		if id, ok := object["id"].(string); ok {
			p.all[id] = true
		}
	}
}

func (p *parser) step(f *fields) Step {
	s := Step{}
	p.refs = &s.refs
	s.ID = f.id()
	s.when = f.when()
	s.Type, s.action = f.action()
	f.rest()
	p.earlier[s.ID] = true
	return s
}

// value compiles a part of the diagram.
func (p *parser) value(at string, v any) value {
	switch v := v.(type) {
	case string:
		return p.template(at, v)
	case []any:
		out := make(listOf, len(v))
		for i, item := range v {
			out[i] = p.value(fmt.Sprintf("%s[%d]", at, i), item)
		}
		return out
	case map[string]any:
		out := make(objectOf, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out[key] = p.value(at+"."+key, v[key])
		}
		return out
	}
	return literal{v}
}

func (p *parser) template(at, s string) value {
	segments, err := split(s)
	if err != nil {
		p.fault(at, "%v", err)
		return literal{s}
	}
	out := make(composed, len(segments))
	for i, seg := range segments {
		out[i] = literal{seg.text}
		if seg.isExpression {
			out[i] = p.expression(at, seg.text)
		}
	}
	if len(out) == 1 {
		return out[0]
	}
	if len(out) == 0 {
		return literal{""}
	}
	return out
}

func (p *parser) expression(at, source string) value {
	if p.expressions++; p.expressions > MaxExpressions || p.patterns > MaxPatterns {
		p.tooMany(at)
		return literal{nil}
	}
	if p.ctx.Err() != nil {
		return literal{nil} // nobody waits for it any more
	}
	e, err := compile(source, p.earlier, p.all, p.secrets)
	if err != nil {
		p.fault(at, "{{ %s }}: %v", clip(strings.TrimSpace(source)), err)
		return literal{nil}
	}
	p.refs.add(e.refs)
	for name := range e.refs.secrets {
		p.named.add(name)
	}
	if p.patterns += e.patterns; p.patterns > MaxPatterns {
		p.tooMany(at)
	}
	return computed{e}
}

// tooMany is told once: everything after it is left uncompiled.
func (p *parser) tooMany(at string) {
	if p.full {
		return
	}
	p.full = true
	p.fault(at, "the diagram has too many expressions (at most %d) or too large regular expressions", MaxExpressions)
}

// clip keeps a quoted source short in a message.
func clip(s string) string {
	const most = 60
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}
