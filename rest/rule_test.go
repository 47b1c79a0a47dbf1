package rest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"canopy/internal/access"
	"canopy/internal/intake"
	"canopy/internal/rule"
	"canopy/resolvers"
)

// somebody is a caller with the features in every application that it is served by.
func somebody(features access.Features, apps ...access.App) context.Context {
	p := &access.Principal{UserID: 7, CustomerID: 1, Lineage: access.Lineage{1}, KeyID: 9, Expires: time.Now().Add(time.Minute)}
	for _, app := range apps {
		p.Serves[app] = true
		p.Grants[app] = &access.Grant{RoleName: "Somebody", Features: features}
	}
	return access.WithPrincipal(context.Background(), p)
}

// TestOperationsTellTheirRule reads in the documents who may use an operation.
func TestOperationsTellTheirRule(t *testing.T) {
	_, registry := testDoor(t)
	doc := registry.OpenAPI()
	scopes := doc.Components.SecuritySchemes[oauthScheme].Flows.ClientCredentials.Scopes
	told := 0
	for path := range doc.Paths {
		for _, op := range operationsAt(doc, path) {
			need := ruleOf(op)
			if need == nil {
				if op.Extensions["x-needs"] != nil || len(op.Security) != 1 || len(op.Security[0]) != 0 {
					t.Errorf("%s is public, and asks for something", op.OperationID)
				}
				continue
			}
			told++
			if !strings.HasSuffix(op.Description, " "+need.Sentence()) {
				t.Errorf("%s: the description does not end with the rule: %q", op.OperationID, op.Description)
			}
			want := map[string]any{"app": []any{}}
			for _, app := range need.Apps {
				want["app"] = append(want["app"].([]any), app.String())
			}
			var scope []string
			if need.Right != 0 {
				scope = need.Right.Names()
				want["right"] = scope[0]
				if scopes[scope[0]] == "" {
					t.Errorf("%s: the scheme does not declare the scope %s", op.OperationID, scope[0])
				}
			}
			if len(op.Security) != 2 || op.Security[0][bearerScheme] == nil || !slices.Equal(op.Security[1][oauthScheme], scope) {
				t.Errorf("%s: security %v", op.OperationID, op.Security)
			}
			raw, err := json.Marshal(op)
			if err != nil {
				t.Fatal(err)
			}
			var shown map[string]any
			if err := json.Unmarshal(raw, &shown); err != nil || !reflect.DeepEqual(shown["x-needs"], any(want)) {
				t.Errorf("%s: x-needs is %v, want %v (%v)", op.OperationID, shown["x-needs"], want, err)
			}
		}
	}
	if told < 40 {
		t.Errorf("%d operations tell a rule", told)
	}
}

// TestOperationsWithoutARuleDoNotStart registers what says neither who may use it nor that anybody may.
func TestOperationsWithoutARuleDoNotStart(t *testing.T) {
	for name, o := range map[string]operation{
		"no rule":            {},
		"a rule, yet public": {rule: rule.Me, public: true},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("it is registered")
				}
			}()
			a, _ := open(&resolvers.Resolver{}, Options{})
			o.id, o.method, o.path = "x", http.MethodGet, "/x"
			add(a, o, func(context.Context, *struct{}) (*struct{}, error) { return nil, nil })
		})
	}
}

// TestWhoMayComesFirst sends every operation the worst request that its path allows: a caller who may
// not use it hears so before anything looks at the request, or at a database, of which there is none.
func TestWhoMayComesFirst(t *testing.T) {
	door, registry := testDoor(t)
	for _, e := range Endpoints(registry) {
		if e.Rule == nil {
			continue
		}
		for lacks, caller := range map[string]context.Context{
			"for another application": somebody(access.AllFeatures),
			"lacks the right":         somebody(access.AllFeatures&^e.Rule.Right, access.Apps()...),
		} {
			if e.Rule.Right == 0 && lacks == "lacks the right" {
				continue
			}
			path := regexp.MustCompile(`\{\w+\}`).ReplaceAllString(e.Path, "x") + "?limit=x&limit=y"
			r := httptest.NewRequestWithContext(caller, e.Method, path, strings.NewReader("{"))
			r.Header.Set("Content-Type", jsonType)
			w := httptest.NewRecorder()
			door.ServeHTTP(w, r)
			if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), lacks) || strings.Contains(w.Body.String(), `"location"`) {
				t.Errorf("%s, of one who %s: %d %s", e.OperationID, lacks, w.Code, w.Body)
			}
		}
	}
}

// TestTheBarredHearNoFaults: a caller without the right hears so, whatever else is wrong.
func TestTheBarredHearNoFaults(t *testing.T) {
	door, _ := testDoor(t)
	for name, c := range map[string]struct {
		method, path, contentType, body string
		may                             int
	}{
		"a missing member":    {"POST", "/tenant/user", jsonType, `{}`, 400},
		"no JSON":             {"POST", "/tenant/user", jsonType, `{`, 400},
		"no body":             {"PUT", "/tenant", jsonType, ``, 400},
		"another type":        {"POST", "/permission", "text/plain", `x`, 415},
		"a large body":        {"POST", "/permission", jsonType, `"` + strings.Repeat("x", intake.MaxBody) + `"`, 413},
		"a malformed path":    {"PATCH", "/permission/abc", "", "", 400},
		"a list's path":       {"GET", "/tenant/users/abc", "", "", 400},
		"a doubled parameter": {"GET", "/tenant/users?limit=1&limit=2", "", "", 400},
		"an upload's path":    {"POST", "/context/upload/abc", "text/plain", "x", 403},
	} {
		t.Run(name, func(t *testing.T) {
			for caller, want := range map[context.Context]int{
				somebody(access.AllFeatures, access.Tenant):  c.may,
				somebody(0, access.Tenant):                   403,
				somebody(access.AllFeatures, access.Builder): 403,
			} {
				r := httptest.NewRequestWithContext(caller, c.method, c.path, strings.NewReader(c.body))
				if c.contentType != "" {
					r.Header.Set("Content-Type", c.contentType)
				}
				w := httptest.NewRecorder()
				door.ServeHTTP(w, r)
				if w.Code != want || want == http.StatusForbidden && strings.Contains(w.Body.String(), "location") {
					t.Errorf("%d %s, want %d", w.Code, w.Body, want)
				}
			}
		})
	}
}
