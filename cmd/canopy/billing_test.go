package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestBilling(t *testing.T) {
	s := newStack(t)
	greta, mira := s.as("Alpine Energy", "greta@alpine.example"), s.as("Alpine Energy", "mira@alpine.example")
	alpine, hydro := s.company("Alpine Energy"), s.company("Alpine Hydro")
	post := func(name, path string, token string, body any, status int, says string) scenario {
		return scenario{name: name, token: token, method: "POST", path: path, body: body, status: status, says: says}
	}
	get := func(name, path, token string, status int, has map[string]any) scenario {
		return scenario{name: name, token: token, method: "GET", path: path, status: status, has: has}
	}
	s.play(t, []scenario{
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
			scenario{status: status}.judge(t, s.do("POST", "/tenant/billing", greta, map[string]any{"countryCode": code}))
		})
	}
}

func TestRegions(t *testing.T) {
	s := newStack(t)
	greta, root := s.as("Alpine Energy", "greta@alpine.example"), s.root()
	uk := s.regionID("uk-south")
	names := func(t *testing.T, a answerOf) (list []string) {
		t.Helper()
		for _, r := range a.json(t).([]any) {
			if m := r.(map[string]any); len(m) != 3 {
				t.Errorf("%v", m)
			}
			list = append(list, member(t, r, "name").(string))
		}
		return list
	}
	available := []string{"Europe Central", "US East", "Asia Pacific Southeast"}
	if got := names(t, s.must(200, "GET", "/region/available", greta, nil)); !slices.Equal(got, available) {
		t.Errorf("%v", got)
	}
	if got := names(t, s.must(200, "GET", "/region", root, nil)); !slices.Equal(got, append(available, "UK South")) {
		t.Errorf("%v", got)
	}
	if got, pages := s.follow(t, "/region?limit=3", root, names); len(got) != 4 || pages != 2 {
		t.Errorf("%v in %d pages", got, pages)
	}
	s.play(t, []scenario{
		{name: "all, below the root", token: greta, method: "GET", path: "/region", status: 403, says: "root", not: []string{"UK South"}},
		{name: "one", token: greta, method: "GET", path: fmt.Sprintf("/region/%d", uk), status: 200, has: map[string]any{"id": uk, "name": "UK South", "description": "London"}},
		{name: "none", token: greta, method: "GET", path: "/region/999999", status: 404},
		{name: "no number", token: greta, method: "GET", path: "/region/eu", status: 400},
	})
	s.refused(t, "FORBIDDEN", greta, `{ regions(all: true) { name } }`, nil)
	s.refused(t, "NOT_FOUND", greta, `{ region(id: 999999) { name } }`, nil)
}
