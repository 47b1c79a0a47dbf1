package diagram

import (
	"fmt"
	"regexp/syntax"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
)

// maxPattern bounds a regular expression, in bytes.
const maxPattern = 1000

// guard walks the syntax tree of an expression once, before it is compiled. It finds what the
// expression refers to, refuses what can't be bounded, and puts calls of the meter where work
// happens that the library does not count: around the operands of operators, the arguments of
// functions and the bodies of loops.
type guard struct {
	earlier, all map[string]bool
	secrets      bool // may be read

	refs     refs
	patterns int                          // instructions of its regular expressions
	names    []*ast.IdentifierNode        // every name in the expression
	placed   map[*ast.IdentifierNode]bool // names that stand where they may
	faults   []error
}

// Visit is called for each node after its parts.
func (g *guard) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		g.names = append(g.names, n)
		g.refs.input = g.refs.input || n.Value == "input"
	case *ast.MemberNode:
		g.member(n)
	case *ast.CallNode:
		g.call(n)
	case *ast.BuiltinNode:
		g.builtin(n)
	case *ast.PredicateNode:
		n.Node = charge(tickName, n.Node)
	case *ast.BinaryNode:
		g.binary(n)
	}
}

func (g *guard) refuse(format string, args ...any) {
	g.faults = append(g.faults, fmt.Errorf(format, args...))
}

func (g *guard) place(n *ast.IdentifierNode) {
	if g.placed == nil {
		g.placed = map[*ast.IdentifierNode]bool{}
	}
	g.placed[n] = true
}

// fault is the first thing that was refused.
func (g *guard) fault() error {
	for _, n := range g.names {
		_, isFunction := builtin.Index[n.Value]
		switch {
		case g.placed[n]:
		case n.Value == "steps":
			g.refuse("steps must be followed by the id of a step, as in steps.name")
		case n.Value == "secrets":
			g.refuse("secrets must be followed by the name of one, as in secrets.NAME")
		case n.Value == "$env":
			g.refuse("unknown name $env")
		case isFunction || functions[n.Value] != nil:
			g.refuse("%s is a function and must be called", n.Value)
		}
	}
	if len(g.faults) > 0 {
		return g.faults[0]
	}
	return nil
}

// member notes input.name, and steps.name and secrets.name, the one way to read a step's result and a secret.
func (g *guard) member(n *ast.MemberNode) {
	owner, ok := n.Node.(*ast.IdentifierNode)
	if !ok {
		return
	}
	name, ok := n.Property.(*ast.StringNode)
	if !ok {
		return // of steps and secrets refused as a bare name
	}
	switch owner.Value {
	case "input":
		g.refs.members.add(name.Value)
	case "steps":
		g.place(owner)
		g.step(name.Value)
	case "secrets":
		g.place(owner)
		g.secret(name.Value)
	}
}

func (g *guard) step(name string) {
	switch {
	case g.earlier[name]:
		g.refs.steps.add(name)
	case g.all[name]:
		g.refuse("step %q does not run before this", name)
	default:
		g.refuse("there is no step %q", name)
	}
}

// secret lets secrets be read where what is made of them goes outside, and not where it is kept.
func (g *guard) secret(name string) {
	switch {
	case !g.secrets:
		g.refuse("secrets are for what http and chat steps send, and can't be used here")
	case !SecretName.MatchString(name):
		g.refuse("%q is no name of a secret: that is letters, digits and underscores, at most 64", clip(name))
	default:
		g.refs.secrets.add(name)
	}
}

// call lets only our own functions be called; those of the library are builtin nodes.
func (g *guard) call(n *ast.CallNode) {
	callee, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		g.refuse("only functions can be called, not methods or values")
		return
	}
	g.place(callee)
	if functions[callee.Value] == nil {
		g.refuse("unknown function %s", callee.Value)
		return
	}
	for i := range n.Arguments {
		n.Arguments[i] = charge(deepName, n.Arguments[i])
	}
	n.Arguments = append([]ast.Node{&ast.IdentifierNode{Value: meterName}}, n.Arguments...)
}

func (g *guard) builtin(n *ast.BuiltinNode) {
	if len(n.Arguments) > 1 {
		if _, loops := n.Arguments[1].(*ast.PredicateNode); loops {
			return // charged by its rounds
		}
	}
	how := deepName
	switch {
	case flatFunctions[n.Name]:
		how = flatName
	case (n.Name == "split" || n.Name == "splitAfter") && len(n.Arguments) > 0:
		// Each byte can become an element of its own.
		n.Arguments[0] = metered(scaledName, n.Arguments[0], &ast.IntegerNode{Value: valueCost})
	}
	for i := range n.Arguments {
		n.Arguments[i] = charge(how, n.Arguments[i])
	}
}

func (g *guard) binary(n *ast.BinaryNode) {
	switch n.Operator {
	case "and", "&&", "or", "||", "??", "-", "*", "/", "%", "^", "**", "..":
		return // these touch single values; ranges are counted by the library
	case "matches":
		g.matches(n)
		return
	}
	n.Left, n.Right = charge(deepName, n.Left), charge(deepName, n.Right)
}

// matches takes literal patterns only, whose cost is known: Go's regular expressions need time in
// proportion to the text and to the pattern's instructions, and no more (RE2).
func (g *guard) matches(n *ast.BinaryNode) {
	pattern, ok := n.Right.(*ast.StringNode)
	if !ok || len(pattern.Value) > maxPattern {
		g.refuse("matches takes a pattern written in the expression, of at most %d bytes", maxPattern)
		return
	}
	parsed, err := syntax.Parse(pattern.Value, syntax.Perl)
	if err != nil {
		g.refuse("%v", err)
		return
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		g.refuse("%v", err)
		return
	}
	g.patterns += len(program.Inst)
	n.Left = metered(scaledName, n.Left, &ast.IntegerNode{Value: len(program.Inst)})
}

// charge wraps a node in a call of the meter, unless it is a literal of no size worth counting.
func charge(how string, n ast.Node) ast.Node {
	switch n.(type) {
	case *ast.NilNode, *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode:
		if how != tickName {
			return n
		}
	case *ast.StringNode:
		if how != tickName {
			return n // no longer than the expression
		}
	}
	return metered(how, n)
}

func metered(how string, args ...ast.Node) ast.Node {
	call := &ast.CallNode{
		Callee:    &ast.IdentifierNode{Value: how},
		Arguments: append([]ast.Node{&ast.IdentifierNode{Value: meterName}}, args...),
	}
	call.SetLocation(args[0].Location())
	return call
}
