package rest

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"canopy/internal/access"
	"canopy/internal/intake"
	"canopy/internal/problem"
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

// rightless are the operations that every token of their application may use.
var rightless = map[string]bool{"getIdentity": true, "getRegion": true, "listAvailableRegions": true, "listRegions": true}

// TestWhoMayComesFirst asks every operation whether a caller may use it, by an empty request: it says
// so before it looks at the request, or at a database, of which there is none.
func TestWhoMayComesFirst(t *testing.T) {
	_, registry := testDoor(t)
	asked := 0
	for path := range registry.OpenAPI().Paths {
		for _, op := range operationsAt(registry.OpenAPI(), path) {
			ask, _ := op.Metadata[askKey].(func(context.Context) error)
			if ask == nil {
				if secured(op) && op.OperationID != "uploadDocument" {
					t.Errorf("%s can't be asked", op.OperationID)
				}
				continue
			}
			asked++
			if err := ask(access.Asking(somebody(access.AllFeatures, access.Apps()...))); !errors.Is(err, resolvers.ErrAllowed) {
				t.Errorf("%s: who may, hears %v", op.OperationID, err)
			}
			if err := ask(access.Asking(somebody(0, access.Apps()...))); errors.Is(err, resolvers.ErrAllowed) && !rightless[op.OperationID] {
				t.Errorf("%s: without any right it is allowed", op.OperationID)
			}
			if err := ask(access.Asking(somebody(access.AllFeatures))); problem.From(err).Code != problem.Forbidden {
				t.Errorf("%s: a token for nothing hears %v", op.OperationID, err)
			}
		}
	}
	if asked < 40 {
		t.Errorf("%d operations were asked", asked)
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
