package identity

import (
	"context"
	"database/sql"
	"net/http"
	"strings"
	"sync"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/config"
	"canopy/internal/devstack/devtest"
	"canopy/internal/mail"
)

// stuckFor is a letter box whose server takes for ever with mails to a domain.
type stuckFor struct {
	platform.Letterbox
	domain string
	begun  chan struct{}
	end    chan struct{}
}

func (s *stuckFor) Send(ctx context.Context, m mail.Message) error {
	if !strings.HasSuffix(m.To, s.domain) {
		return s.Letterbox.Send(ctx, m)
	}
	s.begun <- struct{}{}
	<-s.end
	return nil
}

// TestMailsKeepNobodyWaiting: while mails of one branch are under way for ever, those of another get out.
func TestMailsKeepNobodyWaiting(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.SQL(`DELETE FROM mail_outbox WHERE user_id <> $1`, s.UserID("lukas@alpine-hydro.example"))
	s.SQL(`INSERT INTO mail_outbox (branch_id, user_id, kind, message)
		SELECT $1, user_id, kind, message FROM mail_outbox, generate_series(1, 200)`, s.Customer("Alpine Energy"))
	s.SQL(`UPDATE mail_outbox SET branch_id = $1`, s.Customer("Alpine Energy"))
	sender := &stuckFor{domain: "@alpine-hydro.example", begun: make(chan struct{}, 201), end: make(chan struct{})}
	defer close(sender.end)
	s.Work(sender)
	const atOnce = 20
	for range atOnce {
		<-sender.begun
	}
	s.Must(204, "POST", "/tenant/user/init", s.Root(), map[string]any{"id": s.UserID("greta@alpine.example")})
	devtest.Eventually(t, "the mail gets out", func() bool { return sender.Count() == 1 })
}

// TestRenewalsKeepNobodyWaiting: however many renewals of one session wait for each other, another branch's requests do not wait for them.
func TestRenewalsKeepNobodyWaiting(t *testing.T) {
	t.Parallel()
	s := platform.Start(t, func(c *config.Config) { c.DBMaxConns = 8 })
	s.SetUp("greta@alpine.example")
	session := s.OpenSession(t, "greta@alpine.example", platform.NewPassword)
	other := s.As("Brightwater Health", "marcus@brightwater.example")
	held, err := sql.Open("postgres", s.App.Config.DatabaseURL)
	devtest.Check(t, err)
	defer func() { _ = held.Close() }()
	tx, err := held.BeginTx(t.Context(), nil)
	devtest.Check(t, err)
	devtest.Must[sql.Result](t)(tx.ExecContext(t.Context(), `SELECT FROM users WHERE email = 'greta@alpine.example' FOR UPDATE`))
	var renewals sync.WaitGroup
	for range 20 {
		renewals.Go(func() {
			if a := s.Refresh(session.Refresh); a.Status != http.StatusOK {
				t.Errorf("%d %s", a.Status, a.Body)
			}
		})
	}
	waiting := 0
	for waiting < 4 {
		devtest.Check(t, held.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`).Scan(&waiting))
	}
	ctx, cancel := context.WithTimeout(t.Context(), platform.Patience)
	defer cancel()
	req := devtest.Must[*http.Request](t)(http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/tenant", nil))
	req.Header.Set("Authorization", "Bearer "+other)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Errorf("another branch's: %v", err)
	} else {
		_ = resp.Body.Close()
	}
	devtest.Check(t, tx.Rollback())
	renewals.Wait()
}
