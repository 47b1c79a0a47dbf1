package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"canopy/db"
	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
)

// TestResultsAreTakenAsJSON: each command that ends with a result has --json.
func TestResultsAreTakenAsJSON(t *testing.T) {
	without := []string{"dev", "serve", "worker", "login", "logout"}
	for _, c := range commands {
		flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
		c.setup(&Main{}, flags)
		if has := flags.Lookup("json") != nil; has == slices.Contains(without, c.name) {
			t.Errorf("%s: has --json: %v", c.name, has)
		}
	}
}

// TestOperatorsJSON reads what commands on the database tell programs.
func TestOperatorsJSON(t *testing.T) {
	s := platform.Start(t)
	tell := func(args ...string) (v any) {
		t.Helper()
		code, out, fault := operate(t, s, []string{"REDIS_URL=" + s.App.Config.RedisURL, "CANOPY_BLOB_URL=" + s.App.Config.BlobURL}, append(args, "--json")...)
		if err := json.Unmarshal([]byte(out), &v); code != exitOK || err != nil {
			t.Fatalf("%q: %d %s %v %s", args, code, fault, err, out)
		}
		return v
	}
	member := func(v any, name string) string { return fmt.Sprint(v.(map[string]any)[name]) }
	migrations := tell("migrate", "status").([]any)
	last := migrations[len(migrations)-1]
	if n := s.Number(`SELECT max(version_id) FROM goose_db_version`); member(last, "version") != fmt.Sprint(float64(n)) || member(last, "state") != "applied" || len(member(last, "appliedAt")) < 20 {
		t.Errorf("%v", last)
	}
	if done := tell("migrate", "up"); fmt.Sprint(done) != "[]" {
		t.Errorf("%v", done)
	}
	const others = db.BlobPrefix + "6f1c1b1e-0000-4000-8000-000000000000"
	devtest.Check(t, s.App.Resolver.Blobs.Write(t.Context(), others, strings.NewReader("another's")))
	if r := tell("orphans"); member(r, "orphans") != "0" || member(r, "deleting") != "false" {
		t.Errorf("%v", r)
	}
	old := time.Now().Add(-25 * time.Hour)
	devtest.Check(t, os.Chtimes(filepath.Join(strings.TrimPrefix(s.App.Config.BlobURL, "file://"), others), old, old))
	if r := tell("orphans"); member(r, "orphans") != "1" || s.Number(`SELECT count(*) FROM blob_deletions`) != 0 {
		t.Errorf("%v", r)
	}
	if r := tell("orphans", "--delete"); member(r, "deleting") != "true" || s.Number(`SELECT count(*) FROM blob_deletions WHERE key = $1`, others) != 1 {
		t.Errorf("%v", r)
	}
	kid := member(tell("signing-key", "rotate", "--activate-after", "0s"), "kid")
	if n := s.Number(`SELECT count(*) FROM signing_keys WHERE kid = $1`, kid); n != 1 {
		t.Errorf("%q is no key", kid)
	}
	if retired := tell("signing-key", "retire", "--now"); member(retired, "retired") != kid || member(retired, "kid") == "" {
		t.Errorf("%v", retired)
	}
	if r := tell("secret-key", "rotate"); member(r, "newest") == "" || member(r, "free") != "[]" || member(r, "inUse") != "[]" {
		t.Errorf("%v", r)
	}
	if r := tell("seed", "--companies", "3", "--staffed", "0"); member(r, "companies") != "3" || s.Number(`SELECT count(*) FROM customers WHERE parent_id = $1`, member(r, "below")) == 0 {
		t.Errorf("%v", r)
	}
	if r := tell("user", "reset-totp", s.Demo.AdminEmail); member(r, "twoFactor") != "false" || member(r, "email") != s.Demo.AdminEmail {
		t.Errorf("%v", r)
	}
}

// TestImportsAsJSON: what is uploaded and who is added is counted for programs.
func TestImportsAsJSON(t *testing.T) {
	t.Parallel()
	p := platform.Start(t)
	p.Work(nil)
	s := newShell(t)
	s.must(p.Demo.ClientSecret+"\n", "login", "--url", p.URL, "--client-id", p.Demo.ClientID)
	dir := t.TempDir()
	for name, text := range map[string]string{"a.txt": "bees make honey", "b.txt": "bees make honey", "c.png": "no text", "people.csv": "email\nnew@example.com\n" + p.Demo.AdminEmail + "\nnone\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	id := p.NewContext(p.Assistant(), "Handbook")
	uploaded := s.must("", "context", "import", "--json", "--wait", "--context", platform.Decimal(id), filepath.Join(dir, "a.txt"), filepath.Join(dir, "b.txt"), filepath.Join(dir, "c.png"))
	if !platform.SameJSON(decoded(t, uploaded), decoded(t, `{"uploaded":1,"bytes":15,"there":1,"otherTypes":1,"failed":[],"documents":{"ready":1,"failed":[]}}`)) {
		t.Error(uploaded)
	}
	code, added, fault := s.run("", "user", "import", "--json", filepath.Join(dir, "people.csv"))
	got, _ := decoded(t, added).(map[string]any)
	if code != exitFault || got["added"] != 1. || got["there"] != 1. || got["failed"] != 1. || !strings.Contains(fmt.Sprint(got["failures"]), "line 4: none: ") || !strings.Contains(fault, "1 not added") {
		t.Errorf("%d %s %s", code, added, fault)
	}
}

func decoded(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}
