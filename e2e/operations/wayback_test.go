package operations_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"canopy/e2e/platform"
)

// TestWayLeadsBack: what another cell is asked for may lead on to what lives in a third place, or back where the question came from. It is the same at each address.
func TestWayLeadsBack(t *testing.T) {
	t.Parallel()
	c := platform.StartOneDoor(t, "eu-central")
	home := c.Home
	at := map[string]*platform.Platform{"home": home, "eu-central": c.Cell, "us-east": c.Another(t, "us-east").Cell}
	admin := home.OpenSession(t, platform.DemoAdmin, home.Demo.AdminPassword).Token
	// A company of each place below one of another.
	middle := below(home, admin, 1, "us-east")
	last := below(home, admin, middle, "eu-central")
	for company, n := range map[int64]int{1: 1, middle: 2, last: 3} {
		for i := range n {
			home.Mutate(admin, "createSecret", "secret { name }", map[string]any{"customerId": platform.Decimal(company), "name": fmt.Sprintf("KEY%d", i), "value": "x"})
			home.Mutate(admin, "createAgent", "agent { id }", map[string]any{"accountId": platform.Decimal(home.Account(company, "builder")), "name": fmt.Sprint(i)})
		}
	}
	home.Mutate(admin, "createContext", "context { id }", map[string]any{"name": "n", "description": "d", "caption": "c"})
	agent := c.Cell.Number(`SELECT min(id) FROM agents WHERE account_id = $1`, home.Account(last, "builder"))
	const of = `{ agents { totalCount } secrets { name } parent { customer { name agents { totalCount } contexts { totalCount } accounts { nodes { contexts { totalCount } } } } } }`
	want, refused := home.GQL(admin, fmt.Sprintf(`{ customer(id: "%d") %s }`, middle, of), nil) // of two of the three accounts, by a token for one
	if shown := fmt.Sprint(want); strings.Count(shown, "contexts:map[totalCount:1]") != 2 || !slices.Equal(refused, []string{"FORBIDDEN", "FORBIDDEN"}) {
		t.Fatal(shown, refused)
	}
	for door, p := range at {
		data, codes := p.GQL(admin, fmt.Sprintf(`{ agent(id: "%d") { account { customer { parent { customer %s } } } } }`, agent, of), nil)
		if shown := fmt.Sprint(data); !slices.Equal(codes, refused) || shown != fmt.Sprintf("map[agent:map[account:map[customer:map[parent:%v]]]]", want) {
			t.Errorf("at %s: %s %v, not %v", door, shown, codes, want)
		}
	}
}

// below makes a company of a region below another one.
func below(home *platform.Platform, admin string, parent int64, region string) int64 {
	made := home.MustGQL(admin, fmt.Sprintf(`mutation { createCustomer(input: {parentId: "%d", name: "In %s", email: %q, regionId: "%d"}) { customer { databaseId } } }`, parent, region, platform.DemoAdmin, home.RegionID(region)), nil)
	return int64(made["createCustomer"].(map[string]any)["customer"].(map[string]any)["databaseId"].(float64))
}

// TestFaultsOfOtherCells: what is wrong with one field that another cell has is told of that one, and what that cell has besides is there.
func TestFaultsOfOtherCells(t *testing.T) {
	t.Parallel()
	c := platform.StartOneDoor(t, "eu-central")
	home := c.Home
	hydro := home.Customer("Alpine Hydro")
	id, secret := c.Key(t, hydro, "lukas@alpine-hydro.example")
	token := home.Token(id, secret, "assistant")
	for query, want := range map[string]string{
		`{ contexts { totalCount } searchContexts(contextIds: ["1"], prompt: "x") { similarity } }`: "NOT_FOUND",
		`{ contexts { totalCount } runs(first: 1000) { totalCount } }`:                              "BAD_REQUEST",
	} {
		for door, p := range map[string]*platform.Platform{"home": home, "eu-central": c.Cell} {
			if data, codes := p.GQL(token, query, nil); !slices.Equal(codes, []string{want}) || data["contexts"] == nil {
				t.Errorf("%s at %s: %v %v", query, door, codes, data)
			}
		}
	}
}

// TestDeliveriesOfAnotherPlace: a destination of one place has no deliveries of a company of another.
func TestDeliveriesOfAnotherPlace(t *testing.T) {
	t.Parallel()
	c := platform.StartOneDoor(t, "eu-central")
	home := c.Home
	hydro, ports := home.Customer("Alpine Hydro"), home.Customer("Coral Ports")
	for at, of := range map[*platform.Platform]int64{c.Cell: hydro, home: ports} {
		to := at.Number(`INSERT INTO webhook_destinations (customer_id, url, secret, events) VALUES ($1, 'https://127.0.0.1:9', 'x', NULL) RETURNING id`, of)
		for door, p := range map[string]*platform.Platform{"home": home, "eu-central": c.Cell} {
			for _, company := range []int64{hydro, ports} {
				a := p.Do("GET", fmt.Sprintf("%s/deliveries?destinationId=%d&customerId=%d", platform.Hooks, to, company), home.Root(), nil)
				if a.Status != 200 || strings.TrimSpace(string(a.Body)) != "[]" {
					t.Errorf("of %d for %d at %s: %d %s", of, company, door, a.Status, a.Body)
				}
			}
		}
	}
}

// TestCellsKeepOthersOut: the database of a cell refuses what companies of other places would have there, whatever a program thinks.
func TestCellsKeepOthersOut(t *testing.T) {
	t.Parallel()
	c := platform.StartOneDoor(t, "eu-central")
	us := c.Another(t, "us-east").Cell
	for company, address := range map[string]string{"Coral Ports": "", "Alpine Hydro": c.Cell.URL, "Brightwater Labs": "here"} {
		_, err := us.DB.Exec(`INSERT INTO secrets (customer_id, name, value) VALUES ($1, 'K', 'x')`, us.Customer(company))
		switch refused := err != nil && strings.Contains(err.Error(), "a row of secrets lives in the cell of"); {
		case address == "here" && err != nil, address != "here" && !refused:
			t.Errorf("a secret of %s: %v", company, err)
		}
	}
}
