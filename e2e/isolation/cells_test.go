package isolation

import (
	"os"
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

// wholeMatrix asks for all of inCells, as every caller, which takes minutes.
var wholeMatrix = os.Getenv("CANOPY_MATRIX") == "whole"

// callers are those who ask.
func (m *matrix) callers() []who {
	if m.known == nil || wholeMatrix {
		return everybody
	}
	return []who{asRoot, asAncestor, asOwner, asSibling, asRemoved}
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
	for _, name := range asked("graph", "agents' REST") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := platform.StartAll(t, "eu-central", platform.NewDNS(t).Asked)
			w := worldOf(t, c.Home, c.Home)
			w.known = func() { c.Follow(t) }
			asked := *c.Home
			asked.URL = c.Cell.URL
			w.Platform, w.data = &asked, &asked
			inCells[name](t, w)
		})
	}
}

// TestCellsKeepApart asks at the home for what a company has that lives in a cell.
func TestCellsKeepApart(t *testing.T) {
	t.Parallel()
	for _, name := range asked("rest", "agents") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := platform.StartAll(t, "ap-southeast", platform.NewDNS(t).Asked)
			w := worldOf(t, c.Home, c.Cell)
			w.known = func() { c.Follow(t) }
			inCells[name](t, w)
		})
	}
}

// apart tells that what the target company has lives in another cell than who is who.
func (w *world) apart() bool { return w.data != w.Platform }
