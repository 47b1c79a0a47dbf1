package platform

import (
	"bytes"
	"io/fs"
	"mime"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BrowserTests is where `make test-browser` and `make clients` leave what they make of console/test.
const BrowserTests = "../../console/out"

// Browse runs a file of BrowserTests, which does in a browser what a person does, and gives what it has said. It is told who the root
// company's owner is, and what the settings say (NAME=value).
func (s *Platform) Browse(file string, settings ...string) string {
	s.T.Helper()
	cmd := exec.CommandContext(s.T.Context(), "node", "--test", "--test-reporter=spec", "--test-timeout=300000", filepath.Join(BrowserTests, file))
	cmd.Env = append(os.Environ(), "CANOPY_EMAIL="+DemoAdmin, "CANOPY_PASSWORD="+s.Demo.AdminPassword)
	cmd.Env = append(cmd.Env, settings...)
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(os.Interrupt) }, 10*time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil || !strings.Contains(out.String(), "fail 0") || strings.Contains(out.String(), "tests 0") {
		s.T.Errorf("%v\n%s", err, out.String())
	}
	return out.String()
}

// Serve serves pages at an origin of their own, http://localhost:PORT, and gives that; replace is as in strings.NewReplacer, for
// what stands in the text of the files.
func Serve(t *testing.T, files fs.FS, replace ...string) (origin string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		if name == "" {
			name = "index.html"
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
		_, _ = strings.NewReplacer(replace...).WriteString(w, string(text))
	}))
	t.Cleanup(server.Close)
	return Localhost(server.URL)
}

// Localhost names the address of a server of this machine as pages do. Those of one name are of the same site, whatever their ports.
func Localhost(address string) string { return strings.Replace(address, "127.0.0.1", "localhost", 1) }
