package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"canopy/e2e/platform"
)

func TestContextImport(t *testing.T) {
	s := platform.Start(t)
	token := s.Assistant()
	id := s.NewContext(token, "Handbook")
	dir := t.TempDir()
	write := func(name, content string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) (code int, out string) {
		var stdout, stderr bytes.Buffer
		env := map[string]string{"CANOPY_CLIENT_ID": s.Demo.ClientID, "CANOPY_CLIENT_SECRET": s.Demo.ClientSecret}
		m := &Main{Stdout: &stdout, Stderr: &stderr, Getenv: func(name string) string { return env[name] }}
		code = m.Run(t.Context(), append([]string{"context", "import", "--url", s.URL, "--context", strconv.FormatInt(id, 10)}, args...))
		return code, stdout.String() + stderr.String()
	}
	write("a.txt", "bees make honey")
	write("deep/er/b.md", "# Ships\n\nsail")
	write("deep/copy of a.txt", "bees make honey")
	write("picture.png", "\x89PNG")
	write(".hidden/c.txt", "not this")
	write("bad.pdf", "this is no PDF")
	code, out := run(dir)
	if code != exitFault || !strings.Contains(out, "2 uploaded") || !strings.Contains(out, "1 there already, 1 of other types left out, 1 failed") || !strings.Contains(out, "bad.pdf: ") {
		t.Errorf("%d %s", code, out)
	}
	if err := os.Remove(filepath.Join(dir, "bad.pdf")); err != nil {
		t.Fatal(err)
	}
	write("new.csv", "a,b\n1,2\n")
	if code, out := run(dir); code != exitOK || !strings.Contains(out, "1 uploaded (0.0 MiB), 3 there already") {
		t.Errorf("%d %s", code, out)
	}
	stop := s.Work(nil)
	if code, out := run("--wait", dir); code != exitOK || !strings.Contains(out, "0 uploaded") || !strings.Contains(out, "3 documents are ready, 0 failed\n") {
		t.Errorf("%d %s", code, out)
	}
	if err := os.WriteFile(filepath.Join(dir, "encrypted.pdf"), platform.Sample(t, "encrypted.pdf"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out := run("--wait", dir); code != exitFault || !strings.Contains(out, "1 uploaded") || !strings.Contains(out, "  encrypted.pdf: The PDF is encrypted.\n3 documents are ready, 1 failed\n") {
		t.Errorf("%d %s", code, out)
	}
	stop()
	names := []string{}
	for _, d := range s.Documents(token, id) {
		names = append(names, fmt.Sprint(d["originalName"]))
	}
	if got := strings.Join(names, " "); got != "a.txt b.md new.csv encrypted.pdf" {
		t.Errorf("uploaded: %s", got)
	}
	if code, out := run(filepath.Join(dir, "nothing.txt")); code != exitFault {
		t.Errorf("a file that is not there: %d %s", code, out)
	}
	if code, out := run(); code != exitUsage {
		t.Errorf("no path: %d %s", code, out)
	}
}
