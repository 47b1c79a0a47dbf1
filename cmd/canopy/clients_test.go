package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// needsClients passes a test over unless real clients from npm are asked for: `make clients`.
func needsClients(t *testing.T) {
	t.Helper()
	if os.Getenv("CANOPY_CLIENTS") == "" {
		t.Skip("real clients from npm are tried by make clients")
	}
}

// inFolder copies a folder of testdata to a temporary place, installs its packages, and gives it.
func inFolder(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/"+name)); err != nil {
		t.Fatal(err)
	}
	runIn(t, dir, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts")
	return dir
}

func runIn(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func TestClientsOfTheTokenEndpoint(t *testing.T) {
	needsClients(t)
	s := newStack(t)
	out := runIn(t, inFolder(t, "clients"), "node", "tokens.mjs", s.url, s.info.ClientID, s.info.ClientSecret)
	if n := strings.Count(out, "ok "); n != 6 {
		t.Fatalf("%d of 6 checks:\n%s", n, out)
	}
}
