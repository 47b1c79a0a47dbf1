package operations

import (
	"context"
	"database/sql"
	"net/http"
	"testing"

	"github.com/jmoiron/sqlx"

	"canopy/e2e/platform"
	"canopy/internal/devstack"
	"canopy/internal/devstack/devtest"
)

// TestKilledAfterTheCommit kills a server that has committed a change and not yet kept its answer: whoever asks again is told
// that it was done, and it is not done twice. One that is killed before the commit has done nothing, and it is done then.
func TestKilledAfterTheCommit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		// halt is where the server halts: a trigger that waits for the test. there is 1 once it has come so far.
		halt, there string
		status      int
		code        string
	}{
		"committed": {
			"BEFORE UPDATE ON idempotency_keys FOR EACH ROW WHEN (NEW.answer IS NOT NULL)",
			`SELECT count(*) FROM users WHERE email = 'ada@example.org'`, 409, "idempotency_answer_lost",
		},
		"not yet": {
			"BEFORE INSERT ON users FOR EACH ROW",
			`SELECT count(*) FROM (` + waiting + `) l`, 201, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := platform.Start(t)
			token := s.Root()
			proceed := halt(t, s, c.halt)
			killed := devtest.Must[string](t)(devstack.FreeAddress())
			process := server(t, s, killed)
			devtest.Eventually(t, "the server is ready", func() bool { return isReady(t, killed) })
			ask := func(base string) *http.Request {
				return platform.Keyed(t, "POST", base+"/tenant/user", token, "the-key", `{"email": "ada@example.org", "firstName": "Ada", "lastName": "Hill"}`)
			}
			broken := make(chan error, 1)
			go func() { broken <- sent(ask("http://" + killed)) }()
			devtest.Eventually(t, "the server halts", func() bool { return s.Number(c.there) == 1 })
			a := s.Send(ask(s.URL))
			if a.Status != 409 || a.Header.Get("Retry-After") != "1" || platform.Member(t, a.JSON(t), "code") != "idempotency_in_progress" {
				t.Errorf("while it is under way: %d %v %s", a.Status, a.Header, a.Body)
			}
			process.Kill()
			if err := <-broken; err == nil {
				t.Error("the server has answered")
			}
			s.SQL(`SELECT pg_terminate_backend(l.pid) FROM (` + waiting + `) l`) // PostgreSQL itself would go on
			proceed()
			s.SQL(`UPDATE idempotency_keys SET leased_until = now() - interval '1 second'`)
			if a = s.Send(ask(s.URL)); a.Status != c.status || c.code != "" && platform.Member(t, a.JSON(t), "code") != c.code {
				t.Errorf("afterwards: %d %s", a.Status, a.Body)
			}
			if n := s.Number(`SELECT count(*) FROM audit_events WHERE action = 'user.created' AND object_id = $1`, s.UserID("ada@example.org")); n != 1 {
				t.Errorf("it was done %d times", n)
			}
		})
	}
}

// waiting are those who wait for the lock of halt.
const waiting = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = 77 AND NOT granted
	AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

func sent(r *http.Request) error {
	resp, err := http.DefaultClient.Do(r)
	if err == nil {
		_ = resp.Body.Close()
	}
	return err
}

func isReady(t *testing.T, address string) bool {
	resp, err := http.Get("http://" + address + "/readyz")
	if err != nil {
		return false
	}
	devtest.Check(t, resp.Body.Close())
	return resp.StatusCode == http.StatusOK
}

// halt has everybody wait at a trigger until what it gives is called.
func halt(t *testing.T, s *platform.Platform, trigger string) (proceed func()) {
	t.Helper()
	conn := devtest.Must[*sqlx.Conn](t)(s.DB.Connx(context.Background()))
	devtest.Must[sql.Result](t)(conn.ExecContext(t.Context(), `SELECT pg_advisory_lock(77)`))
	s.SQL(`CREATE FUNCTION halt() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock_shared(77); RETURN NEW; END $$`)
	s.SQL(`CREATE TRIGGER halt ` + trigger + ` EXECUTE FUNCTION halt()`)
	t.Cleanup(func() { _ = conn.Close() })
	return func() {
		devtest.Must[sql.Result](t)(conn.ExecContext(t.Context(), `SELECT pg_advisory_unlock(77)`))
		devtest.Check(t, conn.Close())
		s.SQL(`DROP FUNCTION halt() CASCADE`) // waits for who has waited
	}
}
