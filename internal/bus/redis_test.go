package bus

import (
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// server is a real Redis that a test can stop, freeze and start again on the same port.
type server struct {
	t    *testing.T
	port string
	cmd  *exec.Cmd
}

func startRedis(t *testing.T) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, port: strconv.Itoa(l.Addr().(*net.TCPAddr).Port)}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	s.start()
	t.Cleanup(s.stop)
	return s
}

func (s *server) start() {
	s.t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		s.t.Skip("there is no redis-server here")
	}
	s.cmd = exec.Command(path, "--port", s.port, "--bind", "127.0.0.1", "--save", "", "--dir", s.t.TempDir())
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	client := s.client()
	defer func() { _ = client.Close() }()
	eventually(s.t, "redis answers", func() bool { return client.Ping(s.t.Context()).Err() == nil })
}

// stop ends the server, as far as it runs.
func (s *server) stop() {
	if s.cmd != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}

// freeze leaves the connections open and answers nothing.
func (s *server) freeze() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		s.t.Fatal(err)
	}
}

func (s *server) client() redis.UniversalClient {
	return redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + s.port})
}

// bus is a process of its own, as far as buses are concerned.
func (s *server) bus() *Bus {
	client := s.client()
	b := New(client, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	s.t.Cleanup(func() {
		b.Close()
		_ = client.Close()
	})
	return b
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(15 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("it never came to be that %s", what)
		}
	}
}
