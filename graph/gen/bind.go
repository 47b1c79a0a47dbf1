package main

import (
	"errors"
	"fmt"
	"go/types"
	"maps"
	"slices"

	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/99designs/gqlgen/codegen/templates"
	"github.com/vektah/gqlparser/v2/ast"
)

// bind tells gqlgen where the fields of an object come from: those that resolvers.XEdges has a method
// for from there, and the others from the row, id being its GlobalID and databaseId its ID. What
// goes by another name stands in gqlgen.yml.
type bind struct {
	// edges are the methods of XEdges, by the object's name; those of Query, Mutation and Subscription stand there, too.
	edges map[string]map[string]bool
}

func (*bind) Name() string { return "bind" }

func (b *bind) MutateConfig(cfg *config.Config) error {
	if err := untyped(cfg); err != nil {
		return err
	}
	b.edges = map[string]map[string]bool{}
	scope := cfg.Packages.LoadWithTypes(resolversPackage).Types.Scope()
	var errs []error
	for _, def := range objects(cfg) {
		methods := declaredMethods(scope.Lookup(edgesOf(def.Name)))
		b.edges[def.Name] = methods
		left := maps.Clone(methods)
		entry := cfg.Models[def.Name]
		fields := map[string]config.TypeMapField{}
		for _, f := range def.Fields {
			field := entry.Fields[f.Name]
			switch {
			case methods[templates.ToGo(f.Name)]:
				field.Resolver = true
				delete(left, templates.ToGo(f.Name))
			case field.FieldName != "":
			case f.Name == "id" && f.Type.Name() == "ID":
				field.FieldName = "GlobalID"
			case f.Name == "databaseId":
				field.FieldName = "ID"
			}
			fields[f.Name] = field
		}
		entry.Fields = fields
		cfg.Models[def.Name] = entry
		for method := range left {
			errs = append(errs, fmt.Errorf("the method %s of resolvers.%s is no field of %s", method, edgesOf(def.Name), def.Name))
		}
	}
	for _, root := range []*ast.Definition{cfg.Schema.Query, cfg.Schema.Mutation, cfg.Schema.Subscription} {
		b.edges[root.Name] = declaredMethods(scope.Lookup(root.Name))
	}
	return errors.Join(errs...)
}

// untyped names the objects and inputs that have no Go type. gqlgen would write types of its own.
func untyped(cfg *config.Config) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(cfg.Schema.Types)) {
		def := cfg.Schema.Types[name]
		has := def.Kind == ast.Object || def.Kind == ast.InputObject
		if has && !def.BuiltIn && !cfg.IsRoot(def) && !cfg.Models.UserDefined(name) {
			errs = append(errs, fmt.Errorf("%s: neither db nor resolvers have a type of this name", name))
		}
	}
	return errors.Join(errs...)
}

// GenerateCode refuses a field that nothing was found for. gqlgen has logged why the row's own did
// not fit, and would ask for a resolver.
func (b *bind) GenerateCode(data *codegen.Data) error {
	var errs []error
	for _, o := range data.Objects {
		methods, known := b.edges[o.Name]
		for _, f := range o.Fields {
			switch {
			case !known || !f.IsResolver || methods[templates.ToGo(f.Name)]:
			case o.Root:
				errs = append(errs, fmt.Errorf("%s.%s: resolvers.%s has no method %s", o.Name, f.Name, o.Name, templates.ToGo(f.Name)))
			default:
				errs = append(errs, fmt.Errorf("%s.%s: %s has no fitting field or method %s, and resolvers.%s has no such method",
					o.Name, f.Name, o.Type, templates.ToGo(f.Name), edgesOf(o.Name)))
			}
		}
	}
	for _, in := range data.Inputs {
		for _, f := range in.Fields {
			if f.IsResolver && !data.Config.Models[in.Name].Fields[f.Name].Resolver {
				errs = append(errs, fmt.Errorf("%s.%s: %s has no fitting field %s", in.Name, f.Name, in.Type, templates.ToGo(f.Name)))
			}
		}
	}
	return errors.Join(errs...)
}

// bindEnums has enums read and shown as strings, but for those that gqlgen.yml has a type for.
func bindEnums(cfg *config.Config) {
	for name, def := range cfg.Schema.Types {
		if def.Kind == ast.Enum && !def.BuiltIn && len(cfg.Models[name].Model) == 0 {
			cfg.Models.Add(name, "github.com/99designs/gqlgen/graphql.String")
		}
	}
}

// objects are the object types of the schema but its roots, by name.
func objects(cfg *config.Config) []*ast.Definition {
	var list []*ast.Definition
	for _, name := range slices.Sorted(maps.Keys(cfg.Schema.Types)) {
		if def := cfg.Schema.Types[name]; def.Kind == ast.Object && !def.BuiltIn && !cfg.IsRoot(def) {
			list = append(list, def)
		}
	}
	return list
}

// edgesOf is the name of the type that resolves an object's edges.
func edgesOf(object string) string { return templates.ToGo(object) + "Edges" }

// declaredMethods lists the methods that a type has of its own, and not from what it embeds.
func declaredMethods(obj types.Object) map[string]bool {
	methods := map[string]bool{}
	if obj == nil {
		return methods
	}
	if named, ok := obj.Type().(*types.Named); ok {
		for m := range named.Methods() {
			if m.Exported() {
				methods[m.Name()] = true
			}
		}
	}
	return methods
}
