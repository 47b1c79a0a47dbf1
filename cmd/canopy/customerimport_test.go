package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/archive"
)

// TestCustomerImport imports an archive from the shell, on the database and at a platform, and looks at what it tells.
func TestCustomerImport(t *testing.T) {
	t.Parallel()
	t.Run("on the database", func(t *testing.T) {
		s := platform.Start(t)
		importsFromShell(t, s, func(args ...string) (int, string, string) { return operate(t, s, nil, args...) })
	})
	t.Run("at a platform", func(t *testing.T) {
		s := platform.Start(t)
		s.Work(nil)
		own := newShell(t)
		own.env["CANOPY_URL"], own.env["CANOPY_CLIENT_ID"], own.env["CANOPY_CLIENT_SECRET"] = s.URL, s.Demo.ClientID, s.Demo.ClientSecret
		importsFromShell(t, s, func(args ...string) (int, string, string) { return own.run("", args...) })
		if n := s.Number(`SELECT count(*) FROM audit_events WHERE action = 'customer.imported' AND client_id = $1`, s.Demo.ClientID); n != 1 {
			t.Errorf("%d events name the key", n)
		}
	})
}

func importsFromShell(t *testing.T, s *platform.Platform, run func(args ...string) (code int, out, fault string)) {
	path := filepath.Join(t.TempDir(), "archive.tar.gz")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := archive.NewWriter(file, 7, time.Now())
	w.Manifest.LeftOut = []string{"what takes the right audit.read"}
	err = errors.Join(
		w.Row("customers", json.RawMessage(`{"id":7,"parentId":1,"name":"Quarry","region":"eu-central","status":"ACTIVE","createdAt":"2026-01-02T03:04:05Z"}`)),
		w.Row("users", json.RawMessage(`{"id":3,"customerId":7,"added":true,"email":"rosa@quarry.example","firstName":"Rosa"}`)),
		w.Row("secrets", json.RawMessage(`{"id":3,"name":"KEY"}`)),
		w.Close(), file.Close())
	if err != nil {
		t.Fatal(err)
	}
	companies := func() int64 { return s.Number(`SELECT count(*) FROM customers WHERE name = 'Quarry'`) }
	expect := func(wantCode int, want string, args ...string) {
		t.Helper()
		code, out, fault := run(append([]string{"customer", "import"}, args...)...)
		if code != wantCode || !strings.Contains(out+fault, want) {
			t.Errorf("%q: %d %q is not in %s%s", args, code, want, out, fault)
		}
	}
	expect(exitUsage, "one archive is needed")
	expect(exitFault, "no such file", "nowhere.tar.gz")
	expect(exitFault, "company", "--parent", "4711", path)
	expect(exitOK, `"Quarry" can be imported below the company 1. Nothing was written. There would be made:`, "--dry-run", path)
	if companies() != 0 {
		t.Error("a dry run has made it")
	}
	expect(exitOK, `"status": "imported"`, "--json", path)
	expect(exitOK, "Left out:\n  1 secrets: their values are not in the archive", path)
	expect(exitOK, `was imported below the company 1 before`, path)
	expect(exitOK, "The archive says that it leaves out:\n  what takes the right audit.read", path)
	if companies() != 1 {
		t.Errorf("there are %d", companies())
	}
	if err := os.WriteFile(path, []byte("no archive"), 0o600); err != nil {
		t.Fatal(err)
	}
	expect(exitFault, "canopy customer import: the archive: ", path)
}
