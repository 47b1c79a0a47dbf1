package jobs

import (
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"canopy/db"
)

// TestOnlySlowStepsAreTold: a step that is done soon costs no statement, a slow one costs one, and another where its input came later.
func TestOnlySlowStepsAreTold(t *testing.T) {
	const soon = currentAfter / 2
	for name, c := range map[string]struct {
		given, ends time.Duration // 0 where it is given nothing
		want        []string
	}{
		"one that is done soon":              {given: soon, ends: currentAfter - 1},
		"a slow one":                         {given: soon, ends: 3 * currentAfter, want: []string{"given"}},
		"one whose input comes late":         {given: 2 * currentAfter, ends: 3 * currentAfter, want: []string{"", "given"}},
		"one that ends as its input is told": {given: 2 * currentAfter, ends: 2 * currentAfter, want: []string{""}},
		"one that is given nothing":          {ends: 3 * currentAfter, want: []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var told []string
				at := newCurrent(db.CurrentStep{StepID: "a"}, func(step db.CurrentStep) { told = append(told, string(step.Input)) })
				time.Sleep(c.given)
				synctest.Wait()
				want := ""
				if c.given > 0 {
					want = "given"
					at.give(json.RawMessage(want))
				}
				if c.ends > c.given {
					time.Sleep(c.ends - c.given)
					synctest.Wait()
				}
				if done := at.end(); done.StepID != "a" || string(done.Input) != want {
					t.Errorf("ended as %+v", done)
				}
				time.Sleep(time.Hour)
				if !slices.Equal(told, c.want) {
					t.Errorf("told %q, want %q", told, c.want)
				}
			})
		})
	}
}
