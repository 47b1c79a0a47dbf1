package diagram

import (
	"errors"
	"fmt"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"
)

// maxNodes bounds the syntax tree of one expression.
const maxNodes = 2000

// expression is one compiled expression.
type expression struct {
	program  *vm.Program
	refs     refs
	patterns int // instructions of its regular expressions
}

// environment declares what expressions may name. Fields of input and of results are not known
// before the run, so they have no types.
var environment = map[string]any{"input": map[string]any{}, "steps": map[string]any{}, "secrets": map[string]any{}, meterName: (*meter)(nil)}

// compile checks an expression against the ids of the steps before it and compiles it. all are the
// ids of the whole diagram: a later step is told apart from one that does not exist. secrets tells
// whether the expression may read them.
func compile(source string, earlier, all map[string]bool, secrets bool) (*expression, error) {
	if len(source) > MaxExpression {
		return nil, fmt.Errorf("the expression is longer than %d bytes", MaxExpression)
	}
	if strings.TrimSpace(source) == "" {
		return nil, errors.New("the expression is empty")
	}
	g := &guard{earlier: earlier, all: all, secrets: secrets}
	options := append(libraryOptions(),
		expr.Env(environment),
		expr.MaxNodes(maxNodes),
		expr.Optimize(false), // folding constants would run them at publish, outside any budget
		expr.Patch(g),
	)
	program, err := expr.Compile(source, options...)
	if fault := g.fault(); fault != nil {
		return nil, fault
	}
	if err != nil {
		return nil, errors.New(shorten(err))
	}
	return &expression{program, g.refs, g.patterns}, nil
}

// run evaluates the expression over an environment with input, steps and the meter.
func (e *expression) run(env map[string]any) (any, error) {
	machine := vm.VM{MemoryBudget: memoryUnits}
	out, err := machine.Run(e.program, env)
	var located *file.Error
	if errors.As(err, &located) && located.Message == "memory budget exceeded" {
		located.Wrap(errBudget) // the library has no error value for it
		located.Message = errBudget.Error()
	}
	return out, err
}

// shorten gives the library's message with its column, without the drawing of the source.
func shorten(err error) string {
	var located *file.Error
	if !errors.As(err, &located) {
		return err.Error()
	}
	message := strings.TrimPrefix(located.Message, "runtime error: ")
	return fmt.Sprintf("%s (line %d, column %d)", message, max(located.Line, 1), located.Column+1)
}
