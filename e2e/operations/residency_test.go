package operations

import (
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/devstack"
	"canopy/internal/devstack/devtest"
)

// place is one of the places of a platform, with all that keeps something there.
type place struct {
	*platform.Platform
	database string
	worker   *platform.ProgramProcess
}

// marks are in what a company of a region has: each kind has a word of its own, so that it is seen which one leaves.
type marks map[string]string

func marksOf(word string) marks {
	m := marks{}
	for _, kind := range []string{"context", "file", "document", "prompt", "agent", "input", "secret", "value"} {
		m[kind] = word + kind
	}
	return m
}

// TestResidency: what companies of a region have is in that region's cell alone. Of marks in names, files, documents, prompts, runs, secrets and what is delivered, nothing is in another
// cell's, or the home's, database and its backup, Redis, store of documents or log.
func TestResidency(t *testing.T) {
	t.Parallel()
	home := platform.StartCells(t, "eu-central", platform.DeliverLocally(t))
	other := home.Another(t, "us-east", platform.DeliverLocally(t))
	all := map[string]marks{"eu-central": marksOf("zephyrquill"), "us-east": marksOf("tanglewhorl")}
	places := map[string]*place{
		"home":       {Platform: home.Home, database: home.HomeServer.URL()},
		"eu-central": {home.Cell, home.CellServer.URL(), home.Cell.StartProgram(t, "worker", home.Settings()...)},
		"us-east":    {other.Cell, other.CellServer.URL(), other.Cell.StartProgram(t, "worker", other.Settings()...)},
	}
	for region, who := range map[string][2]string{"eu-central": {"Alpine Hydro", "lukas@alpine-hydro.example"}, "us-east": {"Brightwater Labs", "priya@brightwater-labs.example"}} {
		t.Cleanup(places[region].worker.Kill)
		r := platform.NewReceiver(t, nil)
		cells := map[string]*platform.Cells{"eu-central": home, "us-east": other}
		fillMarked(t, cells[region], r, who[0], who[1], all[region])
	}
	for name, p := range places {
		kept := p.keeps(t)
		for region, m := range all {
			for kind, mark := range m {
				for what, text := range kept {
					if name != region && hasMark(text, mark) {
						t.Errorf("%s has the %s of %s in %s", name, kind, region, what)
					}
				}
				if found := inRedis(t, p.App.Config.RedisURL, mark); name != region && len(found) > 0 {
					t.Errorf("the Redis of %s has the %s of %s in %v", name, kind, region, found)
				}
			}
			if name != region {
				continue
			}
			for _, kind := range []string{"context", "file", "document", "agent", "input", "secret", "payload"} {
				if !hasMark(kept["the database"], m[kind]) {
					t.Errorf("the %s is not in the database of its own region: this finds nothing anywhere", kind)
				}
			}
			if !hasMark(kept["the store of documents"], m["document"]) {
				t.Error("the document is not in the store of its own region: this finds nothing anywhere")
			}
		}
		if kept["the log"] == "" {
			t.Errorf("%s has logged nothing", name)
		}
	}
}

// fillMarked has a company of a cell's region have something of everything, with marks.
func fillMarked(t *testing.T, c *platform.Cells, r *platform.Receiver, company, email string, m marks) {
	t.Helper()
	s := c.Cell
	keyID, plain := c.Key(t, c.Home.Customer(company), email)
	token, builder, tenant := s.Token(keyID, plain, "assistant"), s.Token(keyID, plain, "builder"), s.Token(keyID, plain, "tenant")
	id := s.NewContext(token, "Notes "+m["context"])
	s.Upload(token, id, m["file"]+".txt", []byte("Turbines hum "+m["document"]+" by the river."))
	s.Settle(token, id)
	if hits := s.Search(token, id, "turbines by the river "+m["prompt"]); len(hits) != 1 {
		t.Errorf("found: %v", hits)
	}
	s.Mutate(builder, "createSecret", "secret { name }", map[string]any{"name": strings.ToUpper(m["secret"]), "value": m["value"]})
	s.Subscribe(tenant, r.URL, "run.completed")
	diagram := strings.Replace(platform.Greeter, "Hello", "Hello "+m["agent"], 1)
	m["payload"] = s.Start(builder, s.Publish(builder, diagram), map[string]any{"name": m["input"]}) // what is delivered of the run has its key
	run := s.Poll(builder, m["payload"])
	if run.Status != 200 || !strings.Contains(string(run.Body), m["input"]) {
		t.Errorf("the run: %d %s", run.Status, run.Body)
	}
	if got := r.Wait(t, 1); !strings.Contains(string(got[0].Body), m["payload"]) {
		t.Errorf("delivered: %s", got[0].Body)
	}
	// What is asked of the wrong place is refused there, and leaves nothing either.
	c.Home.Do("POST", "/context", token, map[string]any{"name": m["context"], "description": m["prompt"], "caption": "", "toolsJson": "[]"})
	c.Home.Do("POST", fmt.Sprintf("/context/relevant-docs/%d", id), token, map[string]any{"prompt": m["prompt"]})
}

// keeps is all that a place keeps, but for its Redis, as a backup has it.
func (p *place) keeps(t *testing.T) map[string]string {
	t.Helper()
	program := devtest.Must[string](t)(devstack.Program(t.Context(), "pg_dump"))
	dump, err := exec.CommandContext(t.Context(), program, "--data-only", "--inserts", p.database).CombinedOutput()
	if err != nil {
		t.Fatalf("%v %s", err, dump)
	}
	var documents strings.Builder
	folder := strings.TrimPrefix(p.App.Config.BlobURL, "file://")
	devtest.Check(t, filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		documents.WriteString(path + "\n")
		documents.Write(devtest.Must[[]byte](t)(os.ReadFile(path)))
		return nil
	}))
	log := p.Log.String()
	if p.worker != nil {
		log += p.worker.Log.String()
	}
	return map[string]string{"the database": string(dump), "the store of documents": documents.String(), "the log": log}
}

// hasMark looks for a mark in any case, and in bytes as PostgreSQL writes them.
func hasMark(text, mark string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc([]string{mark, hex.EncodeToString([]byte(mark))}, func(as string) bool { return strings.Contains(text, as) })
}
