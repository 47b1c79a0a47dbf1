package platform

import (
	"encoding/base64"
	"os"
	"os/exec"
	"strings"
	"testing"

	"canopy/internal/devstack/devtest"
)

// ProgramProcess is the program in a process of its own.
type ProgramProcess struct {
	Cmd *exec.Cmd
	Log *devtest.Log
}

// SecretKeys is the setting of the secret keys, the newest first.
func SecretKeys(keys ...[]byte) string {
	var list []string
	for _, k := range keys {
		list = append(list, base64.StdEncoding.EncodeToString(k))
	}
	return "CANOPY_SECRET_KEY=" + strings.Join(list, ",")
}

// StartWorker starts a worker that shares the platform's servers.
func (s *Platform) StartWorker(t *testing.T) *ProgramProcess {
	t.Helper()
	return s.StartProgram(t, "worker")
}

// StartProgram runs a command of the program on the platform's settings, and those given beside.
func (s *Platform) StartProgram(t *testing.T, command string, settings ...string) *ProgramProcess {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return s.start(t, exec.Command(program), append([]string{runVariable + "=" + command}, settings...))
}

// StartAnother does so with another build of the program.
func (s *Platform) StartAnother(t *testing.T, program, command string, settings ...string) *ProgramProcess {
	t.Helper()
	return s.start(t, exec.Command(program, command), settings)
}

func (s *Platform) start(t *testing.T, cmd *exec.Cmd, settings []string) *ProgramProcess {
	t.Helper()
	c := s.App.Config
	var allow []string
	for _, p := range c.WebhookAllow {
		allow = append(allow, p.String())
	}
	w := &ProgramProcess{Cmd: cmd, Log: &devtest.Log{}}
	w.Cmd.Env = append(os.Environ(), "DATABASE_URL="+c.DatabaseURL, "REDIS_URL="+c.RedisURL, "CANOPY_BLOB_URL="+c.BlobURL,
		SecretKeys(c.SecretKeys...), "CANOPY_EMBEDDINGS_URL="+c.Embeddings.URL,
		"CANOPY_EMBEDDINGS_API_KEY="+c.Embeddings.APIKey, "CANOPY_EMBEDDINGS_MODEL="+c.Embeddings.Model,
		"CANOPY_WEBHOOK_ALLOW="+strings.Join(allow, ","), "CANOPY_WEBHOOK_CA="+c.WebhookCA)
	w.Cmd.Env = append(w.Cmd.Env, settings...)
	w.Cmd.Stdout, w.Cmd.Stderr = w.Log, w.Log
	if err := w.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return w
}

// Kill ends it as nothing can be caught that ends it.
func (w *ProgramProcess) Kill() {
	_ = w.Cmd.Process.Kill()
	_ = w.Cmd.Wait()
}
