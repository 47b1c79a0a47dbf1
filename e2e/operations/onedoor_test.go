package operations

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
)

// TestOneDoor: whoever asks the home for what lives in a cell is answered by that, by both doors, as if the cell had been asked; and the home keeps nothing of it.
func TestOneDoor(t *testing.T) {
	t.Parallel()
	c := platform.StartOneDoor(t, "eu-central", platform.DeliverLocally(t))
	home, cell := c.Home, c.Cell
	cell.Work(nil)
	hydro := home.Customer("Alpine Hydro")
	id, secret := c.Key(t, hydro, "lukas@alpine-hydro.example")
	token := home.Token(id, secret, "assistant")
	const mark = "quizzaciously"

	a := home.Do("POST", "/context", token, map[string]any{"name": "Notes " + mark, "description": "Answers questions.", "caption": "Help", "toolsJson": "[]"})
	if a.Status/100 != 2 || a.Header.Get("Canopy-Region") != "eu-central" {
		t.Fatalf("a context by the home's door: %d %v %s", a.Status, a.Header, a.Body)
	}
	contextID := cell.Number(`SELECT max(id) FROM contexts`)
	if a := home.Upload(token, contextID, mark+".txt", []byte("Turbines hum "+mark+" by the river.")); a.Status != 200 {
		t.Fatalf("an upload: %d %s", a.Status, a.Body)
	}
	home.Settle(token, contextID)
	if hits := home.Search(token, contextID, "turbines by the river"); len(hits) != 1 {
		t.Errorf("found: %v", hits)
	}
	for _, path := range []string{"/context", fmt.Sprintf("/context/documents/%d", contextID)} {
		here, there := home.Do("GET", path, token, nil), cell.Do("GET", path, token, nil)
		if here.Status != 200 || string(here.Body) != string(there.Body) || here.Header.Get("ETag") != there.Header.Get("ETag") || len(here.Header["X-Request-Id"]) != 1 {
			t.Errorf("%s: %d %s, and in the cell %s", path, here.Status, here.Body, there.Body)
		}
	}

	query := `query($first: Int!, $more: Boolean!) {
		me { customer { title: name contexts(first: $first) { totalCount nodes { ...C } edges { cursor } } } }
		contexts(first: $first) { nodes { ...C documents(first: 5) { nodes { name: originalName status } } } }
	}
	fragment C on Context { id name ... on Node @include(if: $more) { databaseId } }`
	variables := map[string]any{"first": 10, "more": true}
	if here, there := home.MustGQL(token, query, variables), cell.MustGQL(token, query, variables); !reflect.DeepEqual(here, there) || !strings.Contains(fmt.Sprint(here), mark) {
		t.Errorf("by GraphQL %v, and in the cell %v", here, there)
	}

	operations := fmt.Appendf(nil, `{"query": "mutation($in: UploadDocumentInput!) { one: uploadDocument(input: $in) { document { displayName context { name } } } }", "variables": {"in": {"contextId": "%d", "file": null}}}`, contextID)
	form, contentType := platform.Form(t, platform.Part{Field: "operations", Content: operations}, platform.Part{Field: "map", Content: []byte(`{"0":["variables.in.file"]}`)},
		platform.Part{Field: "0", Name: "ledger.txt", Content: []byte(strings.Repeat("A ledger of "+mark+". ", 100_000))})
	a = home.PostWith("/graphql", token, contentType, form, http.Header{"Graphql-Preflight": {"1"}})
	if want := `"data":{"one":{"document":{"displayName":"ledger.txt","context":{"name":"Notes quizzaciously"}}}}`; !strings.Contains(string(a.Body), want) {
		t.Errorf("an upload by GraphQL: %s", a.Body)
	}

	// The link to an original has the home's address.
	link := home.MustGQL(token, fmt.Sprintf(`{ context(id: "%d") { documents(first: 1) { nodes { originalUrl } } } }`, contextID), nil)
	nodes := platform.Member(t, platform.Member(t, platform.Member(t, link, "context"), "documents"), "nodes").([]any)
	if address := platform.Member(t, nodes[0], "originalUrl").(string); !strings.HasPrefix(address, home.URL) {
		t.Errorf("the link leads to %s", address)
	} else if a := home.Do("GET", strings.TrimPrefix(address, home.URL), "", nil); a.Status != 200 || !strings.Contains(string(a.Body), mark) {
		t.Errorf("an original by its link: %d %.100s", a.Status, a.Body)
	}

	// Whoever is told where an application runs is told of the cell; people sign in at the home.
	root, labs := home.Root(), home.Customer("Brightwater Labs")
	for _, at := range []*platform.Platform{home, cell} {
		for customer, domain := range map[int64]string{hydro: cell.URL, labs: home.URL} {
			of := at.MustGQL(root, fmt.Sprintf(`{ customer(id: "%d") { accounts(first: 1) { nodes { domain application { authUrl } } } } }`, customer), nil)
			if want := fmt.Sprint(map[string]any{"domain": domain, "application": map[string]any{"authUrl": home.URL}}); !strings.Contains(fmt.Sprint(of), want) {
				t.Errorf("where the accounts of %d are: %v, want %s", customer, of, want)
			}
			if a := at.Must(200, "GET", fmt.Sprintf("/tenant/accounts/%d", customer), root, nil); !strings.Contains(string(a.Body), `"domain":"`+domain+`"`) {
				t.Errorf("by REST: %s", a.Body)
			}
		}
	}

	builder := home.Token(id, secret, "builder")
	agent := home.Publish(builder, platform.Greeter)
	run := home.Poll(builder, home.Start(builder, agent, map[string]any{"name": mark}))
	if run.Status != 200 || !strings.Contains(string(run.Body), mark) {
		t.Errorf("the run: %d %s", run.Status, run.Body)
	}
	holdsNothing(t, c, mark)
}

// TestOneDoorForPeople: people sign in at a cell's address as at the home's, and change there who is who; what they see of several companies comes from where each of them lives.
func TestOneDoorForPeople(t *testing.T) {
	t.Parallel()
	c := platform.StartOneDoor(t, "eu-central")
	home, cell := c.Home, c.Cell
	hydro, labs := home.Customer("Alpine Hydro"), home.Customer("Brightwater Labs")
	session := cell.OpenSession(t, platform.DemoAdmin, cell.Demo.AdminPassword)
	if a := cell.Refresh(session.Refresh); a.Status != 200 || a.Header.Get("Canopy-Region") != "home" {
		t.Errorf("a session is renewed at the cell: %d %v %s", a.Status, a.Header, a.Body)
	}
	for _, at := range []*platform.Platform{home, cell} {
		root := at.RootAs("tenant")
		for _, customer := range []int64{hydro, labs} {
			data := at.Mutate(root, "createWebhookDestination", "destination { databaseId }", map[string]any{
				"customerId": customer, "url": fmt.Sprintf("https://1.1.1.1/%d", customer), "events": []string{"run.completed"},
			})
			id := int64(platform.Member(t, platform.Member(t, data, "destination"), "databaseId").(float64))
			if in := id/10_000_000_000_000 != 0; in != (customer == hydro) {
				t.Errorf("the destination of %d is %d", customer, id)
			}
		}
	}
	const query = `query($ids: [ID!]) {
		customers(first: 50, filter: {ids: $ids}) { totalCount nodes { name region { name } webhookDestinations(first: 3) { nodes { url } } } edges { node { id webhookDestinations(first: 1) { totalCount } } } }
	}`
	all := map[string]any{"ids": []string{fmt.Sprint(hydro), fmt.Sprint(labs), "1"}}
	here := home.MustGQL(home.Root(), query, all)
	if there := cell.MustGQL(home.Root(), query, all); !reflect.DeepEqual(here, there) || strings.Count(fmt.Sprint(here), "https://1.1.1.1/") != 4 {
		t.Errorf("at the home %v, in the cell %v", here, there)
	}
	// What stands beside a fragment in one place is of that place alone, and names are the client's to choose.
	const several = `query($ids: [ID!], $id: ID!, $more: Boolean = false) {
		canopy: __typename
		c1: customer(id: $id) { d: webhookDestinations(first: 1) { totalCount } }
		customers(filter: {ids: $ids}) { nodes { ...F v0: webhookDestinations(first: 2) { totalCount } } edges { node { ...F webhookDestinations(first: 3) { nodes { url } } } } }
		n: customers(filter: {ids: $ids}) { nodes { ... on Node { id } ... on Customer { name @skip(if: $more) webhookDestinations(first: 3) @include(if: $more) { totalCount } } } }
	}
	fragment F on Customer { webhookDestinations(first: 3) { totalCount } }`
	all["id"] = fmt.Sprint(hydro)
	here = home.MustGQL(home.Root(), several, all)
	if there := cell.MustGQL(home.Root(), several, all); !reflect.DeepEqual(here, there) || strings.Count(fmt.Sprint(here), "https://1.1.1.1/") != 4 {
		t.Errorf("at the home %v, in the cell %v", here, there)
	}
	// The companies of a cell are asked for together. What the cell does by itself meanwhile is counted, too: the least of some tries is the question's.
	statements := func(companies ...int64) int64 {
		ids := []string{}
		for _, id := range companies {
			ids = append(ids, fmt.Sprint(id))
		}
		least := int64(1 << 30)
		for range 10 {
			least = min(least, cell.Statements(func() { home.MustGQL(home.Root(), query, map[string]any{"ids": ids}) }))
		}
		return least
	}
	if one, more := statements(hydro), statements(hydro, home.Customer("Alpine Energy"), home.Customer("Alpine Solar")); one != more {
		t.Errorf("one company takes %d statements of the cell, three take %d", one, more)
	}
	// Lists leave out what is deleted, and all below that, unless they are asked for it.
	solar := home.Customer("Alpine Solar")
	home.Mutate(home.Root(), "deleteCustomer", "deletedId", map[string]any{"id": fmt.Sprint(solar)})
	devtest.Eventually(t, "the cell knows that it is deleted", func() bool {
		return cell.Number(`SELECT count(*) FROM customers WHERE id = $1 AND status = 'DELETED'`, solar) == 1
	})
	const deleted = `{ customers(filter: {status: DELETED}) { nodes { name webhookDestinations { totalCount } } } }`
	here = home.MustGQL(home.Root(), deleted, nil)
	if there := cell.MustGQL(home.Root(), deleted, nil); !reflect.DeepEqual(here, there) || !strings.Contains(fmt.Sprint(here), "Alpine Solar") {
		t.Errorf("what is deleted: at the home %v, in the cell %v", here, there)
	}
	make := func(name, key, more string) platform.Answer {
		return cell.PostWith("/graphql", home.Root(), "application/json", platform.MustJSON(t, map[string]any{
			"query": fmt.Sprintf(`mutation { createCustomer(input: {parentId: "1", name: %q, email: "once@example.com", regionId: "1"}) { customer { name %s } } }`, name, more),
		}), http.Header{"Idempotency-Key": {key}})
	}
	for range 2 {
		if a := make("Once", "once", ""); a.Status != 200 || !strings.Contains(string(a.Body), `"name":"Once"`) {
			t.Errorf("a company is made at the cell's address: %d %s", a.Status, a.Body)
		}
	}
	// What has been made at the home is shown with what the cell has of it, and that is not kept there.
	for i, want := range []string{`"totalCount":0`, `"idempotency_answer_lost"`} {
		if a := make("Shown", "shown", "webhookDestinations { totalCount }"); !strings.Contains(string(a.Body), want) {
			t.Errorf("%d: %d %s", i, a.Status, a.Body)
		}
	}
	if n := home.Number(`SELECT count(*) FROM customers WHERE name IN ('Once', 'Shown')`); n != 2 {
		t.Errorf("%d companies by two keys", n)
	}
}

// TestOneDoorOfSeveralCells: what a change under an idempotency key shows comes from two other cells, which are asked side by side.
func TestOneDoorOfSeveralCells(t *testing.T) {
	t.Parallel()
	c := platform.StartOneDoor(t, "eu-central")
	c.Another(t, "us-east")
	const change = `mutation { updateCustomer(input: {customerId: "1", name: "Northwind"}) { customer { descendants(first: 50) { nodes { region { name } webhookDestinations { totalCount } } } } } }`
	a := c.Home.PostWith("/graphql", c.Home.Root(), "application/json", platform.MustJSON(t, map[string]any{"query": change}), http.Header{"Idempotency-Key": {"several"}})
	if body := string(a.Body); a.Status != 200 || strings.Contains(body, "errors") || !strings.Contains(body, "Europe Central") || !strings.Contains(body, "US East") {
		t.Errorf("%d %s", a.Status, body)
	}
}

// TestOneDoorListens: what is listened to in a cell is heard at the home's address, over both transports, and ends when it ends there.
func TestOneDoorListens(t *testing.T) {
	t.Parallel()
	c := platform.StartOneDoor(t, "eu-central")
	home, cell := c.Home, c.Cell
	id, secret := c.Key(t, home.Customer("Alpine Hydro"), "lukas@alpine-hydro.example")
	token := home.Token(id, secret, "assistant")
	contextID := home.NewContext(token, "Notes")
	query := fmt.Sprintf(`subscription { documentUpdated(contextId: "%d") { displayName status } }`, contextID)
	events := home.Stream(t, query, token)
	conn := home.Dial(t, query, map[string]any{"authorization": "Bearer " + token}, nil)
	devtest.Check(t, conn.WriteJSON(map[string]any{"type": "subscribe", "id": "2", "payload": map[string]any{
		"query": "query Other { __typename } " + strings.Replace(query, "subscription {", "subscription Named { named:", 1), "operationName": "Named",
	}}))
	sockets, named := make(chan string, 100), make(chan string, 100)
	go func() {
		for {
			var m struct {
				ID, Type string
				Payload  json.RawMessage
			}
			switch {
			case conn.ReadJSON(&m) != nil:
				close(sockets)
				close(named)
				return
			case m.Type != "next" && m.Type != "error":
			case m.ID == "2":
				named <- string(m.Payload)
			default:
				sockets <- string(m.Payload)
			}
		}
	}()
	upload := func() { home.Upload(token, contextID, "heard.txt", []byte("Turbines.")) } // the second one is "heard (1).txt"
	for name, heard := range map[string]<-chan string{"events": events, "a socket": sockets, "a socket, one of several operations": named} {
		if event := heardOf(t, name, heard, upload); !strings.Contains(event, `"heard`) {
			t.Errorf("over %s: %s", name, event)
		}
	}
	cell.SQL(`DELETE FROM contexts WHERE id = $1`, contextID)
	devtest.Eventually(t, "the stream ends with its context", func() bool {
		select {
		case _, open := <-events:
			return !open
		default:
			return false
		}
	})
}

// heardOf is the first event of a subscription, which takes a moment to begin: changes are made until it comes.
func heardOf(t *testing.T, name string, events <-chan string, change func()) string {
	t.Helper()
	for end := time.After(platform.Patience); ; {
		change()
		select {
		case event := <-events:
			return event
		case <-end:
			t.Fatalf("nothing is heard over %s", name)
		case <-time.After(time.Second):
		}
	}
}

// TestOneDoorKeepsOut: what a caller may not have of another company is as far away by a door that passes on; and nobody but a cell passes on.
func TestOneDoorKeepsOut(t *testing.T) {
	t.Parallel()
	c := platform.StartOneDoor(t, "eu-central")
	home, cell := c.Home, c.Cell
	hydroID, hydroSecret := c.Key(t, home.Customer("Alpine Hydro"), "lukas@alpine-hydro.example")
	labsID, labsSecret := c.Key(t, home.Customer("Brightwater Labs"), "priya@brightwater-labs.example")
	hydro := home.Token(hydroID, hydroSecret, "assistant")
	contextID := home.NewContext(hydro, "Notes")
	labs := home.Token(labsID, labsSecret, "assistant")
	for _, at := range []*platform.Platform{home, cell} {
		if a := at.Do("GET", fmt.Sprintf("/context/documents/%d", contextID), labs, nil); a.Status != 404 {
			t.Errorf("a stranger: %d %s", a.Status, a.Body)
		}
		if a := at.Do("DELETE", fmt.Sprintf("/context/%d", contextID), labs, nil); a.Status != 404 {
			t.Errorf("a stranger removes it: %d %s", a.Status, a.Body)
		}
		if a := at.Do("GET", "/context", "", nil); a.Status != 401 {
			t.Errorf("nobody: %d %s", a.Status, a.Body)
		}
		data, codes := at.GQL(labs, fmt.Sprintf(`{ context(id: "%d") { name } me { customer { name contexts { totalCount } } } }`, contextID), nil)
		if data["context"] != nil || !slices.Equal(codes, []string{"NOT_FOUND"}) {
			t.Errorf("a stranger by GraphQL: %v %v", data, codes)
		}
	}
	for name, header := range map[string]string{
		"nonsense":    "x",
		"no key":      fmt.Sprintf("t=%d,from=home,to=eu-central,client=127.0.0.1,v1=", time.Now().Unix()),
		"another key": fmt.Sprintf("t=%d,from=home,to=eu-central,client=127.0.0.1,v1=%s", time.Now().Unix(), strings.Repeat("A", 43)),
	} {
		if a := cell.PostWith("/graphql", hydro, "application/json", []byte(`{"query":"{ __typename }"}`), http.Header{"Canopy-Hop": {header}}); a.Status != 403 || a.Header.Get("Canopy-Hop") != "refused" {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
}

// TestCellAway: a cell that does not answer is told of where its values would be, and nothing else is missing.
func TestCellAway(t *testing.T) {
	t.Parallel()
	c := platform.StartOneDoor(t, "eu-central")
	home := c.Home
	hydro := home.Customer("Alpine Hydro")
	id, secret := c.Key(t, hydro, "lukas@alpine-hydro.example")
	token := home.Token(id, secret, "assistant")
	home.SQL(`UPDATE cells SET address = 'http://127.0.0.1:1'`)
	if a := home.Do("GET", "/context", token, nil); a.Status != 503 || a.Header.Get("Retry-After") == "" || !strings.Contains(string(a.Body), `"eu-central"`) {
		t.Errorf("by REST: %d %s", a.Status, a.Body)
	}
	for name, try := range map[string]struct{ token, query, want string }{
		"what may be null": {token, `{ me { customer { name contexts { totalCount } } } }`, `{"errors":[{"message":"the cell of the region eu-central is not available at the moment","path":["me","customer","contexts"],"locations":[{"line":1,"column":24}],` +
			`"extensions":{"code":"UNAVAILABLE","region":"eu-central","requestId":"ID","retryAfter":1}}],"data":{"me":{"customer":{"name":"Alpine Hydro","contexts":null}}}`},
		"agents of one's own company":  {token, `{ me { email customer { name agents { totalCount } } } }`, `"data":{"me":{"email":"lukas@alpine-hydro.example","customer":{"name":"Alpine Hydro","agents":null}}}`},
		"secrets of one's own company": {home.Token(id, secret, "builder"), `{ me { customer { name secrets { name } } } }`, `"data":{"me":{"customer":{"name":"Alpine Hydro","secrets":null}}}`},
		"what was deleted of a company": {
			home.Root(), fmt.Sprintf(`{ a: customer(id: "%d") { name deletedWebhookDestinations { id } } b: customer(id: "%d") { name deletedWebhookDestinations { id } } }`, hydro, home.Customer("Brightwater Labs")),
			`"path":["a","deletedWebhookDestinations"],"locations":[{"line":1,"column":31}],"extensions":{"code":"UNAVAILABLE","region":"eu-central","requestId":"ID","retryAfter":1}}],` +
				`"data":{"a":{"name":"Alpine Hydro","deletedWebhookDestinations":null},"b":{"name":"Brightwater Labs","deletedWebhookDestinations":[]}}`,
		},
		"agents of an account": {
			home.OpenSession(t, platform.DemoAdmin, home.Demo.AdminPassword).Token, fmt.Sprintf(`{ account(id: "%d") { application { name } agents { totalCount } } }`, home.Account(hydro, "builder")), `"agents":null}}`,
		},
		"a list at the top": {home.Root(), fmt.Sprintf(`{ me { email } webhookDestinations(customerId: "%d") { totalCount } }`, hydro), `"data":{"me":{"email":"` + platform.DemoAdmin + `"},"webhookDestinations":null}`},
		"a change":          {token, `mutation { createContext(input: {name: "n", description: "d", caption: "c"}) { context { name } } }`, `"data":{"createContext":null}`},
	} {
		a := home.PostWith("/graphql", try.token, "application/json", platform.MustJSON(t, map[string]any{"query": try.query}), http.Header{"X-Request-Id": {"ID"}})
		if !strings.Contains(string(a.Body), try.want) || !strings.Contains(string(a.Body), "UNAVAILABLE") {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
}

// TestLateCellChangesAtTheHome: what would change nothing as a cell knows it does so at the home, which knows more where the cell's replica is late.
func TestLateCellChangesAtTheHome(t *testing.T) {
	t.Parallel()
	c := platform.StartOneDoor(t, "eu-central")
	home, cell := c.Home, c.Cell
	hydro := home.Customer("Alpine Hydro")
	root := cell.Root()
	cell.SQL(`ALTER SUBSCRIPTION canopy_directory DISABLE`)
	home.Mutate(home.Root(), "updateCustomer", "customer { name }", map[string]any{"customerId": fmt.Sprint(hydro), "name": "Alpine Water"})
	changed := make(chan platform.Answer, 1)
	go func() {
		changed <- cell.Do("PUT", "/tenant", root, map[string]any{"customerId": hydro, "name": "Alpine Hydro"})
	}()
	devtest.Eventually(t, "the home has the name that the cell was asked for", func() bool {
		return home.Number(`SELECT count(*) FROM customers WHERE id = $1 AND name = 'Alpine Hydro'`, hydro) == 1
	})
	// Nothing of what the home refuses is waited for.
	fields := ""
	for i := range 40 {
		fields += fmt.Sprintf("c%d: updateCustomer(input: {customerId: \"%d\", name: \"\"}) { customer { name } } ", i, hydro)
	}
	refused := make(chan platform.Answer, 1)
	go func() {
		refused <- cell.Do("POST", "/graphql", root, map[string]any{"query": "mutation { " + fields + "}"})
	}()
	select {
	case a := <-refused:
		if n := strings.Count(string(a.Body), "BAD_REQUEST"); n != 40 {
			t.Errorf("%d of 40 are refused: %s", n, a.Body)
		}
	case <-time.After(40 * time.Second):
		t.Error("what was refused was waited for")
	}
	cell.SQL(`ALTER SUBSCRIPTION canopy_directory ENABLE`)
	if a := <-changed; a.Status != 204 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

// TestOneOfSeveralCellsAway: companies of several cells are told of with what the living ones have, and each field that the other one has is null, with an error of its own:
// also where it is the cell of the caller's own company.
func TestOneOfSeveralCellsAway(t *testing.T) {
	t.Parallel()
	c := platform.StartOneDoor(t, "eu-central")
	home := c.Home
	cells := map[string]*platform.Platform{"eu-central": c.Cell, "us-east": c.Another(t, "us-east").Cell}
	companies := map[string]string{"Alpine Hydro": "eu-central", "Brightwater Labs": "us-east", "Coral Ports": "home"}
	admin := home.OpenSession(t, platform.DemoAdmin, home.Demo.AdminPassword).Token
	if root := home.Number(`SELECT region_id FROM customers WHERE id = 1`); root != home.RegionID("eu-central") {
		t.Fatalf("the caller's company is of the region %d", root)
	}
	ids := []string{}
	for name := range companies {
		ids = append(ids, fmt.Sprint(home.Customer(name)))
		home.Mutate(admin, "createSecret", "secret { name }", map[string]any{"customerId": ids[len(ids)-1], "name": "KEY", "value": "x"})
	}
	for region, other := range map[string]string{"us-east": "eu-central", "eu-central": "us-east"} {
		const nowhere = "http://127.0.0.1:1"
		home.SQL(`UPDATE cells SET address = CASE WHEN region_id = $1 THEN $2 ELSE $3 END`, home.RegionID(region), nowhere, cells[other].URL)
		devtest.Eventually(t, "the other cell knows it, too", func() bool {
			return cells[other].Number(`SELECT count(*) FROM cells WHERE (address = $1) = (region_id = $2)`, nowhere, home.RegionID(region)) == 2
		})
		for name, at := range map[string]*platform.Platform{"home": home, other: cells[other]} {
			lost := []string{"agents", "deletedAgents", "deletedSecrets", "deletedWebhookDestinations", "secrets", "webhookDestinations"}
			const fields = `name agents { totalCount } webhookDestinations { totalCount } secrets { name } usage { name } deletedAgents { id } deletedSecrets { id } deletedWebhookDestinations { id }`
			for i, query := range []string{
				`query($ids: [ID!]) { list: customers(filter: {ids: $ids}) { nodes { ` + fields + ` } } }`,
				`mutation { list: updateCustomer(input: {customerId: "1", name: "Northwind"}) { customer { descendants(first: 50) { nodes { ` + fields + ` } } } } }`,
			} {
				a := at.Do("POST", "/graphql", admin, map[string]any{"query": query, "variables": map[string]any{"ids": ids}})
				shown, failed := companiesOf(t, a, region)
				lost := lost
				if at != home && i == 0 { // The home, which makes the change, hears of all cells what there is.
					lost = slices.Insert(slices.Clone(lost), 5, "usage")
				}
				for company, of := range companies {
					if of == region {
						hasLost(t, shown[company], failed[company], company, lost)
					} else {
						hasLost(t, shown[company], failed[company], company, nil)
					}
				}
				if t.Failed() {
					t.Fatalf("without %s at %s: %s: %d %s", region, name, query, a.Status, a.Body)
				}
			}
		}
	}
	// Of a company that has none it is known that it has none.
	if data := home.MustGQL(admin, fmt.Sprintf(`{ customer(id: "%d") { secrets { name } } }`, home.Customer("Coral Air")), nil); fmt.Sprint(data) != "map[customer:map[secrets:[]]]" {
		t.Errorf("no secrets are %v", data)
	}
}

// hasLost looks at what is shown of a company: what is lost is null and has an error, and nothing else is or has.
func hasLost(t *testing.T, shown map[string]any, failed []string, company string, lost []string) {
	t.Helper()
	if !slices.Equal(failed, lost) {
		t.Errorf("of %s the errors are of %v, not of %v", company, failed, lost)
	}
	want := map[string]any{"name": company, "agents": map[string]any{"totalCount": 0.0}, "webhookDestinations": map[string]any{"totalCount": 0.0}, "secrets": []any{map[string]any{"name": "KEY"}}}
	for _, none := range []string{"deletedAgents", "deletedSecrets", "deletedWebhookDestinations"} {
		want[none] = []any{}
	}
	if used, known := shown["usage"].([]any); known && len(used) > 0 {
		want["usage"] = used
	}
	for _, field := range lost {
		want[field] = nil
	}
	if !reflect.DeepEqual(shown, want) {
		t.Errorf("%s is %v, not %v", company, shown, want)
	}
}

// companiesOf are the companies of an answer, by their names, and which fields of each have an error that tells of the cell that is away.
func companiesOf(t *testing.T, a platform.Answer, away string) (companies map[string]map[string]any, failed map[string][]string) {
	t.Helper()
	type list struct{ Nodes []map[string]any }
	var body struct {
		Data struct {
			List struct {
				list
				Customer struct{ Descendants list }
			}
		}
		Errors []struct {
			Path       []any
			Locations  []any
			Extensions struct{ Code, Region string }
		}
	}
	devtest.Check(t, json.Unmarshal(a.Body, &body))
	if a.Status != 200 {
		t.Errorf("%d", a.Status)
	}
	companies, failed = map[string]map[string]any{}, map[string][]string{}
	nodes := slices.Concat(body.Data.List.Nodes, body.Data.List.Customer.Descendants.Nodes)
	for _, node := range nodes {
		companies[fmt.Sprint(node["name"])] = node
	}
	for _, e := range body.Errors {
		at := len(e.Path) - 2
		place, known := e.Path[max(0, at)].(float64)
		if e.Extensions.Code != "UNAVAILABLE" || e.Extensions.Region != away || len(e.Locations) != 1 || !known || int(place) >= len(nodes) {
			t.Errorf("an error: %+v", e)
			continue
		}
		company := fmt.Sprint(nodes[int(place)]["name"])
		failed[company] = append(failed[company], fmt.Sprint(e.Path[at+1]))
	}
	for _, fields := range failed {
		slices.Sort(fields)
	}
	return companies, failed
}

// BenchmarkOneDoor is what it costs to ask the home for what lives in a cell, beside asking the cell itself.
func BenchmarkOneDoor(b *testing.B) {
	c := platform.StartOneDoor(b, "eu-central")
	id, secret := c.Key(b, c.Home.Customer("Alpine Hydro"), "lukas@alpine-hydro.example")
	token := c.Home.Token(id, secret, "assistant")
	c.Home.NewContext(token, "Notes")
	for name, at := range map[string]*platform.Platform{"at the cell": c.Cell, "by the home": c.Home} {
		b.Run("a list by REST "+name, func(b *testing.B) {
			for b.Loop() {
				at.Must(200, "GET", "/context", token, nil)
			}
		})
		b.Run("a list by GraphQL "+name, func(b *testing.B) {
			for b.Loop() {
				at.MustGQL(token, `{ me { customer { contexts { nodes { name } } } } }`, nil)
			}
		})
	}
}

// TestOneDoorHearsAllCells: who listens to the audit log hears at each address what is done in all cells within reach, over both transports, and nothing at all where one of them does not answer.
func TestOneDoorHearsAllCells(t *testing.T) {
	t.Parallel()
	c := platform.StartOneDoor(t, "eu-central")
	home, cell := c.Home, c.Cell
	hydro, labs := home.Customer("Alpine Hydro"), home.Customer("Brightwater Labs")
	id, secret := c.Key(t, hydro, "lukas@alpine-hydro.example")
	const query = `subscription { auditEvent { id action customer { name webhookDestinations { totalCount } } } }`
	heard := map[string]<-chan string{}
	for name, at := range map[string]*platform.Platform{"home": home, "cell": cell} {
		heard["all, by events at the "+name] = at.Stream(t, query, home.Root())
		heard["one company, by events at the "+name] = at.Stream(t, query, home.Token(id, secret, "tenant"))
		conn := at.Dial(t, query, map[string]any{"authorization": "Bearer " + home.Root()}, nil)
		events := make(chan string, 1000)
		heard["all, by a socket at the "+name] = events
		go func() {
			for {
				var m struct {
					Type    string
					Payload json.RawMessage
				}
				if conn.ReadJSON(&m) != nil {
					return
				}
				if m.Type == "next" || m.Type == "error" {
					events <- string(m.Payload)
				}
			}
		}()
	}
	// Nobody is told when those in other cells are heard, too: things are done until all of them are.
	found := map[string]map[string]int{}
	for listener := range heard {
		found[listener] = map[string]int{}
	}
	n, builder := 0, home.RootAs("builder")
	devtest.Eventually(t, "everybody hears of everything", func() bool {
		n++
		time.Sleep(100 * time.Millisecond)
		for _, customer := range []int64{hydro, labs} {
			home.Mutate(builder, "createSecret", "secret { name }", map[string]any{"customerId": fmt.Sprint(customer), "name": fmt.Sprint("S", n), "value": "x"})
			home.Mutate(home.Root(), "updateCustomer", "customer { name }", map[string]any{"customerId": fmt.Sprint(customer), "maxKeyDays": n})
		}
		whole := true
		for listener, events := range heard {
			for more := true; more; {
				select {
				case event := <-events:
					note(t, listener, event, found[listener])
				default:
					more = false
				}
			}
			for _, name := range []string{"Alpine Hydro", "Brightwater Labs"} {
				mine := name == "Alpine Hydro" || strings.HasPrefix(listener, "all")
				for _, action := range []string{"secret.created", "customer.updated"} {
					is := found[listener][action+" "+name] > 0
					whole = whole && is == mine
					if is && !mine {
						t.Errorf("%s hears of %s", listener, name)
					}
				}
			}
		}
		return whole
	})
	// A cell comes that has something of what those hear who hear all.
	home.SQL(`INSERT INTO cells (region_id, address) SELECT id, 'http://127.0.0.1:1' FROM regions WHERE code = 'uk-south'`)
	home.SQL(`UPDATE customers SET region_id = (SELECT id FROM regions WHERE code = 'uk-south') WHERE name = 'Dune Retail'`)
	ends := func(events <-chan string) bool {
		select {
		case event, open := <-events:
			return open && strings.Contains(event, `"UNAVAILABLE"`) && strings.Contains(event, `"uk-south"`)
		default:
			return false
		}
	}
	for listener, events := range heard {
		if strings.HasPrefix(listener, "all") {
			devtest.Eventually(t, listener+" is told of another cell", func() bool { return ends(events) })
		} else if ends(events) {
			t.Errorf("%s is told of another cell", listener)
		}
	}
	// That one goes again, so that only the first cell can't be reached.
	home.SQL(`UPDATE customers SET region_id = (SELECT id FROM regions WHERE code = 'us-east') WHERE name = 'Dune Retail'`)
	home.SQL(`DELETE FROM cells WHERE region_id = (SELECT id FROM regions WHERE code = 'uk-south')`)
	home.SQL(`UPDATE cells SET address = 'http://127.0.0.1:1'`)
	select {
	case event := <-home.Stream(t, query, home.Root()):
		if !strings.Contains(event, `"UNAVAILABLE"`) || !strings.Contains(event, `"eu-central"`) {
			t.Errorf("without the cell: %s", event)
		}
	case <-time.After(platform.Patience):
		t.Error("without the cell nothing is told")
	}
}

// note counts an event, and tells of one that is heard twice.
func note(t *testing.T, listener, event string, found map[string]int) {
	t.Helper()
	var m struct {
		Errors []any
		Data   struct {
			AuditEvent struct {
				ID, Action string
				Customer   struct {
					Name                string
					WebhookDestinations map[string]any
				}
			}
		}
	}
	devtest.Check(t, json.Unmarshal([]byte(event), &m))
	e := m.Data.AuditEvent
	found[e.Action+" "+e.Customer.Name]++
	if found[e.ID]++; found[e.ID] > 1 || len(m.Errors) > 0 || e.Customer.WebhookDestinations == nil {
		t.Errorf("%s: %s", listener, event)
	}
}

// TestAgentsAreMadeWhereTheirAccountIs: an agent lives in the cell of the account that it is made on, whoever makes it, at whatever door; there its account's list is read.
func TestAgentsAreMadeWhereTheirAccountIs(t *testing.T) {
	t.Parallel()
	c := platform.StartOneDoor(t, "eu-central")
	us := c.Another(t, "us-east")
	at := map[string]*platform.Platform{"home": c.Home, "eu-central": c.Cell, "us-east": us.Cell}
	root := c.Home.RootAs("builder")
	for company, place := range map[string]string{"Alpine Hydro": "eu-central", "Brightwater Labs": "us-east", "Coral Ports": "home"} {
		account := c.Home.Account(c.Home.Customer(company), "builder")
		made := map[string]int64{}
		for door, p := range at {
			made[door] = p.Number(`SELECT count(*) FROM agents`)
		}
		for door, p := range at {
			p.Mutate(root, "createAgent", "agent { name }", map[string]any{"accountId": fmt.Sprint(account), "name": company + " by graph at " + door})
			p.Must(201, "POST", "/v1/agents", root, map[string]any{"accountId": account, "name": company + " by REST at " + door})
		}
		for door, p := range at {
			want := made[door]
			if door == place {
				want += 6
			}
			if n := p.Number(`SELECT count(*) FROM agents`); n != want {
				t.Errorf("agents of %s: %d at %s, want %d", company, n, door, want)
			}
			for query, want := range map[string]string{
				fmt.Sprintf(`{ agents(accountId: "%d") { totalCount } }`, account):                    "map[agents:map[totalCount:6]]",
				fmt.Sprintf(`{ agents(accountId: "%d", first: 1) { nodes { accountId } } }`, account): fmt.Sprintf("map[agents:map[nodes:[map[accountId:%d]]]]", account),
			} {
				if shown := fmt.Sprint(p.MustGQL(root, query, nil)); shown != want {
					t.Errorf("%s at %s: %s", query, door, shown)
				}
			}
			var list []struct{ Name string }
			devtest.Check(t, json.Unmarshal(p.Must(200, "GET", fmt.Sprintf("/v1/agents?accountId=%d", account), root, nil).Body, &list))
			if len(list) != 6 {
				t.Errorf("%d agents of %s by REST at %s", len(list), company, door)
			}
		}
	}
}
