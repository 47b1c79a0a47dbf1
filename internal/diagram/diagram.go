// Package diagram parses, validates and interprets agents: ordered steps that set values, search a
// context, ask a chat model, send one HTTP request or fail, written as JSON.
//
//	{"steps": [
//	   {"id": "hits", "type": "search", "contextId": 7, "prompt": "{{ input.question }}"},
//	   {"id": "none", "type": "fail", "when": "{{ len(steps.hits) == 0 }}", "message": "Nothing found."},
//	   {"id": "answer", "type": "chat", "prompt": "{{ input.question }}\n{{ steps.hits[0].content }}"}],
//	 "output": {"answer": "{{ steps.answer.content }}"}}
//
// Strings may hold {{ expressions }} of github.com/expr-lang/expr over input and the results of
// earlier steps. A string that is one expression and nothing else becomes that expression's value,
// of whatever type; in any other string each expression becomes text: strings as they are, null as
// nothing, everything else as JSON. Member names, step ids, types and HTTP methods are literal.
//
// Expressions of http and chat steps may also read secrets.NAME. Whatever such a step gives or says is
// kept without the secrets, even where a remote sends them back.
//
// The interpreter is a state machine without a store: Run executes one step at a time over the
// results so far, so that its caller can keep each result before the next step begins.
//
// Numbers: a JSON integer that fits 64 bits stays exact; any other number is a double, as integers
// beyond 64 bits are. Division gives a double; integer arithmetic wraps around at 64 bits. NaN and
// infinities are not JSON and end the step with an error. Results are canonical JSON: compact, with
// sorted member names, so that equal values are equal bytes.
package diagram

import (
	"regexp"
	"time"
)

// The bounds of a diagram and of its runs.
const (
	MaxDiagram     = 256 << 10 // bytes of the JSON text
	MaxSteps       = 100
	MaxDepth       = 64               // levels of nested JSON, in diagrams, inputs and results
	MaxExpression  = 8 << 10          // bytes of one expression
	MaxExpressions = 2000             // in one diagram
	MaxPatterns    = 100_000          // instructions of all regular expressions together
	MaxFaults      = 100              // that Parse tells of
	MaxInput       = 1 << 20          // bytes
	MaxOutput      = 1 << 20          // bytes of the output, and of each step's result
	MaxState       = 16 << 20         // bytes of all results of a run together
	MaxGiven       = 64 << 10         // bytes of what is kept of a step's input
	StepTimeout    = 60 * time.Second // each step
	RunTimeout     = 10 * time.Minute // a run, from Run.Started
)

// Type is what a step does.
type Type string

// The types of steps.
const (
	Set    Type = "set"
	Search Type = "search"
	Ask    Type = "ask"
	Chat   Type = "chat"
	HTTP   Type = "http"
	Fail   Type = "fail"
)

// Diagram is a valid diagram, ready to run. It is immutable and safe for concurrent use.
type Diagram struct {
	// Steps are in the order of execution.
	Steps  []Step
	output value
	refs   refs // of the output
	// secrets are the names of all that its steps use, in order.
	secrets []string
}

// Step is one step of a diagram.
type Step struct {
	ID   string
	Type Type

	when   value // nil: always
	action action
	refs   refs
}

// Fault is one thing that is wrong with a diagram. Location is a path like "steps[2].url"; it is
// empty for the diagram as a whole.
type Fault struct {
	Location string `json:"location,omitempty"`
	Message  string `json:"message"`
}

// refs are the parts of a run's state that expressions read.
type refs struct {
	input   bool
	members names // of the input
	steps   names
	secrets names
}

func (r *refs) add(more refs) {
	r.input = r.input || more.input
	for _, set := range []struct {
		to   *names
		from names
	}{{&r.members, more.members}, {&r.steps, more.steps}, {&r.secrets, more.secrets}} {
		for name := range set.from {
			set.to.add(name)
		}
	}
}

// names is a set of names; nil is empty.
type names map[string]bool

func (n *names) add(name string) {
	if *n == nil {
		*n = names{}
	}
	(*n)[name] = true
}

// identifier is the form of step ids and of a fail step's code.
var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// SecretName is the form of a secret's name.
var SecretName = regexp.MustCompile(`^[A-Za-z0-9_]{1,64}$`)
