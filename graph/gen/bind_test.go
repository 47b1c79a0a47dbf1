package main

import (
	"strings"
	"testing"

	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

// earlier has the packages that the schema is bound to, once a test has read them: that takes most of its time.
var earlier config.Config

// loaded is the configuration of this module.
func loaded(t *testing.T) *config.Config {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(root)
	cfg, err := load()
	if err != nil || cfg.Model.IsDefined() {
		t.Fatalf("models are written: %v", err)
	}
	cfg.Packages = earlier.Packages
	return cfg
}

// bound is what bind says of the schema of this module with something added.
func bound(t *testing.T, more string) (*config.Config, error) {
	t.Helper()
	cfg := loaded(t)
	cfg.Sources = append(cfg.Sources, &ast.Source{Name: "more.graphql", Input: more})
	if err := cfg.LoadSchema(); err != nil {
		t.Fatal(err)
	}
	bindEnums(cfg)
	if err := cfg.Init(); err != nil {
		t.Fatal(err)
	}
	earlier.Packages = cfg.Packages
	b := &bind{}
	if err := b.MutateConfig(cfg); err != nil {
		return nil, err
	}
	data, err := codegen.BuildData(cfg)
	if err != nil {
		return nil, err
	}
	return cfg, b.GenerateCode(data)
}

func TestBind(t *testing.T) {
	cfg, err := bound(t, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		object, field string
		want          config.TypeMapField
	}{
		{"Customer", "id", config.TypeMapField{FieldName: "GlobalID"}},
		{"Customer", "databaseId", config.TypeMapField{FieldName: "ID"}},
		{"Customer", "name", config.TypeMapField{}},
		{"Customer", "apiKeys", config.TypeMapField{Resolver: true}},
		{"Role", "features", config.TypeMapField{Resolver: true}}, // the row has it, too
		{"Billing", "databaseId", config.TypeMapField{FieldName: "CustomerID"}},
		{"ContextTool", "id", config.TypeMapField{}},
	} {
		if got := cfg.Models[c.object].Fields[c.field]; got.Resolver != c.want.Resolver || got.FieldName != c.want.FieldName {
			t.Errorf("%s.%s: %+v, want %+v", c.object, c.field, got, c.want)
		}
	}
}

func TestBindNamesWhatIsMissing(t *testing.T) {
	_, err := bound(t, `
		extend type Customer { motto: String!, lineage: String! }
		extend type Region { customers: CustomerConnection! }
		extend type Query { mottoOf(id: ID!): String }
		extend type Mutation { forgetCustomer(id: ID!): Customer, forgetRegion(id: ID!): Region }`)
	for _, want := range []string{
		"Customer.motto: canopy/db.Customer has no fitting field or method Motto, and resolvers.CustomerEdges has no such method",
		"Customer.lineage: canopy/db.Customer has no fitting field or method Lineage, and resolvers.CustomerEdges has no such method",
		"Region.customers: canopy/db.Region has no fitting field or method Customers, and resolvers.RegionEdges has no such method",
		"Query.mottoOf: resolvers.Query has no method MottoOf",
		"Mutation.forgetCustomer: resolvers.Mutation has no method ForgetCustomer",
		"Mutation.forgetRegion: resolvers.Mutation has no method ForgetRegion",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// gqlgen would leave out of a mutation what the input's Go type has no field for.
func TestBindNamesWhatAnInputLacks(t *testing.T) {
	_, err := bound(t, `
		extend input UpdateCustomerInput { motto: String }
		extend input CreateRoleInput { name2: [Int!] }`)
	for _, want := range []string{
		"UpdateCustomerInput.motto: canopy/resolvers.UpdateCustomerInput has no fitting field Motto",
		"CreateRoleInput.name2: canopy/resolvers.CreateRoleInput has no fitting field Name2",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestBindNamesWhatHasNoType(t *testing.T) {
	_, err := bound(t, `
		type Unheard { text: String! }
		input CreateUnheardInput { text: String! }`)
	const want = "CreateUnheardInput: neither db nor resolvers have a type of this name\nUnheard: neither db nor resolvers have a type of this name"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}

// A method of an object's edges that the schema has no field for serves nobody.
func TestBindNamesWhatIsLeftOver(t *testing.T) {
	cfg := loaded(t)
	cfg.Sources[0].Input = strings.Replace(cfg.Sources[0].Input, "  billing: Billing @needs", "  bills: Billing @needs", 1)
	if err := cfg.Init(); err != nil {
		t.Fatal(err)
	}
	const want = "the method Billing of resolvers.CustomerEdges is no field of Customer"
	if err := (&bind{}).MutateConfig(cfg); err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestNodeReader(t *testing.T) {
	schema := gqlparser.MustLoadSchema(&ast.Source{Input: `type Query {
		role(id: ID!): Int, customer(id: ID): Int, run(jobKey: String!): Int, apiKey(id: ID!): Int, user(id: ID!, all: Boolean): Int
	}`})
	for object, want := range map[string]string{
		"Role": "Role", "ApiKey": "APIKey", "Customer": "customerNode", "Run": "runNode", "User": "userNode", "AuditEvent": "auditEventNode",
	} {
		if got := nodeReader(schema.Query, object); got != want {
			t.Errorf("%s: %s, want %s", object, got, want)
		}
	}
}
