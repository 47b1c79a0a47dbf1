package operations

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
)

// TestLimitsWithoutTheHome: a cell's worker hears what the home has counted, and what it heard last holds while the home is away.
func TestLimitsWithoutTheHome(t *testing.T) {
	t.Parallel()
	c := platform.StartCells(t, "eu-central")
	s := c.Cell
	keyID, plain := c.Key(t, c.Home.Customer("Alpine Hydro"), "lukas@alpine-hydro.example")
	const has = 3
	c.Home.SQL(`INSERT INTO contexts (account_id, name, description, caption, embedding_model) SELECT $1::bigint, 'Notes', '', '', 'm' FROM generate_series(1, $2::integer)`,
		c.Home.Account(c.Home.Customer("Brightwater Labs"), "assistant"), has)
	c.Home.Must(200, "PUT", "/tenant/limits/1", c.Home.Root(), map[string]any{"limits": map[string]any{"contexts": has + 2}})
	worker := s.StartProgram(t, "worker", c.Settings()...)
	t.Cleanup(worker.Kill)
	devtest.Eventually(t, "the cell knows the limit and what the home has", func() bool {
		return s.Number(`SELECT count(*) FROM customer_limits l, counts_elsewhere e WHERE l.name = 'contexts' AND e.name = 'contexts' AND e.customer_id = 1 AND e.n = $1`, has) > 0
	})
	c.HomeServer.Stop(t.Context())
	token := s.Token(keyID, plain, "assistant")
	for i := range 2 {
		s.NewContext(token, fmt.Sprint("Notes ", i))
	}
	a := s.Do("POST", "/context", token, map[string]any{"name": "Too many", "description": "Answers questions.", "caption": "Help", "toolsJson": "[]"})
	if a.Status != 403 || !strings.Contains(string(a.Body), fmt.Sprintf(`"used":%d`, has+2)) || !strings.Contains(string(a.Body), `"limit_reached"`) {
		t.Errorf("beside %d at the home, one more than 2: %d %s", has, a.Status, a.Body)
	}
}

// TestUsageAtEachAddress: what a company has that a cell hears nothing of is the same at the cell's address, by both doors; of its own companies the cell answers.
func TestUsageAtEachAddress(t *testing.T) {
	t.Parallel()
	c := platform.StartOneDoor(t, "eu-central")
	labs, hydro := c.Home.Customer("Brightwater Labs"), c.Home.Customer("Alpine Hydro")
	const has = 3
	c.Home.SQL(`INSERT INTO contexts (account_id, name, description, caption, embedding_model) SELECT $1::bigint, 'Notes', '', '', 'm' FROM generate_series(1, $2::integer)`, c.Home.Account(labs, "assistant"), has)
	keyID, plain := c.Key(t, labs, "priya@brightwater-labs.example")
	own := c.Home.Token(keyID, plain, "tenant")
	contexts := func(usage any) any {
		for _, u := range usage.([]any) {
			if of := u.(map[string]any); strings.EqualFold(of["name"].(string), "contexts") {
				return of["used"]
			}
		}
		return nil
	}
	for name, at := range map[string]*platform.Platform{"home": c.Home, "cell": c.Cell} {
		root := c.Home.Root()
		for path, token := range map[string]string{fmt.Sprintf("/tenant/usage/%d", labs): root, "/tenant/usage": own} {
			if used := contexts(at.Must(200, "GET", path, token, nil).JSON(t)); used != float64(has) {
				t.Errorf("at the %s %s tells of %v contexts", name, path, used)
			}
		}
		data := at.MustGQL(root, `query($ids: [ID!]) { customers(filter: {ids: $ids}) { nodes { name usage { name used } } } }`, map[string]any{"ids": []string{fmt.Sprint(labs), fmt.Sprint(hydro)}})
		for _, node := range platform.Member(t, platform.Member(t, data, "customers"), "nodes").([]any) {
			of := node.(map[string]any)
			if want := map[any]float64{"Brightwater Labs": has, "Alpine Hydro": 0}[of["name"]]; contexts(of["usage"]) != want {
				t.Errorf("at the %s %v has %v contexts", name, of["name"], of["usage"])
			}
		}
		if a := at.Must(200, "GET", fmt.Sprintf("/tenant/usage/%d", hydro), root, nil); a.Header.Get("Canopy-Region") != "" {
			t.Errorf("what the company of the cell uses is asked of %s by the %s", a.Header.Get("Canopy-Region"), name)
		}
	}
}

// TestMinutesOfCells: what a company's caller has asked for at the home in a minute is gone at the cell, too, and what was passed on counts once.
func TestMinutesOfCells(t *testing.T) {
	t.Parallel()
	c := platform.StartOneDoor(t, "eu-central")
	hydro := c.Home.Customer("Alpine Hydro")
	keyID, plain := c.Key(t, hydro, "lukas@alpine-hydro.example")
	const most, atHome = 50, 30
	root := c.Home.Root()
	c.Home.Must(200, "PUT", fmt.Sprintf("/tenant/limits/%d", hydro), root, map[string]any{"limits": map[string]any{"requestsPerMinute": most}})
	token := c.Home.Token(keyID, plain, "assistant")
	used := func(s *platform.Platform) (n float64) {
		for _, u := range s.Must(200, "GET", fmt.Sprintf("/tenant/usage/%d", hydro), root, nil).JSON(t).([]any) {
			if u := u.(map[string]any); u["name"] == "requestsPerMinute" {
				n = u["used"].(float64)
			}
		}
		return n
	}
	devtest.Eventually(t, "the cell knows the limit", func() bool {
		return c.Cell.Number(`SELECT count(*) FROM customer_limits WHERE customer_id = $1`, hydro) == 1
	})
	if left := time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)); left < 40*time.Second {
		<-time.After(left)
	}
	for used(c.Cell) == 0 { // until both have begun to tell each other
		c.Home.Must(200, "GET", "/context", token, nil)
		<-time.After(2 * time.Second)
	}
	for used(c.Home) < atHome {
		a := c.Home.Must(200, "GET", "/context", token, nil)
		if told := strings.Join(a.Header.Values("RateLimit"), ","); !strings.Contains(told, fmt.Sprintf(`"requestsPerMinute-%d";r=`, hydro)) {
			t.Fatalf("what was passed on does not tell what is left: %q", told)
		}
	}
	devtest.Eventually(t, "the cell knows what was asked for at the home", func() bool { return used(c.Cell) == atHome })
	for i := range most - atHome {
		if a := c.Cell.Do("GET", "/context", token, nil); a.Status != 200 {
			t.Fatalf("%d of %d: %d %s", atHome+i+1, most, a.Status, a.Body)
		}
	}
	if a := c.Cell.Do("GET", "/context", token, nil); a.Status != 429 || !strings.Contains(string(a.Body), "requestsPerMinute") {
		t.Errorf("one more than %d: %d %s", most, a.Status, a.Body)
	}
	devtest.Eventually(t, "the home knows, too", func() bool { return c.Home.Do("GET", "/context", token, nil).Status == 429 })
}
