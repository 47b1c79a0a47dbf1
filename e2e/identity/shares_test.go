package identity

import (
	"context"
	"strings"
	"testing"

	"canopy/e2e/platform"
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
