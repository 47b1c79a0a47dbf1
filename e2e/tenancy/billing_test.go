package tenancy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"canopy/e2e/platform"
)

func TestBilling(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	greta, mira := s.As("Alpine Energy", "greta@alpine.example"), s.As("Alpine Energy", "mira@alpine.example")
	alpine, hydro := s.Customer("Alpine Energy"), s.Customer("Alpine Hydro")
	post := func(name, path string, token string, body any, status int, says string) platform.Scenario {
		return platform.Scenario{Name: name, Token: token, Method: "POST", Path: path, Body: body, Status: status, Says: says}
	}
	get := func(name, path, token string, status int, has map[string]any) platform.Scenario {
		return platform.Scenario{Name: name, Token: token, Method: "GET", Path: path, Status: status, Has: has}
	}
	s.Play(t, []platform.Scenario{
		get("before there is any", "/tenant/billing", greta, 404, nil),
		post("the first", "/tenant/billing", greta, map[string]any{"billingName": "Alpine", "city": "Graz", "countryCode": "AT"}, 204, ""),
		get("the first", "/tenant/billing", greta, 200, map[string]any{
			"customerId": alpine, "billingName": "Alpine", "city": "Graz", "countryCode": "AT", "businessId": "", "taxId": "", "addressLine1": "", "addressLine2": "", "state": "", "zipCode": "",
		}),
		post("what is left out stays", "/tenant/billing", greta, map[string]any{"city": "Linz", "taxId": "ATU1", "countryCode": nil}, 204, ""),
		get("merged", fmt.Sprintf("/tenant/billing/%d", alpine), mira, 200, map[string]any{"billingName": "Alpine", "city": "Linz", "taxId": "ATU1", "countryCode": "AT"}),
		post("an empty text empties", "/tenant/billing", greta, map[string]any{"city": ""}, 204, ""),
		get("emptied", "/tenant/billing", greta, 200, map[string]any{"city": "", "billingName": "Alpine"}),
		post("nothing", "/tenant/billing", greta, map[string]any{}, 204, ""),
		post("below", fmt.Sprintf("/tenant/billing/%d", hydro), greta, map[string]any{"countryCode": "CH"}, 204, ""),
		get("below", fmt.Sprintf("/tenant/billing/%d", hydro), greta, 200, map[string]any{"customerId": hydro, "countryCode": "CH"}),
		post("above", "/tenant/billing/1", greta, map[string]any{"city": "Mine"}, 403, ""),
		get("above", "/tenant/billing/1", greta, 403, nil),
		post("by a viewer", "/tenant/billing", mira, map[string]any{"city": "Mine"}, 403, "billing.write"),
		post("a number", "/tenant/billing", greta, map[string]any{"city": 1}, 400, "city"),
		post("too long", "/tenant/billing", greta, map[string]any{"city": strings.Repeat("x", 201)}, 400, "city"),
	})
	for code, status := range map[string]int{"DE": 204, "GB": 204, "XK": 400, "UK": 400, "de": 400, "DEU": 400, "ZZ": 400, "D": 400, "EU": 400} {
		t.Run(code, func(t *testing.T) {
			platform.Scenario{Status: status}.Judge(t, s.Do("POST", "/tenant/billing", greta, map[string]any{"countryCode": code}))
		})
	}
}

func TestRegions(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	greta, root := s.As("Alpine Energy", "greta@alpine.example"), s.Root()
	uk := s.RegionID("uk-south")
	names := func(t *testing.T, a platform.Answer) (list []string) {
		t.Helper()
		for _, r := range a.JSON(t).([]any) {
			if m := r.(map[string]any); len(m) != 3 {
				t.Errorf("%v", m)
			}
			list = append(list, platform.Member(t, r, "name").(string))
		}
		return list
	}
	available := []string{"Europe Central", "US East", "Asia Pacific Southeast"}
	if got := names(t, s.Must(200, "GET", "/region/available", greta, nil)); !slices.Equal(got, available) {
		t.Errorf("%v", got)
	}
	if got := names(t, s.Must(200, "GET", "/region", root, nil)); !slices.Equal(got, append(available, "UK South")) {
		t.Errorf("%v", got)
	}
	if got, pages := s.Follow(t, "/region?limit=3", root, names); len(got) != 4 || pages != 2 {
		t.Errorf("%v in %d pages", got, pages)
	}
	s.Play(t, []platform.Scenario{
		{Name: "all, below the root", Token: greta, Method: "GET", Path: "/region", Status: 403, Says: "root", Not: []string{"UK South"}},
		{Name: "one", Token: greta, Method: "GET", Path: fmt.Sprintf("/region/%d", uk), Status: 200, Has: map[string]any{"id": uk, "name": "UK South", "description": "London"}},
		{Name: "none", Token: greta, Method: "GET", Path: "/region/999999", Status: 404},
		{Name: "no number", Token: greta, Method: "GET", Path: "/region/eu", Status: 400},
	})
	s.Refused(t, "FORBIDDEN", greta, `{ regions(all: true) { name } }`, nil)
	s.Refused(t, "NOT_FOUND", greta, `{ region(id: 999999) { name } }`, nil)
}
