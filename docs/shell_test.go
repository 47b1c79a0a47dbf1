// Package docs holds the pages for people, and the tests that try what they say.
package docs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// shells are as people have them open, without the settings of anybody.
var shells = map[string][]string{
	"bash": {"bash", "--noprofile", "--norc", "--noediting", "-i"},
	"zsh":  {"zsh", "-f", "-i"},
}

// programs are what the pages run. Each stands in for itself: it writes down what it was called with.
var programs = []string{
	"make", "curl", "jq", "openssl", "npm", "go", "python3", "rclone", "pg_dump", "docker", "helm", "kubectl", "canopy", "bin/canopy", "examples/tour/tour.sh", "examples/page/index.html",
}

const standIn = `#!/bin/sh
{ printf '%s' "${0##*/}"; printf ' <%s>' "$@"; } >"$(mktemp "$CALLS/XXXXXXXXXX")"
echo 7
`

var block = regexp.MustCompile("(?s)\n```sh\n(.*?)```\n")

// TestBlocksCanBePasted pastes every block of shell on the pages into both shells: each program is
// called with the same words, and the shell has nothing to complain of. zsh, as it comes, takes a #
// after a command for a word, and an unquoted ? for a pattern that must match.
func TestBlocksCanBePasted(t *testing.T) {
	tried := 0
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range block.FindAllStringSubmatch(string(text), -1) {
			tried++
			t.Run(fmt.Sprint(strings.TrimPrefix(page, "../"), " ", i+1), func(t *testing.T) {
				inBash, inZsh := paste(t, "bash", m[1]), paste(t, "zsh", m[1])
				if inBash == "" || inBash != inZsh || strings.Contains(inZsh, " <#") {
					t.Errorf("bash calls\n%s\nzsh calls\n%s", inBash, inZsh)
				}
			})
		}
	}
	if tried < 15 {
		t.Errorf("only %d blocks were found", tried)
	}
}

// pages are all that are for people.
func pages(t *testing.T) (list []string) {
	t.Helper()
	for _, pattern := range []string{"../*.md", "*.md", "../examples/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, found...)
	}
	return list
}

// usual is what bash says when it is interactive and has no terminal.
var usual = regexp.MustCompile(`^bash: (cannot set terminal process group|no job control|.*tcsetattr)`)

// paste gives a shell a text as its input, and tells what it called, sorted: what a pipe joins begins
// in any order.
func paste(t *testing.T, shell, text string) string {
	t.Helper()
	dir := t.TempDir()
	calls := filepath.Join(dir, "calls")
	for _, name := range append([]string{"body.json"}, programs...) {
		write(t, filepath.Join(dir, name), standIn)
	}
	if err := os.Mkdir(calls, 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, shells[shell][0], shells[shell][1:]...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(text+"\nexit 0\n")
	cmd.Env = []string{"PATH=" + dir + ":/usr/bin:/bin", "HOME=" + dir, "CALLS=" + calls, "PS1=", "PS2=", "LC_ALL=C.UTF-8", "TERM=dumb"}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		t.Errorf("%s: %v: %s", shell, err, said.String())
	}
	for line := range strings.Lines(said.String()) {
		if strings.HasPrefix(line, shell+": ") && !usual.MatchString(line) {
			t.Errorf("%s", line)
		}
	}
	return made(t, calls)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// made are the calls that were written down.
func made(t *testing.T, calls string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(calls, "*"))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(text))
	}
	slices.Sort(list)
	return strings.Join(list, "\n")
}
