package operations

import (
	"fmt"
	"strings"
	"testing"

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
