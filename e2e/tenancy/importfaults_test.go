package tenancy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"canopy/db"
	"canopy/e2e/platform"
	"canopy/internal/archive"
	"canopy/internal/blob"
	"canopy/internal/devstack/devtest"
	"canopy/resolvers"
)

// written writes an archive of what another holds.
func written(t *testing.T, a archived) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "archive.tar.gz")
	file := devtest.Must[*os.File](t)(os.Create(path))
	w := archive.NewWriter(file, int64(a.manifest["customerId"].(float64)), time.Now())
	for kind, rows := range a.rows {
		for _, row := range rows {
			if err := w.Row(kind, devtest.Must[[]byte](t)(json.Marshal(row))); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, content := range a.originals {
		if err := w.Original(name, int64(len(content)), bytes.NewReader(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// copied is an archive that can be changed.
func copied(a archived) archived {
	out := archived{rows: map[string][]map[string]any{}, originals: maps.Clone(a.originals), manifest: maps.Clone(a.manifest)}
	rows, err := json.Marshal(a.rows)
	if err := errors.Join(err, json.Unmarshal(rows, &out.rows)); err != nil {
		panic(err) // what was JSON is JSON
	}
	return out
}

// TestImportHostile: what refers to what is not there, and whatever no platform has written, is refused with its place, and nothing is
// written.
func TestImportHostile(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	_, good := archiveOf(t, s, furnished(t, s))
	s.SQL(`INSERT INTO regions (code, name) VALUES ('celled', 'Celled')`)
	s.SQL(`INSERT INTO cells (region_id, address) SELECT id, 'https://cell.example' FROM regions WHERE code = 'celled'`)
	before := contents(t, s)
	// set sets a member of the nth row of a kind.
	set := func(kind string, n int, name string, value any) func(archived) {
		return func(a archived) { a.rows[kind][n][name] = value }
	}
	id := func(kind string, n int) any { return good.rows[kind][n]["id"] }
	account := func(application string) any {
		return good.rows["accounts"][slices.IndexFunc(good.rows["accounts"], func(r map[string]any) bool { return r["application"] == application })]["id"]
	}
	for want, change := range map[string]func(archived){
		"customers/000001.jsonl, line 2: the company above it, 99, is not in the archive": set("customers", 1, "parentId", 99),
		"customers/000001.jsonl, line 2: it lies below itself, by the company": func(a archived) {
			set("customers", 1, "parentId", id("customers", 2))(a)
			set("customers", 2, "parentId", id("customers", 1))(a)
		},
		"customers/000001.jsonl, line 1: it lies below itself":                             set("customers", 0, "parentId", id("customers", 2)),
		"customers/000001.jsonl, line 3: its id is that of another row":                    set("customers", 2, "id", id("customers", 1)),
		"manifest.json: its company 99 is not in the archive":                              func(a archived) { a.manifest["customerId"] = 99.0 },
		`customers/000001.jsonl, line 1: unknown field "news"`:                             set("customers", 0, "news", 1),
		"customers/000001.jsonl, line 1: name: is not to be number":                        set("customers", 0, "name", 7),
		"customers/000001.jsonl, line 1: name: must not be empty":                          set("customers", 0, "name", " "),
		"customers/000001.jsonl, line 2: id: must be a positive integer":                   set("customers", 1, "id", -5),
		`customers/000001.jsonl, line 3: this platform has no region with the code "moon"`: set("customers", 2, "region", "moon"),
		`line 3: the region "celled" has a cell of its own, and archives are read in at`:   set("customers", 2, "region", "celled"),
		`line 1: limits: there is no limit "luck"`:                                         set("customers", 0, "limits", map[string]any{"luck": 7}),
		"on this platform there is no builder in the region uk-south":                      func(a archived) { setEach(a, "accounts", "region", "uk-south") },
		"it is of the region \"us-east\", and its company is not":                          func(a archived) { setEach(a, "accounts", "region", "us-east") },
		"accounts/000001.jsonl, line 1: what it belongs to, customers 99, is not in":       set("accounts", 0, "customerId", 99),
		"accounts/000001.jsonl, line 2: application: is none of the applications":          set("accounts", 1, "application", "games"),
		"billing/000001.jsonl, line 1: countryCode: ":                                      set("billing", 0, "countryCode", "XX"),
		"customers/000001.jsonl, line 1: createdAt: must be of the years 1 to 9999":        set("customers", 0, "createdAt", "0000-01-01T00:00:00Z"),
		"permissions/000001.jsonl, line 1: lastAccess: must be of the years 1 to 9999":     set("permissions", 0, "lastAccess", "0001-01-01T00:00:00+01:00"),
		"users/000001.jsonl, line 1: email: is not an e-mail address":                      set("users", 0, "email", "rosa"),
		`roles/000001.jsonl, line 1: features: "world.rule" is not a right`:                set("roles", 0, "features", []string{"world.rule"}),
		"permissions/000001.jsonl, line 1: the user 99 of the account's company is not":    set("permissions", 0, "userId", 99),
		"permissions/000001.jsonl, line 1: this platform has no system role 'King'":        set("permissions", 0, "role", map[string]any{"id": 1, "name": "King", "system": true}),
		"permissions/000001.jsonl, line 1: the role 99 is not in the archive":              set("permissions", 0, "role", map[string]any{"id": 99, "name": "King", "system": false}),
		"contexts/000001.jsonl, line 1: contexts belong to accounts of the assistant":      set("contexts", 0, "accountId", account("builder")),
		"contexts/000001.jsonl, line 1: toolsJson: is not JSON":                            set("contexts", 0, "toolsJson", "["),
		"contexts/000001.jsonl, line 1: the documents of a context are larger than":        set("contexts", 0, "maxSize", 5),
		"agents/000001.jsonl, line 1: agents belong to accounts of the builder":            set("agents", 0, "accountId", account("tenant")),
		"agents/000001.jsonl, line 1: the published revision 99 is not in the archive":     set("agents", 0, "publishedId", 99),
		"agentRevisions/000001.jsonl, line 1: what it belongs to, agents 99, is not":       set("agentRevisions", 0, "agentId", 99),
		"documents/000001.jsonl, line 2: its original has 17 bytes and the SHA-256":        set("documents", 1, "contentHash", strings.Repeat("0", 64)),
		"documents/000001.jsonl, line 1: fileName: is not a UUID":                          set("documents", 0, "fileName", "../../etc/passwd"),
		"documents/000001.jsonl, line 1: displayName: must not be empty":                   set("documents", 0, "displayName", ""),
		"documents/000001.jsonl, line 1: originalName: is not the name of a file":          set("documents", 0, "originalName", "../a.txt"),
		"is the original of no document":                                                   func(a archived) { a.originals["00000000-0000-4000-8000-000000000001"] = []byte("x") },
		"webhookDestinations/000001.jsonl, line 1: url: must begin with https://":          set("webhookDestinations", 0, "url", "http://10.0.0.1/"),
		"line 1: url: the address 169.254.169.254 is not public":                           set("webhookDestinations", 0, "url", "https://169.254.169.254/latest"),
	} {
		a := copied(good)
		change(a)
		_, err := tryImport(t.Context(), s, written(t, a), resolvers.Import{})
		if f, ok := errors.AsType[*archive.Fault](err); !ok || !strings.Contains(f.Error(), want) {
			t.Errorf("instead of %q: %v", want, err)
		}
	}
	if more := left(before, contents(t, s)); len(more) > 0 {
		t.Errorf("%v is written", more)
	}
}

func setEach(a archived, kind, name string, value any) {
	for _, row := range a.rows[kind] {
		row[name] = value
	}
}

// TestImportOfLess: what an archive lacks the rows for, or an original, is left out and told.
func TestImportOfLess(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	_, good := archiveOf(t, s, furnished(t, s))
	leftOut := func(r *resolvers.ImportReport, kind string) int64 {
		i := slices.IndexFunc(r.LeftOut, func(l db.LeftOut) bool { return l.Kind == kind })
		if i < 0 {
			return 0
		}
		return r.LeftOut[i].Count
	}
	people := copied(good)
	delete(people.rows, "users")
	r := imported(t, s, written(t, people), resolvers.Import{DryRun: true})
	if n := int64(len(good.rows["permissions"])); leftOut(r, "permissions") != n || r.Made["permissions"] != 0 || r.Made["contexts"] != 1 {
		t.Errorf("without people: %+v", r)
	}
	accounts := copied(good)
	delete(accounts.rows, "accounts")
	r = imported(t, s, written(t, accounts), resolvers.Import{})
	if leftOut(r, "documents") != 2 || leftOut(r, "agentRevisions") != 1 || r.Made["customers"] != 3 || r.Made["documents"] != 0 {
		t.Errorf("without accounts: %+v", r)
	}
	originals, blobs := copied(good), s.Blobs()
	delete(originals.originals, originals.rows["documents"][0]["fileName"].(string))
	r = imported(t, s, written(t, originals), resolvers.Import{})
	if leftOut(r, "documents") != 1 || r.Made["documents"] != 1 || s.Blobs() != blobs+1 {
		t.Errorf("without an original: %+v, %d originals", r, s.Blobs()-blobs)
	}
	other := copied(good)
	setEach(other, "contexts", "embeddingModel", "unheard-of")
	setEach(other, "customers", "status", "DELETED")
	r = imported(t, s, written(t, other), resolvers.Import{})
	for _, want := range []string{"1 contexts have an embedding model that this platform lacks, and get canopy-lexical-2", "3 companies were deleted, and are suspended here"} {
		if !slices.Contains(r.Notes, want) {
			t.Errorf("%q is not among %q", want, r.Notes)
		}
	}
	if n := s.Number(`SELECT count(*) FROM customers WHERE status = 'SUSPENDED' AND (id = $1 OR parent_id = $1)`, r.CustomerID); n != 2 {
		t.Errorf("%d companies are suspended", n)
	}
	s.TrueTree()
}

// TestImportHoldsLimits: a company above has no more than it may, and nothing is put into one that is deleted.
func TestImportHoldsLimits(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	path, _ := archiveOf(t, s, furnished(t, s))
	coral := s.Customer("Coral Logistics")
	for name, most := range map[string]int64{"customers": 5, "users": 5, "documents": 1, "storageBytes": 20, "contexts": 0, "agents": 0, "destinations": 0} {
		limitsOf(s, s.Root(), coral, map[string]any{name: most})
		before := contents(t, s)
		for _, dry := range []bool{true, false} {
			_, err := tryImport(t.Context(), s, path, resolvers.Import{Parent: coral, DryRun: dry})
			if reached, ok := errors.AsType[*db.LimitReached](err); !ok || string(reached.Name) != name {
				t.Errorf("%s: %v", name, err)
			}
		}
		if more := left(before, contents(t, s)); len(more) > 0 {
			t.Errorf("%s: %v is written", name, more)
		}
		limitsOf(s, s.Root(), coral, map[string]any{name: nil})
	}
	r := imported(t, s, path, resolvers.Import{Parent: coral})
	s.Must(202, "DELETE", fmt.Sprintf("/tenant/customer/%d", r.CustomerID), s.Root(), nil)
	if _, err := tryImport(t.Context(), s, path, resolvers.Import{Parent: coral}); err == nil || !strings.Contains(err.Error(), "which is deleted") {
		t.Error(err)
	}
	if _, err := tryImport(t.Context(), s, path, resolvers.Import{Parent: r.CustomerID}); err == nil || !strings.Contains(err.Error(), "is a deleted company") {
		t.Error(err)
	}
	if _, err := tryImport(t.Context(), s, path, resolvers.Import{Parent: platform.AbsentID}); err == nil {
		t.Error("a company that is not there takes another")
	}
}

// brittle is a store of documents that fails after so many writes.
type brittle struct {
	blob.Store
	left   int
	writes int
}

func (b *brittle) Write(ctx context.Context, key string, r io.Reader) error {
	if b.left--; b.left < 0 {
		return errors.New("the store is away")
	}
	b.writes++
	return b.Store.Write(ctx, key, r)
}

// TestImportGoesOn: an import that was interrupted leaves nothing, or a company that is suspended until the same command has ended it; and
// many at once make one.
func TestImportGoesOn(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	top := furnished(t, s)
	desk := s.TokenOf(top, "rosa@quarry.example", "assistant")
	var shared int64
	s.Look(&shared, `SELECT id FROM contexts WHERE name = 'Manuals'`)
	for i := range 18 {
		s.Upload(desk, shared, fmt.Sprintf("more%d.txt", i), fmt.Appendf(nil, "Machine %d.", i))
	}
	s.Settle(desk, shared)
	path, want := archiveOf(t, s, top)
	before := contents(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	file := devtest.Must[*os.File](t)(os.Open(path))
	defer func() { _ = file.Close() }()
	_, err := s.App.Resolver.OperatorImport(ctx, resolvers.Import{Archive: file, Watch: func(pass string) io.Writer {
		if pass == "check" {
			cancel()
		}
		return io.Discard
	}})
	if more := left(before, contents(t, s)); !errors.Is(err, context.Canceled) || len(more) > 0 {
		t.Errorf("%v, and %v is written", err, more)
	}
	whole := s.App.Resolver.Blobs
	broken := &brittle{Store: whole, left: 17}
	s.App.Resolver.Blobs = broken
	if _, err := tryImport(t.Context(), s, path, resolvers.Import{}); err == nil {
		t.Error("the store was away")
	}
	made := s.Number(`SELECT customer_id FROM customer_imports WHERE done_at IS NULL`)
	if n := s.Number(`SELECT count(*) FROM customers WHERE id = $1 AND status = 'SUSPENDED'`, made); n != 1 {
		t.Error("what is not whole is not suspended")
	}
	broken.left, broken.writes = 100, 0
	report := imported(t, s, path, resolvers.Import{})
	if report.CustomerID != made || report.Status != resolvers.ImportDone || broken.writes != 4 {
		t.Errorf("%+v after %d writes", report, broken.writes)
	}
	s.App.Resolver.Blobs = whole
	_, got := archiveOf(t, s, made)
	sameRows(t, got, want, remade(t, report, want))
	var together sync.WaitGroup
	companies := make([]int64, 3)
	for i := range companies {
		together.Go(func() {
			report, err := tryImport(t.Context(), s, path, resolvers.Import{Parent: s.Customer("Dune Retail")})
			if err != nil {
				t.Error(err)
				return
			}
			companies[i] = report.CustomerID
		})
	}
	together.Wait()
	if slices.Sort(companies); len(slices.Compact(companies)) != 1 {
		t.Errorf("there are %v", companies)
	}
	s.TrueTree()
	if n := s.Number(`SELECT count(*) FROM customers WHERE name = 'Quarry'`); n != 3 {
		t.Errorf("%d companies have the name", n)
	}
}
