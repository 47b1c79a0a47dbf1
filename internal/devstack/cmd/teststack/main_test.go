package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want int
	}{
		{"success", []string{"--", "true"}, 0},
		{"failure", []string{"--", "sh", "-c", "exit 7"}, 7},
		{"without the dashes", []string{"sh", "-c", "exit 3"}, 3},
		{"ended by a signal", []string{"--", "sh", "-c", "kill -KILL $$"}, 128 + int(syscall.SIGKILL)},
		{"no such command", []string{"--", "/no/such/command"}, 127},
		{"no command", []string{"--"}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := run(c.args, "postgres://given", io.Discard); got != c.want {
				t.Errorf("exit code %d, not %d", got, c.want)
			}
		})
	}
}

func TestDatabaseIsNamed(t *testing.T) {
	ask := func(t *testing.T, given string) string {
		t.Helper()
		out := filepath.Join(t.TempDir(), "url")
		script := `printf %s "$CANOPY_TEST_DATABASE_URL" > ` + out
		if code := run([]string{"--", "sh", "-c", script}, given, os.Stderr); code != 0 {
			t.Fatalf("exit code %d", code)
		}
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if got := ask(t, "postgres://given"); got != "postgres://given" {
		t.Errorf("a given server became %q", got)
	}
	if got := ask(t, ""); !strings.HasPrefix(got, "postgres://canopy:") {
		t.Errorf("its own server is %q", got)
	}
}

func TestSignalsReachTheCommand(t *testing.T) {
	signals := make(chan os.Signal, 1)
	signals <- syscall.SIGTERM
	code, err := command([]string{"sleep", "60"}, "", signals)
	if code != 128+int(syscall.SIGTERM) || err == nil {
		t.Errorf("exit code %d: %v", code, err)
	}
}
