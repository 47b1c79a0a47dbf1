package identity

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	netmail "net/mail"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
	"canopy/internal/mail"
)

// postman is a real mail server that takes mails only over TLS and with a login.
type postman struct {
	address string
	config  *tls.Config
	server  *smtp.Server
	got     chan []byte
}

const postmanPassword = "let/me@in"

// newPostman makes a server that is not started. The process trusts its certificate.
func newPostman(t *testing.T) *postman {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &postman{address: l.Addr().String(), got: make(chan []byte, 100)}
	p.config = &tls.Config{Certificates: platform.Loopback().TLS.Certificates, MinVersion: tls.VersionTLS12}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *postman) start(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp", p.address)
	if err != nil {
		t.Fatal(err)
	}
	p.server = smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) { return &delivery{p: p, conn: c}, nil }))
	p.server.Domain, p.server.TLSConfig, p.server.ErrorLog = "localhost", p.config, log.New(io.Discard, "", 0)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = p.server.Serve(l)
	}()
	t.Cleanup(func() {
		_ = p.server.Close()
		<-done
	})
}

func (p *postman) sender(t *testing.T) mail.Sender {
	t.Helper()
	s, err := mail.NewSMTP("smtp://canopy:" + strings.NewReplacer("/", "%2F", "@", "%40").Replace(postmanPassword) + "@" + p.address + "?from=no-reply@canopy.example")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// next waits for a mail.
func (p *postman) next(t *testing.T) (*netmail.Message, map[string]string) {
	t.Helper()
	select {
	case raw := <-p.got:
		m, err := netmail.ReadMessage(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		return m, partsOf(t, m)
	case <-time.After(30 * time.Second):
		t.Fatal("no mail arrives")
	}
	return nil, nil
}

// partsOf gives the parts of a mail by their type.
func partsOf(t *testing.T, m *netmail.Message) map[string]string {
	t.Helper()
	media, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || media != "multipart/alternative" {
		t.Fatalf("%s: %v", media, err)
	}
	parts := map[string]string{}
	for r := multipart.NewReader(m.Body, params["boundary"]); ; {
		p, err := r.NextRawPart()
		if errors.Is(err, io.EOF) {
			return parts
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(quotedprintable.NewReader(p))
		if err != nil {
			t.Fatal(err)
		}
		media, _, err := mime.ParseMediaType(p.Header.Get("Content-Type"))
		if err != nil {
			t.Fatal(err)
		}
		parts[media] = string(body)
	}
}

type delivery struct {
	p    *postman
	conn *smtp.Conn
	in   bool
}

func (d *delivery) AuthMechanisms() []string { return []string{sasl.Plain} }

func (d *delivery) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if d.in = user == "canopy" && password == postmanPassword; !d.in {
			return smtp.ErrAuthFailed
		}
		return nil
	}), nil
}

func (d *delivery) Mail(string, *smtp.MailOptions) error {
	if _, tls := d.conn.TLSConnectionState(); !d.in || !tls {
		return smtp.ErrAuthRequired
	}
	return nil
}

func (d *delivery) Rcpt(string, *smtp.RcptOptions) error { return nil }

func (d *delivery) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	d.p.got <- raw
	return err
}

func (d *delivery) Reset() {}

func (d *delivery) Logout() error { return nil }

func TestInvitationArrives(t *testing.T) {
	t.Parallel()
	p := newPostman(t)
	p.start(t)
	s := platform.Start(t)
	s.NoDemoMails()
	s.Work(p.sender(t))
	s.Must(201, "POST", "/tenant/user", s.Root(), map[string]any{"email": "zoe@mail.example", "name": "Zoë <b>Bold</b>"})
	m, parts := p.next(t)
	if m.Header.Get("To") != "<zoe@mail.example>" || m.Header.Get("From") != "<no-reply@canopy.example>" || m.Header.Get("Message-Id") == "" || !strings.Contains(m.Header.Get("Subject"), "Northwind Group") {
		t.Errorf("%v", m.Header)
	}
	text, html := parts["text/plain"], parts["text/html"]
	if len(parts) != 2 || !strings.Contains(text, "Zoë <b>Bold</b>") || strings.Contains(html, "<b>Bold</b>") || !strings.Contains(html, "&lt;b&gt;Bold") {
		t.Errorf("%s\n%s", text, html)
	}
	link := s.URL + "/setup#token="
	if !strings.Contains(text, link) || !strings.Contains(html, link) {
		t.Fatalf("no link to %s in\n%s\n%s", link, text, html)
	}
	token := platform.LinkPattern.FindStringSubmatch(text)[1]
	t.Run("its link leads to a page", func(t *testing.T) {
		if a := s.Must(200, "GET", "/setup", "", nil); !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") {
			t.Errorf("%s", a.Header.Get("Content-Type"))
		}
	})
	t.Run("its link sets the password", func(t *testing.T) {
		s.Must(204, "POST", "/auth/setup", "", map[string]any{"token": token, "password": platform.NewPassword})
		s.Must(403, "POST", "/auth/token", "", map[string]any{"email": "zoe@mail.example", "password": platform.NewPassword})
		s.Must(200, "POST", "/permission", s.Root(), map[string]any{"appAccountId": s.Account(1, "tenant"), "appRoleId": s.RoleID(1, "tenant", "Viewer"), "email": "zoe@mail.example"})
		s.Must(200, "GET", "/tenant", s.Login("zoe@mail.example", platform.NewPassword), nil)
	})
	t.Run("what was sent is emptied", func(t *testing.T) {
		devtest.Eventually(t, "the row is emptied", func() bool {
			return s.Number(`SELECT count(*) FROM mail_outbox WHERE sent_at IS NOT NULL AND message = '' AND attempts = 1`) == 1
		})
	})
	t.Run("a reset arrives too", func(t *testing.T) {
		s.Must(204, "POST", "/auth/reset", "", map[string]any{"email": "zoe@mail.example"})
		if m, parts := p.next(t); m.Header.Get("To") != "<zoe@mail.example>" || !strings.Contains(parts["text/plain"], link) {
			t.Errorf("%v", parts)
		}
	})
	t.Run("a server that is down loses no mail", func(t *testing.T) {
		if err := p.server.Close(); err != nil {
			t.Fatal(err)
		}
		for _, email := range []string{"a@down.example", "b@down.example", "c@down.example"} {
			s.Must(201, "POST", "/tenant/user", s.Root(), map[string]any{"email": email})
		}
		devtest.Eventually(t, "each was tried in vain", func() bool {
			return s.Number(`SELECT count(*) FROM mail_outbox WHERE sent_at IS NULL AND failed_at IS NULL AND attempts > 0 AND last_error <> ''`) == 3
		})
		p.start(t)
		to := map[string]int{}
		for range 3 {
			m, _ := p.next(t)
			to[m.Header.Get("To")]++
		}
		if len(to) != 3 {
			t.Errorf("%v", to)
		}
	})
}
