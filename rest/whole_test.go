package rest

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"canopy/graph/generated"
	"canopy/internal/extract"
)

// bodies are the components by which REST shows an object of the graph, where it is not one of the
// object's own name.
var bodies = map[string][]string{
	"Context": {"ContextBody", "ContextSettings"}, "Customer": {"ListedCustomer", "DetailedCustomer"}, "CustomerRef": {"AncestorCustomer"}, "Document": {"TrainingDocument"},
	"Permission": {"UserPermission"}, "PermissionOption": {"Option"}, "Region": {"AccountRegion"}, "Role": {"GivenRole"}, "Chunk": {"DocumentChunk"},
	"ApiKey": {"APIKey"}, "WebhookAttempt": {"Attempt"}, "WebhookCatalog": {"Catalog"}, "WebhookDelivery": {"DetailedDelivery"}, "WebhookDestination": {"Destination"},
	"WebhookEventType": {"EventType"}, "CreateUsersResult": {"AddedUserResult"}, "CreatePermissionsResult": {"GivenPermissionResult"}, "RemoveUsersResult": {"RemovedUserResult"},
}

// shownAs are the fields that REST shows under another name.
var shownAs = map[string]string{
	"Context.createdAt": "created", "Document.chunkCount": "chunks", "Document.createdAt": "created", "Document.startedAt": "started", "Document.completedAt": "completed",
}

// graphOnly is what only the graph has, with the reason: an object, a field of one, a query, a mutation, or a
// field of its input. What is made by a mutation is left out with its object.
var graphOnly = map[string]string{
	"ContextTool":          "REST has toolsJson, which holds them",
	"ContextToolParameter": "a part of ContextTool",
	"Grant":                "REST tells who is asking, not what they may",
	"Me":                   "REST has parts of it: Caller and IdentityCustomer",
	"PageInfo":             "REST has headers for it",
	"PermissionCreator":    "REST has createdBy, a text that holds it",

	"AuditAction": "docs/audit.md tells them", "auditActions": "as AuditAction",

	"Operations": "programs that watch the platform have /metrics", "WorkQueue": "as Operations", "Worker": "as Operations", "LateMail": "as Operations",
	"NearLimit": "as Operations", "DefaultLimit": "as Operations", "operations": "as Operations",

	"node":         "REST has a path for each kind of object",
	"user":         "GET /tenant/users has it, with the parameter ids",
	"customers":    "GET /tenant/customers lists the company's own descendants, by the same filters",
	"users":        "GET /tenant/users lists those of a company, by the same filters",
	"applications": "GET /permission/options lists them",

	"Answer.done":                       "REST has the event done, and its JSON comes then",
	"Application.code":                  "REST has ids",
	"Document.originalUrl":              "GET /context/document/{id}/original has the file itself",
	"Context.accountId":                 "a token of REST stands on the account",
	"Customer.effectiveCanAddCustomers": "a statement for each list",
	"Customer.maxKeyDays":               "a company is shown by REST as it is documented",
	"WebhookDestination.autoDisabledAt": "REST has enabled",
	"WebhookDestination.failingSince":   "REST has the deliveries",

	"Agent.version":              "REST has ETag",
	"ApiKey.version":             "REST has ETag",
	"Billing.version":            "REST has ETag",
	"Context.version":            "REST has ETag",
	"Document.version":           "REST has ETag",
	"Role.version":               "REST has ETag",
	"IdentityProvider.version":   "REST has ETag",
	"Passkey.version":            "REST has ETag",
	"Secret.version":             "REST has ETag",
	"WebhookDestination.version": "REST has ETag",
	"Account.version":            "REST has ETag",
	"Customer.version":           "its answers show other rows, too",
	"Permission.version":         "REST has ETag",
	"User.version":               "its answers show other rows, too",
	"updateCustomer.ifVersion":   "as Customer.version", "updatePermission.ifVersion": "as Permission.version", "updateUser.ifVersion": "as User.version",

	"acceptInvitation": "as changePassword", "declineInvitation": "as changePassword",
	"requestEmailChange": "as changePassword",
	"leaveCustomer":      "as changePassword", "eraseUser": "as changePassword",
	"changePassword": "a page for it has a login, and the graph",
	"enableTotp":     "two-factor is set up in a browser", "confirmTotp": "as enableTotp", "disableTotp": "as enableTotp", "regenerateRecoveryCodes": "as enableTotp",
	"createWebhookDestination.customerId": "REST has the caller's own company here",
	"webhookDestinations.customerId":      "as createWebhookDestination.customerId",
	"regions.all":                         "REST has a path for all, and one for those to choose from",
}

// decisions are the entries of graphOnly that a test has come by.
type decisions map[string]bool

// graphOnly tells whether it is decided that REST lacks something.
func (d decisions) graphOnly(name string) bool {
	d[name] = graphOnly[name] != ""
	return d[name]
}

// needed names the entries of graphOnly that decide nothing.
func (d decisions) needed(t *testing.T, mine func(name string) bool) {
	for name := range graphOnly {
		if mine(name) && !d[name] {
			t.Errorf("graphOnly has %s, which REST has, or the graph has not", name)
		}
	}
}

// TestRESTShowsEveryField compares the objects of the graph with the bodies of REST.
func TestRESTShowsEveryField(t *testing.T) {
	_, registry := testDoor(t)
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	components := registry.OpenAPI().Components.Schemas.Map()
	decided := decisions{}
	for _, name := range slices.Sorted(maps.Keys(schema.Types)) {
		def := schema.Types[name]
		if !isObject(schema, def) {
			continue
		}
		have, shown := members(components, name)
		if !shown {
			if !decided.graphOnly(name) {
				t.Errorf("%s is not in REST: bodies has no component that shows it", name)
			}
			continue
		}
		for _, f := range def.Fields {
			as := f.Name
			if other := shownAs[name+"."+f.Name]; other != "" {
				as = other
			}
			// The id of REST is databaseId; edges are operations of their own there.
			leaf := schema.Types[f.Type.Name()].IsLeafType() && f.Type.Name() != "ID" && f.Name != "databaseId"
			if leaf && !have[as] && !decided.graphOnly(name+"."+f.Name) {
				t.Errorf("%s.%s is not in REST: its components have no %q", name, f.Name, as)
			}
		}
	}
	decided.needed(t, func(name string) bool { return strings.ToUpper(name[:1]) == name[:1] })
}

// members are those of the components that show an object.
func members(components map[string]*huma.Schema, object string) (have map[string]bool, shown bool) {
	list := bodies[object]
	if list == nil {
		list = []string{object}
	}
	have = map[string]bool{}
	for _, name := range list {
		if c := components[name]; c != nil {
			shown = true
			for member := range c.Properties {
				have[member] = true
			}
		}
	}
	return have, shown
}

// isObject tells a type that has fields of its own from what only leads to such: the roots, pages and
// payloads.
func isObject(schema *ast.Schema, def *ast.Definition) bool {
	part := slices.ContainsFunc([]string{"Connection", "Edge", "Payload"}, func(end string) bool { return strings.HasSuffix(def.Name, end) })
	return def.Kind == ast.Object && !def.BuiltIn && !part && def != schema.Query && def != schema.Mutation && def != schema.Subscription
}

// TestRESTTakesEveryField compares the inputs of mutations with what the operations take that are
// behind the same rule. Every query has an operation behind its rule, too, which takes its arguments.
func TestRESTTakesEveryField(t *testing.T) {
	_, registry := testDoor(t)
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	behind := map[string][]Endpoint{}
	for _, e := range Endpoints(registry) {
		if e.Rule != nil {
			behind[e.Rule.Field] = append(behind[e.Rule.Field], e)
		}
	}
	paged := []string{"filter", "first"} // its members are parameters; REST has a limit
	decided := decisions{}
	for _, m := range schema.Mutation.Fields {
		endpoints := behind["Mutation."+m.Name]
		if len(endpoints) == 0 && !ofGraphOnly(schema, m) && !decided.graphOnly(m.Name) {
			t.Errorf("%s is not in REST: no operation is behind its rule", m.Name)
		}
		for _, f := range schema.Types[m.Arguments[0].Type.Name()].Fields {
			takes := func(e Endpoint) bool { return taken(registry.OpenAPI(), e)[e.NameOf(f.Name)] }
			if len(endpoints) > 0 && !slices.ContainsFunc(endpoints, takes) && !decided.graphOnly(m.Name+"."+f.Name) {
				t.Errorf("%s.%s is not in REST: none of the operations behind its rule takes it", m.Name, f.Name)
			}
		}
	}
	for _, q := range schema.Query.Fields {
		if len(behind["Query."+q.Name]) == 0 && !strings.HasPrefix(q.Name, "__") && !decided.graphOnly(q.Name) {
			t.Errorf("%s is not in REST: no operation is behind its rule", q.Name)
		}
		for _, a := range q.Arguments {
			takes := func(e Endpoint) bool { return taken(registry.OpenAPI(), e)[e.NameOf(a.Name)] }
			if endpoints := behind["Query."+q.Name]; len(endpoints) > 0 && !slices.Contains(paged, a.Name) && !slices.ContainsFunc(endpoints, takes) && !decided.graphOnly(q.Name+"."+a.Name) {
				t.Errorf("%s.%s is not in REST: none of the operations behind its rule takes it", q.Name, a.Name)
			}
		}
	}
	decided.needed(t, func(name string) bool { return strings.ToLower(name[:1]) == name[:1] })
}

// TestRESTTakesEveryFilter compares the filters of lists with the parameters of the operations that give the same rows.
func TestRESTTakesEveryFilter(t *testing.T) {
	_, registry := testDoor(t)
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	lists := map[string][]Endpoint{} // by the filter's name
	for _, def := range schema.Types {
		for _, f := range def.Fields {
			if a := f.Arguments.ForName("filter"); a != nil && def.Kind == ast.Object {
				for _, e := range Endpoints(registry) {
					if e.Rule != nil && e.Rule.Field == def.Name+"."+f.Name {
						lists[a.Type.Name()] = append(lists[a.Type.Name()], e)
					}
				}
			}
		}
	}
	if len(lists) < 9 {
		t.Fatalf("only %d filters have operations", len(lists))
	}
	for filter, endpoints := range lists {
		for _, f := range schema.Types[filter].Fields {
			takes := func(e Endpoint) bool { return taken(registry.OpenAPI(), e)[f.Name] }
			if f.Name != "or" && !slices.ContainsFunc(endpoints, takes) {
				t.Errorf("%s.%s is not in REST: no list takes it", filter, f.Name)
			}
		}
	}
}

// TestFormatsAreFilters: documents of each format that is read can be asked for.
func TestFormatsAreFilters(t *testing.T) {
	field, _ := reflect.TypeFor[DocumentFilter]().FieldByName("Format")
	for _, f := range extract.Formats {
		if !slices.Contains(strings.Split(field.Tag.Get("enum"), ","), string(f)) {
			t.Errorf("the filter has no %s", f)
		}
	}
}

// restOnly is what only REST has, with the reason: operations that take no token, as every field of the graph asks for one.
var restOnly = map[string]string{
	"exchangeToken": "as the platform's tokens are had by it", "getKeys": "as exchangeToken", "getServerMetadata": "as exchangeToken",
	"logIn": "as exchangeToken", "openSession": "as exchangeToken", "refreshSession": "as exchangeToken", "endSession": "the cookie is sent to its path alone",
	"askForPasskey": "as exchangeToken", "openPasskeySession": "as exchangeToken",
	"setPassword": "the link of a mail stands for a token", "showLink": "as setPassword", "requestReset": "who asks has lost the password", "settleEmail": "as setPassword",
	"beginSignOn": "a browser goes there", "finishSignOn": "a browser comes back there", "signedOutElsewhere": "identity providers call it", "signOut": "the cookie is sent to its path alone",
	"getArchive": "a link stands for the token, and leads to a file", "getLinkedOriginal": "as getArchive",
}

// TestTheGraphHasWhatRESTHas: an operation with a rule has the rule of a field of the graph.
func TestTheGraphHasWhatRESTHas(t *testing.T) {
	_, registry := testDoor(t)
	known := maps.Clone(restOnly)
	for _, e := range Endpoints(registry) {
		if e.Rule == nil && known[e.OperationID] == "" {
			t.Errorf("%s is not in the graph", e.OperationID)
		}
		if e.Rule == nil {
			delete(known, e.OperationID)
		}
	}
	for id := range known {
		t.Errorf("restOnly has %s, which REST has not, or the graph has", id)
	}
}

// ofGraphOnly tells whether a mutation is named after an object that only the graph has.
func ofGraphOnly(schema *ast.Schema, m *ast.FieldDefinition) bool {
	for name, def := range schema.Types {
		if def.Kind == ast.Object && graphOnly[name] != "" && strings.Contains(m.Name, name) {
			return true
		}
	}
	return false
}

// taken lists what an operation takes: its parameters, and the members of its body, which itself is
// "body" where it is free or a file.
func taken(doc *huma.OpenAPI, e Endpoint) map[string]bool {
	have := map[string]bool{}
	for _, op := range operationsAt(doc, e.Path) {
		if op.OperationID != e.OperationID {
			continue
		}
		for _, p := range op.Parameters {
			have[p.Name] = true
		}
		if op.RequestBody == nil {
			continue
		}
		have["body"] = true
		for _, content := range op.RequestBody.Content {
			schema := content.Schema
			if schema.Ref != "" {
				schema = doc.Components.Schemas.SchemaFromRef(schema.Ref)
			}
			for member := range schema.Properties {
				have[member] = true
			}
		}
	}
	return have
}
