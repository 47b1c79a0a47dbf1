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
