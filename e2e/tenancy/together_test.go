package tenancy

import (
	"fmt"
	"sync"
	"testing"

	"canopy/e2e/platform"
)

// TestCompaniesReadTogetherAreOfNow: while many on two processes read companies, and share statements for that, what is changed on one of the processes
// is in whatever is asked of either from the answer on: another name, another place, a suspension, and that the reader may not read any more.
func TestCompaniesReadTogetherAreOfNow(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	twin := s.Twin(t)
	root, wei := s.Root(), s.As("Coral Logistics", "wei@coral.example")
	ports, coral, hydro := s.Customer("Coral Ports"), s.Customer("Coral Logistics"), s.Customer("Alpine Hydro")
	path := fmt.Sprintf("/tenant/%d", ports)
	done := make(chan struct{})
	var readers sync.WaitGroup
	for n := range 12 {
		at := []*platform.Platform{s, twin}[n%2]
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					at.Do("GET", []string{path, fmt.Sprintf("/tenant/%d", coral)}[n/2%2], []string{root, wei}[n/4%2], nil)
				}
			}
		})
	}
	defer readers.Wait()
	defer close(done)
	everywhere := func(token string, want platform.Scenario) {
		t.Helper()
		for _, at := range []*platform.Platform{s, twin} {
			want.Judge(t, at.Do("GET", path, token, nil))
		}
	}
	for n := range 10 {
		at := []*platform.Platform{s, twin}[n%2]
		name := fmt.Sprint("Coral Ports ", n)
		at.Must(204, "PUT", "/tenant", root, map[string]any{"customerId": ports, "name": name})
		everywhere(root, platform.Scenario{Status: 200, Has: map[string]any{"customer.name": name}})
		everywhere(wei, platform.Scenario{Status: 200, Has: map[string]any{"customer.name": name}})
		at.Must(200, "POST", moving(ports), root, below(hydro))
		everywhere(root, platform.Scenario{Status: 200, Has: map[string]any{"parent.name": "Alpine Hydro"}})
		everywhere(wei, platform.Scenario{Status: 403})
		at.Must(200, "POST", moving(ports), root, below(coral))
		everywhere(wei, platform.Scenario{Status: 200, Has: map[string]any{"parent.name": "Coral Logistics"}})
	}
	for _, status := range []struct {
		path string
		want int
	}{{"suspend", 403}, {"resume", 200}} {
		s.Must(200, "POST", fmt.Sprintf("/tenant/customer/%d/%s", coral, status.path), root, nil)
		everywhere(wei, platform.Scenario{Status: status.want})
		everywhere(root, platform.Scenario{Status: 200})
	}
	permission := s.Permission(s.UserID("wei@coral.example"), s.Account(coral, "tenant"))
	s.Must(204, "PATCH", fmt.Sprintf("/permission/%d", permission), root, nil)
	for _, at := range []*platform.Platform{s, twin} {
		if a := at.Do("GET", path, wei, nil); a.Status != 401 && a.Status != 403 {
			t.Errorf("who has no permission any more reads on: %d %s", a.Status, a.Body)
		}
	}
}
