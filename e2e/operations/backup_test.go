package operations

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jmoiron/sqlx"

	"canopy/e2e/platform"
	"canopy/internal/config"
	"canopy/internal/devstack/devtest"
	"canopy/internal/webhook"
)

// TestRestore takes a backup as docs/backup.md tells, under load, and restores it elsewhere: all is there that was there at the moment of the dump.
func TestRestore(t *testing.T) {
	t.Parallel()
	receiver := platform.NewReceiver(t, nil)
	s := platform.StartDelivering(t)
	tenant, assistant := s.RootAs("tenant"), s.Assistant()
	_, secret := s.Subscribe(tenant, receiver.URL)
	id := s.NewContext(assistant, "Handbook")
	s.Upload(assistant, id, "bees.md", []byte("# Bees\n\nBees make honey, which keeps for 3000 years when it is dry.\n"))
	s.Settle(assistant, id)
	const question = "How long does honey keep?"
	found := s.Search(assistant, id, question)

	stop := busy(t, s, id)
	dir := t.TempDir()
	dump, originals := filepath.Join(dir, "canopy.dump"), filepath.Join(dir, "blobs")
	copyBlobs(t, s.App.Config.BlobURL, originals)
	counted := dumped(t, s, dump)
	copyBlobs(t, s.App.Config.BlobURL, originals)
	stop()

	url := s.Restored(t, dump)
	restored := devtest.Must[*sqlx.DB](t)(sqlx.Open("postgres", url))
	defer func() { _ = restored.Close() }()
	if got := counts(t, restored); !maps.Equal(got, counted) {
		t.Errorf("restored are %v, dumped were %v", got, counted)
	}
	there := platform.Start(t, platform.DeliverLocally(t), func(c *config.Config) { c.DatabaseURL, c.BlobURL = url, "file://"+originals })
	there.Work(nil)
	tenant, assistant = there.RootAs("tenant"), there.Assistant() // the key of before is exchanged, by a signing key that was sealed
	documents := there.Settle(assistant, id)
	if len(documents) < 2 {
		t.Errorf("%d documents", len(documents))
	}
	for _, d := range documents {
		a := there.Must(200, "GET", fmt.Sprintf("/context/document/%.0f/original", d["id"]), assistant, nil)
		if d["status"] != "ready" || !strings.HasPrefix(string(a.Body), "# ") {
			t.Errorf("%v: %.40q", d, a.Body)
		}
	}
	hits := there.Search(assistant, id, question)
	if len(hits) == 0 || len(found) == 0 || hits[0]["id"] != found[0]["id"] || hits[0]["content"] != found[0]["content"] {
		t.Errorf("found are %v, before it was %v", hits, found)
	}
	signed(t, there, tenant, receiver, secret)
}

// busy has people added, documents uploaded and events delivered until it is stopped.
func busy(t *testing.T, s *platform.Platform, contextID int64) (stop func()) {
	t.Helper()
	tenant, builder, assistant := s.RootAs("tenant"), s.RootAs("builder"), s.Assistant()
	var done atomic.Bool
	var made atomic.Int64
	var all sync.WaitGroup
	for _, do := range []func(n int64){
		func(n int64) {
			s.Do("POST", "/tenant/user", tenant, map[string]any{"email": fmt.Sprintf("person%d@example.com", n), "firstName": "P", "lastName": "Q"})
		},
		func(n int64) {
			s.Upload(assistant, contextID, "more.md", fmt.Appendf(nil, "# Note %d\n\nShips sail in number %d.\n", n, n))
		},
		func(int64) { s.Publish(builder, platform.CountingSteps) },
	} {
		all.Go(func() {
			for !done.Load() && !t.Failed() {
				do(made.Add(1))
			}
		})
	}
	devtest.Eventually(t, "there is load", func() bool { return made.Load() > 30 || t.Failed() })
	return func() {
		before := made.Load()
		devtest.Eventually(t, "there is load", func() bool { return made.Load() > before+10 || t.Failed() })
		done.Store(true)
		all.Wait()
	}
}

// dumped dumps the platform's database, and counts the rows of the same moment.
func dumped(t *testing.T, s *platform.Platform, file string) map[string]int64 {
	t.Helper()
	tx, err := s.DB.Beginx()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	var snapshot string
	if _, err := tx.Exec(`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ`); err != nil {
		t.Fatal(err)
	}
	if err := tx.Get(&snapshot, `SELECT pg_export_snapshot()`); err != nil {
		t.Fatal(err)
	}
	platform.PostgresProgram(t, "pg_dump", "--format=custom", "--no-owner", "--snapshot="+snapshot, "--file="+file, s.App.Config.DatabaseURL)
	return counts(t, tx)
}

// counts are the rows of each table.
func counts(t *testing.T, from sqlx.Queryer) map[string]int64 {
	t.Helper()
	var tables []string
	if err := sqlx.Select(from, &tables, `SELECT quote_ident(relname) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`); err != nil {
		t.Fatal(err)
	}
	n := map[string]int64{}
	for _, table := range tables {
		var rows int64
		if err := sqlx.Get(from, &rows, "SELECT count(*) FROM "+table); err != nil {
			t.Fatal(err)
		}
		n[table] = rows
	}
	if n["users"] == 0 || n["documents"] == 0 || len(slices.Collect(maps.Keys(n))) < 30 {
		t.Fatalf("there is not much in it: %v", n)
	}
	return n
}

// copyBlobs adds what is in the store to the copy.
func copyBlobs(t *testing.T, url, to string) {
	t.Helper()
	from := strings.TrimPrefix(url, "file://")
	err := filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if os.IsNotExist(err) || err == nil && d.IsDir() {
			return nil // what is deleted, or ends up elsewhere, meanwhile
		}
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			return nil
		}
		name, relErr := filepath.Rel(from, path)
		if err != nil || relErr != nil {
			return fmt.Errorf("%w %w", err, relErr)
		}
		target := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return err
		}
		return os.WriteFile(target, content, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// signed has the restored platform deliver an event, signed by the secret of before.
func signed(t *testing.T, there *platform.Platform, tenant string, receiver *platform.Receiver, secret string) {
	t.Helper()
	list := there.Must(200, "GET", platform.Hooks+"/destinations", tenant, nil).JSON(t).([]any)
	id := int64(platform.Member(t, list[0], "id").(float64))
	delivery := there.Must(202, "POST", platform.Hooks+"/destinations/"+platform.Decimal(id)+"/test", tenant, object{"type": "run.failed"}).ID(t, "deliveryId")
	there.Ended(tenant, delivery)
	for _, x := range receiver.All() {
		if x.Typ == "run.failed" {
			if !webhook.VerifyHeader(x.Header, x.Body, secret) {
				t.Errorf("it is signed otherwise: %v", x.Header)
			}
			return
		}
	}
	t.Errorf("it was not delivered: %v", receiver.Types())
}
