package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"canopy/e2e/platform"
)

// shell is where commands are given, with a home of its own.
type shell struct {
	t   *testing.T
	env map[string]string
}

func newShell(t *testing.T) *shell { return &shell{t, map[string]string{"HOME": t.TempDir()}} }

// run gives a command, and answers what it asks.
func (s *shell) run(answers string, args ...string) (code int, out, fault string) {
	s.t.Helper()
	var stdout, stderr strings.Builder
	m := &Main{Stdin: strings.NewReader(answers), Stdout: &stdout, Stderr: &stderr, Getenv: func(name string) string { return s.env[name] }}
	code = m.Run(s.t.Context(), args)
	return code, stdout.String(), stderr.String()
}

// must gives a command that has to do its work.
func (s *shell) must(answers string, args ...string) string {
	s.t.Helper()
	code, out, fault := s.run(answers, args...)
	if code != exitOK {
		s.t.Fatalf("%q: %d %s", args, code, fault)
	}
	return out
}

// shown decodes what a command wrote as JSON.
func shown[T any](s *shell, args ...string) (v T) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(s.must("", append(args, "--json")...)), &v); err != nil {
		s.t.Fatal(err)
	}
	return v
}

func (s *shell) file() string { return filepath.Join(s.env["HOME"], ".config", "canopy", "login.json") }

// TestKeysOfAPlatform: whoever has signed in manages keys from anywhere, without the database.
func TestKeysOfAPlatform(t *testing.T) {
	t.Parallel()
	p := platform.Start(t)
	for name, login := range map[string]struct {
		answers string
		args    []string
	}{
		"by key":      {p.Demo.ClientSecret + "\n", []string{"--url", p.URL, "--client-id", p.Demo.ClientID}},
		"by password": {p.URL + "/\n" + p.Demo.AdminEmail + "\n" + p.Demo.AdminPassword + "\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShell(t)
			s.must(login.answers, append([]string{"login"}, login.args...)...)
			if info, err := os.Stat(s.file()); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("it is kept with %v %v", info, err)
			}
			if kept, _ := os.ReadFile(s.file()); strings.Contains(string(kept), p.Demo.AdminPassword) {
				t.Error("the password is kept")
			}
			made := shown[madeKey](s, "key", "create", "--name", "for "+name, "--email", p.Demo.AdminEmail)
			row := func() keyRow {
				for _, k := range shown[[]keyRow](s, "key", "list") {
					if k.ClientID == made.ClientID {
						return k
					}
				}
				t.Fatalf("%s is not listed", made.ClientID)
				return keyRow{}
			}
			if k := row(); k.Name != "for "+name || k.UserID == nil || *k.UserID != p.UserID(p.Demo.AdminEmail) || k.RevokedAt != nil {
				t.Errorf("%+v", k)
			}
			if table := s.must("", "key", "list"); !strings.HasPrefix(table, "CLIENT ID ") || !strings.Contains(table, made.ClientID) {
				t.Errorf("the table: %s", table)
			}
			rotated := shown[madeKey](s, "key", "rotate", made.ClientID, "--grace", "1h")
			if until := time.Until(*rotated.GraceEndsAt); rotated.ClientSecret == made.ClientSecret || until < 59*time.Minute || until > time.Hour {
				t.Errorf("%+v", rotated)
			}
			other := newShell(t)
			other.env["CANOPY_URL"], other.env["CANOPY_CLIENT_ID"], other.env["CANOPY_CLIENT_SECRET"] = p.URL, rotated.ClientID, rotated.ClientSecret
			other.must("", "key", "list")
			s.must("", "key", "revoke", made.ClientID)
			if k := row(); k.RevokedAt == nil {
				t.Errorf("%+v", k)
			}
			if code, _, fault := other.run("", "key", "list"); code != exitFault || strings.Count(fault, "\n") != 1 {
				t.Errorf("with a revoked key: %d %s", code, fault)
			}
			s.must("", "logout")
			if _, err := os.Stat(s.file()); !os.IsNotExist(err) {
				t.Errorf("after signing out: %v", err)
			}
			if code, _, fault := s.run("", "key", "list"); code != exitFault || !strings.Contains(fault, "canopy login") {
				t.Errorf("after signing out: %d %s", code, fault)
			}
		})
	}
	if n := p.Number("SELECT count(*) FROM sessions WHERE ended_at IS NULL"); n != 0 {
		t.Errorf("%d sessions are left open", n)
	}
}

// TestLoginsThatDoNotDo: nothing is kept of them, and nothing is taken from where others could read it.
func TestLoginsThatDoNotDo(t *testing.T) {
	t.Parallel()
	p := platform.Start(t)
	for name, c := range map[string]struct {
		answers string
		args    []string
		says    string
	}{
		"a wrong secret":   {"cnpy_wrong\n", []string{"--url", p.URL, "--client-id", p.Demo.ClientID}, "401"},
		"a wrong password": {"wrong password\n", []string{"--url", p.URL, "--email", p.Demo.AdminEmail}, "401"},
		"no answer":        {"", []string{"--url", p.URL}, "no answer"},
		"no address":       {"api.example.com\n", nil, "https://"},
		"nobody there":     {"", []string{"--url", "http://127.0.0.1:1"}, "no platform answers at http://127.0.0.1:1: "},
		"another server":   {"", []string{"--url", p.URL + "/console"}, "not a platform"},
		"both":             {"", []string{"--client-id", "a", "--email", "b@example.com"}, "either"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShell(t)
			code, _, fault := s.run(c.answers, append([]string{"login"}, c.args...)...)
			if _, err := os.Stat(s.file()); code == exitOK || !strings.Contains(fault, c.says) || !os.IsNotExist(err) {
				t.Errorf("%d %q %v", code, fault, err)
			}
		})
	}
	t.Run("a file for everybody", func(t *testing.T) {
		s := newShell(t)
		s.must(p.Demo.ClientSecret+"\n", "login", "--url", p.URL, "--client-id", p.Demo.ClientID)
		if err := os.Chmod(s.file(), 0o644); err != nil {
			t.Fatal(err)
		}
		if code, _, fault := s.run("", "key", "list"); code != exitFault || !strings.Contains(fault, "chmod 600") {
			t.Errorf("%d %s", code, fault)
		}
	})
	t.Run("another platform", func(t *testing.T) {
		s := newShell(t)
		s.must(p.Demo.ClientSecret+"\n", "login", "--url", p.URL, "--client-id", p.Demo.ClientID)
		if code, _, fault := s.run("", "key", "list", "--url", "http://127.0.0.1:1"); code != exitFault || !strings.Contains(fault, "who you are at http://127.0.0.1:1") {
			t.Errorf("the key is shown to another: %d %s", code, fault)
		}
	})
}

// TestNobodyListens: a command at a wrong address says so within seconds, what it waits for meanwhile, and what to look at.
func TestNobodyListens(t *testing.T) {
	t.Parallel()
	s, at := newShell(t), "http://127.0.0.1:1"
	s.env["CANOPY_URL"], s.env["CANOPY_CLIENT_ID"], s.env["CANOPY_CLIENT_SECRET"] = at, "key", "secret"
	begun := time.Now()
	code, _, fault := s.run("", "key", "list")
	waited, last, _ := strings.Cut(fault, "\n")
	if code != exitFault || time.Since(begun) > 10*time.Second {
		t.Errorf("%d after %v", code, time.Since(begun))
	}
	if !strings.HasPrefix(waited, "canopy: no platform answers at "+at+": ") || !strings.HasSuffix(waited, ": trying again") {
		t.Errorf("of the wait is told %q", waited)
	}
	if !strings.HasPrefix(last, "canopy key list: no platform answers at "+at+": ") || !strings.Contains(last, "CANOPY_URL") || strings.Count(last, "\n") != 1 {
		t.Errorf("told is %q", last)
	}
}

// TestCommandsRenewByTurns: a refresh token is good once, and commands that run at the same time don't end the session.
func TestCommandsRenewByTurns(t *testing.T) {
	t.Parallel()
	p := platform.Start(t)
	s := newShell(t)
	s.must(p.Demo.AdminPassword+"\n", "login", "--url", p.URL, "--email", p.Demo.AdminEmail)
	for range 2 {
		l, err := readLogin(s.file())
		if err != nil {
			t.Fatal(err)
		}
		l.Expires = time.Now() // the token is at its end
		if err := l.write(); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if code, _, fault := s.run("", "key", "list"); code != exitOK {
					t.Errorf("%d %s", code, fault)
				}
			})
		}
		all.Wait()
		if now, _ := readLogin(s.file()); now.RefreshToken == l.RefreshToken || time.Until(now.Expires) < 10*time.Minute {
			t.Errorf("it was not renewed: %+v", now)
		}
	}
}

// TestImportsByLogin: what uploads and adds people works by the login, too.
func TestImportsByLogin(t *testing.T) {
	t.Parallel()
	p := platform.Start(t)
	s := newShell(t)
	s.must(p.Demo.AdminPassword+"\n", "login", "--url", p.URL, "--email", p.Demo.AdminEmail)
	dir := t.TempDir()
	for name, text := range map[string]string{"a.txt": "bees make honey", "people.csv": "email\nnew@example.com\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	id := p.NewContext(p.Assistant(), "Handbook")
	if out := s.must("", "context", "import", "--context", platform.Decimal(id), filepath.Join(dir, "a.txt")); !strings.HasPrefix(out, "1 uploaded") {
		t.Error(out)
	}
	s.must("", "user", "import", filepath.Join(dir, "people.csv"))
	if p.UserID("new@example.com") == 0 {
		t.Error("nobody was added")
	}
}
