package rest

import (
	"bytes"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"canopy/internal/access"
	"canopy/internal/rule"

	"github.com/danielgtaylor/huma/v2"
)

const (
	bearerScheme = "bearer"
	oauthScheme  = "oauth2"
)

// The tags, in the order of the reference.
const (
	tagTokens      = "Tokens"
	tagLogin       = "Login"
	tagCustomers   = "Companies"
	tagAccounts    = "Accounts and billing"
	tagRegions     = "Regions"
	tagUsers       = "Users"
	tagKeys        = "API keys"
	tagAudit       = "Audit log"
	tagPermissions = "Permissions"
	tagContexts    = "Contexts"
	tagAgents      = "Agents"
	tagRuns        = "Runs"
	tagSecrets     = "Secrets"
	tagIdentity    = "Identity providers"
	tagLimits      = "Limits"
	tagWebhooks    = "Webhooks"
)

const introduction = `Companies, their users, permissions, billing and regions of the platform; contexts with their documents; runs of agents, and webhooks.

Every operation but those under Tokens and Login takes a bearer token: exchange an API key for one
at POST /connect/token. A caller reaches its own company and the companies below it. Nobody gives what
they don't have: a role whose rights are not all among those of the caller's own role in tenant
management is refused with the code beyond_own_rights.

Errors are problem details (RFC 9457): detail is for people, code for programs, and errors names
each fault of the request. Unknown members of a body are ignored, unless one differs from a documented
one in letter case only, and an optional member that is null counts as left out. Times are RFC 3339 in
UTC.`

// config is the library's, with its extras (schema links, documentation pages) left out.
func config(version, base string) huma.Config {
	c := huma.DefaultConfig("Canopy REST API", version)
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "", "", ""
	c.CreateHooks = nil
	c.Formats = map[string]huma.Format{jsonType: jsonFormat, "json": jsonFormat}
	c.AllowAdditionalPropertiesByDefault = true
	c.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	c.OnAddOperation = []huma.AddOpFunc{tidy}
	c.Info.Contact = &huma.Contact{Name: "The operator of this installation", URL: base}
	if base == "" {
		base = "/"
	}
	c.Servers = []*huma.Server{{URL: base, Description: "This installation"}}
	c.Info.Description = introduction
	c.Tags = []*huma.Tag{
		{Name: tagTokens, Description: "Access tokens for API keys, and what checks them"},
		{Name: tagLogin, Description: "Access tokens for people, and their passwords"},
		{Name: tagCustomers, Description: "The caller, and the tree of companies"},
		{Name: tagAccounts, Description: "Application accounts and billing records of companies"},
		{Name: tagRegions, Description: "Where companies' data lives"},
		{Name: tagUsers, Description: "The users of companies"},
		{Name: tagAudit, Description: "What was changed, by whom"},
		{Name: tagKeys, Description: "Credentials of programs, for the token exchange"},
		{Name: tagPermissions, Description: "Who has which role on which account"},
		{Name: tagContexts, Description: "Custom assistants, their documents and the search of these; with a token for the assistant"},
		{Name: tagAgents, Description: "Diagrams of steps, and their revisions"},
		{Name: tagRuns, Description: "Agents, executed in the background"},
		{Name: tagIdentity, Description: "Where people sign in, by OpenID Connect, in place of a password"},
		{Name: tagSecrets, Description: "What agents use in the requests that they send, and nobody is shown"},
		{Name: tagLimits, Description: "How much companies have, and how much they may have"},
		{Name: tagWebhooks, Description: "Events, delivered to HTTPS endpoints"},
	}
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		bearerScheme: {Type: "http", Scheme: "bearer", BearerFormat: "JWT", Description: "An access token of POST /connect/token or POST /auth/token"},
		oauthScheme: {
			Type: "oauth2", Description: "The client credentials grant (RFC 6749, section 4.4), with the additional parameter target_app",
			Flows: &huma.OAuthFlows{ClientCredentials: &huma.OAuthFlow{TokenURL: trimSlash(base) + "/connect/token", Scopes: scopes()}},
		},
	}
	return c
}

// scopes are the rights, as the scopes of tokens.
func scopes() map[string]string {
	m := map[string]string{}
	for _, right := range access.FeatureNames() {
		m[right] = "The right " + right + " of the key's user, by its role on the account"
	}
	return m
}

func trimSlash(base string) string {
	if base == "/" {
		return ""
	}
	return base
}

// tidy puts an operation's documentation right: the library documents 422 for what is answered
// with 400, and knows nothing of the headers that go with some refusals.
func tidy(_ *huma.OpenAPI, op *huma.Operation) {
	delete(op.Responses, "422")
	text := &huma.Schema{Type: huma.TypeString}
	for status, r := range op.Responses {
		switch status {
		case "401":
			r.Headers = map[string]*huma.Param{"WWW-Authenticate": {Description: "The challenge (RFC 6750, section 3)", Schema: text}}
		case "429", "503":
			r.Headers = map[string]*huma.Param{"Retry-After": {Description: "When to come back, in seconds", Schema: &huma.Schema{Type: huma.TypeInteger}}}
		}
	}
	// Given earlier, the library would read it, and refuse a form.
	if upload, _ := op.Metadata[uploadKey].(*huma.RequestBody); upload != nil {
		op.RequestBody = upload
	}
	if op.RequestBody != nil && op.RequestBody.Description == "" {
		op.RequestBody.Description = "The input"
	}
}

// anonymous is the security of an operation that asks for no token.
var anonymous = []map[string][]string{{}}

// serveDocuments serves the OpenAPI documents, made when they are first asked for.
func (a *api) serveDocuments(mux *http.ServeMux) {
	doc := a.huma.OpenAPI()
	for path, d := range map[string]struct {
		mediaType string
		make      func() ([]byte, error)
	}{
		"/openapi.json":     {"application/vnd.oai.openapi+json;version=3.1", func() ([]byte, error) { return described(doc).MarshalJSON() }},
		"/openapi.yaml":     {"application/vnd.oai.openapi;version=3.1", func() ([]byte, error) { return described(doc).YAML() }},
		"/openapi-3.0.json": {"application/vnd.oai.openapi+json;version=3.0", func() ([]byte, error) { return downgraded(doc) }},
	} {
		load := sync.OnceValues(d.make)
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			body, err := load()
			if err != nil {
				sendProblem(w, r, a.failure(r.Context(), err))
				return
			}
			w.Header().Set("Content-Type", d.mediaType)
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			_, _ = w.Write(body)
		})
	}
}

// besideReference is what a reference is described by.
var besideReference = regexp.MustCompile(`("\$ref":"[^"]*"),"description":"(?:[^"\\]|\\.)*"`)

// downgraded gives the document in OpenAPI 3.0, without what it does not know: webhooks, contentMediaType, as there the format alone says that
// a text is bytes, and descriptions beside references.
func downgraded(doc *huma.OpenAPI) ([]byte, error) {
	body, err := doc.Downgrade()
	body = bytes.ReplaceAll(body, []byte(`"contentMediaType":"application/octet-stream",`), nil)
	return besideReference.ReplaceAll(body, []byte("$1")), err
}

// Endpoint is one operation of the documents.
type Endpoint struct {
	Method, Path, OperationID string
	// Rule says who may use it; nil where no token is asked for.
	Rule *rule.Rule

	names map[string]string
}

// NameOf is what the operation calls a field of the graph's operation behind it.
func (e Endpoint) NameOf(field string) string {
	if name := e.names[field]; name != "" {
		return strings.TrimPrefix(name, "path.")
	}
	return field
}

// Endpoints lists every documented operation, by path and method.
func Endpoints(registry huma.API) []Endpoint {
	doc := registry.OpenAPI()
	var list []Endpoint
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, op := range operationsAt(doc, path) {
			list = append(list, Endpoint{Method: op.Method, Path: path, OperationID: op.OperationID, Rule: ruleOf(op), names: namesOf(op)})
		}
	}
	return list
}
