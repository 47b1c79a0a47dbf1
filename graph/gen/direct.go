package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/99designs/gqlgen/codegen"
	"github.com/vektah/gqlparser/v2/ast"
)

// direct has plain members of a row written without a field context of their own: nothing can fail there, so there is no
// error that would need their path. A list of a thousand rows has ten times as many of them as of all else.
type direct struct {
	// bodies are the bodies of functions, by the beginning of their declarations; "" leaves out the function.
	bodies map[string]string
	// plain are the fields that are, by the names of their objects.
	plain map[string][]string
}

// function begins the declaration of each function of gqlgen's code that resolves a field.
const function = "func (ec *executionContext) "

func (*direct) Name() string { return "direct" }

// GenerateCode notes which fields those are.
func (d *direct) GenerateCode(data *codegen.Data) error { //nolint:unparam // a plugin of gqlgen
	d.bodies, d.plain = map[string]string{}, map[string][]string{}
	for _, o := range data.Objects {
		for _, f := range o.Fields {
			if value, plain := plainValue(o, f); plain {
				d.plain[o.Name] = append(d.plain[o.Name], f.Name)
				write := fmt.Sprintf("ec.%s(ctx, field.Selections, %s)", f.TypeReference.MarshalFunc(), value)
				if f.IsVariable() && f.TypeReference.MarshalFunc() == "marshalNString2string" {
					write = "scalar.MarshalStringAt(&" + value + ")"
				}
				if value == f.GoReceiverName+".GlobalID()" {
					write = "scalar.MarshalIDOf(" + f.GoReceiverName + ")"
				}
				d.bodies[function+"_"+o.Name+"_"+f.Name+"("] = " {\n\treturn " + write + "\n}\n"
				d.bodies[function+f.FieldContextFunc()+"("] = ""
			}
		}
	}
	return nil
}

// plainValue is the expression of a field that is a member of its row, or a method that can't fail.
func plainValue(o *codegen.Object, f *codegen.Field) (value string, plain bool) {
	kind := f.TypeReference.Definition.Kind
	leaf := (kind == ast.Scalar || kind == ast.Enum) && f.TypeReference.GQL.Elem == nil
	if o.Root || o.BuiltIn || !leaf || f.IsResolver || f.Stream || f.HasHaser || len(f.Args) > 0 || f.HasDirectives() {
		return "", false
	}
	switch {
	case f.IsVariable():
		return f.GoReceiverName + "." + f.GoFieldName, true
	case f.IsMethod() && f.NoErr && !f.VOkFunc && !f.MethodHasContext:
		return f.GoReceiverName + "." + f.GoFieldName + "()", true
	}
	return "", false
}

// rewrite puts the bodies into gqlgen's code.
func (d *direct) rewrite(code []byte) ([]byte, error) {
	var out bytes.Buffer
	left := len(d.bodies)
	for len(code) > 0 {
		line, rest, _ := bytes.Cut(code, []byte("\n"))
		head, _, _ := strings.Cut(string(line), "(ctx ")
		if head == string(line) {
			head, _, _ = strings.Cut(string(line), "(_ ")
		}
		head += "("
		body, found := d.bodies[head]
		if !found {
			out.Write(line)
			out.WriteByte('\n')
			code = rest
			continue
		}
		left--
		if body != "" {
			out.Write(bytes.TrimSuffix(line, []byte(" {")))
			out.WriteString(body)
		}
		_, code, _ = bytes.Cut(rest, []byte("\n}\n"))
	}
	if left != 0 {
		return nil, fmt.Errorf("%d plain fields were not found: has gqlgen changed?", left)
	}
	return out.Bytes(), nil
}
