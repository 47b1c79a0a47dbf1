// Package scripts tests the scripts beside it, and what calls the targets of the Makefile.
package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// bare is a repository with the scripts and nothing else, from where no module can be had.
func bare(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "scripts"), os.DirFS(".")); err != nil {
		t.Fatal(err)
	}
	run(t, dir, nil, "git", "init", "--quiet")
	return dir
}

// run runs a program and gives what it says, and whether it succeeded.
func run(t *testing.T, dir string, env []string, name string, args ...string) (said string, ok bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), append([]string{"CI=", "GOPROXY=off", "GOFLAGS=", "GOMODCACHE=" + filepath.Join(dir, "modules")}, env...)...)
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

// TestLintWithoutTools: where the linters can't be had a person may go on, CI may not.
func TestLintWithoutTools(t *testing.T) {
	dir := bare(t)
	said, ok := run(t, dir, nil, "scripts/lint.sh")
	if !ok || !strings.Contains(said, "gofumpt is passed over") || !strings.Contains(said, "golangci-lint is passed over") {
		t.Errorf("%v: %s", ok, said)
	}
	if said, ok = run(t, dir, []string{"CI=true"}, "scripts/lint.sh"); ok || !strings.Contains(said, "gofumpt v") {
		t.Errorf("%v under CI: %s", ok, said)
	}
}

// TestVulnWithoutItsTool: a check that was not made is not passed.
func TestVulnWithoutItsTool(t *testing.T) {
	if said, ok := run(t, bare(t), nil, "scripts/vuln.sh"); ok || !strings.Contains(said, "nothing was checked") {
		t.Errorf("%v: %s", ok, said)
	}
}

// TestBootstrapFindsWhatTestsNeed: where nothing can be installed it names all that is missing, and fails.
func TestBootstrapFindsWhatTestsNeed(t *testing.T) {
	path := t.TempDir()
	for _, name := range []string{"sh", "dirname", "go", "id"} {
		program, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(program, filepath.Join(path, name)); err != nil {
			t.Fatal(err)
		}
	}
	said, ok := run(t, "..", []string{"PATH=" + path, "DATABASE_URL=set", "REDIS_URL=set"}, "scripts/bootstrap.sh", "tests")
	if ok || !strings.Contains(said, "please install:") || !strings.Contains(said, " zsh bash curl jq openssl node npm python3 (") {
		t.Errorf("%v: %s", ok, said)
	}
}

var (
	target = regexp.MustCompile(`(?m)^([a-z-]+):`)
	called = regexp.MustCompile("(?m)(?:^|`|run: )make ([a-z-]+)")
)

// TestCalledTargetsExist compares the Makefile with what the workflow and the papers call.
func TestCalledTargetsExist(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, found := range target.FindAllSubmatch(makefile, -1) {
		there[string(found[1])] = true
	}
	files, err := filepath.Glob("../*.md")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range append(files, "../.github/workflows/ci.yml", "../.ci/run") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range called.FindAllSubmatch(text, -1) {
			if name := string(found[1]); !there[name] {
				t.Errorf("%s calls make %s, which there is not", file, name)
			}
		}
	}
}
