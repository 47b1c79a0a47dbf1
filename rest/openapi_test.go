package rest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/danielgtaylor/huma/v2"

	"canopy/internal/devstack/npmtest"
	"canopy/internal/enum"
	"canopy/internal/intake"
	"canopy/resolvers"
)

// testDoor is the REST door without services: enough for everything before a resolver's store.
func testDoor(t testing.TB) (http.Handler, huma.API) {
	t.Helper()
	public, err := url.Parse("https://canopy.test/")
	if err != nil {
		t.Fatal(err)
	}
	return New(&resolvers.Resolver{PublicURL: public}, Options{Version: "1.2.3"})
}

func get(t *testing.T, h http.Handler, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w
}

func TestEndpointsAreTheDocumentedOnes(t *testing.T) {
	want := map[string]bool{
		"POST /connect/token": false, "GET /.well-known/jwks.json": false, "GET /.well-known/oauth-authorization-server": false,
		"POST /auth/token": false, "POST /auth/setup": false, "POST /auth/setup/link": false, "POST /auth/reset": false, "POST /auth/email": false,
		"POST /auth/session": false, "POST /auth/session/refresh": false, "DELETE /auth/session": false,
		"POST /auth/session/sign-out": false, "GET /auth/sso": false, "GET /auth/sso/callback": false, "POST /auth/sso/logout/{id}": false,
		"GET /v1/identity-providers": true, "POST /v1/identity-providers": true, "GET /v1/identity-providers/{id}": true, "PUT /v1/identity-providers/{id}": true,
		"DELETE /v1/identity-providers/{id}": true, "POST /v1/identity-providers/{id}/verify": true,
		"GET /v1/scim-tokens": true, "POST /v1/scim-tokens": true, "GET /v1/scim-tokens/{id}": true, "DELETE /v1/scim-tokens/{id}": true,
		"GET /v1/identities": true, "GET /v1/identities/{id}": true, "DELETE /v1/identities/{id}": true,
		"POST /auth/passkey": false, "POST /auth/session/passkey": false, "POST /v1/passkeys/begin": true,
		"GET /v1/passkeys": true, "POST /v1/passkeys": true, "GET /v1/passkeys/{id}": true, "PUT /v1/passkeys/{id}": true, "DELETE /v1/passkeys/{id}": true,
		"GET /v1/sessions": true, "DELETE /v1/sessions": true, "GET /v1/sessions/{id}": true, "DELETE /v1/sessions/{id}": true,
		"GET /tenant": true, "GET /tenant/{cid}": true, "PUT /tenant": true, "POST /tenant/customer": true,
		"GET /tenant/customers": true, "GET /tenant/customers/{cid}": true,
		"GET /tenant/accounts": true, "GET /tenant/accounts/{cid}": true,
		"GET /tenant/billing": true, "GET /tenant/billing/{cid}": true, "POST /tenant/billing": true, "POST /tenant/billing/{cid}": true,
		"GET /region/available": true, "GET /region": true, "GET /region/{id}": true,
		"GET /tenant/users": true, "GET /tenant/users/{cid}": true, "POST /tenant/user": true, "POST /tenant/user/init": true,
		"GET /v1/invitations": true, "GET /v1/invitations/{id}": true, "DELETE /v1/invitations/{id}": true, "POST /v1/invitations/{id}/resend": true,
		"PUT /tenant/user/{id}": true, "DELETE /tenant/user/{id}": true,
		"GET /permission/options": true, "GET /permission/options/{type}": true, "GET /permission/options/{type}/{region}": true,
		"GET /permission/options/{type}/{region}/{account}": true,
		"POST /context": true, "GET /context": true, "GET /context/{contextId}": true, "PUT /context/{contextId}": true,
		"DELETE /context/{contextId}": true, "POST /context/upload/{contextId}": true, "GET /context/documents/{contextId}": true,
		"DELETE /context/documents/{contextId}/{docId}": true, "POST /context/relevant-docs/{contextId}": true, "POST /context/answer/{contextId}": true,
		"PUT /context/share/{contextId}": true, "POST /context/restore/{contextId}": true,
		"POST /permission": true, "PUT /permission": true, "PATCH /permission/{permId}": true, "DELETE /permission/{permId}": true,
		"POST /CognitiveDiagram/{id}/ExecuteAsJob": true, "GET /job/{job_id}": true,
		"GET /v1/outbound-webhooks/catalog": true, "GET /v1/outbound-webhooks/destinations": true, "POST /v1/outbound-webhooks/destinations": true,
		"GET /v1/outbound-webhooks/destinations/{id}": true, "PATCH /v1/outbound-webhooks/destinations/{id}": true, "DELETE /v1/outbound-webhooks/destinations/{id}": true,
		"POST /v1/outbound-webhooks/destinations/{id}/rotate-secret": true, "POST /v1/outbound-webhooks/destinations/{id}/test": true,
		"POST /v1/outbound-webhooks/destinations/{id}/recover": true, "POST /v1/outbound-webhooks/destinations/{id}/restore": true, "GET /v1/outbound-webhooks/deliveries": true,
		"GET /v1/outbound-webhooks/deliveries/{id}": true, "POST /v1/outbound-webhooks/deliveries/{id}/resend": true,
		"GET /v1/secrets": true, "POST /v1/secrets": true, "GET /v1/secrets/{id}": true, "PUT /v1/secrets/{id}": true, "DELETE /v1/secrets/{id}": true,
		"GET /v1/agents/deleted": true, "GET /v1/outbound-webhooks/destinations/deleted": true, "GET /v1/secrets/deleted": true, "POST /v1/secrets/{id}/restore": true,
		"POST /tenant/customer/{cid}/export": true, "GET /tenant/export/{id}": true, "GET /tenant/export/{id}/archive": false,
		"POST /tenant/customer/{cid}/import": true, "GET /tenant/import/{id}": true, "POST /tenant/import/{id}/cancel": true,
		"POST /tenant/customer/{cid}/move": true, "GET /tenant/search": true,
		"GET /tenant/usage": true, "GET /tenant/usage/{cid}": true, "PUT /tenant/limits/{cid}": true,
		"POST /tenant/customer/{cid}/suspend": true, "POST /tenant/customer/{cid}/resume": true,
		"DELETE /tenant/customer/{cid}": true, "POST /tenant/customer/{cid}/restore": true,
		"GET /v1/audit": true, "GET /v1/permissions": true, "GET /v1/permissions/{id}": true, "PUT /v1/permissions/{id}": true,
		"GET /v1/accounts/{id}": true, "PUT /v1/accounts/{id}": true,
		"GET /v1/roles": true, "POST /v1/roles": true, "GET /v1/roles/{id}": true, "PUT /v1/roles/{id}": true, "DELETE /v1/roles/{id}": true,
		"GET /v1/agents": true, "POST /v1/agents": true, "GET /v1/agents/{id}": true, "PUT /v1/agents/{id}": true, "DELETE /v1/agents/{id}": true,
		"POST /v1/agents/check": true, "POST /v1/agents/{id}/publish": true, "POST /v1/agents/{id}/unpublish": true, "POST /v1/agents/{id}/enable": true, "POST /v1/agents/{id}/disable": true,
		"POST /v1/agents/{id}/restore":  true,
		"GET /v1/agents/{id}/revisions": true, "GET /v1/agents/{id}/runs": true, "POST /v1/agents/{id}/runs": true,
		"GET /v1/runs": true, "GET /v1/runs/{jobKey}": true, "GET /v1/runs/{jobKey}/steps": true, "POST /v1/runs/{jobKey}/cancel": true,
		"GET /v1/contexts/{id}/queries": true, "GET /v1/contexts/{id}/settings": true, "PUT /v1/contexts/{id}/settings": true, "POST /v1/contexts/{id}/reprocess": true, "GET /v1/contexts/{id}/reprocess": true, "POST /v1/contexts/{id}/reprocess/cancel": true, "POST /v1/contexts/search": true,
		"GET /context/document/{id}": true, "GET /context/document/{id}/original": true, "GET /v1/documents/{id}/original": false,
		"GET /v1/documents": true, "GET /v1/documents/{id}": true, "PUT /v1/documents/{id}": true, "GET /v1/documents/{id}/chunks": true, "POST /v1/documents/{id}/reprocess": true,
		"POST /v1/documents/{id}/restore": true, "GET /context/documents/{contextId}/deleted": true, "GET /context/deleted": true, "GET /context/erasures": true,
		"POST /v1/users/bulk": true, "POST /v1/users/bulk/remove": true, "POST /v1/permissions/bulk": true,
		"GET /v1/keys": true, "POST /v1/keys": true, "GET /v1/keys/{id}": true, "DELETE /v1/keys/{id}": true, "POST /v1/keys/{id}/rotate": true,
	}
	_, registry := testDoor(t)
	ids := map[string]bool{}
	for _, e := range Endpoints(registry) {
		key := e.Method + " " + e.Path
		secured, known := want[key]
		if !known || secured != (e.Rule != nil) {
			t.Errorf("%s: documented %v, rule %v", key, known, e.Rule)
		}
		if ids[e.OperationID] {
			t.Errorf("%s: the operation id %q is taken", key, e.OperationID)
		}
		ids[e.OperationID] = true
		delete(want, key)
	}
	for key := range want {
		t.Errorf("%s is missing", key)
	}
}

func TestDocumentsDescribeEveryOperation(t *testing.T) {
	_, registry := testDoor(t)
	doc := registry.OpenAPI()
	declared := map[string]bool{}
	for _, tag := range doc.Tags {
		declared[tag.Name] = tag.Description != ""
	}
	for _, e := range Endpoints(registry) {
		for _, op := range operationsAt(doc, e.Path) {
			if op.Method != e.Method {
				continue
			}
			for _, tag := range op.Tags {
				if !declared[tag] {
					t.Errorf("%s %s has the tag %q, which config does not describe", e.Method, e.Path, tag)
				}
			}
			if op.Summary == "" || op.Description == "" || len(op.Tags) != 1 {
				t.Errorf("%s %s lacks a summary, a description or a tag", e.Method, e.Path)
			}
			if op.Responses["422"] != nil || op.Responses["400"] == nil || op.Responses["500"] == nil {
				t.Errorf("%s %s documents 422, or lacks 400 or 500", e.Method, e.Path)
			}
			readsBody := op.RequestBody != nil && op.RequestBody.Content[intake.FormType] == nil
			if readsBody != (op.Responses["408"] != nil) || readsBody != (op.Responses["415"] != nil) || readsBody && op.Responses["413"] == nil {
				t.Errorf("%s %s documents the refusals of bodies, and reads one: %v", e.Method, e.Path, readsBody)
			}
			if e.Rule != nil && (op.Responses["401"] == nil || op.Responses["403"] == nil || op.Responses["429"] == nil) {
				t.Errorf("%s %s lacks the refusals of a secured operation", e.Method, e.Path)
			}
		}
	}
}

func TestDocumentsAreServed(t *testing.T) {
	h, _ := testDoor(t)
	for path, version := range map[string]string{"/openapi.json": "3.1.0", "/openapi-3.0.json": "3.0.3"} {
		t.Run(path, func(t *testing.T) {
			w := get(t, h, path)
			var doc struct {
				OpenAPI string `json:"openapi"`
				Paths   map[string]json.RawMessage
				// Webhooks is what 3.1 has, and 3.0 has not.
				Webhooks map[string]json.RawMessage
			}
			if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil || w.Code != http.StatusOK {
				t.Fatalf("status %d, %v", w.Code, err)
			}
			if doc.OpenAPI != version || len(doc.Paths) < 20 {
				t.Errorf("openapi %q with %d paths", doc.OpenAPI, len(doc.Paths))
			}
			if has := doc.Webhooks["run.completed"] != nil; has != (version == "3.1.0") {
				t.Errorf("it has webhooks: %v", has)
			}
			if has := bytes.Contains(w.Body.Bytes(), []byte(`"contentMediaType"`)); has != (version == "3.1.0") {
				t.Errorf("it has contentMediaType: %v", has)
			}
			if has := bytes.Contains(w.Body.Bytes(), []byte(`schemas/Passage","`)); has != (version == "3.1.0") {
				t.Errorf("a reference has something beside it: %v", has)
			}
		})
	}
	if w := get(t, h, "/openapi.yaml"); w.Code != http.StatusOK || w.Body.Len() == 0 {
		t.Errorf("yaml: status %d", w.Code)
	}
}

// Clients of the platform generate code from the documents, so two independent linters read them.
func TestLinterClients(t *testing.T) {
	h, _ := testDoor(t)
	// The documented paths themselves are ambiguous (/tenant/{cid} and /tenant/users), and the
	// licence of an installation is its operator's to state.
	files := fstest.MapFS{
		"redocly.yaml":   {Data: []byte("extends: [recommended]\nrules:\n  no-ambiguous-paths: off\n  info-license: off\n"), Mode: 0o600},
		".spectral.yaml": {Data: []byte("extends: [\"spectral:oas\"]\n"), Mode: 0o600},
	}
	documents := []string{"openapi.json", "openapi.yaml", "openapi-3.0.json"}
	for _, name := range documents {
		files[name] = &fstest.MapFile{Data: get(t, h, "/"+name).Body.Bytes(), Mode: 0o600}
	}
	project := npmtest.New(t, files, "@redocly/cli@2", "@stoplight/spectral-cli@6")
	for _, name := range documents {
		project.Run("npx", "--no-install", "redocly", "lint", "--config", "redocly.yaml", "--max-problems", "50", name)
		project.Run("npx", "--no-install", "spectral", "lint", "--ruleset", ".spectral.yaml", "--fail-severity", "hint", name)
	}
}

// shortLists are the lists that take no filter, no order or no pages from their end, and why nobody has to look for something there. Those that are documented without pages at
// all are the platform's, or what was deleted lately.
var shortLists = map[string]string{
	"listRoles":             "a company has a few of its own, beside the system-wide ones",
	"listInvitations":       "they are found by their users, too",
	"listSecrets":           "at most 200 of a company",
	"listIdentityProviders": "at most 20 of a company",
	"listScimTokens":        "at most 20 of a company",
	"listUserIdentities":    "one for each identity provider",
	"listSessions":          "one for each browser of one person",
	"listPasskeys":          "one person's",
	"listRegions":           "the platform's",
	"listAvailableRegions":  "the platform's",
}

// TestListsCanBeLookedThrough: what gives a list by pages takes a filter, an order, and pages from either end.
func TestListsCanBeLookedThrough(t *testing.T) {
	_, door := testDoor(t)
	paged, short := 0, map[string]bool{}
	for path := range door.OpenAPI().Paths {
		for _, op := range operationsAt(door.OpenAPI(), path) {
			takes := func(name string) bool {
				return slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.In == "query" && p.Name == name })
			}
			if !takes("limit") {
				continue
			}
			paged++
			lacks := slices.DeleteFunc([]string{"ids", "orderBy", "after", "last", "before"}, takes)
			if short[op.OperationID] = len(lacks) > 0; short[op.OperationID] && shortLists[op.OperationID] == "" {
				t.Errorf("%s lacks %s: give it these, or shortLists a reason", op.OperationID, strings.Join(lacks, ", "))
			}
		}
	}
	if paged < 25 {
		t.Errorf("only %d lists have pages", paged)
	}
	for id := range shortLists {
		if !short[id] {
			t.Errorf("shortLists has %s, which lacks nothing, or is no list", id)
		}
	}
}

// TestOrdersAreDocumented reads of each list that takes an order by which fields it does, in the words of REST.
func TestOrdersAreDocumented(t *testing.T) {
	_, door := testDoor(t)
	lists := 0
	for path := range door.OpenAPI().Paths {
		for _, op := range operationsAt(door.OpenAPI(), path) {
			for _, p := range op.Parameters {
				if p.Name != "orderBy" {
					continue
				}
				lists++
				for _, name := range []any{"id", "-id", "createdAt", "-createdAt"} {
					if op.OperationID == "listChunks" && strings.HasSuffix(name.(string), "createdAt") { // they are made together
						continue
					}
					if !slices.Contains(p.Schema.Items.Enum, name) {
						t.Errorf("%s: %v without %v", op.OperationID, p.Schema.Items.Enum, name)
					}
				}
				for _, name := range p.Schema.Items.Enum {
					field := strings.TrimPrefix(name.(string), "-")
					if enum.LowerCamel(enum.UpperCase(field)) != field {
						t.Errorf("%s: %s is no name as REST writes them", op.OperationID, name)
					}
				}
			}
		}
	}
	if lists != 20 {
		t.Errorf("%d lists take an order", lists)
	}
}
