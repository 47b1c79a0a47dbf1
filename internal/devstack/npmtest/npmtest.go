// Package npmtest tries real clients and linters from npm in tests.
package npmtest

import (
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Project is a folder with files and, once installed, packages.
type Project struct {
	t   *testing.T
	dir string
}

// New copies files to a folder and installs packages there, those that a package.json names
// included. It takes Node.js, npm and a package registry, so tests with it run only when they are
// asked for: `make clients`, which finds them by Clients in their names.
func New(t *testing.T, files fs.FS, packages ...string) *Project {
	t.Helper()
	if os.Getenv("CANOPY_CLIENTS") == "" {
		t.Skip("real clients from npm are tried by make clients")
	}
	p := &Project{t, t.TempDir()}
	if err := os.CopyFS(p.dir, files); err != nil {
		t.Fatal(err)
	}
	p.Run("npm", append([]string{"install", "--no-audit", "--no-fund", "--loglevel", "error"}, packages...)...)
	return p
}

// Run runs a program in the folder and gives what it says; the test fails where the program does.
func (p *Project) Run(name string, args ...string) string {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), name, args...)
	cmd.Dir = p.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// Files gives what the programs have made.
func (p *Project) Files() fs.FS { return os.DirFS(p.dir) }
