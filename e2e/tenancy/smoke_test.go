package tenancy

import (
	"testing"

	"canopy/e2e/platform"
)

func TestDemoIsServed(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	if a := s.Do("GET", "/tenant", s.Root(), nil); a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	data, codes := s.GQL(s.Root(), `{ me { email } }`, nil)
	if len(codes) > 0 || data["me"].(map[string]any)["email"] != platform.DemoAdmin {
		t.Fatalf("%v %v", data, codes)
	}
	if id := s.Customer("Alpine Energy"); s.Do("GET", "/tenant", s.TokenOf(id, "greta@alpine.example", "tenant"), nil).Status != 200 {
		t.Fatal("a company's owner is not let in")
	}
}
