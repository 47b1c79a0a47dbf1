package mail

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// server is a real SMTP server on a real socket, which answers as a test wants.
type server struct {
	address string
	roots   *x509.CertPool

	mu      sync.Mutex
	onMail  []error // each answers one MAIL FROM; then all are well
	onRcpt  error
	onData  error
	logins  []string
	mails   [][]byte
	overTLS []bool
}

type serverOptions struct{ starttls, direct, plainAuth bool }

func startServer(t *testing.T, opt serverOptions) *server {
	t.Helper()
	s := &server{}
	backend := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		return &session{s: s, conn: c, auth: opt.plainAuth}, nil
	}))
	backend.Domain, backend.AllowInsecureAuth = "localhost", true
	backend.ErrorLog = log.New(io.Discard, "", 0)
	config := s.certify()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = l.Addr().String()
	if opt.starttls {
		backend.TLSConfig = config
	}
	if opt.direct {
		l = tls.NewListener(l, config)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = backend.Serve(l)
	}()
	t.Cleanup(func() {
		_ = backend.Close()
		<-done
	})
	return s
}

// certify borrows the certificate for 127.0.0.1 of httptest, which its own roots vouch for.
func (s *server) certify() *tls.Config {
	lender := httptest.NewTLSServer(nil)
	defer lender.Close()
	s.roots = x509.NewCertPool()
	s.roots.AddCert(lender.Certificate())
	return &tls.Config{Certificates: lender.TLS.Certificates, MinVersion: tls.VersionTLS12}
}

// sender sends to the server and trusts its certificate.
func (s *server) sender(t *testing.T, scheme, login, query string) *SMTP {
	t.Helper()
	sender, err := NewSMTP(scheme + "://" + login + s.address + query)
	if err != nil {
		t.Fatal(err)
	}
	sender.tls.RootCAs = s.roots
	return sender
}

type session struct {
	s    *server
	conn *smtp.Conn
	auth bool
	in   bool
}

const testPassword = "p@ss/word"

func (x *session) AuthMechanisms() []string {
	if x.auth {
		return []string{sasl.Plain}
	}
	return nil
}

func (x *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != "user" || password != testPassword {
			return errors.New("no such login")
		}
		x.in = true
		x.s.mu.Lock()
		defer x.s.mu.Unlock()
		x.s.logins = append(x.s.logins, user)
		return nil
	}), nil
}

func (x *session) Mail(string, *smtp.MailOptions) error {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	if x.auth && !x.in {
		return smtp.ErrAuthRequired
	}
	if len(x.s.onMail) == 0 {
		return nil
	}
	err := x.s.onMail[0]
	x.s.onMail = x.s.onMail[1:]
	return err
}

func (x *session) Rcpt(string, *smtp.RcptOptions) error { return x.s.onRcpt }

func (x *session) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	if x.s.onData != nil {
		return x.s.onData
	}
	_, overTLS := x.conn.TLSConnectionState()
	x.s.mails, x.s.overTLS = append(x.s.mails, raw), append(x.s.overTLS, overTLS)
	return nil
}

func (x *session) Reset()        {}
func (x *session) Logout() error { return nil }

// script is a server that says fixed lines: one when it is dialled, then one for each line it
// gets; after the last one it hangs up.
func script(t *testing.T, lines ...string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			recite(conn, lines)
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return l.Addr().String()
}

// recite says the lines. An empty one stands for silence until the client hangs up.
func recite(conn net.Conn, lines []string) {
	defer func() { _ = conn.Close() }()
	buf := make([]byte, 64<<10)
	for i, line := range lines {
		if i > 0 {
			if _, err := conn.Read(buf); err != nil {
				return
			}
		}
		if line == "" {
			_, _ = io.Copy(io.Discard, conn)
			return
		}
		if _, err := io.WriteString(conn, line+"\r\n"); err != nil {
			return
		}
	}
}
