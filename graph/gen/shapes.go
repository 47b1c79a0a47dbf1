package main

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Selections are looked at once for each operation, and objects are written by what inorder has found out of them. No field is resolved
// beside others, so nothing is put off.
var (
	collecting = regexp.MustCompile(`\tfields := graphql\.CollectFields\(ec\.OperationContext, (sel, \w+)\)\n`)
	putOff     = []*regexp.Regexp{
		regexp.MustCompile(`\tdeferred := make\(map\[string\]\*graphql\.FieldSet\)\n`),
		regexp.MustCompile(`\tout\.Dispatch\(ctx\)\n`),
		regexp.MustCompile(`(?s)\tatomic\.AddInt32\(&ec\.Deferred, .*?\n\t\}\n\n`),
	}
	object = regexp.MustCompile(`(?s)func \(ec \*executionContext\) _(\w+)\(ctx context\.Context, sel ast\.SelectionSet, obj \*[^()]+\) graphql\.Marshaler \{\n(.*?)\n\}\n`)
)

// shaped has objects written by the shapes of their selections, and what is plain kept.
func (d *direct) shaped(code []byte) ([]byte, error) {
	for _, beside := range []string{".Concurrently(", "Deferrable"} {
		if bytes.Contains(code, []byte(beside)) {
			return nil, fmt.Errorf("%s is in gqlgen's code, and would be left out", beside)
		}
	}
	for _, what := range putOff {
		if !what.Match(code) {
			return nil, fmt.Errorf("there is no %s: has gqlgen changed?", what)
		}
		code = what.ReplaceAll(code, nil)
	}
	if !collecting.Match(code) {
		return nil, fmt.Errorf("there is no %s: has gqlgen changed?", collecting)
	}
	code = collecting.ReplaceAll(code, []byte("\tshape := ec.shapes.Of(ec.OperationContext, $1)\n\tfields := shape.Fields\n"))
	left := maps.Clone(d.plain)
	code = object.ReplaceAllFunc(code, func(function []byte) []byte {
		name := string(object.FindSubmatch(function)[1])
		fields := left[name]
		if len(fields) == 0 {
			return function
		}
		delete(left, name)
		set := "plainFieldsOf" + name
		text := strings.Replace(string(function), "\tfields := shape.Fields\n", "\tif kept := ec.shapes.Kept(shape, "+set+", unsafe.Pointer(obj)); kept != nil {\n\t\treturn kept\n\t}\n\tfields := shape.Fields\n", 1)
		text = strings.Replace(text, "\n\treturn out\n", "\n\treturn ec.shapes.Keep(shape, unsafe.Pointer(obj), out)\n", 1)
		return []byte("// " + set + " are read from the object alone, and can't fail.\nvar " + set + " = map[string]bool{\"" + strings.Join(slices.Sorted(slices.Values(fields)), `": true, "`) + "\": true}\n\n" + text)
	})
	if len(left) > 0 {
		return nil, fmt.Errorf("objects %v were not found: has gqlgen changed?", slices.Sorted(maps.Keys(left)))
	}
	return code, nil
}
