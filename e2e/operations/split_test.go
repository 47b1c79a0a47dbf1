package operations

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
)

// starter starts runs all the time, and keeps those whose start was acknowledged.
type starter struct {
	*platform.Platform
	token string
	agent int64

	mu      sync.Mutex
	keys    []string
	refused int
}

func (s *starter) start(ended <-chan struct{}) {
	for n := 0; ; n++ {
		select {
		case <-ended:
			return
		case <-time.After(20 * time.Millisecond):
		}
		a := s.Do("POST", "/CognitiveDiagram/"+platform.Decimal(s.agent)+"/ExecuteAsJob", s.token, map[string]any{"name": fmt.Sprint(n)})
		s.mu.Lock()
		switch a.Status {
		case 202:
			s.keys = append(s.keys, a.JSON(s.T).(map[string]any)["jobKey"].(string))
		case 503:
			if s.refused++; a.Header.Get("Retry-After") == "" {
				s.T.Errorf("who is refused does not hear when to come back: %s", a.Body)
			}
		default:
			s.T.Errorf("a run is answered %d %s", a.Status, a.Body)
		}
		s.mu.Unlock()
	}
}

func (s *starter) started() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.keys)
}

// isOfTheCell: what has moved is answered by the cell also while the home still has what it was.
func isOfTheCell(t *testing.T, home, cell *platform.Platform, builder string, agent int64) {
	t.Helper()
	cell.Mutate(builder, "updateAgent", "agent { name }", map[string]any{"id": agent, "name": "Later"})
	if home.Number(`SELECT count(*) FROM agents WHERE id = $1 AND name <> 'Later'`, agent) != 1 {
		t.Error("the home has forgotten the agent already: this finds nothing")
	}
	for who, token := range map[string]string{"a builder of the company": builder, "a builder of the root company": home.RootAs("builder")} {
		if shown := fmt.Sprint(home.MustGQL(token, fmt.Sprintf(`{ agent(id: "%d") { name } }`, agent), nil)); shown != "map[agent:map[name:Later]]" {
			t.Errorf("%s is shown %s", who, shown)
		}
		keys := map[string]bool{}
		var runs []struct{ JobKey string }
		devtest.Check(t, json.Unmarshal(home.Must(200, "GET", "/v1/runs?subtree=true&limit=200", token, nil).Body, &runs))
		for _, run := range runs {
			if keys[run.JobKey] {
				t.Fatalf("%s is shown the run %s twice", who, run.JobKey)
			}
			keys[run.JobKey] = true
		}
		if len(keys) < 3 {
			t.Errorf("%s is shown %d runs", who, len(keys))
		}
	}
}

// TestRegionSplits: what companies of a region have moves into a cell while they go on: killed while it copies and while it compares, it is as if it had not begun. In the end each run whose start was
// acknowledged has ended and was told of, so was each change of the directory at the home, all is found by its id at both addresses, nothing of it is at the home, and nothing of others in the cell.
func TestRegionSplits(t *testing.T) {
	t.Parallel()
	r, log := platform.NewReceiver(t, nil), platform.NewReceiver(t, nil)
	c := platform.StartSplit(t, "eu-central", platform.DeliverLocally(t))
	home := c.Home
	worker := home.StartWorker(t)
	t.Cleanup(worker.Kill)
	m, o := marksOf("zephyrquill"), marksOf("tanglewhorl")
	token := func(company, email, application string) string {
		t.Helper()
		key, secret, err := home.App.Resolver.OperatorCreateKey(t.Context(), home.Customer(company), email, "split")
		devtest.Check(t, err)
		return home.Token(key.ClientID, secret, application)
	}
	const hydro, lukas, labs, priya = "Alpine Hydro", "lukas@alpine-hydro.example", "Brightwater Labs", "priya@brightwater-labs.example"
	assistant, builder, others := token(hydro, lukas, "assistant"), token(hydro, lukas, "builder"), token(labs, priya, "assistant")
	notes := home.NewContext(assistant, "Notes "+m["context"])
	home.Upload(assistant, notes, m["file"]+".txt", []byte("Turbines hum "+m["document"]+" by the river."))
	document := home.Settle(assistant, notes)[0]
	theirs := home.NewContext(others, "Notes "+o["context"])
	home.Upload(others, theirs, o["file"]+".txt", []byte("Turbines hum "+o["document"]+" by the river."))
	home.Settle(others, theirs)
	secret := home.Mutate(builder, "createSecret", "secret { databaseId }", map[string]any{"name": strings.ToUpper(m["secret"]), "value": m["value"]})["secret"].(map[string]any)["databaseId"]
	home.Subscribe(token(hydro, lukas, "tenant"), r.URL, "run.completed")
	s := &starter{Platform: home, token: builder, agent: home.Publish(builder, strings.Replace(platform.Greeter, "Hello", "Hello "+m["agent"], 1))}
	ended := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() { s.start(ended) })
	solar := token("Alpine Solar", "nina@alpine-solar.example", "tenant")
	home.Subscribe(solar, log.URL, "audit.customer.updated")
	names := &renamer{Platform: home, token: solar, company: home.Customer("Alpine Solar")}
	all.Go(func() { names.rename(ended) })
	more := func(when string) {
		t.Helper()
		n := s.started()
		devtest.Eventually(t, "runs are started "+when, func() bool { return s.started() > n+3 })
	}
	more("before it")
	home.SQL(`UPDATE splits SET begun_at = begun_at - interval '1 hour'`) // each process knows of it
	split := func(in string) *platform.ProgramProcess {
		t.Helper()
		p := home.StartProgram(t, platform.Split, append(c.SplitInto("eu-central"), platform.HoldAt+"=documents", platform.HoldIn+"="+in)...)
		devtest.Eventually(t, "it is "+in, func() bool { return strings.Contains(p.Log.String(), "holding") })
		return p
	}
	// As where the store is not mounted: nothing is there, and nothing is given up for it.
	folder := strings.TrimPrefix(home.App.Config.BlobURL, "file://")
	devtest.Check(t, os.Rename(folder, folder+".away"))
	devtest.Check(t, os.Mkdir(folder, 0o700))
	p := home.StartProgram(t, platform.Split, c.SplitInto("eu-central")...)
	if err := p.Cmd.Wait(); err == nil || !strings.Contains(p.Log.String(), "the home's store does not have it") {
		t.Fatalf("without the home's store it ends by %v: %s", err, p.Log)
	}
	devtest.Check(t, os.RemoveAll(folder))
	devtest.Check(t, os.Rename(folder+".away", folder))
	more("when the originals were not there")
	p = split("copying")
	more("while it copies")
	p.Kill()
	more("when it was killed")
	p = split("checking")
	n := s.started()
	devtest.Eventually(t, "runs wait while it compares", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.refused > 3 })
	if got := s.started(); got > n+1 { // one may have been on its way
		t.Errorf("%d runs are started while all is compared", got-n)
	}
	if a := home.Do("GET", fmt.Sprintf("/context/documents/%d", notes), assistant, nil); a.Status != 200 {
		t.Errorf("what moves can't be read: %d %s", a.Status, a.Body)
	}
	if a := home.Upload(others, theirs, "more.txt", []byte("More.")); a.Status != 200 {
		t.Errorf("others wait, too: %d %s", a.Status, a.Body)
	}
	home.Settle(others, theirs)
	p.Kill()
	more("when it was killed again")

	p = home.StartProgram(t, platform.Split, c.SplitInto("eu-central")...)
	t.Cleanup(p.Kill)
	c.Serve(t, "eu-central", platform.DeliverLocally(t))
	cell := c.Cell
	works := cell.StartProgram(t, "worker", c.Settings()...)
	t.Cleanup(works.Kill)
	devtest.Eventually(t, "the home leads to the cell", func() bool {
		return home.Do("GET", fmt.Sprintf("/context/documents/%d", notes), assistant, nil).Header.Get("Canopy-Region") == "eu-central"
	})
	isOfTheCell(t, home, cell, builder, s.agent)
	more("in the cell, at the home's address")
	n = names.renamed()
	devtest.Eventually(t, "the home goes on with the directory, while it has yet to forget what has moved", func() bool { return names.renamed() > n+3 })
	home.SQL(`UPDATE splits SET switched_at = switched_at - interval '1 hour'`)
	if err := p.Cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, p.Log)
	}
	close(ended)
	all.Wait()
	for _, key := range s.keys {
		for _, at := range []*platform.Platform{home, cell} {
			if a := at.Poll(builder, key); a.Status != 200 {
				t.Fatalf("the run %s: %d %s", key, a.Status, a.Body)
			}
		}
	}
	devtest.Eventually(t, "each run is told of", func() bool {
		told := map[string]bool{}
		for _, got := range r.All() {
			for _, key := range s.keys {
				if strings.Contains(string(got.Body), key) {
					told[key] = true
				}
			}
		}
		return len(told) == len(s.keys)
	})
	var told map[string][]int64
	devtest.Eventually(t, "each new name is told of", func() bool { told = namesHeard(t, log); return len(told) == names.renamed() })
	for name, events := range told {
		if len(events) != 1 || !slices.Contains(names.names, name) {
			t.Errorf("the name %s is told of by the events %v", name, events)
		}
	}
	if n := cell.Number(`SELECT count(*) FROM (SELECT event_id FROM webhook_deliveries GROUP BY event_id HAVING count(*) > 1) twice`); n != 0 {
		t.Errorf("%d runs are told of by two deliveries", n)
	}
	cell.Mutate(builder, "deleteSecret", "deletedId", map[string]any{"id": secret, "restorable": true}) // it is in another table then
	home.Mutate(builder, "restoreSecret", "secret { name }", map[string]any{"id": secret})
	for _, at := range []*platform.Platform{home, cell} {
		if hits := at.Search(assistant, notes, "turbines by the river"); len(hits) != 1 {
			t.Errorf("found: %v", hits)
		}
		if a := at.Do("GET", fmt.Sprintf("/context/documents/%d", theirs), others, nil); a.Status != 200 {
			t.Errorf("what others have: %d %s", a.Status, a.Body)
		}
	}
	if text := cell.Text(document["id"]); !strings.Contains(text, m["document"]) {
		t.Errorf("the document has %q", text)
	}
	cell.Must(200, "POST", fmt.Sprintf("/v1/documents/%v/reprocess", document["id"]), assistant, nil)
	devtest.Eventually(t, "what has moved is processed anew", func() bool {
		return cell.Number(`SELECT count(*) FROM documents WHERE id = $1 AND revision > 1 AND status = 'ready'`, document["id"]) == 1
	})
	if at := cell.NewContext(assistant, "Later"); at < 10_000_000_000_000 {
		t.Errorf("the cell makes the id %d", at)
	}
	devtest.Eventually(t, "the home has deleted the original", func() bool { return home.Number(`SELECT count(*) FROM blob_deletions`) == 0 })
	for name, at := range map[string]struct {
		*place
		own, never marks
	}{"home": {&place{Platform: home, database: c.HomeServer.URL(), worker: worker}, o, m}, "cell": {&place{Platform: cell, database: c.CellServer.URL(), worker: works}, m, o}} {
		kept := at.keeps(t)
		for kind, mark := range at.never {
			for what, text := range kept {
				if hasMark(text, mark) {
					t.Errorf("the %s has the %s of others in %s", name, kind, what)
				}
			}
			if found := inRedis(t, at.App.Config.RedisURL, mark); len(found) > 0 {
				t.Errorf("the Redis of the %s has the %s of others in %v", name, kind, found)
			}
		}
		for _, kind := range []string{"context", "file", "document"} {
			if !hasMark(kept["the database"], at.own[kind]) {
				t.Errorf("the %s has no %s of its own: this finds nothing anywhere", name, kind)
			}
		}
		if !hasMark(kept["the store of documents"], at.own["document"]) {
			t.Errorf("the %s has no original of its own", name)
		}
	}
}
