package devstack

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// ownerFolder makes the test binary an owner of servers instead of running tests.
const ownerFolder = "DEVSTACK_TEST_OWNER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(ownerFolder); dir != "" {
		own(dir)
	}
	os.Exit(m.Run())
}

// own starts both servers, tells their addresses, and waits to be killed.
func own(dir string) {
	p, err := StartPostgres(context.Background(), PostgresOptions{Dir: filepath.Join(dir, "postgres")})
	if err == nil {
		var r *Redis
		if r, err = StartRedis(context.Background(), RedisOptions{Dir: filepath.Join(dir, "redis")}); err == nil {
			for range 20 {
				go runtime.Gosched()
				runtime.GC() // threads come and go; the servers stay
			}
			fmt.Println(p.URL(), r.port, r.password, p.data())
			select {}
		}
	}
	fmt.Println("error", err)
	os.Exit(1)
}

// TestTheOwnerIsKilled shows that no server outlives its owner, and that the next one gets on.
func TestTheOwnerIsKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells a child of its parent's death")
	}
	dir := testFolder(t)
	if err := os.Chmod(dir, 0o711); err != nil { // the server's account passes through
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), ownerFolder+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	var url, password, data string
	var port int
	if _, scanErr := fmt.Sscan(line, &url, &port, &password, &data); err != nil || scanErr != nil {
		t.Fatalf("the owner said %q: %v %v", line, err, scanErr)
	}
	query[int](t, url, "SELECT 1")
	if err := askRedis(t.Context(), port, password); err != nil {
		t.Fatal(err)
	}
	pid, err := postmasterPID(filepath.Join(data, "postmaster.pid"))
	if err != nil || !alive(pid) || !worksIn(pid, data) {
		t.Fatalf("postmaster %d: %v", pid, err)
	}
	if group, err := syscall.Getpgid(pid); err != nil || group != pid {
		t.Errorf("the server's process group is %d, so the terminal's Ctrl-C reaches it: %v", group, err)
	}
	if _, err := StartPostgres(t.Context(), PostgresOptions{Dir: filepath.Join(dir, "postgres")}); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a second owner: %v", err)
	}

	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	begun := time.Now()
	p := startTest(t, PostgresOptions{Dir: filepath.Join(dir, "postgres"), Log: testLog(t)})
	t.Logf("taken over in %v", time.Since(begun))
	if p.URL() != url {
		t.Errorf("the address is %s, before %s", p.URL(), url)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if !poll(ctx, func() bool { return askRedis(ctx, port, password) != nil }) {
		t.Error("Redis outlived its owner")
	}
	if alive(pid) && worksIn(pid, data) {
		t.Error("PostgreSQL outlived its owner")
	}
}

// TestOrphan ends a server that no death signal reached, as on systems that have none.
func TestOrphan(t *testing.T) {
	p := startTest(t, PostgresOptions{})
	pid := p.proc.cmd.Process.Pid
	p.proc.expected.Store(true)
	if err := endOrphan(t.Context(), p.data(), testLog(t)); err != nil {
		t.Fatal(err)
	}
	<-p.proc.done
	if alive(pid) {
		t.Error("it lives")
	}
	if err := endOrphan(t.Context(), p.data(), testLog(t)); err != nil {
		t.Errorf("with nothing there: %v", err)
	}
}
