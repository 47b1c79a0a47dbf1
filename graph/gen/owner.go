package main

import (
	"bytes"
	"errors"
	"regexp"
)

// ofObject is a function that resolves a field of an object that has a place in memory.
var ofObject = regexp.MustCompile(`func \(ec \*executionContext\) _\w+\(ctx context\.Context, field graphql\.CollectedField, obj \*[^)]+\) \(ret graphql\.Marshaler\) \{\n\treturn inorder\.Resolve(?:Field|Bare)\(\n`)

// owned has such a function say which object that is, in place of the middleware of fields, of which there is none: what another cell has is asked for by it.
func owned(code []byte) ([]byte, error) {
	nobody, object := []byte("\n\t\tnil,\n"), []byte("\n\t\tobj,\n")
	var out bytes.Buffer
	found := 0
	for {
		at := ofObject.FindIndex(code)
		if at == nil {
			break
		}
		out.Write(code[:at[1]])
		code = code[at[1]:]
		if body, _, _ := bytes.Cut(code, []byte("\n}\n")); bytes.Contains(body, nobody) {
			before, after, _ := bytes.Cut(code, nobody)
			out.Write(before)
			out.Write(object)
			code = after
			found++
		}
	}
	if found == 0 {
		return nil, errors.New("no field of an object was found: has gqlgen changed?")
	}
	out.Write(code)
	return out.Bytes(), nil
}
