package operations

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"

	"canopy/e2e/platform"
)

// TestOneDoorDoesOnce: a mutation under an idempotency key is done once, whatever addresses it is sent to, and answered the same, as long as each field's answer is kept where it was done.
func TestOneDoorDoesOnce(t *testing.T) {
	t.Parallel()
	c := platform.StartOneDoor(t, "eu-central")
	home, cell := c.Home, c.Cell
	hydro := home.Customer("Alpine Hydro")
	id, secret := c.Key(t, hydro, "lukas@alpine-hydro.example")
	owner, root := home.Token(id, secret, "assistant"), home.Root()
	send := func(at *platform.Platform, token, key, query string, variables map[string]any) platform.Answer {
		return at.PostWith("/graphql", token, "application/json", platform.MustJSON(t, map[string]any{"query": query, "variables": variables}), http.Header{"Idempotency-Key": {key}})
	}
	contexts := func() int64 { return cell.Number(`SELECT count(*) FROM contexts`) }
	const (
		one = `mutation Named($in: CreateContextInput!, $more: Boolean = true) { createContext(input: $in) { context { ...C caption @include(if: $more) } } }
			fragment C on Context { id # as it is
				name, documents(first: 1) { totalCount } }`
		two = `mutation {
			a: createContext(input: {name: "A", description: """
				Several
				"lines" \\ é
			""", caption: "c"}) { context { id description } }
			... on Mutation { b: createContext(input: {name: "B", description: "d", caption: "c"}) { context { id } } }
		}`
	)
	both := fmt.Sprintf(`mutation($name: String!) {
		__typename
		made: createCustomer(input: {parentId: "1", name: $name, email: "once@example.com", regionId: "1"}) { customer { id } }
		there: createWebhookDestination(input: {customerId: "%d", url: "https://1.1.1.1/once", events: ["run.completed"]}) { destination { id } }
	}`, hydro)
	for name, try := range map[string]struct {
		token, query string
		variables    map[string]any
		count        func() int64
		done         int64
	}{
		"one field":      {owner, one, map[string]any{"in": map[string]any{"name": "N <1>", "description": "d", "caption": "c"}}, contexts, 1},
		"several fields": {owner, two, nil, contexts, 2},
		"fields of the home and the cell": {root, both, map[string]any{"name": "Once"}, func() int64 {
			return home.Number(`SELECT count(*) FROM customers WHERE name = 'Once'`) + cell.Number(`SELECT count(*) FROM webhook_destinations WHERE url LIKE '%/once'`)
		}, 2},
	} {
		for i, order := range [][]*platform.Platform{{home, cell, home, cell}, {cell, home, cell, home}} {
			before := try.count()
			var first any
			for k, at := range order {
				a := send(at, try.token, strings.ReplaceAll(fmt.Sprint(name, i), " ", "-"), try.query, try.variables)
				said := a.JSON(t).(map[string]any)
				if first == nil {
					first = said["data"]
				}
				replayed := a.Header.Get("Idempotency-Replayed")
				if a.Status != 200 || said["errors"] != nil || !reflect.DeepEqual(said["data"], first) || (replayed == "true") != (k > 0) {
					t.Errorf("%s, order %d, request %d: %d %s, and at first %v", name, i, k, a.Status, a.Body, first)
				}
			}
			if n := try.count() - before; n != try.done {
				t.Errorf("%s, order %d: %d are made", name, i, n)
			}
		}
	}

	// Under the key of another mutation nothing is done, at any address.
	send(cell, owner, "other", two, nil)
	for _, at := range []*platform.Platform{home, cell} {
		if a := send(at, owner, "other", strings.ReplaceAll(two, `"A"`, `"Another"`), nil); a.Status != 409 || !strings.Contains(string(a.Body), `"idempotency_mismatch"`) {
			t.Errorf("another mutation: %d %s", a.Status, a.Body)
		}
	}
	if n := cell.Number(`SELECT count(*) FROM contexts WHERE name = 'Another'`); n != 0 {
		t.Errorf("%d contexts by the key of another mutation", n)
	}

	// What was done at one address, which was killed before it kept its answers, is not done at the other.
	before := contexts()
	send(cell, owner, "killed", two, nil)
	cell.SQL(`UPDATE idempotency_keys SET answer = NULL`)
	for _, at := range []*platform.Platform{home, cell, home} {
		if a := send(at, owner, "killed", two, nil); a.Status != 409 || strings.Count(string(a.Body), `"idempotency_answer_lost"`) != 2 {
			t.Errorf("after an answer was lost: %d %s", a.Status, a.Body)
		}
	}
	if n := contexts() - before; n != 2 {
		t.Errorf("%d contexts of a mutation whose answer was lost", n)
	}
	// Of one whose second field has failed at one address, that is done at the other, and the first is not done again.
	before = contexts()
	cell.SQL(`CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the test has it fail'; END $$`)
	cell.SQL(`CREATE TRIGGER fails BEFORE INSERT ON contexts FOR EACH ROW WHEN (NEW.name = 'B') EXECUTE FUNCTION fails()`)
	if a := send(cell, owner, "between", two, nil); !strings.Contains(string(a.Body), `"b":null`) {
		t.Errorf("the second field has not failed: %d %s", a.Status, a.Body)
	}
	cell.SQL(`DROP FUNCTION fails() CASCADE`)
	for _, at := range []*platform.Platform{home, home, cell, cell} {
		if a := send(at, owner, "between", two, nil); a.Status != 200 || strings.Contains(string(a.Body), "null") || strings.Contains(string(a.Body), "errors") {
			t.Errorf("after the second field had failed: %d %s", a.Status, a.Body)
		}
	}
	if n := contexts() - before; n != 2 {
		t.Errorf("%d contexts of a mutation that was cut off", n)
	}

	// Sent to both at the same time, it is done by one of them.
	before = contexts()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			a := send([]*platform.Platform{home, cell}[i%2], owner, "at-once", two, nil)
			if a.Status != 200 && a.Status != 409 {
				t.Errorf("at once: %d %s", a.Status, a.Body)
			}
		})
	}
	all.Wait()
	if n := contexts() - before; n != 2 {
		t.Errorf("%d contexts are made at once", n)
	}
}

// TestOneDoorKeepsKeys: where cells pass a request on, its key is that of no other one, at any address of a cell that has done a part of it and by either door.
func TestOneDoorKeepsKeys(t *testing.T) {
	t.Parallel()
	c := platform.StartOneDoor(t, "eu-central")
	home, cell := c.Home, c.Cell
	id, secret := c.Key(t, home.Customer("Alpine Hydro"), "lukas@alpine-hydro.example")
	owner := home.Token(id, secret, "assistant")
	const create = `%s createContext(input: {name: %q, description: "d", caption: "c"}) { context { id } }`
	graph := func(of string) func(*platform.Platform, string) platform.Answer {
		body := platform.MustJSON(t, map[string]any{"query": "mutation { " + of + " }"})
		return func(at *platform.Platform, key string) platform.Answer {
			return at.PostWith("/graphql", owner, "application/json", body, http.Header{"Idempotency-Key": {key}})
		}
	}
	rest := func(path string, body map[string]any) func(*platform.Platform, string) platform.Answer {
		return func(at *platform.Platform, key string) platform.Answer {
			return at.PostWith(path, owner, "application/json", platform.MustJSON(t, body), http.Header{"Idempotency-Key": {key}})
		}
	}
	done := func() int64 {
		return cell.Number(`SELECT count(*) FROM contexts`) + home.Number(`SELECT count(*) FROM users WHERE email = 'key@alpine-hydro.example'`)
	}
	firsts := map[string]func(*platform.Platform, string) platform.Answer{
		"graph": graph(fmt.Sprintf(create, "", "A")),
		"rest":  rest("/context", map[string]any{"name": "A", "description": "d", "caption": "c", "toolsJson": "[]"}),
	}
	others := map[string]func(*platform.Platform, string) platform.Answer{
		"another alias":     graph(fmt.Sprintf(create, "x:", "A")),
		"one more field":    graph(fmt.Sprintf(create, "", "A") + fmt.Sprintf(create, "y:", "C")),
		"another mutation":  graph(`deleteContext(input: {id: "999999"}) { deletedId }`),
		"another door's":    rest("/context", map[string]any{"name": "B", "description": "d", "caption": "c", "toolsJson": "[]"}),
		"what the home has": rest("/tenant/user", map[string]any{"email": "key@alpine-hydro.example"}),
	}
	at := map[string]*platform.Platform{"home": home, "cell": cell}
	for door, first := range firsts {
		for where, begun := range at {
			for then, goesOn := range at {
				for name, other := range others {
					if name == "what the home has" && where != then {
						continue // of which neither has heard what the other one has done
					}
					key := strings.ReplaceAll(strings.Join([]string{door, where, then, name}, "-"), " ", "-")
					if a := first(begun, key); a.Status/100 != 2 || a.Header.Get("Idempotency-Replayed") != "" {
						t.Fatalf("%s: %d %s", key, a.Status, a.Body)
					}
					before := done()
					if a := other(goesOn, key); a.Status != 409 || !strings.Contains(string(a.Body), `idempotency_mismatch`) {
						t.Errorf("%s: %d %s", key, a.Status, a.Body)
					}
					// The other one has not taken the key.
					for i, at := range []*platform.Platform{goesOn, begun, goesOn} {
						if a := first(at, key); a.Status/100 != 2 || a.Header.Get("Idempotency-Replayed") != "true" {
							t.Errorf("%s, again %d: %d %v %s", key, i, a.Status, a.Header, a.Body)
						}
					}
					if n := done() - before; n != 0 {
						t.Errorf("%s: %d are made", key, n)
					}
				}
			}
		}
	}
}
