package operations

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"canopy/e2e/platform"
	"canopy/internal/config"
	"canopy/internal/devstack"
	"canopy/internal/devstack/devtest"
)

// TestCellWithoutItsHome: with the home's database stopped, a cell exchanges keys and does all that is done with what its companies have, and says what waits for the
// home; nothing of it is found at the home afterwards. What is revoked there is refused in the cell soon after.
func TestCellWithoutItsHome(t *testing.T) {
	t.Parallel()
	r := platform.NewReceiver(t, nil)
	c := platform.StartCells(t, "eu-central", platform.DeliverLocally(t))
	hydro := c.Home.Customer("Alpine Hydro")
	keyID, plain := c.Key(t, hydro, "lukas@alpine-hydro.example")
	s := c.Cell
	atHome := c.Home.Token(keyID, plain, "assistant")
	devtest.Eventually(t, "the home sends the company to its cell", func() bool {
		a := c.Home.Do("GET", "/context/documents/1", atHome, nil)
		return a.Status == 421 && strings.Contains(string(a.Body), "eu-central") && strings.Contains(string(a.Body), "http://cell.example")
	})
	other, otherPlain := c.Key(t, c.Home.Customer("Brightwater Labs"), "priya@brightwater-labs.example")
	if a := s.Do("GET", "/context/documents/1", s.Token(other, otherPlain, "assistant"), nil); a.Status != 421 {
		t.Errorf("the cell answers for a company of another region: %d %s", a.Status, a.Body)
	}
	worker := s.StartProgram(t, "worker", c.Settings()...)
	t.Cleanup(worker.Kill)
	c.HomeServer.Stop(t.Context())

	const mark = "quizzaciously"
	token := s.Token(keyID, plain, "assistant")
	id := s.NewContext(token, "Notes "+mark)
	if number := s.Number(`SELECT min(id) FROM contexts`) / 10_000_000_000_000; number != s.Number(`SELECT number FROM cell`) || number == 0 {
		t.Errorf("the context's id is of cell %d", number)
	}
	s.Upload(token, id, mark+".txt", []byte("Turbines hum "+mark+" by the river."))
	s.Settle(token, id)
	if hits := s.Search(token, id, "turbines by the river"); len(hits) != 1 {
		t.Errorf("found: %v", hits)
	}
	builder := s.Token(keyID, plain, "builder")
	run := s.Poll(builder, s.Start(builder, s.Publish(builder, platform.Greeter), map[string]any{"name": mark}))
	if run.Status != 200 || !strings.Contains(string(run.Body), mark) {
		t.Errorf("the run: %d %s", run.Status, run.Body)
	}
	tenant := s.Token(keyID, plain, "tenant")
	s.Subscribe(tenant, r.URL)
	agent := s.Publish(builder, platform.Greeter)
	s.Poll(builder, s.Start(builder, agent, map[string]any{"name": mark}))
	r.Wait(t, 1)
	answersBuilderOfHome(t, s, hydro, agent)

	for name, a := range map[string]platform.Answer{
		"a sign-in": s.Do("POST", "/auth/token", "", map[string]any{"email": platform.DemoAdmin, "password": s.Demo.AdminPassword}),
		"a change":  s.Do("PUT", "/tenant", tenant, map[string]any{"customerId": hydro, "name": "Renamed"}),
	} {
		if a.Status != 503 || !strings.Contains(string(a.Body), `"at_home"`) {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}

	devtest.Check(t, c.HomeServer.Start(t.Context()))
	devtest.Eventually(t, "the home answers", func() bool { return c.Home.DB.Ping() == nil })
	c.Home.SQL(`UPDATE api_keys SET revoked_at = now() WHERE client_id = $1`, keyID)
	devtest.Eventually(t, "the revoked key is refused in the cell", func() bool {
		return s.Do("GET", fmt.Sprintf("/context/documents/%d", id), token, nil).Status == 401
	})

	holdsNothing(t, c, mark)
	if log := worker.Log.String(); strings.Contains(log, "upkeep failed") {
		t.Errorf("the upkeep of the cell fails: %s", log)
	}
}

// answersBuilderOfHome: what a company of the cell has is answered there also for who builds for a company of the home.
func answersBuilderOfHome(t *testing.T, s *platform.Platform, company, agent int64) {
	t.Helper()
	root := s.RootAs("builder")
	job := s.Start(root, agent, map[string]any{"name": "x"})
	for query, want := range map[string]string{
		fmt.Sprintf(`{ agent(id: "%d") { name runs { totalCount } } }`, agent):                                "map[agent:map[name:Greeter runs:map[totalCount:2]]]",
		fmt.Sprintf(`{ runs(customerId: "%d") { totalCount } }`, company):                                     "map[runs:map[totalCount:3]]",
		fmt.Sprintf(`{ run(jobKey: %q) { agent { name } } }`, job):                                            "map[run:map[agent:map[name:Greeter]]]",
		fmt.Sprintf(`mutation { updateAgent(input: {id: "%d", name: "Greeter"}) { agent { name } } }`, agent): "map[updateAgent:map[agent:map[name:Greeter]]]",
	} {
		if shown := fmt.Sprint(s.MustGQL(root, query, nil)); shown != want {
			t.Errorf("%s: %s", query, shown)
		}
	}
	for _, path := range []string{fmt.Sprintf("/v1/agents/%d", agent), fmt.Sprintf("/v1/runs?customerId=%d", company), "/v1/runs/" + job, "/job/" + job} {
		if a := s.Do("GET", path, root, nil); a.Status != 200 && a.Status != 202 {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
}

// holdsNothing finds a text in the cell, and nothing of it at the home: not in its database, its Redis, its documents or its log.
func holdsNothing(t *testing.T, c *platform.Cells, mark string) {
	t.Helper()
	program := devtest.Must[string](t)(devstack.Program(t.Context(), "pg_dump"))
	dump := func(url string) string {
		said, err := exec.CommandContext(t.Context(), program, "--data-only", "--inserts", url).CombinedOutput()
		if err != nil {
			t.Fatalf("%v %s", err, said)
		}
		return string(said)
	}
	if !strings.Contains(dump(c.CellServer.URL()), mark) {
		t.Error("the mark is not in the cell: this finds nothing anywhere")
	}
	if strings.Contains(dump(c.HomeServer.URL()), mark) || strings.Contains(c.Home.Log.String(), mark) {
		t.Error("the home knows what a company of the cell has")
	}
	if found := inRedis(t, c.Home.App.Config.RedisURL, mark); len(found) > 0 {
		t.Errorf("the home's Redis has the mark in %v", found)
	}
	folder := strings.TrimPrefix(c.Home.App.Config.BlobURL, "file://")
	devtest.Check(t, filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			t.Errorf("the home has the document %s", path)
		}
		return err
	}))
}

// inRedis are the keys whose names or values have a text; that it finds what is there is tried first.
func inRedis(t *testing.T, url, text string) (keys []string) {
	t.Helper()
	ctx := t.Context()
	options, err := redis.ParseURL(url)
	devtest.Check(t, err)
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	const tried = "canopy:tried"
	devtest.Check(t, client.HSet(ctx, tried, "value", text).Err())
	var found []string
	scan := client.Scan(ctx, 0, "*", 100).Iterator()
	for scan.Next(ctx) {
		key := scan.Val()
		if strings.Contains(fmt.Sprint(key, valueIn(t, client, key)), text) {
			found = append(found, key)
		}
	}
	devtest.Check(t, scan.Err())
	if !slices.Contains(found, tried) {
		t.Fatal("the search finds nothing anywhere")
	}
	return slices.DeleteFunc(found, func(key string) bool { return key == tried })
}

func valueIn(t *testing.T, client *redis.Client, key string) any {
	t.Helper()
	ctx := t.Context()
	switch kind := client.Type(ctx, key).Val(); kind {
	case "string":
		return client.Get(ctx, key).Val()
	case "hash":
		return client.HGetAll(ctx, key).Val()
	case "list":
		return client.LRange(ctx, key, 0, -1).Val()
	case "set":
		return client.SMembers(ctx, key).Val()
	case "zset":
		return client.ZRange(ctx, key, 0, -1).Val()
	case "stream":
		return client.XRange(ctx, key, "-", "+").Val()
	case "none": // it has gone meanwhile
		return nil
	default:
		t.Fatalf("%s is a %s", key, kind)
		return nil
	}
}

// TestLateCellRefuses: a cell whose replica is later than it may be lets nobody in, as there may be revocations that it does not know, and says so; once it has caught up, it goes on.
func TestLateCellRefuses(t *testing.T) {
	t.Parallel()
	c := platform.StartCells(t, "eu-central", func(cfg *config.Config) { cfg.MaxLag = 5 * time.Second })
	keyID, plain := c.Key(t, c.Home.Customer("Alpine Hydro"), "lukas@alpine-hydro.example")
	s := c.Cell
	token := s.Token(keyID, plain, "assistant")
	list := func() platform.Answer { return s.Do("GET", "/context", token, nil) }
	devtest.Eventually(t, "the cell answers", func() bool { return list().Status == 200 })

	// What is replicated waits for whoever has the table.
	held := devtest.Must[*sql.Tx](t)(s.DB.BeginTx(t.Context(), nil))
	defer func() { _ = held.Rollback() }()
	devtest.Must[sql.Result](t)(held.ExecContext(t.Context(), `LOCK TABLE pulse IN EXCLUSIVE MODE`))
	devtest.Eventually(t, "the cell lets nobody in", func() bool {
		a := list()
		return a.Status == 503 && strings.Contains(string(a.Body), `"late"`)
	})
	if a := s.Exchange(url.Values{"grant_type": {"client_credentials"}, "client_id": {keyID}, "client_secret": {plain}, "target_app": {"assistant"}}); a.Status != 503 {
		t.Errorf("a key is exchanged: %d %s", a.Status, a.Body)
	}
	if a := s.Do("GET", "/readyz", "", nil); a.Status != 503 || !strings.Contains(string(a.Body), "late by") {
		t.Errorf("readiness: %d %s", a.Status, a.Body)
	}
	c.Home.SQL(`UPDATE api_keys SET revoked_at = now() WHERE client_id = $1`, keyID)
	devtest.Check(t, held.Rollback())
	devtest.Eventually(t, "the cell knows what was revoked meanwhile", func() bool { return list().Status == 401 })
}

// TestCellBeginsBesideASilentHome: while the home's server takes connections and says nothing, as one that is frozen or behind a way that lets nothing through, a process of the cell begins all the same,
// answers, and ends when it is asked to.
func TestCellBeginsBesideASilentHome(t *testing.T) {
	t.Parallel()
	c := platform.StartCells(t, "eu-central")
	keyID, plain := c.Key(t, c.Home.Customer("Alpine Hydro"), "lukas@alpine-hydro.example")
	token := c.Cell.Token(keyID, plain, "assistant")
	silent := devtest.Must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	defer func() { _ = silent.Close() }()
	address := devtest.Must[string](t)(devstack.FreeAddress())
	home := "CANOPY_HOME_URL=postgres://cell:secret@" + silent.Addr().String() + "/canopy?sslmode=disable"
	p := c.Cell.StartProgram(t, "serve", slices.Concat(serving(c.Cell, address), c.Settings(), []string{home})...)
	t.Cleanup(p.Kill)
	begun := time.Now()
	devtest.Eventually(t, "it answers", func() bool {
		r := devtest.Must[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/context", nil))
		r.Header.Set("Authorization", "Bearer "+token)
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			return false
		}
		_ = a.Body.Close()
		return a.StatusCode == 200
	})
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("it answers after %v", took)
	}
	begun = time.Now()
	devtest.Check(t, p.Cmd.Process.Signal(syscall.SIGTERM))
	if err := p.Cmd.Wait(); err != nil || time.Since(begun) > 20*time.Second {
		t.Errorf("it has ended after %v: %v", time.Since(begun), err)
	}
}

// TestNewSessionsAreWaitedFor: who has just signed in is let in by a cell once it has the session. While that is on its way for longer nobody is told that it has ended. One that has ended is refused at
// once, wherever, and so is one that the home does not have.
func TestNewSessionsAreWaitedFor(t *testing.T) {
	t.Parallel()
	c := platform.StartOneDoor(t, "eu-central")
	const me = `{"query":"{ me { user { email } } }"}`
	refused := func(at *platform.Platform, session platform.Session, what string) {
		t.Helper()
		begun := time.Now()
		a := at.Post("/graphql", session.Token, "application/json", []byte(me))
		if took := time.Since(begun); a.Status != 401 || took > time.Second {
			t.Errorf("%s: %d %s after %v", what, a.Status, a.Body, took)
		}
	}
	hold := func() *sql.Tx {
		held := devtest.Must[*sql.Tx](t)(c.Cell.DB.BeginTx(t.Context(), nil))
		t.Cleanup(func() { _ = held.Rollback() })
		devtest.Must[sql.Result](t)(held.ExecContext(t.Context(), `LOCK TABLE sessions IN EXCLUSIVE MODE`))
		return held
	}
	held := hold()
	session := c.Home.OpenSession(t, platform.DemoAdmin, c.Home.Demo.AdminPassword)
	arrives := time.AfterFunc(time.Second, func() { _ = held.Rollback() })
	defer arrives.Stop()
	if a := c.Cell.Post("/graphql", session.Token, "application/json", []byte(me)); a.Status != 200 || !strings.Contains(string(a.Body), platform.DemoAdmin) {
		t.Errorf("a new session in the cell: %d %s", a.Status, a.Body)
	}
	if arrives.Stop() {
		t.Error("the session was let in before it was there")
	}
	held = hold()
	session = c.Home.OpenSession(t, platform.DemoAdmin, c.Home.Demo.AdminPassword)
	for range 2 { // the second comes when the token is older than anybody waits
		if a := c.Cell.Post("/graphql", session.Token, "application/json", []byte(me)); a.Status != 503 || !strings.Contains(string(a.Body), `"late"`) || a.Header.Get("Retry-After") == "" {
			t.Errorf("a session that is long on its way: %d %s", a.Status, a.Body)
		}
	}
	devtest.Check(t, held.Rollback())
	c.Follow(t)
	if a := c.Cell.Post("/graphql", session.Token, "application/json", []byte(me)); a.Status != 200 {
		t.Errorf("it has come: %d %s", a.Status, a.Body)
	}
	c.Home.SQL(`UPDATE sessions SET ended_at = now()`)
	c.Follow(t)
	refused(c.Cell, session, "a session that has ended, in the cell")
	session = c.Home.OpenSession(t, platform.DemoAdmin, c.Home.Demo.AdminPassword)
	c.Home.SQL(`DELETE FROM sessions`)
	refused(c.Home, session, "a session that is gone, at the home")
}

// TestWrongCell: whoever asks the home for what lives in a cell, or a cell for what does not live there, hears where that is, by both doors and with the tokens of every application;
// what would need both is refused.
func TestWrongCell(t *testing.T) {
	t.Parallel()
	c := platform.StartCells(t, "eu-central")
	home, cell := c.Home, c.Cell
	hydro, labs := home.Customer("Alpine Hydro"), home.Customer("Brightwater Labs")
	token := func(app, id, plain string) string { return home.Token(id, plain, app) } // which is good in the cell, too
	hydroID, hydroPlain := c.Key(t, hydro, "lukas@alpine-hydro.example")
	labsID, labsPlain := c.Key(t, labs, "priya@brightwater-labs.example")

	type answered struct {
		Errors []struct {
			Extensions struct{ Code, Reason, Region string }
		}
	}
	for name, try := range map[string]struct {
		at              *platform.Platform
		who, plain, app string
		region, query   string
		method, path    string
		body            any
	}{
		"contexts at the home":     {home, hydroID, hydroPlain, "assistant", "eu-central", `{ me { customer { contexts { totalCount } } } }`, "GET", "/context", nil},
		"agents at the home":       {home, hydroID, hydroPlain, "builder", "eu-central", `{ me { customer { agents { totalCount } } } }`, "", "", nil},
		"destinations at the home": {home, hydroID, hydroPlain, "tenant", "eu-central", `{ webhookDestinations { totalCount } }`, "", "", nil},
		"secrets at the home":      {home, hydroID, hydroPlain, "tenant", "eu-central", `{ me { customer { secrets { name } } } }`, "", "", nil},
		"deliveries at the home":   {home, hydroID, hydroPlain, "tenant", "eu-central", `{ webhookDeliveries { totalCount } }`, "", "", nil},
		"a new secret at the home": {home, hydroID, hydroPlain, "builder", "eu-central", `mutation { createSecret(input: {name: "KEY", value: "x"}) { secret { name } } }`, "", "", nil},
		"a new destination at the home": {
			home, hydroID, hydroPlain, "tenant", "eu-central",
			`mutation { createWebhookDestination(input: {url: "https://1.1.1.1/", events: ["run.completed"]}) { destination { url } } }`, "", "", nil,
		},
		"contexts of another region in the cell": {cell, labsID, labsPlain, "assistant", "", `{ me { customer { contexts { totalCount } } } }`, "GET", "/context", nil},
		"agents of another region in the cell":   {cell, labsID, labsPlain, "builder", "", `{ me { customer { agents { totalCount } } } }`, "", "", nil},
		"secrets of another region in the cell":  {cell, labsID, labsPlain, "tenant", "", `{ me { customer { secrets { name } } } }`, "", "", nil},
	} {
		bearer := token(try.app, try.who, try.plain)
		a := try.at.Do("POST", "/graphql", bearer, map[string]any{"query": try.query})
		var said answered
		if err := json.Unmarshal(a.Body, &said); err != nil || len(said.Errors) != 1 {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		} else if e := said.Errors[0].Extensions; e.Reason != "elsewhere" || e.Code != "BAD_REQUEST" || e.Region != try.region {
			t.Errorf("%s: %s", name, a.Body)
		}
		if try.path == "" {
			continue
		}
		if a := try.at.Do(try.method, try.path, bearer, try.body); a.Status != 421 || !strings.Contains(string(a.Body), `"elsewhere"`) {
			t.Errorf("%s by REST: %d %s", name, a.Status, a.Body)
		}
	}
	if n := home.Number(`SELECT (SELECT count(*) FROM secrets s JOIN customers c ON c.id = s.customer_id WHERE c.id = $1) + (SELECT count(*) FROM webhook_destinations WHERE customer_id = $1)`, hydro); n != 0 {
		t.Errorf("the home has %d rows of the company", n)
	}
	// Also who was let in before the region had a cell writes nothing.
	if _, err := home.DB.ExecContext(t.Context(), `INSERT INTO secrets (customer_id, name, value) VALUES ($1, 'KEY', '')`, hydro); err == nil || !strings.Contains(err.Error(), "lives in the cell of eu-central") {
		t.Errorf("the home takes a secret: %v", err)
	}

	root := home.Root()
	for name, try := range map[string]struct {
		at     *platform.Platform
		id     int64
		status int
		reason string
	}{
		"an export of a company of the cell":           {home, hydro, 421, `"elsewhere"`},
		"an export of all":                             {home, 1, 400, "in_cells"},
		"an export of all, in the cell":                {cell, 1, 400, "in_cells"},
		"an export in the cell":                        {cell, hydro, 202, ""},
		"an export of another one, in the cell":        {cell, labs, 421, `"elsewhere"`},
		"an export of another one that is at the home": {home, labs, 202, ""},
	} {
		a := try.at.Do("POST", fmt.Sprintf("/tenant/customer/%d/export", try.id), root, nil)
		if a.Status != try.status || !strings.Contains(string(a.Body), try.reason) {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	a := cell.Post(fmt.Sprintf("/tenant/customer/%d/import", labs), root, "multipart/form-data; boundary=x", []byte("--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.tar.gz\"\r\nContent-Type: application/gzip\r\n\r\nx\r\n--x--\r\n"))
	if a.Status != 503 || !strings.Contains(string(a.Body), `"at_home"`) {
		t.Errorf("an import in the cell: %d %s", a.Status, a.Body)
	}
}
