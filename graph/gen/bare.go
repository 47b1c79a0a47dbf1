package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// A field without arguments has a context that is known beforehand: it is made where the field is resolved, in one piece of memory with
// what leads to it.
var (
	bareContext = regexp.MustCompile(`func \(ec \*executionContext\) (fieldContext_\w+)\(_ context\.Context, field graphql\.CollectedField\) \(fc \*graphql\.FieldContext, err error\) \{\n` +
		`\tfc = &(graphql\.FieldContext\{(?:\n\t\t\w+: +[^\n]+,)+\n\t\})\n\treturn fc, nil\n\}\n`)
	opening = regexp.MustCompile(`inorder\.ResolveField(\(\n\t\tctx,\n\t\tec\.OperationContext,\n\t\tfield,\n)` +
		`\t\tfunc\(ctx context\.Context, field graphql\.CollectedField\) \(\*graphql\.FieldContext, error\) \{\n\t\t\treturn ec\.(fieldContext_\w+)\(ctx, field\)\n\t\t\},\n`)
)

// arguments are read in the context of a field that has any.
var arguments = regexp.MustCompile(`ec\.field_(\w+)_args\(ctx, field\.ArgumentMap\(ec\.Variables\)\)`)

// readOnce has the arguments of a field read once for a query.
func readOnce(code []byte) ([]byte, error) {
	if !arguments.Match(code) {
		return nil, fmt.Errorf("there is no %s: has gqlgen changed?", arguments)
	}
	return arguments.ReplaceAll(code, []byte(`ec.shapes.Args(ec.OperationContext, field.Field, "$1", func() (map[string]any, error) { return $0 })`)), nil
}

// bare has fields without arguments resolved so.
func bare(code []byte) ([]byte, error) {
	contexts := map[string]string{}
	for _, found := range bareContext.FindAllSubmatch(code, -1) {
		contexts[string(found[1])] = strings.Join(strings.Fields(string(found[2])), " ")
	}
	left := len(contexts)
	code = opening.ReplaceAllFunc(code, func(call []byte) []byte {
		part := opening.FindSubmatch(call)
		context, known := contexts[string(part[2])]
		if !known {
			return call
		}
		left--
		return []byte("inorder.ResolveBare" + string(part[1]) + "\t\t" + context + ",\n")
	})
	if left == len(contexts) {
		return nil, fmt.Errorf("no field without arguments was found: has gqlgen changed?")
	}
	return bareContext.ReplaceAllFunc(code, func(function []byte) []byte {
		name := bareContext.FindSubmatch(function)[1]
		if bytes.Contains(code, append([]byte("ec."), append(name, '(')...)) {
			return function
		}
		return nil
	}), nil
}
