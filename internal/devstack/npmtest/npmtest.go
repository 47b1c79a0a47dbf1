// Package npmtest tries real clients and linters from npm in tests.
package npmtest

import (
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Project is a folder with files and, once installed, packages.
type Project struct {
	t   *testing.T
	dir string
	env []string
}

// New copies files to a folder and installs packages there, those that a package.json names
// included. It takes Node.js, npm and a package registry, so tests with it run only when they are
// asked for: `make clients`, which finds them by Clients in their names.
func New(t *testing.T, files fs.FS, packages ...string) *Project {
	t.Helper()
	p := open(t)
	if err := os.CopyFS(p.dir, files); err != nil {
		t.Fatal(err)
	}
	p.Run("npm", append([]string{"install", "--no-audit", "--no-fund", "--loglevel", "error"}, packages...)...)
	return p
}

// Checkout copies parts of the repository, as they were checked out, to a folder where they lie as there. It installs nothing.
func Checkout(t *testing.T, repository string, parts ...string) *Project {
	t.Helper()
	p := open(t)
	for _, part := range parts {
		if err := filepath.WalkDir(filepath.Join(repository, part), func(file string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if entry.IsDir() && slices.Contains([]string{"node_modules", "dist", "out"}, entry.Name()) {
				return fs.SkipDir
			}
			return p.copy(repository, file, entry)
		}); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p *Project) copy(repository, file string, entry fs.DirEntry) error {
	name, err := filepath.Rel(repository, file)
	if err != nil {
		return err
	}
	to := filepath.Join(p.dir, name)
	if entry.IsDir() {
		return os.MkdirAll(to, 0o700)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o600)
}

// open makes the folder, or passes over a test that nobody asked for.
func open(t *testing.T) *Project {
	t.Helper()
	if os.Getenv("CANOPY_CLIENTS") == "" {
		t.Skip("real clients from npm are tried by make clients")
	}
	return &Project{t: t, dir: t.TempDir()}
}

// Client is what Checkout gives, with the project's client in TypeScript, built as `make client-ts` does, in its place.
func Client(t *testing.T, repository string, parts ...string) *Project {
	t.Helper()
	p := Checkout(t, repository, append(parts, "clients/typescript", "schema.graphql")...)
	client := p.Folder("clients/typescript")
	client.Install()
	client.Run("npm", "run", "build")
	return p
}

// Install installs what the folder's package-lock.json names.
func (p *Project) Install() {
	p.t.Helper()
	p.Run("npm", "ci", "--loglevel", "error")
}

// Folder is a folder of the project, with packages of its own.
func (p *Project) Folder(name string) *Project {
	return &Project{t: p.t, dir: filepath.Join(p.dir, name), env: p.env}
}

// Set sets a variable of the environment of the programs that are run.
func (p *Project) Set(name, value string) { p.env = append(p.env, name+"="+value) }

// Run runs a program in the folder and gives what it says; the test fails where the program does.
func (p *Project) Run(name string, args ...string) string {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), name, args...)
	cmd.Dir, cmd.Env = p.dir, append(os.Environ(), p.env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// Start runs a program in the folder until the test ends, and gives what it says.
func (p *Project) Start(name string, args ...string) io.Reader {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), name, args...)
	cmd.Dir, cmd.Env, cmd.Stderr = p.dir, append(os.Environ(), p.env...), p.t.Output()
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = cmd.Wait() }) // it was ended with the test
	return out
}

// Write writes a file.
func (p *Project) Write(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// Files gives what the programs have made.
func (p *Project) Files() fs.FS { return os.DirFS(p.dir) }
