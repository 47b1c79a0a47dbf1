package main

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"canopy/db"
	"canopy/db/pgvector"
	"canopy/e2e/platform"
	"canopy/internal/app/doctor"
	"canopy/internal/devstack"
	"canopy/internal/devstack/devtest"
	"canopy/jobs"
)

// examined runs doctor on settings, and gives what it found by the name of what was looked at.
func examined(t *testing.T, settings map[string]string, args ...string) (code int, found map[string][]doctor.Finding) {
	t.Helper()
	var out, fault strings.Builder
	m := &Main{Stdout: &out, Stderr: &fault, Getenv: func(name string) string { return settings[name] }}
	code = m.Run(t.Context(), append([]string{"doctor", "--json"}, args...))
	var report struct {
		Healthy bool
		Checks  []doctor.Finding
	}
	if err := json.Unmarshal([]byte(out.String()), &report); err != nil {
		t.Fatalf("%d %q %q: %v", code, out.String(), fault.String(), err)
	}
	if report.Healthy != (code == exitOK) || (code != exitOK) != strings.Contains(fault.String(), errUnhealthy.Error()) {
		t.Errorf("%d beside healthy=%t and %q", code, report.Healthy, fault.String())
	}
	found = map[string][]doctor.Finding{}
	for _, f := range report.Checks {
		found[f.Check] = append(found[f.Check], f)
	}
	return code, found
}

// expect compares what was found with what begins each expectation: the status, and a part of the detail.
func expect(t *testing.T, found map[string][]doctor.Finding, check string, status doctor.Status, part string) {
	t.Helper()
	for _, f := range found[check] {
		if f.Status == status && strings.Contains(f.Detail, part) {
			if f.Advice == "" && status == doctor.Fault {
				t.Errorf("%s: nothing says what to do", check)
			}
			return
		}
	}
	t.Errorf("%s is %+v, not %s %q", check, found[check], status, part)
}

// deployed are the settings of a platform, as serve has them.
func deployed(s *platform.Platform) map[string]string {
	return map[string]string{
		"DATABASE_URL": s.App.Config.DatabaseURL, "REDIS_URL": s.App.Config.RedisURL, "CANOPY_PUBLIC_URL": s.URL, "CANOPY_BLOB_URL": s.App.Config.BlobURL,
		"CANOPY_SECRET_KEY": base64.StdEncoding.EncodeToString(s.App.Config.SecretKeys[0]),
	}
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	post := platform.NewReceiver(t, nil)
	settings := deployed(s)
	settings["CANOPY_WEBHOOK_ALLOW"], settings["CANOPY_WEBHOOK_CA"] = "127.0.0.0/8", filepath.Join(t.TempDir(), "roots.pem")
	roots := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: post.Certificate().Raw})
	if err := os.WriteFile(settings["CANOPY_WEBHOOK_CA"], roots, 0o600); err != nil {
		t.Fatal(err)
	}
	_, found := examined(t, settings, "--egress", post.URL)
	expect(t, found, "durability", doctor.Fault, "fsync=off") // of a server for tests
	for check, part := range map[string]string{
		"settings": "", "postgresql": "takes writes", "pooler": "", "extensions": "none is needed", "schema": "is this program's", "secret key": "opens",
		"redis": "standalone", "blob store": "a folder", "clock of PostgreSQL": "", "clock of Redis": "", "webhook egress": "was reached",
	} {
		expect(t, found, check, doctor.OK, part)
	}
	expect(t, found, "mail server", doctor.Warning, "there is none")
	expect(t, found, "workers", doctor.Warning, "none runs")
	expect(t, found, "public address", doctor.Warning, "can be read on the way")
	expect(t, found, "webhook egress", doctor.Warning, "not public")
	if n := s.Number("SELECT count(*) FROM sealing_keys"); n != 1 {
		t.Errorf("%d sealing keys are known afterwards", n)
	}
}

// TestDoctorTellsWhoSealsWithAnotherKey: a process that was not given a new key before others seal with it can't open what they seal.
func TestDoctorTellsWhoSealsWithAnotherKey(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	older := s.App.Config.SecretKeys[0]
	newer := []byte(strings.Repeat("n", 32))
	devtest.Check(t, jobs.UseSealingKey(t.Context(), s.App.Store, newBox(t, newer, older)))
	settings := deployed(s)
	_, settings["CANOPY_SECRET_KEY"], _ = strings.Cut(platform.SecretKeys(newer, older), "=")
	_, found := examined(t, settings)
	expect(t, found, "secret key", doctor.Warning, "a process runs that seals with "+newBox(t, older).KeyIDs()[0]+", and the newest key here is "+newBox(t, newer).KeyIDs()[0])
	s.SQL(`UPDATE sealing_keys SET used_at = now() - interval '2 minutes' WHERE id = $1`, newBox(t, older).KeyIDs()[0])
	_, found = examined(t, settings)
	for _, f := range found["secret key"] {
		if strings.Contains(f.Detail, "a process runs") {
			t.Errorf("once it has ended: %s", f.Detail)
		}
	}
}

// TestDoctorFindsFaults breaks one part after the other: each is named, with what to do, and the others are looked at all the same.
func TestDoctorFindsFaults(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	for name, c := range map[string]struct {
		set         map[string]string
		check, part string
	}{
		"a setting that can't be read": {map[string]string{"CANOPY_RATE_LIMIT": "-1"}, "settings", "CANOPY_RATE_LIMIT"},
		"no database":                  {map[string]string{"DATABASE_URL": "postgres://u:hunter2@127.0.0.1:1/x?sslmode=disable"}, "postgresql", "connection refused"},
		"a database without TLS":       {map[string]string{"DATABASE_URL": strings.Replace(s.App.Config.DatabaseURL, "sslmode=disable", "sslmode=require", 1)}, "postgresql", "add sslmode=disable"},
		"no Redis":                     {map[string]string{"REDIS_URL": "redis://:hunter2@127.0.0.1:1"}, "redis", "connection refused"},
		"a server for a cluster":       {map[string]string{"REDIS_URL": strings.Replace(s.App.Config.RedisURL, "redis://", "redis-cluster://", 1)}, "redis", ""},
		"another secret key":           {map[string]string{"CANOPY_SECRET_KEY": base64.StdEncoding.EncodeToString([]byte(strings.Repeat("o", 32)))}, "secret key", "lacks a key"},
		"no bucket":                    {map[string]string{"CANOPY_BLOB_URL": "file:///dev/null/blobs"}, "blob store", "not a directory"},
		"no mail server":               {map[string]string{"CANOPY_SMTP_URL": "smtp://u:hunter2@127.0.0.1:1"}, "mail server", "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			settings := deployed(s)
			for k, v := range c.set {
				settings[k] = v
			}
			code, found := examined(t, settings)
			if code != exitFault {
				t.Errorf("the exit code is %d", code)
			}
			expect(t, found, c.check, doctor.Fault, c.part)
			for check, list := range found {
				for _, f := range list {
					if f.Status == doctor.Fault && check != c.check && check != "durability" {
						t.Errorf("%s: %+v", check, f)
					}
					if strings.Contains(f.Detail+f.Advice, "hunter2") {
						t.Errorf("%s shows a password: %+v", check, f)
					}
				}
			}
		})
	}
	t.Run("egress to an address that is not public", func(t *testing.T) {
		_, found := examined(t, deployed(s), "--egress", "https://127.0.0.1:1/")
		expect(t, found, "webhook egress", doctor.Fault, "was not reached")
	})
}

// TestDoctorOnAFirstDay: on a server as one would have it, what has to be done first is said, and then nothing is left to do.
func TestDoctorOnAFirstDay(t *testing.T) {
	t.Parallel()
	server, settings := lasting(t)
	code, found := examined(t, settings)
	expect(t, found, "postgresql", doctor.OK, "takes writes")
	expect(t, found, "durability", doctor.OK, "stays")
	expect(t, found, "schema", doctor.Fault, "canopy migrate up")
	expect(t, found, "secret key", doctor.Unknown, "could not be asked")
	if code != exitFault {
		t.Errorf("the exit code is %d", code)
	}
	if err := db.Migrate(t.Context(), server.URL()); err != nil {
		t.Fatal(err)
	}
	code, found = examined(t, settings)
	expect(t, found, "schema", doctor.OK, "is this program's")
	expect(t, found, "secret key", doctor.OK, "opens")
	if code != exitOK {
		t.Errorf("a platform that works: %+v", found)
	}
}

// lasting is a server as one would have it, with the settings of a platform on it.
func lasting(t *testing.T) (*devstack.Postgres, map[string]string) {
	t.Helper()
	server, err := devstack.StartPostgres(t.Context(), devstack.PostgresOptions{Dir: t.TempDir(), Durable: true, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Remove)
	return server, map[string]string{
		"DATABASE_URL": server.URL(), "REDIS_URL": devtest.Redis(t), "CANOPY_BLOB_URL": "file://" + t.TempDir(),
		"CANOPY_SECRET_KEY": base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32))),
	}
}

// TestDoctorBehindAPooler: PgBouncer does in session mode, and is named where it would mix up what is prepared.
func TestDoctorBehindAPooler(t *testing.T) {
	t.Parallel()
	server, settings := lasting(t)
	if err := db.Migrate(t.Context(), server.URL()); err != nil {
		t.Fatal(err)
	}
	tracks, err := devstack.PgBouncerTracks()
	if err != nil {
		t.Fatal(err)
	}
	mixing := map[string]string{"pool_mode": "transaction"}
	if tracks {
		mixing["max_prepared_statements"] = "0"
	}
	for _, c := range []struct {
		pooler map[string]string
		status doctor.Status
	}{{map[string]string{"pool_mode": "session"}, doctor.OK}, {mixing, doctor.Fault}} {
		b, err := devstack.StartPgBouncer(t.Context(), server, c.pooler)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Remove)
		settings["DATABASE_URL"] = b.URL()
		code, found := examined(t, settings)
		expect(t, found, "pooler", c.status, "")
		if (code == exitOK) != (c.status == doctor.OK) {
			t.Errorf("%v: the exit code is %d: %+v", c.pooler, code, found)
		}
	}
}

// TestDoctorBesideAStandby: one that follows is counted, and one that is named in place of the primary is told from it.
func TestDoctorBesideAStandby(t *testing.T) {
	t.Parallel()
	server, settings := lasting(t)
	if err := db.Migrate(t.Context(), server.URL()); err != nil {
		t.Fatal(err)
	}
	_, found := examined(t, settings)
	expect(t, found, "replication", doctor.Warning, "no standby is connected")
	standby := devtest.Standby(t, server)
	devtest.Eventually(t, "the standby is counted", func() bool {
		_, found = examined(t, settings)
		return len(found["replication"]) == 1 && found["replication"][0].Status == doctor.OK
	})
	expect(t, found, "replication", doctor.OK, "standbys: 1")
	for url, wanted := range map[string]doctor.Finding{
		standby.URL(): {Status: doctor.OK, Detail: "follows, and answers reads"},
		server.URL():  {Status: doctor.Warning, Detail: "follows no server"},
		"postgres://nobody@127.0.0.1:1/none?sslmode=disable": {Status: doctor.Warning, Detail: "does not answer"},
	} {
		settings["CANOPY_DATABASE_READ_URL"] = url
		_, found = examined(t, settings)
		expect(t, found, "replicas", wanted.Status, wanted.Detail)
	}
	both := devtest.Must[*url.URL](t)(url.Parse(server.URL()))
	both.Host += "," + devtest.Must[*url.URL](t)(url.Parse(standby.URL())).Host
	settings["CANOPY_DATABASE_READ_URL"] = both.String()
	_, found = examined(t, settings)
	expect(t, found, "replicas", doctor.OK, "follows no server, and is asked once it does")
	pool := devtest.Must[*sqlx.DB](t)(db.Connect(standby.URL(), db.Options{MaxConns: 1}))
	defer func() { _ = pool.Close() }()
	pool.MustExecContext(t.Context(), `ALTER SYSTEM SET primary_conninfo = ''`)
	pool.MustExecContext(t.Context(), `SELECT pg_reload_conf()`)
	settings["CANOPY_DATABASE_READ_URL"] = standby.URL()
	devtest.Eventually(t, "a standby that is cut off is told", func() bool {
		_, found = examined(t, settings)
		return len(found["replicas"]) == 1 && found["replicas"][0].Status == doctor.Warning
	})
	expect(t, found, "replicas", doctor.Warning, "not connected to its primary")
	delete(settings, "CANOPY_DATABASE_READ_URL")
	settings["DATABASE_URL"] = standby.URL() + "&target_session_attrs=any"
	code, found := examined(t, settings)
	expect(t, found, "postgresql", doctor.Fault, "a standby")
	if code != exitFault {
		t.Errorf("the exit code is %d", code)
	}
}

// TestDoctorBesideVectors: a database of vectors is one that has pgvector, and answers.
func TestDoctorBesideVectors(t *testing.T) {
	t.Parallel()
	server, settings := lasting(t)
	settings["CANOPY_VECTOR_URL"] = "postgres://nobody@127.0.0.1:1/none?sslmode=disable"
	_, found := examined(t, settings)
	expect(t, found, "vectors", doctor.Fault, "it does not answer")
	with := devtest.VectorDatabase(t)
	settings["CANOPY_VECTOR_URL"] = with
	_, found = examined(t, settings)
	expect(t, found, "vectors", doctor.OK, "which the first worker installs")
	store := devtest.Must[*pgvector.Store](t)(pgvector.Open(with, 1))
	defer func() { _ = store.Close() }()
	if err := store.Prepare(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	_, found = examined(t, settings)
	expect(t, found, "vectors", doctor.OK, "with pgvector 0.")
	if plain := devtest.Must[*pgvector.Store](t)(pgvector.Open(server.URL(), 1)); devtest.Must[pgvector.Server](t)(plain.Examine(t.Context())).Available == "" {
		_ = plain.Close()
		settings["CANOPY_VECTOR_URL"] = server.URL()
		_, found = examined(t, settings)
		expect(t, found, "vectors", doctor.Fault, "has no pgvector")
	}
}

func TestDoctorTellsPeople(t *testing.T) {
	code, out, fault := said(t, "doctor")
	if code != exitFault || !strings.Contains(out, "fault    settings") || !strings.Contains(out, "→ set it as said") || strings.Count(fault, "\n") != 1 {
		t.Errorf("%d %s %s", code, out, fault)
	}
}

// TestDoctorMissesOriginals: a folder that is empty, as one that is not mounted, is told where the database has documents.
func TestDoctorMissesOriginals(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	token := s.Assistant()
	if a := s.Upload(token, s.NewContext(token, "Handbook"), "a.txt", []byte("bees make honey")); a.Status != 200 {
		t.Fatalf("%s", a.Body)
	}
	settings := deployed(s)
	_, found := examined(t, settings)
	expect(t, found, "blob store", doctor.OK, "a folder")
	if list := found["originals"]; list != nil {
		t.Errorf("%+v", list)
	}
	there, empty := strings.TrimPrefix(settings["CANOPY_BLOB_URL"], "file://"), t.TempDir()
	settings["CANOPY_BLOB_URL"] = "file://" + empty
	_, found = examined(t, settings)
	expect(t, found, "blob store", doctor.OK, "a folder")
	expect(t, found, "originals", doctor.Warning, "not in the blob store")

	s.SQL(`INSERT INTO cell (number, region) VALUES (7, 'eu-7')`)
	settings["CANOPY_REGION"], settings["CANOPY_HOME_URL"] = "eu-7", settings["DATABASE_URL"]
	if err := os.CopyFS(filepath.Join(empty, db.BlobsOfCell(7)), os.DirFS(there)); err != nil {
		t.Fatal(err)
	}
	_, found = examined(t, settings)
	expect(t, found, "blob store", doctor.OK, "a folder")
	if list := found["originals"]; list != nil {
		t.Errorf("in a cell: %+v", list)
	}
}
