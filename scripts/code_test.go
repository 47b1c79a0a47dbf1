package scripts

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sources gives the Go files of the project, without those that are generated.
func sources(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() != ".." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "generated"):
			return fs.SkipDir
		case strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_gen.go"):
			files = append(files, file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestExceptionsAreOfLinters: a line is excepted from linters that look at it, and from no others; nolintlint
// does not know which are off.
func TestExceptionsAreOfLinters(t *testing.T) {
	settings, err := os.ReadFile("../.golangci.yaml")
	if err != nil {
		t.Fatal(err)
	}
	enabled := regexp.MustCompile(`enable: \[(.+)\]`).FindSubmatch(settings)
	notInTests := regexp.MustCompile(`path: _test\\\.go\n\s+linters: \[(.+)\]`).FindSubmatch(settings)
	if enabled == nil || notInTests == nil {
		t.Fatal("the linters are not found")
	}
	on, off := strings.Split(string(enabled[1]), ", "), strings.Split(string(notInTests[1]), ", ")
	for _, file := range sources(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range regexp.MustCompile(`//nolint:([\w,]+)`).FindAllSubmatch(text, -1) {
			for _, linter := range strings.Split(string(x[1]), ",") {
				if !slices.Contains(on, linter) || strings.HasSuffix(file, "_test.go") && slices.Contains(off, linter) {
					t.Errorf("%s: %s does not look here", file, linter)
				}
			}
		}
	}
}

// TestManyFieldsAreNamed: a value of more than three fields names them, or one that comes in between shifts the others.
// The rows of tests' tables stand beside their types.
func TestManyFieldsAreNamed(t *testing.T) {
	set, parsed, structs := token.NewFileSet(), map[string]*ast.File{}, map[string]bool{}
	for _, file := range sources(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		parsed[file] = f
		ast.Inspect(f, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if _, ok := spec.Type.(*ast.StructType); ok {
					structs[f.Name.Name+"."+spec.Name.Name] = true
				}
			}
			return true
		})
	}
	if len(structs) < 100 {
		t.Fatalf("only %d types are found", len(structs))
	}
	for _, f := range parsed {
		ast.Inspect(f, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			if structs[typeName(f, lit.Type)] {
				mustName(t, set, lit)
			}
			for _, e := range lit.Elts { // what is left out of an element is the type of all
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					e = kv.Value
				}
				if inner, ok := e.(*ast.CompositeLit); ok && inner.Type == nil && structs[typeName(f, elementType(lit.Type))] {
					mustName(t, set, inner)
				}
			}
			return true
		})
	}
}

func mustName(t *testing.T, set *token.FileSet, lit *ast.CompositeLit) {
	t.Helper()
	if len(lit.Elts) < 4 {
		return
	}
	if _, named := lit.Elts[0].(*ast.KeyValueExpr); !named {
		t.Errorf("%s: %d fields without their names", set.Position(lit.Pos()), len(lit.Elts))
	}
}

func elementType(list ast.Expr) ast.Expr {
	switch list := list.(type) {
	case *ast.ArrayType:
		return list.Elt
	case *ast.MapType:
		return list.Value
	}
	return nil
}

// typeName is the name of a type with that of its package, as far as it has one.
func typeName(f *ast.File, typ ast.Expr) string {
	switch typ := typ.(type) {
	case *ast.Ident:
		return f.Name.Name + "." + typ.Name
	case *ast.StarExpr:
		return typeName(f, typ.X)
	case *ast.IndexExpr:
		return typeName(f, typ.X)
	case *ast.SelectorExpr:
		if from, ok := typ.X.(*ast.Ident); ok {
			return from.Name + "." + typ.Sel.Name
		}
	}
	return ""
}
