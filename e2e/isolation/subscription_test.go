package isolation

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"canopy/e2e/platform"
)

// subscriptionRow is a subscription, and what each caller must get. change makes an event in a
// company; of reads the company's id from what was sent.
type subscriptionRow struct {
	field, query string
	change       func(w *world, customer int64)
	of           func(data object) int64
	want         shape
}

func subscriptionRows() []subscriptionRow {
	return []subscriptionRow{{
		field: "auditEvent", query: `subscription { auditEvent { details customer { databaseId } actor { email } } }`, want: reach,
		change: func(w *world, customer int64) {
			w.actIn(w.ctx, customer)
		},
		of: func(data object) int64 {
			return int64(data["auditEvent"].(object)["customer"].(object)["databaseId"].(float64))
		},
	}}
}

// TestSubscriptionIsolation listens as every kind of caller: who may hears of the target company's
// changes or, outside its tree, of the caller's own only.
func TestSubscriptionIsolation(t *testing.T) {
	t.Parallel()
	subscriptionIsolation(t, newWorld(t))
}

func subscriptionIsolation(t *testing.T, w *world) {
	t.Helper()
	for _, row := range subscriptionRows() {
		for _, as := range everybody {
			t.Run(row.field+"/"+string(as), func(t *testing.T) {
				w.T = t
				switch c := w.answers(row.want, rulesOf(row.query), false).wants(as, false); {
				case c == getsOK:
					w.listens(t, row, as, true)
				case as.outside():
					w.listens(t, row, as, false)
				default:
					w.isRefused(t, row.query, w.tokens[as], c.quoted())
				}
			})
		}
	}
	w.quiet(t)
}

// TestOwnSubscription: every kind of caller hears of itself, and of nobody else.
func TestOwnSubscription(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const told = "{ customerId user { email } customer { name } grants { features } }"
	const query = "subscription { meUpdated " + told + " }"
	want := w.answers(shared, rulesOf(query), false)
	for _, as := range everybody {
		t.Run(string(as), func(t *testing.T) {
			w.T = t
			if c := want.wants(as, false); c != getsOK {
				w.isRefused(t, query, w.tokens[as], c.quoted())
				return
			}
			want := w.MustGQL(w.tokens[as], "{ me "+told+" }", nil)["me"]
			if got := platform.Told(t, w.Stream(t, query, w.tokens[as]), "meUpdated"); !platform.SameJSON(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
	w.quiet(t)
}

// listens changes the target company and the caller's own in turns, and checks what is heard
// between two changes of the caller's own.
func (w *world) listens(t *testing.T, row subscriptionRow, as who, hearsTarget bool) {
	lines := w.Stream(t, row.query, w.tokens[as])
	heardHome, heardTarget := 0, 0
	for deadline := time.Now().Add(platform.Patience); heardHome < 2; {
		if time.Now().After(deadline) {
			t.Fatal("the caller's own changes are not heard")
		}
		row.change(w, w.target)
		row.change(w, w.homes[as])
		for waiting := true; waiting && heardHome < 2; {
			select {
			case line, open := <-lines:
				if !open {
					t.Fatal("the stream has ended")
				}
				w.noMarks(t, as, line)
				customer := row.of(platform.DataOf(t, line))
				if customer == w.target {
					heardTarget++
				}
				if customer == w.homes[as] {
					heardHome++
				}
			case <-time.After(50 * time.Millisecond):
				waiting = false
			}
		}
	}
	if (heardTarget > 0) != hearsTarget {
		t.Errorf("of the target company %d changes are heard", heardTarget)
	}
}

func (w *world) noMarks(t *testing.T, as who, line string) {
	t.Helper()
	if !as.outside() {
		return
	}
	for _, mark := range w.hidden(as, false) {
		if strings.Contains(line, mark) {
			t.Errorf("%s is told %q: %s", as, mark, line)
		}
	}
}

// isRefused tries a subscription that is ended by an error which says something, and nothing else.
func (w *world) isRefused(t *testing.T, query, token, says string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), platform.Patience)
	defer cancel()
	resp := w.OverEvents(ctx, t, query, token)
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(body), says) {
		t.Errorf("want %s: %d %s", says, resp.StatusCode, body)
	}
	if strings.Contains(string(body), `"data":{"`) {
		t.Errorf("a refused caller is sent data: %s", body)
	}
}
