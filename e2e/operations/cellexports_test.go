package operations

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
)

// exportAsked asks at one address for an export and waits for it at another, where it gives its answer.
func exportAsked(t *testing.T, asked, waited *platform.Platform, token string, customer int64) map[string]any {
	t.Helper()
	a := asked.Must(http.StatusAccepted, "POST", fmt.Sprintf("/tenant/customer/%d/export", customer), token, nil)
	var e map[string]any
	devtest.Eventually(t, "the export ends", func() bool {
		e = waited.Must(200, "GET", fmt.Sprintf("/tenant/export/%d", a.ID(t, "id")), token, nil).JSON(t).(map[string]any)
		return e["status"] == "ready" || e["status"] == "failed"
	})
	if e["status"] != "ready" || e["progress"] != 1.0 || e["url"] == nil {
		t.Fatalf("the export is %v", e)
	}
	return e
}

// used is what changes in an archive as somebody asks for it.
var used = regexp.MustCompile(`"(lastAccess|lastUsedAt)" *: *("[^"]*"|null)`)

// filesOf are the files of an archive that an export's link leads to at an address, by their names, without when somebody was there last.
func filesOf(t *testing.T, at *platform.Platform, export map[string]any) map[string]string {
	t.Helper()
	link := export["url"].(string)
	z := devtest.Must[*gzip.Reader](t)(gzip.NewReader(bytes.NewReader(at.Must(200, "GET", link[strings.Index(link, "/tenant/"):], "", nil).Body)))
	files := map[string]string{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		devtest.Check(t, err)
		files[h.Name] = used.ReplaceAllString(string(devtest.Must[[]byte](t)(io.ReadAll(r))), "")
	}
}

// TestExportOfACell: a company that has moved into a cell is exported by that, whichever address is asked; the archive is what it was at the home, without what only the home has, and nothing of it is there.
func TestExportOfACell(t *testing.T) {
	t.Parallel()
	c := platform.StartSplit(t, "eu-central", platform.DeliverLocally(t))
	home := c.Home
	home.Work(nil)
	alpine, hydro, labs := home.Customer("Alpine Energy"), home.Customer("Alpine Hydro"), home.Customer("Brightwater Labs")
	root := home.Root()
	desk := home.TokenOf(hydro, "lukas@alpine-hydro.example", "assistant")
	share := func(name string) int64 {
		id := home.NewContext(desk, name)
		home.Must(204, "PUT", fmt.Sprintf("/context/share/%d", id), desk, map[string]any{"shareState": 1})
		home.Upload(desk, id, name+".txt", []byte("Turbines hum by the river."))
		home.Settle(desk, id)
		return id
	}
	manuals := share("Manuals")
	builder := home.TokenOf(hydro, "lukas@alpine-hydro.example", "builder")
	home.Poll(builder, home.Start(builder, home.Publish(builder, platform.Greeter), map[string]any{"name": "Lukas"}))
	home.Mutate(builder, "createSecret", "secret { name }", map[string]any{"name": "KEY", "value": "x"})
	home.Must(204, "POST", "/tenant/billing", home.As("Alpine Hydro", "lukas@alpine-hydro.example"), map[string]any{"billingName": "Hydro", "countryCode": "AT"})
	was := filesOf(t, home, exportAsked(t, home, home, root, alpine))
	if len(was) < 14 || was["billing/000001.jsonl"] == "" {
		t.Fatalf("at the home the archive has %d files", len(was))
	}

	p := home.StartProgram(t, platform.Split, c.SplitInto("eu-central")...)
	t.Cleanup(p.Kill)
	c.Serve(t, "eu-central", platform.DeliverLocally(t))
	cell := c.Cell
	cell.Work(nil)
	devtest.Eventually(t, "the home leads to the cell", func() bool {
		home.SQL(`UPDATE splits SET begun_at = begun_at - interval '1 hour', switched_at = switched_at - interval '1 hour'`) // each process knows of it
		return home.Do("GET", fmt.Sprintf("/context/documents/%d", manuals), desk, nil).Header.Get("Canopy-Region") == "eu-central"
	})
	if err := p.Cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, p.Log)
	}
	devtest.Eventually(t, "the home has deleted what it had", func() bool { return home.Number(`SELECT count(*) FROM blob_deletions`) == 0 })

	both := map[string]*platform.Platform{"home": home, "cell": cell}
	var export map[string]any
	for name, at := range both {
		other := both[map[string]string{"home": "cell", "cell": "home"}[name]]
		export = exportAsked(t, at, other, root, alpine)
		sameArchive(t, name, was, filesOf(t, at, export))
		sameArchive(t, name+", fetched at the other", was, filesOf(t, other, export))
	}

	const mark = "quizzaciously"
	share(mark)
	data := home.MustGQL(root, fmt.Sprintf(`mutation { exportCustomer(input: {id: "%d"}) { customerExport { status } } }`, alpine), nil)
	if got := platform.Member(t, data, "exportCustomer.customerExport.status"); got != "PENDING" && got != "RUNNING" {
		t.Errorf("asked by GraphQL it is %v", got)
	}
	id := cell.Number(`SELECT id FROM customer_exports WHERE customer_id = $1`, alpine)
	devtest.Eventually(t, "the export is ready", func() bool {
		data := home.MustGQL(root, fmt.Sprintf(`{ customerExport(id: "%d") { status url } }`, id), nil)
		return platform.Member(t, data, "customerExport.status") == "READY" && platform.Member(t, data, "customerExport.url") != nil
	})
	holdsNothing(t, c, mark)
	if n := home.Number(`SELECT count(*) FROM customer_exports`); n != 0 {
		t.Errorf("the home has %d exports", n)
	}

	stranger := home.As("Brightwater Labs", "priya@brightwater-labs.example")
	for name, at := range both {
		for path, method := range map[string]string{fmt.Sprintf("/tenant/export/%d", id): "GET", fmt.Sprintf("/tenant/customer/%d/export", alpine): "POST"} {
			if a := at.Do(method, path, stranger, nil); a.Status != 403 || !strings.Contains(string(a.Body), "is not within reach") {
				t.Errorf("%s %s of another tenant at %s: %d %s", method, path, name, a.Status, a.Body)
			}
		}
		if a := at.Do("GET", fmt.Sprintf("/tenant/export/%d/archive?token=%s", id, strings.Repeat("A", 80)), "", nil); a.Status != 404 {
			t.Errorf("a made-up link at %s: %d %s", name, a.Status, a.Body)
		}
		a := at.Do("POST", "/tenant/customer/1/export", root, nil)
		if body := string(a.Body); a.Status != 400 || !strings.Contains(body, `"in_cells"`) || !strings.Contains(body, "in the cell of the region eu-central (from the company 1 on), at the home (from the company ") {
			t.Errorf("a company of several places, asked at %s: %d %s", name, a.Status, body)
		}
		if a := at.Do("POST", fmt.Sprintf("/tenant/customer/%d/export", labs), root, nil); a.Status != 202 && !strings.Contains(string(a.Body), "export_under_way") {
			t.Errorf("a company of the home, asked at %s: %d %s", name, a.Status, a.Body)
		}
	}
	if n := home.Number(`SELECT count(*) FROM customer_exports WHERE customer_id = $1`, labs); n != 1 {
		t.Errorf("the home has %d exports of its own company", n)
	}
}

// sameArchive compares an archive of a cell with that of the home before.
func sameArchive(t *testing.T, name string, was, is map[string]string) {
	t.Helper()
	for file, content := range was {
		switch got := is[file]; {
		case file == "billing/000001.jsonl":
			if got != "" {
				t.Errorf("%s: the cell has billing records: %s", name, got)
			}
		case file == "manifest.json":
			if !strings.Contains(got, "what the home of the platform has: billing records") {
				t.Errorf("%s: the manifest does not say what is missing: %s", name, got)
			}
		case file == "auditEvents/000001.jsonl": // it goes on
			for line := range strings.Lines(content) {
				if !strings.Contains(got, line) {
					t.Errorf("%s: the log lacks %s", name, line)
				}
			}
		case got != content:
			t.Errorf("%s: %s was\n%s\nand is\n%s", name, file, content, got)
		}
	}
	for file := range is {
		if _, known := was[file]; !known {
			t.Errorf("%s: there is %s, too", name, file)
		}
	}
	var manifest struct{ Rows map[string]int }
	if err := json.Unmarshal([]byte(is["manifest.json"]), &manifest); err != nil || manifest.Rows["documents"] != 1 || manifest.Rows["customers"] != 3 {
		t.Errorf("%s: the manifest counts %v, %v", name, manifest.Rows, err)
	}
}
