package tenancy

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
)

// archived is what an archive holds: the rows of each kind, the originals by name, and the manifest.
type archived struct {
	rows      map[string][]map[string]any
	originals map[string][]byte
	manifest  map[string]any
	text      string
}

// fetch reads the archive that a link leads to.
func fetch(t *testing.T, s *platform.Platform, link string) archived {
	t.Helper()
	a := s.Must(200, "GET", strings.TrimPrefix(link, s.App.Config.PublicURL.String()), "", nil)
	z, err := gzip.NewReader(bytes.NewReader(a.Body))
	if err != nil {
		t.Fatal(err)
	}
	out := archived{rows: map[string][]map[string]any{}, originals: map[string][]byte{}}
	for files := tar.NewReader(z); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		kind, name, _ := strings.Cut(h.Name, "/")
		if kind != "auditEvents" { // which tell of private contexts, to whoever may read them
			out.text += string(content)
		}
		switch {
		case h.Name == "manifest.json":
			err = json.Unmarshal(content, &out.manifest)
		case kind == "originals":
			out.originals[name] = content
		default:
			for line := range strings.Lines(string(content)) {
				var row map[string]any
				err = errors.Join(err, json.Unmarshal([]byte(line), &row))
				out.rows[kind] = append(out.rows[kind], row)
			}
		}
		if err != nil {
			t.Fatalf("%s: %v", h.Name, err)
		}
	}
}

// exported asks for an export and waits for its end.
func exported(t *testing.T, s *platform.Platform, token string, customer int64) map[string]any {
	t.Helper()
	return ended(t, s, token, s.Must(http.StatusAccepted, "POST", fmt.Sprintf("/tenant/customer/%d/export", customer), token, nil).ID(t, "id"))
}

// ended waits for the end of an export.
func ended(t *testing.T, s *platform.Platform, token string, id int64) map[string]any {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; {
		e := s.Must(200, "GET", fmt.Sprintf("/tenant/export/%d", id), token, nil).JSON(t).(map[string]any)
		if e["status"] == "ready" || e["status"] == "failed" {
			return e
		}
		if time.Now().After(deadline) {
			t.Fatalf("%v", e)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// TestExportCustomer: an archive has everything of a company and of those below it but secrets and private contexts, is for who
// has asked for it alone, and goes when its time is over.
func TestExportCustomer(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	alpine, hydro := s.Customer("Alpine Energy"), s.Customer("Alpine Hydro")
	root, greta := s.Root(), s.As("Alpine Energy", "greta@alpine.example")
	desk := s.TokenOf(hydro, "lukas@alpine-hydro.example", "assistant")
	open, hidden := s.NewContext(desk, "Manuals"), s.NewContext(desk, "Diary")
	s.Must(204, "PUT", fmt.Sprintf("/context/share/%d", open), desk, map[string]any{"shareState": 1})
	s.Upload(desk, open, "valve.txt", []byte("The valve is red."))
	s.Upload(desk, hidden, "diary.txt", []byte("Dear diary."))
	s.SQL(`INSERT INTO secrets (customer_id, name, value) VALUES ($1, 'TOKEN', 'sealed value')`, hydro)
	destination := s.Must(201, "POST", platform.Hooks+"/destinations", greta, map[string]any{"url": platform.PublicURL})
	signing := platform.Member(t, destination.JSON(t), "secret").(string)
	for _, event := range []string{"audit.user.created", "agent.created"} {
		s.SQL(`INSERT INTO webhook_deliveries (customer_id, destination_id, event_id, type, payload) VALUES ($1, $2, $3, $3, convert_to('{"carried": "by ' || $3 || '"}', 'UTF8'))`,
			alpine, destination.ID(t, "id"), event)
	}
	limitsOf(s, root, hydro, map[string]any{"users": 77})

	for _, email := range []string{"mira@alpine.example", "jonas@alpine.example"} {
		platform.Scenario{Status: 403}.Judge(t, s.Do("POST", fmt.Sprintf("/tenant/customer/%d/export", alpine), s.As("Alpine Energy", email), nil))
	}
	path := fmt.Sprintf("/tenant/customer/%d/export", alpine)
	first := s.Must(http.StatusAccepted, "POST", path, greta, nil).ID(t, "id")
	platform.Scenario{Status: 200, Has: map[string]any{"status": "pending", "progress": 0.0, "url": nil, "expiresAt": nil}}.
		Judge(t, s.Do("GET", fmt.Sprintf("/tenant/export/%d", first), greta, nil))
	platform.Scenario{Status: 400, Code: "export_under_way"}.Judge(t, s.Do("POST", path, root, nil))
	s.SQL(`DELETE FROM customer_exports`)
	stop := s.Work(&platform.Letterbox{})
	e := exported(t, s, greta, alpine)
	link, _ := e["url"].(string)
	if e["status"] != "ready" || e["progress"] != 1.0 || link == "" {
		t.Fatalf("%v\n%s", e, s.Log)
	}
	got := fetch(t, s, link)
	names := map[string][]string{}
	for kind, rows := range got.rows {
		for _, row := range rows {
			names[kind] = append(names[kind], fmt.Sprint(row["name"], row["email"]))
		}
	}
	for kind, want := range map[string]string{"customers": "Alpine Hydro<nil>", "users": "<nil>eva@alpine-hydro.example", "contexts": "Manuals<nil>", "secrets": "TOKEN<nil>", "webhookDestinations": "<nil>"} {
		if !slices.Contains(names[kind], want) {
			t.Errorf("of %s there are %v", kind, names[kind])
		}
	}
	if !strings.Contains(got.text, "by agent.created") {
		t.Error("the payload of a delivery is not there")
	}
	for kind, n := range map[string]int{"customers": 3, "accounts": 9, "documents": 1} {
		if len(got.rows[kind]) != n || platform.Member(t, got.manifest, "rows."+kind) != float64(n) {
			t.Errorf("%d %s: %v", len(got.rows[kind]), kind, got.manifest["rows"])
		}
	}
	for _, kind := range []string{"permissions", "auditEvents", "apiKeys"} {
		if len(got.rows[kind]) == 0 {
			t.Errorf("there are no %s", kind)
		}
	}
	if file := got.rows["documents"][0]["fileName"].(string); string(got.originals[file]) != "The valve is red." || len(got.originals) != 1 {
		t.Errorf("the originals are %q", got.originals)
	}
	for _, secret := range []string{"Diary", "Dear diary", "sealed value", signing, "password", "Northwind", "argon2", "by audit.user.created"} {
		if rows := strings.Replace(got.text, "passwords, two-factor secrets", "", 1); strings.Contains(rows, secret) {
			t.Errorf("the archive tells %q", secret)
		}
	}
	for _, what := range []string{"1 private contexts", "passkeys", "client secrets of identity providers", "who is who at them", "SCIM tokens"} { // as docs/export.md says
		if left := fmt.Sprint(got.manifest["leftOut"]); !strings.Contains(left, what) {
			t.Errorf("left out are %v, and nothing is said of %s", left, what)
		}
	}
	id := int64(e["id"].(float64))
	platform.Scenario{Status: 200, Has: map[string]any{"url": nil}}.Judge(t, s.Do("GET", fmt.Sprintf("/tenant/export/%d", id), root, nil))
	data := s.MustGQL(greta, `query($id: ID!) { customerExport(id: $id) { status progress url expiresAt } }`, map[string]any{"id": id})
	if platform.Member(t, data, "customerExport.status") != "READY" || platform.Member(t, data, "customerExport.url") == nil {
		t.Errorf("%v", data)
	}
	at := strings.TrimPrefix(link, s.App.Config.PublicURL.String())
	for name, path := range map[string]string{
		"another export": strings.Replace(at, fmt.Sprintf("/%d/", id), fmt.Sprintf("/%d/", id+1), 1), "a made-up token": at[:strings.Index(at, "=")+1] + strings.Repeat("A", 80),
	} {
		if a := s.Do("GET", path, "", nil); a.Status != 404 {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	stop()
	var key string
	s.Look(&key, `SELECT 'exports/' || file FROM customer_exports WHERE id = $1`, id)
	s.SQL(`UPDATE customer_exports SET expires_at = now()`)
	platform.Scenario{Status: 404}.Judge(t, s.Do("GET", at, "", nil))
	platform.Scenario{Status: 403}.Judge(t, s.Do("GET", fmt.Sprintf("/tenant/export/%d", id), greta, nil))
	if n, err := s.App.Store.ForgetExports(t.Context(), 10); n != 1 || err != nil {
		t.Errorf("%d are forgotten: %v", n, err)
	}
	if n := s.Number(`SELECT count(*) FROM blob_deletions WHERE key = $1`, key); n != 1 {
		t.Error("the archive stays")
	}
}

// TestExportIsBegunAnew: an export whose worker has died is another's.
func TestExportIsBegunAnew(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root := s.Root()
	id := s.Must(http.StatusAccepted, "POST", fmt.Sprintf("/tenant/customer/%d/export", s.Customer("Alpine Hydro")), root, nil).ID(t, "id")
	s.SQL(`UPDATE customer_exports SET status = 'RUNNING', progress = .3, attempts = 4, handed_out = true, next_attempt_at = now()`)
	stop := s.Work(&platform.Letterbox{})
	defer stop()
	if e := ended(t, s, root, id); e["status"] != "ready" {
		t.Errorf("%v", e)
	}
	if n := s.Number(`SELECT attempts FROM customer_exports WHERE id = $1`, id); n != 5 {
		t.Errorf("%d attempts", n)
	}
}

// TestExportWhileACompanyMoves: an archive has nothing of what is written in a company after that has been moved out of it.
func TestExportWhileACompanyMoves(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		table    string // at which the export waits while the company is moved
		attempts int64
	}{
		"before it is read":       {"secrets", 1},         // as those of the company above are read first
		"while its rows are read": {"agent_revisions", 2}, // as it alone has an agent
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := platform.Start(t)
			alpine, hydro := s.Customer("Alpine Energy"), s.Customer("Alpine Hydro")
			greta, lukas := s.As("Alpine Energy", "greta@alpine.example"), s.As("Alpine Hydro", "lukas@alpine-hydro.example")
			s.Must(201, "POST", "/v1/agents", s.TokenOf(hydro, "lukas@alpine-hydro.example", "builder"), map[string]any{"name": "Hydro's own"})
			tx := held(t, s, c.table)
			defer s.Work(&platform.Letterbox{})()
			id := s.Must(http.StatusAccepted, "POST", fmt.Sprintf("/tenant/customer/%d/export", alpine), greta, nil).ID(t, "id")
			s.UntilWaiting(t, 1)
			s.Must(200, "POST", moving(hydro), s.Root(), below(s.Customer("Coral Logistics")))
			s.Must(201, "POST", platform.Hooks+"/destinations", lukas, map[string]any{"url": platform.PublicURL, "name": "behind the move"})
			devtest.Check(t, tx.Rollback())

			if c.attempts > 1 {
				devtest.Eventually(t, "the attempt has ended", func() bool {
					return s.Number(`SELECT count(*) FROM customer_exports WHERE NOT handed_out AND attempts = 1`) == 1
				})
				s.SQL(`UPDATE customer_exports SET next_attempt_at = now()`)
			}
			e := ended(t, s, greta, id)
			if e["status"] != "ready" {
				t.Fatalf("%v", e)
			}
			if text := fetch(t, s, e["url"].(string)).text; strings.Contains(text, "behind the move") || strings.Contains(text, "Hydro's own") {
				t.Errorf("the archive has what the company has:\n%s", text)
			}
			if n := s.Number(`SELECT attempts FROM customer_exports WHERE id = $1`, id); n != c.attempts {
				t.Errorf("%d attempts", n)
			}
		})
	}
}

// TestExportWhileAContextIsMadePrivate: its documents are not read any more.
func TestExportWhileAContextIsMadePrivate(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	hydro := s.Customer("Alpine Hydro")
	desk := s.TokenOf(hydro, "lukas@alpine-hydro.example", "assistant")
	shared := s.NewContext(desk, "Manuals")
	s.Must(204, "PUT", fmt.Sprintf("/context/share/%d", shared), desk, map[string]any{"shareState": 1})
	s.Upload(desk, shared, "valve.txt", []byte("The valve is red."))
	tx := held(t, s, "documents")
	defer s.Work(&platform.Letterbox{})()
	root := s.Root()
	id := s.Must(http.StatusAccepted, "POST", fmt.Sprintf("/tenant/customer/%d/export", hydro), root, nil).ID(t, "id")
	devtest.Eventually(t, "the export has read the context, and waits", func() bool {
		return s.Number(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%''originalName'', t.original_name%'`) == 1
	})
	if _, err := tx.Exec(`UPDATE contexts SET share_state = 0 WHERE id = $1`, shared); err != nil {
		t.Fatal(err)
	}
	devtest.Check(t, tx.Commit())
	got := fetch(t, s, ended(t, s, root, id)["url"].(string))
	if len(got.rows["contexts"]) != 1 || len(got.rows["documents"]) > 0 || len(got.originals) > 0 {
		t.Errorf("the archive has %v, %v and %d originals", got.rows["contexts"], got.rows["documents"], len(got.originals))
	}
}

// held locks a table, so that whoever reads it waits.
func held(t *testing.T, s *platform.Platform, table string) *sql.Tx {
	t.Helper()
	tx := devtest.Must[*sql.Tx](t)(s.DB.Begin())
	t.Cleanup(func() { _ = tx.Rollback() })
	if _, err := tx.Exec(`LOCK TABLE ` + table + ` IN ACCESS EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	return tx
}

// TestExportedRights: who has asked for less than everything is given no more.
func TestExportedRights(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	hydro := s.Customer("Alpine Hydro")
	greta := s.As("Alpine Energy", "greta@alpine.example")
	s.SQL(`UPDATE roles SET features = '{company.read,company.write,context.read}' WHERE name = 'Owner' AND application_id = 1`)
	stop := s.Work(&platform.Letterbox{})
	defer stop()
	e := exported(t, s, greta, hydro)
	got := fetch(t, s, e["url"].(string))
	for kind := range got.rows {
		if kind != "customers" && kind != "contexts" && kind != "documents" {
			t.Errorf("there are %s", kind)
		}
	}
	if left := fmt.Sprint(got.manifest["leftOut"]); !strings.Contains(left, "audit.read") {
		t.Errorf("left out are %v", left)
	}
}

// TestArchivesAreForTheirAskersRights: who loses a right while an export is made, or afterwards, gets no link to what it holds, at either door, until the right is
// there again; who may not ask any more hears nothing of it, and nobody else has the link in their place.
func TestArchivesAreForTheirAskersRights(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	alpine := s.Customer("Alpine Energy")
	greta := s.As("Alpine Energy", "greta@alpine.example")
	id := s.Must(http.StatusAccepted, "POST", fmt.Sprintf("/tenant/customer/%d/export", alpine), greta, nil).ID(t, "id")
	right := func(has bool) {
		s.SQL(`UPDATE roles SET features = CASE WHEN $1 THEN features || '{audit.read}' ELSE array_remove(features, 'audit.read') END WHERE name = 'Owner' AND application_id = 1`, has)
	}
	linked := func(when string, want bool) string {
		t.Helper()
		e := ended(t, s, greta, id)
		link, _ := e["url"].(string)
		data := s.MustGQL(greta, `query($id: ID!) { customerExport(id: $id) { url } }`, map[string]any{"id": id})
		if shown := platform.Member(t, data, "customerExport.url") != nil; e["status"] != "ready" || (link != "") != want || shown != want {
			t.Errorf("%s: %v, by the graph %v", when, e, data)
		}
		return link
	}
	right(false)
	stop := s.Work(&platform.Letterbox{})
	defer stop()
	linked("lost while it was made", false)
	right(true)
	link := linked("there again", true)
	if got := fetch(t, s, link); len(got.rows["auditEvents"]) == 0 {
		t.Error("the archive has no audit events")
	}
	leads := func(when string, want int) {
		t.Helper()
		if a := s.Do("GET", strings.TrimPrefix(link, s.App.Config.PublicURL.String()), "", nil); a.Status != want {
			t.Errorf("%s the link that was given has %d, want %d", when, a.Status, want)
		}
	}
	right(false)
	linked("lost afterwards", false)
	leads("without the right", 404)
	right(true)
	leads("with it again", 200)
	s.SQL(`UPDATE permissions SET disabled = true WHERE user_id = $1`, s.UserID("greta@alpine.example"))
	leads("without a permission", 404)
	platform.Scenario{Status: 403}.Judge(t, s.Do("GET", fmt.Sprintf("/tenant/export/%d", id), greta, nil))
	platform.Scenario{Status: 200, Has: map[string]any{"status": "ready", "url": nil}}.Judge(t, s.Do("GET", fmt.Sprintf("/tenant/export/%d", id), s.Root(), nil))
	s.SQL(`UPDATE permissions SET disabled = false WHERE user_id = $1`, s.UserID("greta@alpine.example"))
	leads("with it", 200)
	s.SQL(`UPDATE customers SET suspended = true WHERE id = $1`, alpine)
	leads("while the company is suspended", 404)
	s.SQL(`UPDATE customers SET suspended = false WHERE id = $1`, alpine)
	leads("once it is not", 200)
	s.SQL(`UPDATE api_keys SET revoked_at = now() WHERE user_id = $1`, s.UserID("greta@alpine.example"))
	leads("of a key that is revoked", 404)
}
