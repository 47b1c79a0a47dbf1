package mail

import (
	"bytes"
	"context"
	"errors"
	"net"
	netmail "net/mail"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var login = url.UserPassword("user", testPassword).String() + "@"

func testMessage() Message {
	return Message{ID: "12.1700000000000", To: "ann@example.com", Subject: "Grüße", Text: "plain ✓\n", HTML: "<p>markup ✓</p>"}
}

func TestSendOverTLS(t *testing.T) {
	for _, c := range []struct {
		name                 string
		server               serverOptions
		scheme, login, query string
		overTLS              bool
	}{
		{"STARTTLS and a password", serverOptions{starttls: true, plainAuth: true}, "smtp", login, "", true},
		{"TLS from the first byte and a password", serverOptions{direct: true, plainAuth: true}, "smtps", login, "", true},
		{"TLS from the first byte", serverOptions{direct: true}, "smtps", "", "?tls=required", true},
		{"STARTTLS where it is offered", serverOptions{starttls: true}, "smtp", "", "", true},
		{"no STARTTLS where it is not offered", serverOptions{}, "smtp", "", "", false},
		{"no STARTTLS where it is not wanted", serverOptions{starttls: true}, "smtp", "", "?tls=none", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := startServer(t, c.server)
			if err := s.sender(t, c.scheme, c.login, c.query).Send(t.Context(), testMessage()); err != nil {
				t.Fatal(err)
			}
			if len(s.mails) != 1 || s.overTLS[0] != c.overTLS {
				t.Errorf("%d mails came, over TLS: %v", len(s.mails), s.overTLS)
			}
			if (len(s.logins) == 1) != c.server.plainAuth {
				t.Errorf("the logins were %v", s.logins)
			}
		})
	}
}

func TestSendRefusesToSendOpenly(t *testing.T) {
	for _, c := range []struct {
		name         string
		server       serverOptions
		login, query string
	}{
		{"a password without STARTTLS", serverOptions{plainAuth: true}, login, ""},
		{"a password, where STARTTLS is only optional", serverOptions{plainAuth: true}, login, "?tls=optional"},
		{"a password, where STARTTLS is off", serverOptions{plainAuth: true, starttls: true}, login, "?tls=none"},
		{"anything without the STARTTLS that is required", serverOptions{}, "", "?tls=required"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := startServer(t, c.server)
			err := s.sender(t, "smtp", c.login, c.query).Send(t.Context(), testMessage())
			if err == nil || IsPermanent(err) {
				t.Errorf("got %v", err)
			}
			if len(s.mails)+len(s.logins) != 0 {
				t.Errorf("mails %d, logins %v", len(s.mails), s.logins)
			}
		})
	}
	t.Run("to whom nobody vouches for", func(t *testing.T) {
		for scheme, opt := range map[string]serverOptions{"smtp": {starttls: true}, "smtps": {direct: true}} {
			s := startServer(t, opt)
			sender := s.sender(t, scheme, "", "")
			sender.tls.RootCAs = nil
			if err := sender.Send(t.Context(), testMessage()); err == nil || IsPermanent(err) || len(s.mails) != 0 {
				t.Errorf("%s: got %v", scheme, err)
			}
		}
	})
}

func TestRefusals(t *testing.T) {
	reply := func(code int) error {
		return &smtp.SMTPError{Code: code, EnhancedCode: smtp.NoEnhancedCode, Message: "no"}
	}
	for _, c := range []struct {
		name       string
		permanent  bool
		mail       []error
		rcpt, data error
	}{
		{"greylisted", false, nil, reply(451), nil},
		{"mailbox full for now", false, nil, reply(452), nil},
		{"no such user", true, nil, reply(550), nil},
		{"sender refused", true, []error{reply(553)}, nil, nil},
		{"sender refused for now", false, []error{reply(450)}, nil, nil},
		{"a login wanted", false, []error{reply(530)}, nil, nil},
		{"content refused", true, nil, nil, reply(554)},
		{"content refused for now", false, nil, nil, reply(452)},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := startServer(t, serverOptions{})
			s.onMail, s.onRcpt, s.onData = c.mail, c.rcpt, c.data
			err := s.sender(t, "smtp", "", "").Send(t.Context(), testMessage())
			if err == nil || IsPermanent(err) != c.permanent {
				t.Errorf("permanent: %v: %v", IsPermanent(err), err)
			}
			if len(s.mails) != 0 {
				t.Error("a mail came")
			}
		})
	}
	t.Run("a wrong password", func(t *testing.T) {
		s := startServer(t, serverOptions{starttls: true, plainAuth: true})
		err := s.sender(t, "smtp", "user:wrong@", "?tls=optional").Send(t.Context(), testMessage())
		if err == nil || IsPermanent(err) || strings.Contains(err.Error(), "wrong") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("nothing", func(t *testing.T) {
		if IsPermanent(nil) {
			t.Error("nil is permanent")
		}
	})
}

// A mail that was greylisted comes a second time as the same mail.
func TestGreylistedMailIsSentAgain(t *testing.T) {
	s := startServer(t, serverOptions{})
	s.onMail = []error{&smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 7, 1}, Message: "later"}}
	sender := s.sender(t, "smtp", "", "?from=Canopy+<no-reply@canopy.example>")
	if err := sender.Send(t.Context(), testMessage()); err == nil || IsPermanent(err) {
		t.Fatalf("got %v", err)
	}
	for range 2 {
		if err := sender.Send(t.Context(), testMessage()); err != nil {
			t.Fatal(err)
		}
	}
	for _, raw := range s.mails {
		m, err := netmail.ReadMessage(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		if id := m.Header.Get("Message-Id"); id != "<canopy.12.1700000000000@canopy.example>" {
			t.Errorf("the Message-ID is %s", id)
		}
	}
}

func TestServerIsAway(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	down := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, address string
		late          bool
	}{
		{"nobody listens", down, false},
		{"it hangs up at once", script(t), false},
		{"its greeting is a refusal", script(t, "554 not from you"), false},
		{"it is no mail server", script(t, "HTTP/1.1 400 Bad Request"), false},
		{"it never greets", script(t, ""), true},
		{"it falls silent after its greeting", script(t, "220 hello", ""), true},
		{"it falls silent at the mail", script(t, "220 hello", "250 hello", "250 well", ""), true},
		{"it hangs up at the mail", script(t, "220 hello", "250 hello", "250 well"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			sender, err := NewSMTP("smtp://" + c.address)
			if err != nil {
				t.Fatal(err)
			}
			if c.late {
				sender.timeout = 200 * time.Millisecond
			}
			err = sender.Send(t.Context(), testMessage())
			if err == nil || IsPermanent(err) || errors.Is(err, context.DeadlineExceeded) != c.late {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("its caller gives up", func(t *testing.T) {
		sender, err := NewSMTP("smtp://" + script(t, ""))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := sender.Send(ctx, testMessage()); !errors.Is(err, context.DeadlineExceeded) || IsPermanent(err) {
			t.Errorf("got %v", err)
		}
	})
}

// Once a server has taken a mail, its manners do not matter: sent again, it would come twice.
func TestServerTakesTheMailAndHangsUp(t *testing.T) {
	// Greeting, EHLO, NOOP, MAIL, RCPT, DATA, the mail.
	address := script(t, "220 hello", "250 hello", "250 well", "250 well", "250 well", "354 go on", "250 taken")
	sender, err := NewSMTP("smtp://" + address)
	if err != nil {
		t.Fatal(err)
	}
	if err := sender.Send(t.Context(), testMessage()); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestNewSMTP(t *testing.T) {
	for raw, want := range map[string]struct {
		port   int
		from   string
		direct bool
	}{
		"smtp://mail.example":                               {25, "no-reply@mail.example", false},
		"smtp://user:pw@mail.example":                       {587, "no-reply@mail.example", false},
		"smtps://user:pw@mail.example":                      {465, "no-reply@mail.example", true},
		"smtp://mail.example:2525?from=a@b.example":         {2525, "a@b.example", false},
		"smtps://[::1]:1?from=Canopy%20%3Ca%40b.example%3E": {1, "Canopy <a@b.example>", true},
	} {
		t.Run(raw, func(t *testing.T) {
			s, err := NewSMTP(raw)
			if err != nil || s.port != want.port || s.from != want.from || s.direct != want.direct {
				t.Errorf("got %+v, %v", s, err)
			}
		})
	}
	for _, raw := range []string{
		"", "mail.example", "http://mail.example", "smtp://", "smtp://:25", "smtp://user@mail.example", "smtp://mail.example:0",
		"smtp://mail.example:70000", "smtp://mail.example?tls=maybe", "smtps://mail.example?tls=none",
		"smtp://mail.example?from=nobody", "smtp://mail.example?from=a@b.example%0d%0aBcc:c@d.example",
	} {
		t.Run("not "+raw, func(t *testing.T) {
			if s, err := NewSMTP(raw); err == nil {
				t.Errorf("is taken: %+v", s)
			}
		})
	}
	t.Run("no password in the error", func(t *testing.T) {
		for _, raw := range []string{"smtp://user:geheim@mail.example:x", "smtp://user:geheim@mail.example?tls=maybe", "ftp://user:geheim@h"} {
			if _, err := NewSMTP(raw); err == nil || strings.Contains(err.Error(), "geheim") {
				t.Errorf("%v", err)
			}
		}
	})
}

func FuzzNewSMTP(f *testing.F) {
	f.Add("smtp://user:pw@mail.example:587?tls=required&from=a@b.example")
	f.Add("smtps://[::1]:1")
	f.Fuzz(func(t *testing.T, raw string) {
		s, err := NewSMTP(raw)
		if err == nil && (s.host == "" || s.port < 1 || s.port > 65535 || strings.ContainsAny(s.from, "\r\n")) {
			t.Errorf("%q is taken as %+v", raw, s)
		}
	})
}

// TestTry logs in, and sends nothing.
func TestTry(t *testing.T) {
	s := startServer(t, serverOptions{starttls: true, plainAuth: true})
	if err := s.sender(t, "smtp", login, "").Try(t.Context()); err != nil {
		t.Error(err)
	}
	if err := s.sender(t, "smtp", "user:wrong@", "?tls=optional").Try(t.Context()); err == nil {
		t.Error("a wrong password does")
	}
	if len(s.mails) != 0 || len(s.logins) == 0 {
		t.Errorf("mails %d, logins %v", len(s.mails), s.logins)
	}
}
