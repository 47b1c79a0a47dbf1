// Package devtest gives tests a real PostgreSQL database and a real Redis of their own, and the
// patience for what happens in the background.
//
// One PostgreSQL serves a test run. Where CANOPY_TEST_DATABASE_URL names one, as it does under
// teststack, that is used: a superuser's URL; each test binary starts its own otherwise, when it
// first needs it. Main ends it.
package devtest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"testing"

	"canopy/internal/devstack"
)

// The servers of a whole test run: superuser URLs. Templates and databases are made on the first;
// on the second, numbered databases are emptied.
const (
	DatabaseVariable = "CANOPY_TEST_DATABASE_URL"
	RedisVariable    = "CANOPY_TEST_REDIS_URL"
)

// own is this test binary's own PostgreSQL.
var own struct {
	sync.Mutex
	postgres *devstack.Postgres
	err      error // of a start that failed: it is not tried for every test again
}

// Main runs a package's tests, ends the server that they started, and exits. It is for TestMain.
// Without it the server still ends with the test binary, but its folder stays for the next run to
// remove.
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run is Main for those who have something to do before they exit.
func Run(m *testing.M) (code int) {
	// Tests wait more than they work. The flag is parsed later: what the command line says, wins.
	_ = flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0)))
	collectSeldom()
	code = m.Run()
	disconnect()
	removeServerTemplates()
	own.Lock()
	defer own.Unlock()
	if own.postgres != nil {
		own.postgres.Remove()
	}
	return code
}

// collectSeldom spares the processor: there is memory enough for a heap of some times what is live. GOGC in the environment wins.
func collectSeldom() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

// superuserURL gives the superuser's URL of the run's PostgreSQL, starting one if need be.
func superuserURL(t testing.TB) string {
	t.Helper()
	url, err := server()
	if err != nil {
		t.Fatalf("a PostgreSQL for the tests: %v", err)
	}
	return url
}

func server() (string, error) {
	if url := os.Getenv(DatabaseVariable); url != "" {
		return url, nil
	}
	own.Lock()
	defer own.Unlock()
	if own.postgres == nil && own.err == nil {
		own.postgres, own.err = devstack.StartTemporaryPostgres(context.Background(), nil)
	}
	if own.err != nil {
		return "", fmt.Errorf("%w (scripts/bootstrap.sh installs what is missing)", own.err)
	}
	return own.postgres.URL(), nil
}
