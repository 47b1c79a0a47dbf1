package main

import "testing"

func TestDemoIsServed(t *testing.T) {
	s := newStack(t)
	if a := s.do("GET", "/tenant", s.root(), nil); a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	data, codes := s.gql(s.root(), `{ me { email } }`, nil)
	if len(codes) > 0 || data["me"].(map[string]any)["email"] != demoAdmin {
		t.Fatalf("%v %v", data, codes)
	}
	if id := s.company("Alpine Energy"); s.do("GET", "/tenant", s.tokenOf(id, "greta@alpine.example", "tenant"), nil).Status != 200 {
		t.Fatal("a company's owner is not let in")
	}
}
