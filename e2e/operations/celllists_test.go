package operations

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
	"canopy/internal/globalid"
)

// spread is a platform of a home and two cells, each with rows of a company of its own that lie between the others' in time.
type spread struct {
	*testing.T
	at       map[string]*platform.Platform
	eu, us   *platform.Cells
	company  map[string]int64
	tokens   map[string]string // of the root company, by application
	expected map[string][]row  // by list, newest first
}

// row is what the test knows of a row.
type row struct {
	id     int64
	status string
	at     time.Time
}

const perCell = 7

func startSpread(t *testing.T) *spread {
	eu := platform.StartOneDoor(t, "eu-central")
	us := eu.Another(t, "us-east")
	s := &spread{
		T: t, eu: eu, us: us, at: map[string]*platform.Platform{"home": eu.Home, "eu-central": eu.Cell, "us-east": us.Cell}, tokens: map[string]string{}, expected: map[string][]row{},
		company: map[string]int64{"home": eu.Home.Customer("Coral Ports"), "eu-central": eu.Home.Customer("Alpine Hydro"), "us-east": eu.Home.Customer("Brightwater Labs")},
	}
	for name, p := range s.at {
		devtest.Eventually(t, name+" knows where the cells are", func() bool {
			return p.Number(`SELECT count(*) FROM cells WHERE address LIKE 'http://127.0.0.1:%'`) == 2
		})
	}
	for i, name := range []string{"home", "eu-central", "us-east"} {
		s.fill(s.at[name], s.company[name], i)
	}
	for _, app := range []string{"tenant", "builder"} {
		s.tokens[app] = eu.Home.RootAs(app)
	}
	for list, table := range map[string]string{"runs": "runs", "webhookDeliveries": "webhook_deliveries", "auditEvents": "audit_events"} {
		for _, p := range s.at {
			s.expected[list] = append(s.expected[list], rowsOf(t, p, table)...)
		}
		slices.SortFunc(s.expected[list], newest)
	}
	return s
}

// rowsOf reads what a cell has of a list.
func rowsOf(t *testing.T, p *platform.Platform, table string) (all []row) {
	t.Helper()
	status := "status"
	if table == "audit_events" {
		status = "''"
	}
	found := devtest.Must[*sql.Rows](t)(p.DB.QueryContext(t.Context(), `SELECT id, `+status+`, created_at FROM `+table))
	defer func() { devtest.Check(t, found.Close()) }()
	for found.Next() {
		var r row
		devtest.Check(t, found.Scan(&r.id, &r.status, &r.at))
		all = append(all, r)
	}
	devtest.Check(t, found.Err())
	return all
}

func newest(x, y row) int {
	if x.at.Equal(y.at) {
		return int(min(1, max(-1, y.id-x.id)))
	}
	return y.at.Compare(x.at)
}

// fill gives a company rows of each list, a minute apart from those of the cell before; some are of the same moment in all cells.
func (s *spread) fill(p *platform.Platform, company int64, shift int) {
	account, key := p.Account(company, "builder"), `gen_random_uuid()`
	if cell := p.App.Store.Cell(); cell != nil { // as NewJobKey makes them
		key = fmt.Sprintf(`overlay(overlay(gen_random_uuid()::text placing '8' from 15) placing '%04x' from 33)::uuid`, cell.Number)
	}
	const moments = `timestamptz '2026-01-01' + n * interval '3 minutes' + CASE WHEN n > 2 THEN $2::int ELSE 0 END * interval '1 minute'`
	p.SQL(`WITH a AS (INSERT INTO agents (account_id, name, draft) SELECT $1::bigint, 'Agent ' || n, '{}' FROM generate_series(1, `+fmt.Sprint(perCell)+`) n RETURNING id, name),
			r AS (INSERT INTO agent_revisions (agent_id, number, diagram) SELECT id, 1, '{}' FROM a RETURNING id, agent_id),
			x AS (INSERT INTO runs (job_key, agent_id, revision_id, account_id, input, output, status, finished_at, created_at)
				SELECT `+key+`, agent_id, r.id, $1::bigint, '{"a": "<b>"}', NULL, (ARRAY['finished', 'failed'])[1 + n % 2], now(), `+moments+`
				FROM r JOIN a ON a.id = r.agent_id, LATERAL (SELECT substr(a.name, 7)::int AS n) k RETURNING id)
		INSERT INTO run_steps (run_id, position, step_id, type, started_at, duration_ms) SELECT id, 0, 'a', 'set', now(), 1 FROM x`, account, shift)
	p.SQL(`WITH d AS (INSERT INTO webhook_destinations (customer_id, url, secret) SELECT $1::bigint, 'https://1.1.1.1/' || $1::bigint, '' RETURNING id)
		INSERT INTO webhook_deliveries (customer_id, destination_id, event_id, type, payload, status, lost, completed_at, log, created_at)
		SELECT $1::bigint, d.id, 'evt_' || $1::bigint || '_' || n, 'run.started', convert_to('{"n":' || n || '}', 'UTF8'), (ARRAY['delivered', 'failed', 'blocked'])[1 + n % 3], n % 3 > 0, now(),
			'[{"at": "2026-01-01T00:00:00Z", "durationMs": 1}]', `+moments+` FROM d, generate_series(1, `+fmt.Sprint(perCell)+`) n`, company, shift)
	p.SQL(`INSERT INTO audit_events (customer_id, action, object_type, object_id, created_at)
		SELECT $1::bigint, 'agent.updated', 'Agent', n, `+moments+` FROM generate_series(1, `+fmt.Sprint(perCell)+`) n`, company, shift)
}

func (s *spread) token(list string) string {
	if list == "runs" {
		return s.tokens["builder"]
	}
	return s.tokens["tenant"]
}

// ways are orders and filters of a list, with what they give.
func (s *spread) ways(list string) map[string][]row {
	all := s.expected[list]
	oldest := slices.Clone(all)
	slices.Reverse(oldest)
	since := devtest.Must[time.Time](s.T)(time.Parse(time.RFC3339, "2026-01-01T00:10:00Z"))
	until := since.Add(10 * time.Minute)
	within := slices.DeleteFunc(slices.Clone(oldest), func(r row) bool { return r.at.Before(since) || !r.at.Before(until) })
	ways := map[string][]row{
		"": all,
		"orderBy: [{field: CREATED_AT, direction: ASC}]": oldest,
		`orderBy: [{field: ID, direction: ASC}], filter: {createdSince: "2026-01-01T00:10:00Z", createdUntil: "2026-01-01T00:20:00Z"}`: within,
	}
	if list != "auditEvents" {
		ways["orderBy: [{field: STATUS, direction: DESC}]"] = s.sorted(list, func(x, y row) int {
			if x.status != y.status {
				return strings.Compare(y.status, x.status)
			}
			return newest(x, y)
		})
		ways["filter: {or: [{status: failed}, {createdUntil: \"2026-01-01T00:08:00Z\"}]}"] = slices.DeleteFunc(slices.Clone(all), func(r row) bool {
			return r.status != "failed" && !r.at.Before(since.Add(-2*time.Minute))
		})
	}
	return ways
}

func (s *spread) sorted(list string, by func(x, y row) int) []row {
	rows := slices.Clone(s.expected[list])
	slices.SortFunc(rows, by)
	return rows
}

// ask asks by GraphQL, and goes on where it is refused.
func (s *spread) ask(at, token, query string, variables map[string]any) string {
	s.Helper()
	data, codes := s.at[at].GQL(token, query, variables)
	if len(codes) > 0 {
		s.Errorf("%s at %s: %v %v", query, at, codes, data)
	}
	return fmt.Sprint(data)
}

func ids(rows []row) []int64 {
	list := make([]int64, len(rows))
	for i, r := range rows {
		list[i] = r.id
	}
	return list
}

// page is a page of a list by GraphQL.
func (s *spread) page(at *platform.Platform, list, way, bounds string) (found []int64, start, end string, next, previous bool, total int) {
	s.Helper()
	args := strings.Join(slices.DeleteFunc([]string{way, bounds, map[string]string{"webhookDeliveries": "subtree: true"}[list]}, func(a string) bool { return a == "" }), ", ")
	data := at.MustGQL(s.token(list), fmt.Sprintf(`{ %s(%s) { totalCount totalCountCapped edges { cursor node { databaseId } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`, list, args), nil)
	c := platform.Member(s.T, data, list).(map[string]any)
	for _, e := range c["edges"].([]any) {
		found = append(found, int64(platform.Member(s.T, platform.Member(s.T, e, "node"), "databaseId").(float64)))
	}
	info := c["pageInfo"].(map[string]any)
	start, _ = info["startCursor"].(string)
	end, _ = info["endCursor"].(string)
	return found, start, end, info["hasNextPage"].(bool), info["hasPreviousPage"].(bool), int(c["totalCount"].(float64))
}

// walk reads a list page by page from either end.
func (s *spread) walk(at *platform.Platform, list, way string, size int, backward bool, want []int64) (found []int64) {
	s.Helper()
	bounds, cursor := fmt.Sprintf("first: %d", size), ""
	if backward {
		bounds = fmt.Sprintf("last: %d", size)
	}
	for n := 0; n <= len(want); n++ {
		name := map[bool]string{false: "after", true: "before"}[backward]
		asked := bounds
		if cursor != "" {
			asked += fmt.Sprintf(`, %s: "%s"`, name, cursor)
		}
		page, start, end, next, previous, total := s.page(at, list, way, asked)
		if total != len(want) {
			s.Errorf("%s(%s): %d are counted of %d", list, asked, total, len(want))
		}
		more, before, turn := next, previous, end
		if backward {
			more, before, turn = previous, next, start
			found = append(slices.Clone(page), found...)
		} else {
			found = append(found, page...)
		}
		if before != (cursor != "") || more != (len(found) < len(want)) {
			s.Errorf("%s(%s): next %t, previous %t after %d of %d", list, asked, next, previous, len(found), len(want))
		}
		if cursor = turn; !more {
			break
		}
	}
	return found
}

// TestListsOfSeveralCells: what several cells have of one list is put together at each of their doors, page by page from either end, in every order and by filters.
func TestListsOfSeveralCells(t *testing.T) {
	t.Parallel()
	s := startSpread(t)
	for list := range s.expected {
		for way, rows := range s.ways(list) {
			want := ids(rows)
			for name, p := range s.at {
				for size, backward := range map[int]bool{2: false, 3: true} {
					if found := s.walk(p, list, way, size, backward, want); !slices.Equal(found, want) {
						t.Errorf("%s(%s) at %s by %d: %v, want %v", list, way, name, size, found, want)
					}
				}
			}
		}
	}
	s.byREST(t)
	s.whatHangs(t)
	s.ofOne(t)
	s.box(t)
	s.opened(t)
	s.cost(t)
	s.once(t)
	s.away(t)
}

var restLists = map[string]string{"runs": "/v1/runs?subtree=true", "webhookDeliveries": "/v1/outbound-webhooks/deliveries?subtree=true", "auditEvents": "/v1/audit?subtree=true"}

func (s *spread) byREST(t *testing.T) {
	for list, path := range restLists {
		want := ids(s.expected[list])
		for name, p := range s.at {
			for _, way := range []string{"limit=2", "last=3", "limit=1000"} {
				found := []int64{}
				for query := "subtree=true&" + way; query != ""; {
					a := p.Must(200, "GET", strings.Split(path, "?")[0]+"?"+query, s.token(list), nil)
					var entries []struct{ ID int64 }
					devtest.Check(t, json.Unmarshal(a.Body, &entries))
					page := []int64{}
					for _, e := range entries {
						page = append(page, e.ID)
					}
					if query = ""; strings.HasPrefix(way, "last") {
						found = append(page, found...)
					} else {
						found = append(found, page...)
					}
					if link := a.Header.Get("Link"); link != "" {
						u := devtest.Must[*url.URL](t)(url.Parse(link[1:strings.Index(link, ">")]))
						query = u.RawQuery
					}
				}
				if !slices.Equal(found, want) {
					t.Errorf("%s by %s at %s: %v, want %v", path, way, name, found, want)
				}
			}
		}
	}
	var whole []struct{ ID int64 }
	devtest.Check(t, json.Unmarshal(s.at["us-east"].Must(200, "GET", restLists["runs"], s.token("runs"), nil).Body, &whole))
	if len(whole) != len(s.expected["runs"]) {
		t.Errorf("%d runs in the whole list of %d", len(whole), len(s.expected["runs"]))
	}
}

// whatHangs: what hangs from a row comes from where that is, and is the same at each door.
func (s *spread) whatHangs(t *testing.T) {
	for token, query := range map[string]string{
		s.tokens["builder"]: `{ runs(first: 50) { nodes { id jobKey input output agent { name runs { totalCount } } revision { number } steps { type } currentStep { type } } } }`,
		s.tokens["tenant"]: `query($id: ID) { webhookDeliveries(first: 50, subtree: true) { nodes { id destination { url } payload attemptLog { durationMs } } edges { node { d: destination { databaseId } } } }
			auditEvents(first: 50, customerId: $id) { nodes { id customer { name } actor { email } } } }`,
	} {
		here := s.at["home"].MustGQL(token, query, nil)
		if text := fmt.Sprint(here); strings.Count(text, "<nil>") > 200 || strings.Count(text, "Agent 1")+strings.Count(text, "https://1.1.1.1/")/perCell != 3 {
			t.Errorf("what hangs from rows: %s", text)
		}
		for _, name := range []string{"eu-central", "us-east"} {
			if there := s.at[name].MustGQL(token, query, nil); !reflect.DeepEqual(here, there) {
				t.Errorf("at the home %v, at %s %v", here, name, there)
			}
		}
	}
}

// ofOne: who reaches one company alone has its rows and no others, at whichever door.
func (s *spread) ofOne(t *testing.T) {
	id, secret := s.eu.Key(t, s.company["eu-central"], "lukas@alpine-hydro.example")
	for app, list := range map[string]string{"builder": "runs", "tenant": "webhookDeliveries(subtree: true)"} {
		token := s.at["home"].Token(id, secret, app)
		for name := range s.at {
			found := s.ask(name, token, fmt.Sprintf(`{ list: %s { totalCount nodes { databaseId } } }`, list), nil)
			if !strings.Contains(found, fmt.Sprintf("totalCount:%d", perCell)) || strings.Count(found, "databaseId") != perCell {
				t.Errorf("%s of one company at %s: %s", list, name, found)
			}
		}
	}
	// Its log is its cell's and the home's.
	want := 0
	for _, p := range s.at {
		want += int(p.Number(`SELECT count(*) FROM audit_events WHERE customer_id = $1`, s.company["eu-central"]))
	}
	for name := range s.at {
		found := s.ask(name, s.tokens["tenant"], fmt.Sprintf(`{ auditEvents(customerId: "%d", subtree: false) { totalCount } }`, s.company["eu-central"]), nil)
		if !strings.Contains(found, fmt.Sprintf("totalCount:%d]", want)) || want <= perCell {
			t.Errorf("the log of one company at %s: %s of %d", name, found, want)
		}
	}
}

// box: the search box finds what each cell has, at each door, and what hangs from that.
func (s *spread) box(t *testing.T) {
	var key, event string
	s.us.Cell.Look(&key, `SELECT min(job_key::text) FROM runs`)
	s.eu.Cell.Look(&event, `SELECT min(event_id) FROM webhook_deliveries`)
	for name, p := range s.at {
		for text, want := range map[string]struct {
			token, kinds string
			hits         int
		}{
			key:       {s.tokens["builder"], "run", 1},
			key[:13]:  {s.tokens["builder"], "run", 1},
			event:     {s.tokens["tenant"], "webhookDelivery", 1},
			"Agent 3": {s.tokens["builder"], "agent", 3},
		} {
			var found []struct{ Name string }
			a := p.Do("GET", "/tenant/search?types="+want.kinds+"&text="+url.QueryEscape(text), want.token, nil)
			if err := json.Unmarshal(a.Body, &found); err != nil {
				t.Errorf("%q at %s: %d %s", text, name, a.Status, a.Body)
			}
			shown := s.ask(name, want.token, `query($text: String!) { search(text: $text) {
				... on Run { agent { name } steps { type } } ... on WebhookDelivery { destination { url } } ... on Agent { name revisions { totalCount } } } }`, map[string]any{"text": text})
			if len(found) != want.hits || strings.Count(shown, "map[")-1 < want.hits || strings.Contains(shown, "<nil>") || strings.Contains(shown, "totalCount:0") {
				t.Errorf("%q at %s: %v, by GraphQL %s", text, name, found, shown)
			}
		}
	}
	// Nobody but a cell asks for rows as cells do.
	for name, p := range s.at {
		if a := p.Do("POST", "/cells/rows", s.tokens["tenant"], map[string]any{"List": "runs", "Top": 1, "Ask": map[string]any{}}); a.Status != 404 {
			t.Errorf("rows at %s: %d %s", name, a.Status, a.Body)
		}
	}
}

// opened: what a list shows is there by its id, or its job key, too.
func (s *spread) opened(t *testing.T) {
	var key string
	var run, delivery, event, agent int64
	s.us.Cell.Look(&key, `SELECT min(job_key::text) FROM runs`)
	s.us.Cell.Look(&run, `SELECT min(id) FROM runs`)
	s.us.Cell.Look(&agent, `SELECT min(id) FROM agents`)
	s.us.Cell.Look(&delivery, `SELECT min(id) FROM webhook_deliveries`)
	s.us.Cell.Look(&event, `SELECT min(id) FROM audit_events`)
	builder, tenant := s.tokens["builder"], s.tokens["tenant"]
	stranger := s.at["home"].TokenOf(s.company["eu-central"], "lukas@alpine-hydro.example", "builder")
	for name, p := range s.at {
		for path, token := range map[string]string{
			fmt.Sprintf("/v1/outbound-webhooks/deliveries/%d", delivery): tenant, "/v1/runs/" + key: builder, "/v1/runs/" + key + "/steps": builder,
		} {
			if a := p.Do("GET", path, token, nil); a.Status != 200 {
				t.Errorf("%s at %s: %d %s", path, name, a.Status, a.Body)
			}
		}
		if a := p.Do("GET", "/v1/runs/"+key, stranger, nil); a.Status != 404 {
			t.Errorf("a stranger's run at %s: %d %s", name, a.Status, a.Body)
		}
		for query, token := range map[string]string{
			fmt.Sprintf(`{ run(jobKey: "%s") { databaseId agent { name } steps { type } } }`, key):                                                     builder,
			fmt.Sprintf(`{ agent(id: "%d") { name runs { totalCount } } }`, agent):                                                                     builder,
			fmt.Sprintf(`{ node(id: "%s") { ... on Run { agent { name } } } }`, globalid.ID{Type: "Run", Int: run}.Global()):                           builder,
			fmt.Sprintf(`{ webhookDelivery(id: "%d") { payload destination { url } } }`, delivery):                                                     tenant,
			fmt.Sprintf(`{ node(id: "%s") { ... on AuditEvent { action customer { name } } } }`, globalid.ID{Type: "AuditEvent", Int: event}.Global()): tenant,
		} {
			if data := s.ask(name, token, query, nil); strings.Contains(data, "<nil>") {
				t.Errorf("%s at %s: %s", query, name, data)
			}
		}
		if data, codes := p.GQL(stranger, fmt.Sprintf(`{ run(jobKey: "%s") { databaseId } }`, key), nil); !slices.Equal(codes, []string{"NOT_FOUND"}) {
			t.Errorf("a stranger's run by GraphQL at %s: %v %v", name, data, codes)
		}
	}
}

// cost: a cell is asked once, however many rows there are.
func (s *spread) cost(t *testing.T) {
	statements := func(first int) int64 {
		least := int64(1 << 30)
		for range 10 { // what the cell does by itself meanwhile is counted, too
			least = min(least, s.us.Cell.Statements(func() {
				s.ask("home", s.tokens["builder"], fmt.Sprintf(`{ runs(first: %d, orderBy: [{field: CREATED_AT, direction: ASC}]) { nodes { agent { name } steps { type } } } }`, first), nil)
			}))
		}
		return least
	}
	if few, more := statements(3), statements(20); few != more {
		t.Errorf("3 rows take %d statements of a cell, 20 take %d", few, more)
	}
}

// asked counts how often other cells were asked something at an address.
func (s *spread) asked(at string) (n int) {
	for _, sample := range hopsAnswered.FindAllStringSubmatch(string(s.at[at].Must(200, "GET", "/metrics", "", nil).Body), -1) {
		n += devtest.Must[int](s.T)(strconv.Atoi(sample[1]))
	}
	return n
}

var hopsAnswered = regexp.MustCompile(`(?m)^canopy_hop_seconds_count\{.*outcome="answered".*\} (\d+)$`)

// once: another cell is asked once for a page, and tells with it how many rows it has.
func (s *spread) once(t *testing.T) {
	for name := range s.at {
		for list, args := range map[string]string{"runs": "", "webhookDeliveries": "subtree: true, ", "auditEvents": ""} {
			asks := func(total string) int {
				before := s.asked(name)
				s.ask(name, s.token(list), fmt.Sprintf(`{ %s(%sfirst: 2) { edges { cursor } %s } }`, list, args, total), nil)
				return s.asked(name) - before
			}
			page := asks("")
			for _, total := range []string{"totalCount", "totalCountCapped", "... @include(if: true) { n: totalCount }"} {
				if counted := asks(total); counted != page || page == 0 {
					t.Errorf("%s at %s asks %d times, with %s %d", list, name, page, total, counted)
				}
			}
		}
	}
}

// away: a list that lacks what a cell has is none.
func (s *spread) away(t *testing.T) {
	home := s.at["home"]
	home.SQL(`UPDATE cells SET address = 'http://127.0.0.1:1' WHERE region_id = $1`, home.RegionID("us-east"))
	eu := s.at["eu-central"]
	devtest.Eventually(t, "the other cell knows it, too", func() bool {
		return eu.Number(`SELECT count(*) FROM cells WHERE address = 'http://127.0.0.1:1'`) == 1
	})
	for name, p := range map[string]*platform.Platform{"home": home, "eu-central": eu} {
		for list, path := range restLists {
			if a := p.Do("GET", path, s.token(list), nil); a.Status != 503 || !strings.Contains(string(a.Body), `"region":"us-east"`) {
				t.Errorf("%s at %s: %d %s", path, name, a.Status, a.Body)
			}
			args := map[string]string{"webhookDeliveries": "(subtree: true)"}[list]
			a := p.PostWith("/graphql", s.token(list), "application/json", platform.MustJSON(t, map[string]any{"query": fmt.Sprintf("{ __typename %s%s { totalCount } }", list, args)}), http.Header{})
			if body := string(a.Body); !strings.Contains(body, fmt.Sprintf(`"path":["%s"]`, list)) || !strings.Contains(body, `"region":"us-east"`) || !strings.Contains(body, `"UNAVAILABLE"`) || !strings.Contains(body, fmt.Sprintf(`"data":{"__typename":"Query","%s":null}`, list)) {
				t.Errorf("%s at %s: %d %s", list, name, a.Status, body)
			}
		}
	}
}
