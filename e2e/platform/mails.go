package platform

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"canopy/internal/mail"
)

// Letterbox is a letter box: a sender that keeps what it is given.
type Letterbox struct {
	mu    sync.Mutex
	mails []mail.Message
}

// Send keeps a mail.
func (c *Letterbox) Send(_ context.Context, m mail.Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mails = append(c.mails, m)
	return nil
}

// Count tells how many mails there are.
func (c *Letterbox) Count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.mails)
}

// NoDemoMails takes the invitations of the demo data out of the way.
func (s *Platform) NoDemoMails() { s.SQL(`DELETE FROM mail_outbox`) }

// Mails are the mails to an address that wait in the outbox, oldest first.
func (s *Platform) Mails(to string) (list []mail.Message) {
	s.T.Helper()
	rows, err := s.DB.Query(`SELECT message FROM mail_outbox WHERE sent_at IS NULL ORDER BY id`)
	if err != nil {
		s.T.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var sealed []byte
		if err := rows.Scan(&sealed); err != nil {
			s.T.Fatal(err)
		}
		raw, err := s.App.Box.Open(sealed, "mail")
		if err != nil {
			s.T.Fatal(err)
		}
		var m mail.Message
		if err := json.Unmarshal(raw, &m); err != nil {
			s.T.Fatal(err)
		}
		if strings.EqualFold(m.To, to) {
			list = append(list, m)
		}
	}
	if err := rows.Err(); err != nil {
		s.T.Fatal(err)
	}
	return list
}

var LinkPattern = regexp.MustCompile(`/setup#token=([0-9A-Za-z]+)`)

// Link is the token of the last link that was mailed to an address.
func (s *Platform) Link(to string) string {
	s.T.Helper()
	list := s.Mails(to)
	if len(list) == 0 {
		s.T.Fatalf("no mail to %s", to)
	}
	found := LinkPattern.FindStringSubmatch(list[len(list)-1].Text)
	if found == nil {
		s.T.Fatalf("no link in %q", list[len(list)-1].Text)
	}
	return found[1]
}
