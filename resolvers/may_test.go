package resolvers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"canopy/internal/rule"
)

// declaredRules gives the variable of each rule by its field, as the generated file has them.
func declaredRules(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../internal/rule/rules_gen.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	byField := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		ast.Inspect(spec.Values[0], func(n ast.Node) bool {
			if kv, ok := n.(*ast.KeyValueExpr); ok && kv.Key.(*ast.Ident).Name == "Field" {
				field, _ := strconv.Unquote(kv.Value.(*ast.BasicLit).Value)
				byField[field] = spec.Names[0].Name
			}
			return true
		})
		return false
	})
	if len(byField) != len(rule.All()) {
		t.Fatalf("%d rules are read, of %d", len(byField), len(rule.All()))
	}
	return byField
}

// source is this package, its functions by receiver and name.
type source struct{ funcs map[[2]string]*ast.FuncDecl }

func readSource(t *testing.T) source {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	s := source{map[[2]string]*ast.FuncDecl{}}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				s.funcs[[2]string{receiver(fn), fn.Name.Name}] = fn
			}
		}
	}
	return s
}

// receiver is the type that a method belongs to; empty for a function.
func receiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return ""
	}
	typ := fn.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if name, ok := typ.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

// asksFor is the rule that a function asks for before it calls anything else: a variable of package
// rule, "its own" for the rule that it was given, or nothing.
func (s source) asksFor(fn *ast.FuncDecl) string {
	var first *ast.CallExpr
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && first == nil {
			first = call
		}
		return first == nil
	})
	if first == nil {
		return ""
	}
	callee, ok := first.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	for _, arg := range first.Args {
		need := ruleOf(arg)
		if own, ok := arg.(*ast.Ident); ok && own.Name == ruleParam(fn) {
			need = "its own"
		}
		if need != "" && s.askers(callee.Sel.Name) {
			return need
		}
	}
	sibling := s.funcs[[2]string{receiver(fn), callee.Sel.Name}]
	if own, ok := callee.X.(*ast.Ident); ok && fn.Recv != nil && sibling != nil && own.Name == fn.Recv.List[0].Names[0].Name {
		return s.asksFor(sibling)
	}
	return ""
}

// askers tells whether the functions of a name begin by asking for the rule that they are given.
func (s source) askers(name string) bool {
	if name == "may" {
		return true
	}
	found := false
	for key, fn := range s.funcs {
		if key[1] == name && ruleParam(fn) != "" {
			if s.asksFor(fn) != "its own" {
				return false
			}
			found = true
		}
	}
	return found
}

// ruleOf reads rule.X.
func ruleOf(n ast.Node) string {
	if sel, ok := n.(*ast.SelectorExpr); ok {
		if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "rule" {
			return sel.Sel.Name
		}
	}
	return ""
}

// ruleParam is the name of a function's parameter of the type *rule.Rule.
func ruleParam(fn *ast.FuncDecl) string {
	for _, p := range fn.Type.Params.List {
		if star, ok := p.Type.(*ast.StarExpr); ok && ruleOf(star.X) == "Rule" {
			return p.Names[0].Name
		}
	}
	return ""
}

// mentioned lists the rules that a function names.
func mentioned(fn *ast.FuncDecl) []string {
	var list []string
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if r := ruleOf(n); r != "" {
			list = append(list, r)
		}
		return true
	})
	slices.Sort(list)
	return slices.Compact(list)
}

// method finds the method that resolves a field.
func (s source) method(field string) *ast.FuncDecl {
	typ, name, _ := strings.Cut(field, ".")
	for key, fn := range s.funcs {
		if (strings.EqualFold(key[0], typ) || strings.EqualFold(key[0], typ+"Edges")) && strings.EqualFold(key[1], name) {
			return fn
		}
	}
	return nil
}

// TestEachOperationAsksForItsRule reads the code: whatever resolves a field with a rule asks for that
// rule, and for no other, before it does anything; and nothing else that the doors can call as an
// operation goes without one.
func TestEachOperationAsksForItsRule(t *testing.T) {
	s := readSource(t)
	resolves := map[*ast.FuncDecl]bool{}
	for field, name := range declaredRules(t) {
		fn := s.method(field)
		if fn == nil {
			t.Errorf("nothing resolves %s", field)
			continue
		}
		resolves[fn] = true
		if got := s.asksFor(fn); got != name {
			t.Errorf("%s does not begin by asking for rule.%s, but for %q", field, name, got)
		}
		if all := mentioned(fn); len(all) > 0 && !slices.Equal(all, []string{name}) {
			t.Errorf("%s names the rules %v", field, all)
		}
	}
	for key, fn := range s.funcs {
		operation := key[0] == "Query" || key[0] == "Mutation" || key[0] == "Subscription"
		switch asked := s.asksFor(fn); {
		case resolves[fn]:
		case operation && (fn.Name.IsExported() || strings.HasSuffix(key[1], "Node")) && asked == "":
			t.Errorf("%s.%s asks for no rule", key[0], key[1])
		case strings.HasSuffix(key[0], "Edges") && len(mentioned(fn)) > 0:
			t.Errorf("%s.%s names the rules %v, and the schema declares none", key[0], key[1], mentioned(fn))
		}
	}
}
