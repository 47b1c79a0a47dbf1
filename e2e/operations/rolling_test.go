package operations

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/devstack"
	"canopy/internal/devstack/devtest"
)

// balancer gives each request to the next server that says that it is ready, once: what fails is
// lost. It keeps connections open, as balancers do.
type balancer struct {
	servers []*balanced
	next    atomic.Int64
}

// balanced is a server behind a balancer.
type balanced struct {
	address string
	ready   atomic.Bool

	mu   sync.Mutex
	life int // counts how often it was lost
	idle []net.Conn
}

// watch asks for readiness until the test ends.
func (b *balanced) watch(t *testing.T) {
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for t.Context().Err() == nil {
		ready := false
		if resp, err := client.Get("http://" + b.address + "/readyz"); err == nil {
			ready = resp.StatusCode == http.StatusOK
			_ = resp.Body.Close()
		}
		if b.ready.Swap(ready) && !ready {
			b.lose()
		}
		<-tick.C
	}
}

// lose gives the connections up.
func (b *balanced) lose() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.life++
	for _, c := range b.idle {
		_ = c.Close()
	}
	b.idle = nil
}

func (b *balanced) take() (c net.Conn, life int, err error) {
	b.mu.Lock()
	life = b.life
	if n := len(b.idle); n > 0 {
		c, b.idle = b.idle[n-1], b.idle[:n-1]
	}
	b.mu.Unlock()
	if c == nil {
		c, err = net.Dial("tcp", b.address)
	}
	return c, life, err
}

func (b *balanced) give(c net.Conn, life int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if life != b.life {
		_ = c.Close()
		return
	}
	b.idle = append(b.idle, c)
}

func (b *balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for range b.servers {
		if s := b.servers[int(b.next.Add(1))%len(b.servers)]; s.ready.Load() {
			if err := s.pass(w, r); err != nil {
				http.Error(w, s.address+": "+err.Error(), http.StatusBadGateway)
			}
			return
		}
	}
	http.Error(w, "nobody is ready", http.StatusBadGateway)
}

// pass sends one request, and its answer back.
func (b *balanced) pass(w http.ResponseWriter, r *http.Request) error {
	c, life, err := b.take()
	if err != nil {
		return err
	}
	if err := r.Write(c); err != nil {
		return err
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), r)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.Close {
		_ = c.Close()
	} else {
		b.give(c, life)
	}
	w.WriteHeader(resp.StatusCode)
	_, _ = w.Write(body)
	return nil
}

// serving are the settings of a server at an address.
func serving(s *platform.Platform, address string) []string {
	return []string{"CANOPY_LISTEN=" + address, "CANOPY_PUBLIC_URL=" + s.URL, "CANOPY_DRAIN=1s", "CANOPY_RATE_LIMIT=0", "CANOPY_COST_LIMIT=0"}
}

// server starts `canopy serve` at an address.
func server(t *testing.T, s *platform.Platform, address string) *platform.ProgramProcess {
	t.Helper()
	p := s.StartProgram(t, "serve", serving(s, address)...)
	t.Cleanup(p.Kill)
	return p
}

// TestRollingRestart restarts three servers behind a balancer, one after the other, under load.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	const requests = 2_000
	s := platform.Start(t)
	token := s.Root()
	f := newFleet(t, func(address string) *platform.ProgramProcess { return server(t, s, address) })
	f.under(t, token, requests, func() {
		for i := range f.servers {
			f.replace(t, i, func(address string) *platform.ProgramProcess { return server(t, s, address) })
		}
	})
}

// fleet is three servers behind a balancer.
type fleet struct {
	balancer
	processes []*platform.ProgramProcess
	good      atomic.Int64
}

// newFleet starts them, and waits until all are ready.
func newFleet(t *testing.T, start func(address string) *platform.ProgramProcess) *fleet {
	t.Helper()
	f := &fleet{}
	for range 3 {
		address, err := devstack.FreeAddress()
		if err != nil {
			t.Fatal(err)
		}
		one := &balanced{address: address}
		f.servers = append(f.servers, one)
		f.processes = append(f.processes, start(address))
		go one.watch(t)
	}
	for i, one := range f.servers {
		devtest.Eventually(t, "all are ready", one.ready.Load)
		t.Logf("%s is process %d", one.address, f.processes[i].Cmd.Process.Pid)
	}
	return f
}

// under does something under load, which goes on until it is done and there were so many requests. Each has to be answered.
func (f *fleet) under(t *testing.T, token string, requests int64, do func()) {
	t.Helper()
	front := httptest.NewServer(f)
	defer front.Close()
	var done atomic.Bool
	var all sync.WaitGroup
	for n := range 6 {
		all.Go(func() {
			for !done.Load() || f.good.Load() < requests {
				if err := askKind(front.URL, token, n); err != nil {
					t.Error(err)
					return
				}
				f.good.Add(1)
			}
		})
	}
	do()
	done.Store(true)
	all.Wait()
	t.Logf("%d requests, none of them lost: %v", f.good.Load(), !t.Failed())
}

// more waits for some requests to be answered.
func (f *fleet) more(t *testing.T) {
	t.Helper()
	before := f.good.Load()
	devtest.Eventually(t, "there is load", func() bool { return f.good.Load() > before+50 || t.Failed() })
}

// replace ends one of the servers and starts another in its place, under load.
func (f *fleet) replace(t *testing.T, i int, start func(address string) *platform.ProgramProcess) {
	t.Helper()
	one := f.servers[i]
	f.more(t)
	if err := f.processes[i].Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	devtest.Eventually(t, "it says that it ends", func() bool { return !one.ready.Load() })
	if err := f.processes[i].Cmd.Wait(); err != nil {
		t.Errorf("it ended with %v: %s", err, f.processes[i].Log)
	}
	f.processes[i] = start(one.address)
	devtest.Eventually(t, "it is back", one.ready.Load)
}

// askKind makes one request of several kinds, through either door.
func askKind(url, token string, kind int) error {
	method, path, body, want := "GET", "/tenant/customers", "", "Alpine Energy"
	switch kind % 3 {
	case 1:
		method, path, body, want = "POST", "/graphql", `{"query": "{ customer { users { nodes { email } } } }"}`, platform.DemoAdmin
	case 2:
		method, path, body, want = "PUT", "/tenant", `{"customerId": 1}`, ""
	}
	req, err := http.NewRequest(method, url+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && (resp.StatusCode/100 != 2 || !strings.Contains(string(answer), want)) {
		err = fmt.Errorf("lost: %s %s: %d %.200s", method, path, resp.StatusCode, answer)
	}
	return err
}
