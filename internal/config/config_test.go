package config

import (
	"encoding/base64"
	"encoding/pem"
	"errors"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"canopy/internal/quota"
)

type environment map[string]string

func (e environment) get(name string) string { return e[name] }

var otherKey = base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32)))

var testKey = base64.StdEncoding.EncodeToString(make([]byte, 32))

// server is the least that Server starts on.
func server() environment {
	return environment{"DATABASE_URL": "postgres://u:p@db/canopy", "REDIS_URL": "redis://cache", "CANOPY_SECRET_KEY": testKey}
}

func load(t *testing.T, mode Mode, e environment) *Config {
	t.Helper()
	c, err := Load(mode, e.get)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// faults are the variables that an error names.
func faults(t *testing.T, err error) (names []string) {
	t.Helper()
	var all interface{ Unwrap() []error }
	if !errors.As(err, &all) {
		t.Fatalf("not joined: %v", err)
	}
	for _, e := range all.Unwrap() {
		var f *Fault
		if !errors.As(e, &f) {
			t.Fatalf("not a fault: %v", e)
		}
		names = append(names, f.Name)
	}
	slices.Sort(names)
	return names
}

func TestDefaults(t *testing.T) {
	dev := load(t, Dev, environment{})
	if dev.Listen != "127.0.0.1:8080" || dev.PublicURL.String() != "http://127.0.0.1:8080" || dev.SecretKeys != nil {
		t.Errorf("dev: %+v", dev)
	}
	c := load(t, Server, server())
	if c.Listen != ":8080" || c.PublicURL.String() != "http://localhost:8080" || len(c.SecretKeys) != 1 || len(c.SecretKeys[0]) != 32 {
		t.Errorf("server: %+v", c)
	}
	if c.RateLimit != 6000 || c.MaxCost != 50000 || c.CostLimit != 600000 || !c.Introspection ||
		c.VectorCache != 256<<20 || c.VectorDisk != 4<<30 || c.VectorDir != "" || c.WebhookRetention != 30*24*time.Hour || c.RunRetention != 30*24*time.Hour || c.AuditRetention != 400*24*time.Hour ||
		c.MonthsFrom != 20_000_000 || c.EraseAfter != 30*24*time.Hour || c.MaxImport != 10<<30 {
		t.Errorf("limits: %+v", c)
	}
	if w := load(t, Worker, server()); w.VectorCache != 64<<20 {
		t.Errorf("worker: %+v", w)
	}
	if dev.Drain != 0 || c.Drain != 5*time.Second || c.DBMaxConns != 0 {
		t.Errorf("drain %v, connections %d", c.Drain, c.DBMaxConns)
	}
	if !dev.LocalOrigins || c.LocalOrigins || load(t, Worker, server()).LocalOrigins {
		t.Error("pages of this machine are let in by dev, and by nothing else")
	}
	if c.CORSOrigins != nil || c.TrustedProxies != nil || c.WebhookAllow != nil {
		t.Errorf("lists: %+v", c)
	}
}

func TestRequired(t *testing.T) {
	for _, c := range []struct {
		name string
		mode Mode
		want []string
	}{
		{"dev", Dev, nil},
		{"schema", Schema, []string{"DATABASE_URL"}},
		{"tool", Tool, []string{"CANOPY_SECRET_KEY", "DATABASE_URL"}},
		{"server", Server, []string{"CANOPY_SECRET_KEY", "DATABASE_URL", "REDIS_URL"}},
		{"worker", Worker, []string{"CANOPY_SECRET_KEY", "DATABASE_URL", "REDIS_URL"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Load(c.mode, environment{}.get)
			if c.want == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if got := faults(t, err); !slices.Equal(got, c.want) {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestValues(t *testing.T) {
	roots := rootsFile(t)
	ownLimits := quota.Defaults()
	ownLimits[quota.Users], ownLimits[quota.StorageBytes] = 7, 2<<40
	ownLimits[quota.RequestsPerMinute], ownLimits[quota.CostPerMinute] = 60_000, 6_000_000
	delete(ownLimits, quota.Contexts)
	for _, c := range []struct {
		name, value string
		field       string
		want        any
	}{
		{"CANOPY_LISTEN", "[::1]:9000", "Listen", "[::1]:9000"},
		{"CANOPY_SECRET_KEY", " " + otherKey + ",\n" + testKey + " ", "SecretKeys", [][]byte{[]byte(strings.Repeat("k", 32)), make([]byte, 32)}},
		{"CANOPY_BLOB_URL", "file:///srv/blobs", "BlobURL", "file:///srv/blobs"},
		{"CANOPY_BLOB_URL", " s3://b?region=eu\n", "BlobURL", "s3://b?region=eu"},
		{"CANOPY_SMTP_URL", "smtps://u:p@mail:465", "SMTPURL", "smtps://u:p@mail:465"},
		{"CANOPY_SMTP_URL", "smtp://mail", "SMTPURL", "smtp://mail"},
		{"CANOPY_SMTP_URL", "smtp://mail/?tls=none&from=Canopy+%3Ca@example.com%3E", "SMTPURL", "smtp://mail/?tls=none&from=Canopy+%3Ca@example.com%3E"},
		{"CANOPY_WEBHOOK_ALLOW", "10.1.2.3/8, ::1,", "WebhookAllow", []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}},
		{"CANOPY_TRUSTED_PROXIES", "192.0.2.7", "TrustedProxies", []netip.Prefix{netip.MustParsePrefix("192.0.2.7/32")}},
		{"CANOPY_WEBHOOK_CA", roots, "WebhookCA", roots},
		{"CANOPY_DNS", "127.0.0.1:53", "DNS", "127.0.0.1:53"},
		{"CANOPY_RATE_LIMIT", "0", "RateLimit", 0},
		{"CANOPY_MAX_COST", "7", "MaxCost", 7},
		{"CANOPY_LIMITS", "users=7, storageBytes = 2TiB,contexts=none", "Limits", ownLimits},
		{"CANOPY_INTROSPECTION", "OFF", "Introspection", false},
		{"CANOPY_INTROSPECTION", "1", "Introspection", true},
		{"CANOPY_PORTAL_ORIGINS", "https://App.example.com,http://localhost:3000", "PortalOrigins", []string{"https://app.example.com", "http://localhost:3000"}},
		{"CANOPY_CORS_ORIGINS", "https://App.example.com/,http://localhost:3000,https://a:443", "CORSOrigins", []string{"https://app.example.com", "http://localhost:3000", "https://a"}},
		{"CANOPY_VECTOR_CACHE", "1048576", "VectorCache", int64(1 << 20)},
		{"CANOPY_VECTOR_CACHE", "2 GiB", "VectorCache", int64(2 << 30)},
		{"CANOPY_VECTOR_CACHE", "0", "VectorCache", int64(0)},
		{"CANOPY_VECTOR_DISK", "0", "VectorDisk", int64(0)},
		{"CANOPY_VECTOR_DISK", "20GiB", "VectorDisk", int64(20 << 30)},
		{"CANOPY_VECTOR_DIR", "/data/indexes", "VectorDir", "/data/indexes"},
		{"CANOPY_WEBHOOK_RETENTION", "7d", "WebhookRetention", 7 * 24 * time.Hour},
		{"CANOPY_WEBHOOK_RETENTION", "90m", "WebhookRetention", 90 * time.Minute},
		{"CANOPY_ERASE_AFTER", "7d", "EraseAfter", 7 * 24 * time.Hour},
		{"CANOPY_MAX_IMPORT", "2GiB", "MaxImport", int64(2 << 30)},
		{"CANOPY_AUDIT_RETENTION", "90d", "AuditRetention", 90 * 24 * time.Hour},
		{"CANOPY_AUDIT_RETENTION", "OFF", "AuditRetention", time.Duration(0)},
		{"CANOPY_AUDIT_RETENTION", "0", "AuditRetention", time.Duration(0)},
		{"CANOPY_LOG_MONTHS", "1000", "MonthsFrom", 1000},
		{"CANOPY_LOG_MONTHS", "Off", "MonthsFrom", 0},
		{"CANOPY_DRAIN", "0", "Drain", time.Duration(0)},
		{"CANOPY_DRAIN", "1.5s", "Drain", 1500 * time.Millisecond},
		{"CANOPY_DRAIN", "10m", "Drain", 10 * time.Minute},
		{"CANOPY_DB_MAX_CONNS", "4", "DBMaxConns", 4},
		{"CANOPY_VECTOR_URL", "postgres://u:p@b:1/x", "VectorURL", "postgres://u:p@b:1/x"},
		{"CANOPY_VECTOR_CHUNKS", "1", "VectorChunks", 1},
		{"DATABASE_URL", "postgres://u:p@a:1,[::1]:2/x", "DatabaseURL", "postgres://u:p@a:1,[::1]:2/x"},
		{"CANOPY_DATABASE_READ_URL", "postgres://u:p@b:1,c:2/x", "DatabaseReadURL", "postgres://u:p@b:1,c:2/x"},
	} {
		t.Run(c.name+"="+filepath.Base(c.value), func(t *testing.T) {
			got := load(t, Dev, environment{c.name: c.value})
			if field := reflect.ValueOf(*got).FieldByName(c.field).Interface(); !reflect.DeepEqual(field, c.want) {
				t.Errorf("got %v, not %v", field, c.want)
			}
		})
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct{ name, value string }{
		{"DATABASE_URL", "mysql://u:hunter2@db/x"},
		{"DATABASE_URL", "postgres://u:hunter2%zz@db/x"},
		{"DATABASE_URL", "postgres://u:hunter2@db/x?sslmode=perhaps"},
		{"CANOPY_DATABASE_READ_URL", "postgres://u:hunter2@b:x/db"},
		{"REDIS_URL", "redis://:hunter2@a,b"},
		{"REDIS_URL", "cache:6379"},
		{"CANOPY_LISTEN", "8080"},
		{"CANOPY_LISTEN", ":http-alt"},
		{"CANOPY_LISTEN", ":65536"},
		{"CANOPY_PUBLIC_URL", "api.example.com"},
		{"CANOPY_PUBLIC_URL", "ftp://api.example.com"},
		{"CANOPY_PUBLIC_URL", "https://u:hunter2@api.example.com"},
		{"CANOPY_PUBLIC_URL", "https://api.example.com?x=1"},
		{"CANOPY_SECRET_KEY", "hunter2"},
		{"CANOPY_SECRET_KEY", base64.StdEncoding.EncodeToString(make([]byte, 31))},
		{"CANOPY_SECRET_KEY", testKey + ",hunter2"},
		{"CANOPY_SECRET_KEY", ","},
		{"CANOPY_SECRET_KEY", testKey + ";" + otherKey},
		{"CANOPY_SECRET_KEY", testKey + "," + otherKey + "," + testKey},
		{"CANOPY_BLOB_URL", "file://relative/path"},
		{"CANOPY_BLOB_URL", "s3://"},
		{"CANOPY_BLOB_URL", "gs://bucket"},
		{"CANOPY_EMBEDDINGS_API_KEY", "hunter2"},
		{"CANOPY_CHAT_MODEL", "alone"},
		{"CANOPY_RERANK_API_KEY", "hunter2"},
		{"CANOPY_RERANK_URL", "ftp://models"},
		{"CANOPY_OCR", "abbyy"},
		{"CANOPY_OCR_LANGUAGES", "--help"},
		{"CANOPY_OCR_LANGUAGES", "../eng"},
		{"CANOPY_SMTP_URL", "mail:25"},
		{"CANOPY_SMTP_URL", "smtp://"},
		{"CANOPY_SMTP_URL", "smtp://:587"},
		{"CANOPY_SMTP_URL", "smtp://mail:0"},
		{"CANOPY_SMTP_URL", "smtp://hunter2@mail"},
		{"CANOPY_SMTP_URL", "smtp://u:@mail"},
		{"CANOPY_SMTP_URL", "smtp://:hunter2@mail"},
		{"CANOPY_SMTP_URL", "smtp://mail/inbox"},
		{"CANOPY_SMTP_URL", "smtp://mail?from=nobody"},
		{"CANOPY_SMTP_URL", "smtp://mail?form=a@example.com"},
		{"CANOPY_SMTP_URL", "smtp://mail?tls=perhaps"},
		{"CANOPY_SMTP_URL", "smtps://mail?tls=none"},
		{"CANOPY_SMTP_URL", "smtp://u:99999?hunter2@mail"}, // a ? in the password
		{"CANOPY_SMTP_URL", "smtp://u:12#hunter2@mail"},
		{"CANOPY_WEBHOOK_ALLOW", "10.0.0.0/33"},
		{"CANOPY_WEBHOOK_ALLOW", "localhost"},
		{"CANOPY_TRUSTED_PROXIES", "fe80::1%eth0"},
		{"CANOPY_WEBHOOK_CA", "/no/such/file"},
		{"CANOPY_PASSKEY_DOMAIN", "example.com"}, // the address is localhost
		{"CANOPY_DNS", "127.0.0.1"},
		{"CANOPY_DNS", ":53"},
		{"CANOPY_WEBHOOK_CA", "config_test.go"},
		{"CANOPY_MONITOR_USER", "alone"},
		{"CANOPY_MONITOR_PASSWORD", "hunter2"},
		{"CANOPY_RATE_LIMIT", "-1"},
		{"CANOPY_RATE_LIMIT", "6e3"},
		{"CANOPY_MAX_COST", "2147483648"},
		{"CANOPY_INTROSPECTION", "perhaps"},
		{"CANOPY_CORS_ORIGINS", "*"},
		{"CANOPY_CORS_ORIGINS", "https://*.example.com"},
		{"CANOPY_CORS_ORIGINS", "https://a/path"},
		{"CANOPY_CORS_ORIGINS", "null"},
		{"CANOPY_PORTAL_ORIGINS", "*"},
		{"CANOPY_PORTAL_ORIGINS", "https://a;sandbox"},
		{"CANOPY_LIMITS", "users"},
		{"CANOPY_LIMITS", "users=-1"},
		{"CANOPY_LIMITS", "users=2KiB"},
		{"CANOPY_LIMITS", "user=1"},
		{"CANOPY_LIMITS", "storageBytes=99999TiB"},
		{"CANOPY_VECTOR_CACHE", "-1"},
		{"CANOPY_VECTOR_DISK", "some"},
		{"CANOPY_VECTOR_CACHE", "256MB"},
		{"CANOPY_VECTOR_CACHE", "9999999999GiB"},
		{"CANOPY_WEBHOOK_RETENTION", "30"},
		{"CANOPY_WEBHOOK_RETENTION", "0d"},
		{"CANOPY_WEBHOOK_RETENTION", "-1h"},
		{"CANOPY_WEBHOOK_RETENTION", "106752d"},
		{"CANOPY_ERASE_AFTER", "0d"},
		{"CANOPY_ERASE_AFTER", "off"},
		{"CANOPY_AUDIT_RETENTION", "400"},
		{"CANOPY_AUDIT_RETENTION", "-1d"},
		{"CANOPY_AUDIT_RETENTION", "never"},
		{"CANOPY_DRAIN", "5"},
		{"CANOPY_DRAIN", "-1s"},
		{"CANOPY_DRAIN", "601s"},
		{"CANOPY_DRAIN", "1d"},
		{"CANOPY_DB_MAX_CONNS", "3"},
		{"CANOPY_VECTOR_URL", "postgres://u:hunter2@b:x/db"},
		{"CANOPY_VECTOR_CHUNKS", "0"},
		{"CANOPY_VECTOR_CHUNKS", "many"},
		{"CANOPY_LOG_MONTHS", "0"},
		{"CANOPY_LOG_MONTHS", "20 million"},
		{"CANOPY_DB_MAX_CONNS", "many"},
		{"DATABASE_URL", "postgres://u:hunter2@a:1,b:x/db"},
	} {
		t.Run(c.name+"="+filepath.Base(c.value), func(t *testing.T) {
			got, err := Load(Dev, environment{c.name: c.value}.get)
			if err == nil || got != nil {
				t.Fatalf("taken: %+v", got)
			}
			names := faults(t, err)
			// A lone _MODEL or _API_KEY is told of with the _URL that it lacks.
			group := strings.Join(slices.Concat(strings.SplitAfterN(c.name, "_", 3), []string{""})[:2], "")
			if len(names) != 1 || names[0] != c.name && !strings.HasPrefix(names[0], group) {
				t.Errorf("names %v", names)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("shows a secret: %v", err)
			}
		})
	}
}

func TestAllFaultsAtOnce(t *testing.T) {
	e := server()
	e["REDIS_URL"], e["CANOPY_LISTEN"], e["CANOPY_CHAT_URL"], e["CANOPY_MAX_COST"] = "x", "x", "x", "x"
	delete(e, "DATABASE_URL")
	_, err := Load(Server, e.get)
	want := []string{"CANOPY_CHAT_MODEL", "CANOPY_CHAT_URL", "CANOPY_LISTEN", "CANOPY_MAX_COST", "DATABASE_URL", "REDIS_URL"}
	if got := faults(t, err); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

func TestPublicURL(t *testing.T) {
	for _, c := range []struct{ listen, public, want string }{
		{":9000", "", "http://localhost:9000"},
		{"0.0.0.0:9000", "", "http://localhost:9000"},
		{"[::]:9000", "", "http://localhost:9000"},
		{"[::1]:9000", "", "http://[::1]:9000"},
		{"", "https://api.example.com/", "https://api.example.com"},
		{"", "https://example.com/canopy//", "https://example.com/canopy"},
	} {
		e := environment{"CANOPY_LISTEN": c.listen, "CANOPY_PUBLIC_URL": c.public}
		if got := load(t, Dev, e).PublicURL.String(); got != c.want {
			t.Errorf("%v gives %s", e, got)
		}
	}
}

// TestPasskeyDomain: passkeys are for the platform's own host, or for a domain that it is in.
func TestPasskeyDomain(t *testing.T) {
	for _, c := range []struct {
		public, domain string
		good           bool
	}{
		{"https://api.example.com", "api.example.com", true},
		{"https://api.example.com", "Example.com", true},
		{"https://api.example.com", "", true},
		{"https://api.example.com", "com", false},
		{"https://api.example.com", "ample.com", false},
		{"https://api.example.com", "x.api.example.com", false},
		{"https://192.0.2.7", "0.2.7", false},
	} {
		e := environment{"CANOPY_PUBLIC_URL": c.public, "CANOPY_PASSKEY_DOMAIN": c.domain}
		got, err := Load(Dev, e.get)
		if (err == nil) != c.good || err == nil && got.PasskeyDomain != strings.ToLower(c.domain) {
			t.Errorf("%v: %v", e, err)
		}
	}
}

func TestWarnings(t *testing.T) {
	e := server()
	bare := strings.Join(load(t, Server, e).Warnings(), "\n")
	for _, name := range []string{"CANOPY_PUBLIC_URL", "CANOPY_BLOB_URL", "CANOPY_MONITOR_USER"} {
		if !strings.Contains(bare, name) {
			t.Errorf("no word of %s", name)
		}
	}
	e["CANOPY_PUBLIC_URL"], e["CANOPY_BLOB_URL"] = "https://api.example.com", "file:///srv/blobs"
	e["CANOPY_MONITOR_USER"], e["CANOPY_MONITOR_PASSWORD"] = "u", "hunter2"
	if got := load(t, Server, e).Warnings(); len(got) != 0 {
		t.Errorf("everything is set, but %v", got)
	}
	e["CANOPY_WEBHOOK_ALLOW"] = "127.0.0.0/8"
	if got := load(t, Server, e).Warnings(); len(got) != 1 || !strings.Contains(got[0], "127.0.0.0/8") {
		t.Errorf("got %v", got)
	}
}

// TestTableIsWhole compares the table with what Load reads.
func TestTableIsWhole(t *testing.T) {
	read := map[string]bool{}
	if _, err := Load(Dev, func(name string) string { read[name] = true; return "" }); err != nil {
		t.Fatal(err)
	}
	for _, v := range Variables() {
		if !read[v.Name] && !standard(v.Name) || v.Default == "" || v.Meaning == "" || len(v.modes) > 0 && v.Example == "" {
			t.Errorf("%+v", v)
		}
		delete(read, v.Name)
	}
	paper := repositoryFile(t, "docs/operations.md")
	for name := range read {
		if !standard(name) || !strings.Contains(paper, "`"+name+"`") {
			t.Errorf("read, but not described: %s", name)
		}
	}
}

// standard tells OpenTelemetry's own variables, of which there are more than a table should have, and which its SDK reads.
func standard(name string) bool { return strings.HasPrefix(name, "OTEL_") }

// TestReadmeTellsAll compares the README's table with what there is.
func TestReadmeTellsAll(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var want, told []string
	for _, v := range Variables() {
		want = append(want, v.Name)
	}
	for line := range strings.Lines(string(text)) {
		names, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " |")
		for name := range strings.SplitSeq(names, ", ") {
			if name = strings.Trim(name, "`"); slices.Contains(want, name) {
				told = append(told, name)
			}
		}
	}
	slices.Sort(want)
	slices.Sort(told)
	if !slices.Equal(told, want) {
		t.Errorf("the README's table has %v, the settings are %v", told, want)
	}
}

// TestNothingPanics gives any words to any variable: a fault, or a whole Config.
func TestNothingPanics(t *testing.T) {
	words := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z]{2,8}://[a-z:@%/?#.,\[\]0-9]{0,20}`), rapid.StringMatching(`-?[0-9]{1,20}[a-zA-Z]{0,3}`))
	rapid.Check(t, func(t *rapid.T) {
		e := environment{}
		for _, v := range Variables() {
			if v.Name != "CANOPY_WEBHOOK_CA" { // it would read files
				e[v.Name] = words.Draw(t, v.Name)
			}
		}
		c, err := Load(Dev, e.get)
		if (c == nil) == (err == nil) {
			t.Fatalf("%+v %v", c, err)
		}
		if c != nil && (c.PublicURL == nil || c.WebhookRetention <= 0 || c.RunRetention <= 0 || c.VectorCache < 0) {
			t.Fatalf("%+v", c)
		}
	})
}

// rootsFile is a PEM file with a certificate.
func rootsFile(t *testing.T) string {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	path := filepath.Join(t.TempDir(), "roots.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
