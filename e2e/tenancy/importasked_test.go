package tenancy

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"canopy/db"
	"canopy/e2e/platform"
	"canopy/internal/config"
	"canopy/internal/devstack/devtest"
	"canopy/resolvers"
)

// sendArchive uploads an archive by REST.
func sendArchive(t *testing.T, s *platform.Platform, token string, parent int64, dry bool, content []byte) platform.Answer {
	t.Helper()
	form, contentType := platform.Form(t, platform.Part{Field: "file", Name: "archive.tar.gz", Content: content})
	return s.Post(fmt.Sprintf("/tenant/customer/%d/import?dryRun=%t", parent, dry), token, contentType, form)
}

// sendArchiveByGraph uploads one by the multipart form of the graph, and gives the import's id.
func sendArchiveByGraph(t *testing.T, s *platform.Platform, token string, parent int64, content []byte) int64 {
	t.Helper()
	operations := fmt.Appendf(nil, `{"query": %q, "variables": {"input": {"parentId": %d, "file": null}}}`,
		`mutation($input: ImportCustomerInput!) { importCustomer(input: $input) { customerImport { databaseId status } } }`, parent)
	form, contentType := platform.Form(t, platform.Part{Field: "operations", Content: operations}, platform.Part{Field: "map", Content: []byte(`{"0":["variables.input.file"]}`)},
		platform.Part{Field: "0", Name: "archive.tar.gz", Content: content})
	a := s.PostWith("/graphql", token, contentType, form, http.Header{"Graphql-Preflight": {"1"}})
	return int64(platform.Member(t, a.JSON(t), "data.importCustomer.customerImport.databaseId").(float64))
}

// furnishedArchive is the archive of furnished companies of another platform.
func furnishedArchive(t *testing.T) ([]byte, archived) {
	t.Helper()
	s := platform.Start(t)
	path, content := archiveOf(t, s, furnished(t, s))
	return devtest.Must[[]byte](t)(os.ReadFile(path)), content
}

// importEnded waits for the end of an import.
func importEnded(t *testing.T, s *platform.Platform, id int64) (i map[string]any) {
	t.Helper()
	devtest.Eventually(t, "the import ends", func() bool {
		i = s.Must(200, "GET", fmt.Sprintf("/tenant/import/%d", id), s.Root(), nil).JSON(t).(map[string]any)
		return i["expiresAt"] != nil
	})
	return i
}

// TestImportAtAPlatform: an owner of the root company has an archive read in by either door, and hears what the operator's shell tells.
func TestImportAtAPlatform(t *testing.T) {
	t.Parallel()
	s, other := platform.Start(t), platform.Start(t)
	top := furnished(t, s)
	varied(t, s)
	path, want := archiveOf(t, s, top)
	content := devtest.Must[[]byte](t)(os.ReadFile(path))
	root, coral := other.Root(), other.Customer("Coral Logistics")
	stop := other.Work(nil)
	before := contents(t, other)
	checked := importEnded(t, other, sendArchive(t, other, root, coral, true, content).ID(t, "id"))
	if checked["status"] != "ready" || checked["progress"] != 1.0 || checked["customerId"] != nil || platform.Member(t, checked, "report.status") != resolvers.ImportChecked {
		t.Errorf("a dry run tells %v", checked)
	}
	for table, rows := range left(before, contents(t, other)) {
		if !slices.Contains([]string{"import_requests", "audit_events", "blob_deletions", "webhook_deliveries"}, table) {
			t.Errorf("a dry run writes %v to %s", rows, table)
		}
	}
	done := importEnded(t, other, sendArchiveByGraph(t, other, root, coral, content))
	made, _ := done["customerId"].(float64)
	if done["status"] != "ready" || platform.Member(t, done, "report.status") != resolvers.ImportDone || platform.Member(t, done, "report.customerId") != made {
		t.Fatalf("it tells %v\n%s", done, other.Log)
	}
	for _, part := range []string{"made", "leftOut", "notes"} {
		if a, b := platform.Member(t, checked, "report."+part), platform.Member(t, done, "report."+part); fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("a dry run tells %v, and then it is %v", a, b)
		}
	}
	_, got := archiveOf(t, other, int64(made))
	report := &resolvers.ImportReport{}
	if err := json.Unmarshal(platform.MustJSON(t, done["report"]), report); err != nil {
		t.Fatal(err)
	}
	sameRows(t, got, want, remade(t, report, want))
	other.TrueTree()
	if n := other.Number(`SELECT count(*) FROM audit_events e JOIN customers c ON c.id = e.customer_id
		WHERE e.action = 'customer.imported' AND e.actor_user_id = $1 AND e.client_id <> ''`, other.UserID(other.Demo.AdminEmail)); n != 3 {
		t.Errorf("%d companies tell by whom they were imported", n)
	}
	person := other.Login(other.Demo.AdminEmail, other.Demo.AdminPassword)
	again := importEnded(t, other, sendArchive(t, other, person, coral, false, content).ID(t, "id"))
	if platform.Member(t, again, "report.status") != resolvers.ImportThere || again["customerId"] != made {
		t.Errorf("a second time it is %v", again)
	}
	devtest.Eventually(t, "no archive is kept", func() bool { return other.Number(`SELECT count(*) FROM blob_deletions`) == 0 })
	stop()
	if files := devtest.Must[[]os.DirEntry](t)(os.ReadDir(strings.TrimPrefix(other.App.Config.BlobURL, "file://") + "/imports")); len(files) > 0 {
		t.Errorf("there are %v", files)
	}
	other.SQL(`UPDATE import_requests SET expires_at = now()`)
	platform.Scenario{Status: 404}.Judge(t, other.Do("GET", fmt.Sprintf("/tenant/import/%v", done["id"]), root, nil))
	if n, err := other.App.Store.ForgetImportRequests(t.Context(), 10); n != 3 || err != nil {
		t.Errorf("%d are forgotten: %v", n, err)
	}
}

// TestImportsAreRefused: what can't be taken leaves neither a row nor a file, and what is wrong with an archive is told with its place.
func TestImportsAreRefused(t *testing.T) {
	t.Parallel()
	content, good := furnishedArchive(t)
	s := platform.Start(t, func(c *config.Config) { c.MaxImport = 1 << 20 })
	root, greta, coral, gone := s.Root(), s.As("Alpine Energy", "greta@alpine.example"), s.Customer("Coral Logistics"), s.Customer("Dune Retail")
	s.Must(202, "DELETE", fmt.Sprintf("/tenant/customer/%d", gone), root, nil)
	before, blobs := contents(t, s), s.Blobs()
	for name, c := range map[string]struct {
		answer platform.Answer
		want   platform.Scenario
	}{
		"an owner below the root": {sendArchive(t, s, greta, s.Customer("Alpine Energy"), false, content), platform.Scenario{Status: 403}},
		"no such company":         {sendArchive(t, s, root, platform.AbsentID, false, content), platform.Scenario{Status: 404}},
		"a deleted company":       {sendArchive(t, s, root, gone, false, content), platform.Scenario{Status: 400}},
		"an empty file":           {sendArchive(t, s, root, coral, false, nil), platform.Scenario{Status: 400}},
		"a large file":            {sendArchive(t, s, root, coral, false, make([]byte, 1<<20+1)), platform.Scenario{Status: 413}},
		"no form":                 {s.Do("POST", fmt.Sprintf("/tenant/customer/%d/import", coral), root, map[string]any{}), platform.Scenario{Status: 400}},
	} {
		t.Run(name, func(t *testing.T) { c.want.Judge(t, c.answer) })
	}
	if more := left(before, contents(t, s)); len(more) > 0 || s.Blobs() != blobs {
		t.Errorf("%v is written, and %d files", more, s.Blobs()-blobs)
	}
	s.Work(nil)
	faulty := copied(good)
	faulty.rows["users"][1]["email"] = "nobody"
	limitsOf(s, root, coral, map[string]any{"customers": 0})
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"no archive":   {[]byte("no archive"), "the archive: is not compressed by gzip"},
		"a part of it": {content[:len(content)/2], "the archive is cut off here"},
		"a fault":      {devtest.Must[[]byte](t)(os.ReadFile(written(t, faulty))), "users/000001.jsonl, line 2: email: is not an e-mail address"},
		"no room":      {content, "customers"},
	} {
		i := importEnded(t, s, sendArchive(t, s, root, coral, false, c.content).ID(t, "id"))
		if why, _ := i["error"].(string); i["status"] != "failed" || !strings.Contains(why, c.want) || i["report"] != nil {
			t.Errorf("%s: %v", name, i)
		}
	}
	if n := s.Number(`SELECT count(*) FROM customers WHERE name = 'Quarry'`); n != 0 {
		t.Errorf("%d companies have the name", n)
	}
}

// TestImportsAreCancelled: one that waits, and one whose worker is about to commit it.
func TestImportsAreCancelled(t *testing.T) {
	t.Parallel()
	content, _ := furnishedArchive(t)
	s := platform.Start(t)
	root, coral := s.Root(), s.Customer("Coral Logistics")
	waits := sendArchive(t, s, root, coral, false, content).ID(t, "id")
	cancel := func(id int64) platform.Answer {
		return s.Do("POST", fmt.Sprintf("/tenant/import/%d/cancel", id), root, nil)
	}
	platform.Scenario{Status: 200, Has: map[string]any{"status": "cancelled"}}.Judge(t, cancel(waits))
	platform.Scenario{Status: 400}.Judge(t, cancel(waits))
	if n := s.Number(`SELECT count(*) FROM blob_deletions d JOIN import_requests i ON d.key = 'imports/' || i.file`); n != 1 {
		t.Errorf("%d archives are put up for deletion", n)
	}
	id := sendArchive(t, s, root, coral, false, content).ID(t, "id")
	row := devtest.Must[*db.CustomerImport](t)(s.App.Store.ClaimImportRequest(t.Context(), db.DueImport{ID: id}, time.Minute))
	before := contents(t, s)
	err := readAsked(t, s, row, func() { platform.Scenario{Status: 200}.Judge(t, cancel(id)) })
	if !errors.Is(err, db.ErrNoRows) {
		t.Errorf("what was cancelled is committed: %v", err)
	}
	for table, rows := range left(before, contents(t, s)) {
		if !slices.Contains([]string{"import_requests", "audit_events", "blob_deletions", "webhook_deliveries"}, table) {
			t.Errorf("%v is written to %s", rows, table)
		}
	}
}

// TestImportsKeepTheirParentFree: the company below which an archive is written is changed meanwhile, and where it is deleted nothing is made.
func TestImportsKeepTheirParentFree(t *testing.T) {
	t.Parallel()
	content, _ := furnishedArchive(t)
	s := platform.Start(t)
	root, coral := s.Root(), s.Customer("Coral Logistics")
	for _, deed := range []string{"suspend", "delete"} {
		id := sendArchive(t, s, root, coral, false, content).ID(t, "id")
		row := devtest.Must[*db.CustomerImport](t)(s.App.Store.ClaimImportRequest(t.Context(), db.DueImport{ID: id}, time.Minute))
		err := writeAsked(t, s, row, func() {
			data := map[string]string{"suspend": "suspendCustomer", "delete": "deleteCustomer"}
			s.MustGQL(root, `mutation($id: ID!) { `+data[deed]+`(input: {id: $id}) { __typename } }`, map[string]any{"id": fmt.Sprint(coral)})
		})
		if (err == nil) != (deed == "suspend") {
			t.Errorf("%s: %v", deed, err)
		}
		if deed == "suspend" {
			s.MustGQL(root, `mutation($id: ID!) { resumeCustomer(input: {id: $id}) { __typename } }`, map[string]any{"id": fmt.Sprint(coral)})
			s.SQL(`DELETE FROM customer_imports`)
			s.SQL(`DELETE FROM import_requests`)
		}
	}
	if n := s.Number(`SELECT count(*) FROM customers WHERE name = 'Quarry'`); n != 1 {
		t.Errorf("%d companies have the name", n)
	}
}

// TestImportsEndWithTheirAskersRights: who may not ask for an import any more has none go on, whenever that is.
func TestImportsEndWithTheirAskersRights(t *testing.T) {
	t.Parallel()
	content, _ := furnishedArchive(t)
	s := platform.Start(t)
	root, coral := s.Root(), s.Customer("Coral Logistics")
	id := sendArchive(t, s, root, coral, false, content).ID(t, "id")
	row := devtest.Must[*db.CustomerImport](t)(s.App.Store.ClaimImportRequest(t.Context(), db.DueImport{ID: id}, time.Minute))
	lose := func(lost bool) { s.SQL(`UPDATE permissions SET disabled = $1 WHERE user_id = $2`, lost, *row.UserID) }
	refused := func(when string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "may not have archives read in any more") {
			t.Errorf("%s: %v", when, err)
		}
	}
	refused("while it is written", writeAsked(t, s, row, func() { lose(true) }))
	refused("before it begins", readAsked(t, s, row, func() { t.Error("the archive is read") }))
	lose(false)
	s.SQL(`UPDATE import_requests SET user_id = NULL`)
	row.UserID = nil
	refused("whose person is gone", readAsked(t, s, row, func() { t.Error("the archive is read") }))
	if n := s.Number(`SELECT count(*) FROM customers WHERE name = 'Quarry'`); n != 0 {
		t.Errorf("%d companies have the name", n)
	}
}

// TestArchivesThatTakeWorkersDownAreGivenUp: exports and imports are not begun for ever.
func TestArchivesThatTakeWorkersDownAreGivenUp(t *testing.T) {
	t.Parallel()
	content, _ := furnishedArchive(t)
	s := platform.Start(t)
	root, coral := s.Root(), s.Customer("Coral Logistics")
	id := sendArchive(t, s, root, coral, false, content).ID(t, "id")
	s.SQL(`UPDATE import_requests SET attempts = 20, status = 'RUNNING'`)
	export := s.Must(202, "POST", fmt.Sprintf("/tenant/customer/%d/export", coral), root, nil).ID(t, "id")
	s.SQL(`UPDATE customer_exports SET attempts = 20, status = 'RUNNING'`)
	s.Work(nil)
	i := importEnded(t, s, id)
	if why := fmt.Sprint(i["error"]); i["status"] != "failed" || !strings.Contains(why, "ended 20 times") || !strings.Contains(why, "made nothing") {
		t.Errorf("%v", i)
	}
	if again := importEnded(t, s, sendArchive(t, s, root, coral, false, content).ID(t, "id")); again["status"] != "ready" {
		t.Errorf("begun anew it is %v", again)
	}
	devtest.Eventually(t, "the export is given up", func() bool {
		return s.Number(`SELECT count(*) FROM customer_exports WHERE id = $1 AND status = 'FAILED'`, export) == 1
	})
}

// TestHalfMadeImportsSaySo: an import that is given up once its company is made says so at both doors and in the log, as does one that went on with it and was
// given up, too; the same archive, sent again, goes on.
func TestHalfMadeImportsSaySo(t *testing.T) {
	t.Parallel()
	content, _ := furnishedArchive(t)
	s := platform.Start(t)
	root, dune := s.Root(), s.Customer("Dune Retail")
	whole := s.App.Resolver.Blobs
	var made any
	for n := range 2 { // what is begun anew finds the company, which another request has made
		id := sendArchive(t, s, root, dune, false, content).ID(t, "id")
		row := devtest.Must[*db.CustomerImport](t)(s.App.Store.ClaimImportRequest(t.Context(), db.DueImport{ID: id}, time.Millisecond))
		s.App.Resolver.Blobs = &brittle{Store: whole, left: 1}
		if err := readAsked(t, s, row, func() {}); err == nil {
			t.Error("the store was away")
		}
		s.App.Resolver.Blobs = whole
		s.SQL(`UPDATE import_requests SET attempts = 20 WHERE id = $1`, id)
		stop := s.Work(nil)
		i := importEnded(t, s, id)
		stop()
		if n == 0 {
			made = i["customerId"]
		}
		why := fmt.Sprint(i["error"])
		if i["status"] != "failed" || made == nil || i["customerId"] != made || !strings.Contains(why, fmt.Sprintf("The company %v is made, and suspended", made)) {
			t.Fatalf("it tells %v", i)
		}
		got := s.MustGQL(root, `query($id: ID!) { customerImport(id: $id) { status error customer { databaseId status } } }`, map[string]any{"id": fmt.Sprint(id)})
		if !platform.SameJSON(got["customerImport"], map[string]any{"status": "FAILED", "error": why, "customer": map[string]any{"databaseId": made, "status": "SUSPENDED"}}) {
			t.Errorf("the graph tells %v", got)
		}
		var details []byte
		s.Look(&details, `SELECT details FROM audit_events WHERE customer_id = $1 AND action = 'customerImport.failed' AND object_id = $2`, dune, id)
		var told any
		devtest.Check(t, json.Unmarshal(details, &told))
		if !platform.SameJSON(told, map[string]any{"status": map[string]any{"old": "RUNNING", "new": "FAILED"}, "error": map[string]any{"new": why}}) {
			t.Errorf("the log tells %s", details)
		}
	}
	s.Work(nil)
	again := importEnded(t, s, sendArchive(t, s, root, dune, false, content).ID(t, "id"))
	if again["status"] != "ready" || again["customerId"] != made || s.Number(`SELECT count(*) FROM customers WHERE id = $1 AND status = 'ACTIVE'`, made) != 1 {
		t.Errorf("sent again it is %v", again)
	}
}

// writeAsked is readAsked; meanwhile is called when the companies are written, and what they have is not yet.
func writeAsked(t *testing.T, s *platform.Platform, row *db.CustomerImport, meanwhile func()) error {
	t.Helper()
	held := devtest.Must[*sql.Tx](t)(s.DB.BeginTx(t.Context(), nil))
	defer func() { _ = held.Rollback() }()
	devtest.Must[sql.Result](t)(held.ExecContext(t.Context(), `LOCK TABLE agent_revisions IN SHARE MODE`))
	done := make(chan error)
	go func() { done <- readAsked(t, s, row, func() {}) }()
	devtest.Eventually(t, "the import waits", func() bool {
		return s.Number(`SELECT count(*) FROM pg_locks WHERE relation = 'agent_revisions'::regclass AND NOT granted
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`) == 1
	})
	meanwhile()
	devtest.Check(t, held.Rollback())
	return <-done
}

// readAsked does what a worker does with an import; meanwhile is called once its archive is read.
func readAsked(t *testing.T, s *platform.Platform, row *db.CustomerImport, meanwhile func()) error {
	t.Helper()
	path, release, err := s.App.Resolver.Blobs.Local(t.Context(), row.BlobKey())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	file := devtest.Must[*os.File](t)(os.Open(path))
	defer func() { _ = file.Close() }()
	return s.App.Resolver.ReadArchive(t.Context(), row, file, func(pass string) io.Writer {
		if pass == "check" {
			meanwhile()
		}
		return io.Discard
	})
}

// TestImportIsBegunAnew: what a worker leaves that dies goes on with another, before the company is made as after it.
func TestImportIsBegunAnew(t *testing.T) {
	t.Parallel()
	content, want := furnishedArchive(t)
	s := platform.Start(t)
	root := s.Root()
	dies := func(parent int64, do func(row *db.CustomerImport)) int64 {
		id := sendArchive(t, s, root, parent, false, content).ID(t, "id")
		do(devtest.Must[*db.CustomerImport](t)(s.App.Store.ClaimImportRequest(t.Context(), db.DueImport{ID: id}, time.Millisecond)))
		return id
	}
	early := dies(s.Customer("Coral Logistics"), func(*db.CustomerImport) {})
	late := dies(s.Customer("Dune Retail"), func(row *db.CustomerImport) {
		whole := s.App.Resolver.Blobs
		s.App.Resolver.Blobs = &brittle{Store: whole, left: 1}
		if err := readAsked(t, s, row, func() {}); err == nil {
			t.Error("the store was away")
		}
		s.App.Resolver.Blobs = whole
	})
	made := s.Number(`SELECT made_id FROM import_requests WHERE id = $1`, late)
	platform.Scenario{Status: 400, Code: "import_made"}.Judge(t, s.Do("POST", fmt.Sprintf("/tenant/import/%d/cancel", late), root, nil))
	s.Work(nil)
	for _, id := range []int64{early, late} {
		if i := importEnded(t, s, id); i["status"] != "ready" {
			t.Errorf("%v\n%s", i, s.Log)
		} else if id == late && i["customerId"] != float64(made) {
			t.Errorf("%v is made beside %d", i["customerId"], made)
		}
	}
	if n := s.Number(`SELECT count(*) FROM customers WHERE name = 'Quarry'`); n != 2 {
		t.Errorf("%d companies have the name", n)
	}
	_, got := archiveOf(t, s, made)
	if len(got.originals) != len(want.originals) {
		t.Errorf("%d of %d originals are there", len(got.originals), len(want.originals))
	}
	s.TrueTree()
}

// TestImportsAtOnce: the same archive sent several times is one import, and not too many archives are kept.
func TestImportsAtOnce(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root := s.Root()
	var together sync.WaitGroup
	ids := make([]int64, 4)
	for i := range ids {
		together.Go(func() {
			ids[i] = sendArchive(t, s, root, s.Customer("Dune Retail"), false, []byte("the same")).ID(t, "id")
		})
	}
	together.Wait()
	if slices.Sort(ids); len(slices.Compact(ids)) != 1 || s.Blobs() != 1 {
		t.Errorf("there are %v, and %d files", ids, s.Blobs())
	}
	for i := range 9 {
		if a := sendArchive(t, s, root, s.Customer("Dune Retail"), false, fmt.Append(nil, i)); a.Status != http.StatusAccepted {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	platform.Scenario{Status: 400, Code: "imports_under_way"}.Judge(t, sendArchive(t, s, root, s.Customer("Dune Retail"), false, []byte("one more")))
	if s.Blobs() != 10 {
		t.Errorf("there are %d files", s.Blobs())
	}
}
