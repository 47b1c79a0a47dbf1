package isolation

import (
	"testing"

	"canopy/e2e/platform"
)

// inCells are the tests that are run over a home and a cell.
var inCells = map[string]func(*testing.T, *world){
	"graph":        graphIsolation,
	"rest":         restIsolation,
	"agents":       func(t *testing.T, w *world) { agentGraphIsolation(t, yardIn(w)) },
	"agents' REST": func(t *testing.T, w *world) { agentRESTIsolation(t, yardIn(w)) },
}

// asked are those of inCells that are run.
func asked(some ...string) []string {
	if wholeMatrix {
		some = nil
		for name := range inCells {
			some = append(some, name)
		}
	}
	return some
}

// TestCellsIsolate asks at the address of a cell what TestGraphIsolation, TestRESTIsolation and those of agents ask at the home: whoever asks gets
// the same, of what the cell knows by its replica as of what it passes on.
func TestCellsIsolate(t *testing.T) {
	t.Parallel()
	isolatedInCells(t, "eu-central", func(t *testing.T, c *platform.Cells) *world {
		w := worldOf(t, c.Home, c.Home)
		asked := *c.Home
		asked.URL = c.Cell.URL
		w.Platform, w.data = &asked, &asked
		return w
	}, "graph", "agents' REST")
}

// TestCellsKeepApart asks at the home for what a company has that lives in a cell.
func TestCellsKeepApart(t *testing.T) {
	t.Parallel()
	isolatedInCells(t, "ap-southeast", func(t *testing.T, c *platform.Cells) *world { return worldOf(t, c.Home, c.Cell) }, "rest", "agents")
}

// isolatedInCells runs tests of a home and the cell of a region, each in a world of its own.
func isolatedInCells(t *testing.T, region string, worldIn func(*testing.T, *platform.Cells) *world, some ...string) {
	t.Helper()
	for _, name := range asked(some...) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := platform.StartAll(t, region, platform.NewDNS(t).Asked)
			w := worldIn(t, c)
			w.inTurn = 2
			w.known = func() { c.Follow(t) }
			inCells[name](t, w)
		})
	}
}

// apart tells that what the target company has lives in another cell than who is who.
func (w *world) apart() bool { return w.data != w.Platform }
