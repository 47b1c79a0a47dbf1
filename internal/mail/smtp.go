package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	netmail "net/mail"
	"net/url"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
)

// sendTimeout is how long one mail may take, from dialling to the server's last word.
const sendTimeout = 30 * time.Second

// The ports of mail submission (RFC 6409 and RFC 8314) and of relaying (RFC 5321).
const (
	portSubmission    = 587
	portSubmissionTLS = 465
	portRelay         = 25
)

// SMTP sends mails through a server, each over a connection of its own.
type SMTP struct {
	host    string
	port    int
	from    string
	direct  bool // TLS from the first byte
	options []gomail.Option
	tls     *tls.Config
	timeout time.Duration
}

// NewSMTP reads where and how to send: smtp://user:password@host:587?from=ADDRESS&tls=required,
// or smtps:// for TLS from the first byte. tls is required (the default wherever there is a
// password), optional (the default elsewhere) or none; a password goes over an open connection
// only by a mechanism that does not show it. from is no-reply at the host by default. The port is
// 465 for smtps, 587 with a password and 25 without by default. No error shows what may be part of a
// password.
func NewSMTP(raw string) (*SMTP, error) {
	u, err := parse(raw)
	if err != nil {
		return nil, err
	}
	password, hasPassword := u.User.Password()
	s := &SMTP{
		host: u.Hostname(), direct: u.Scheme == "smtps", timeout: sendTimeout,
		tls: &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12},
	}
	if s.from, err = sender(u); err != nil {
		return nil, err
	}
	if s.port, err = portOf(u, hasPassword); err != nil {
		return nil, err
	}
	policy, err := tlsPolicy(u, hasPassword)
	if err != nil {
		return nil, err
	}
	s.options = []gomail.Option{gomail.WithPort(s.port), gomail.WithTLSPolicy(policy)}
	if hasPassword {
		s.options = append(s.options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover),
			gomail.WithUsername(u.User.Username()), gomail.WithPassword(password))
	}
	return s, nil
}

func parse(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || u.Scheme != "smtp" && u.Scheme != "smtps" {
		return nil, errors.New("must look like smtp://user:password@host:587?from=ADDRESS, or smtps:// for TLS from the first byte")
	}
	if password, _ := u.User.Password(); u.User != nil && (password == "" || u.User.Username() == "") {
		return nil, errors.New("must name a user and a password, or none of the two")
	}
	more := u.Query()
	delete(more, "from")
	delete(more, "tls")
	// What a special letter in a password cuts off looks like a path, a parameter or a fragment.
	if len(more) > 0 || strings.Trim(u.Path, "/") != "" || u.Fragment != "" {
		return nil, errors.New("must have nothing but ?from=ADDRESS&tls=… behind the host; special letters in user and password are written with %")
	}
	return u, nil
}

func sender(u *url.URL) (string, error) {
	from := u.Query().Get("from")
	if from == "" {
		from = "no-reply@" + u.Hostname()
	}
	if _, err := netmail.ParseAddress(from); err != nil {
		return "", fmt.Errorf("from=%s: must be a mail address", from)
	}
	return from, nil
}

func portOf(u *url.URL, hasPassword bool) (int, error) {
	if port := u.Port(); port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return 0, errors.New("must have a port from 1 to 65535, or none")
		}
		return int(n), nil
	}
	switch {
	case u.Scheme == "smtps":
		return portSubmissionTLS, nil
	case hasPassword:
		return portSubmission, nil
	}
	return portRelay, nil
}

// tlsPolicy tells what to do about STARTTLS.
func tlsPolicy(u *url.URL, hasPassword bool) (gomail.TLSPolicy, error) {
	name := u.Query().Get("tls")
	if u.Scheme == "smtps" {
		if name != "" && name != "required" {
			return 0, fmt.Errorf("tls=%s: smtps always has TLS", name)
		}
		return gomail.TLSOpportunistic, nil // The connection has it already, and servers offer it no more.
	}
	switch {
	case name == "required", name == "" && hasPassword:
		return gomail.TLSMandatory, nil
	case name == "optional", name == "":
		return gomail.TLSOpportunistic, nil
	case name == "none":
		return gomail.NoTLS, nil
	}
	return 0, fmt.Errorf("tls=%s: must be required, optional or none", name)
}

// Send hands a mail to the server, within half a minute or until ctx ends.
func (s *SMTP) Send(ctx context.Context, m Message) error {
	msg, err := compose(m, s.from)
	if err != nil {
		return err
	}
	err = s.talk(ctx, func(ctx context.Context, client *gomail.Client) error { return client.DialAndSendWithContext(ctx, msg) })
	if msg.IsDelivered() {
		return nil // The server has it: that it did not part well is no reason to send it twice.
	}
	return err
}

// Try logs in as Send does, and parts without a mail.
func (s *SMTP) Try(ctx context.Context) error {
	return s.talk(ctx, func(ctx context.Context, client *gomail.Client) error {
		if err := client.DialWithContext(ctx); err != nil {
			return err
		}
		return client.Close()
	})
}

// talk has a client speak to the server over a connection that ends with it, within half a minute or until ctx ends.
func (s *SMTP) talk(ctx context.Context, speak func(context.Context, *gomail.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	conn, err := s.dial(ctx)
	if err != nil {
		return err
	}
	// The client waits for the greeting without a deadline, renews its own deadline later on, and
	// leaves the connection open where a login fails: so it is closed here, in every case.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer func() {
		stop()
		_ = conn.Close()
	}()
	own := gomail.WithDialContextFunc(func(context.Context, string, string) (net.Conn, error) { return conn, nil })
	client, err := gomail.NewClient(s.host, append([]gomail.Option{own, gomail.WithTLSConfig(s.tls)}, s.options...)...)
	if err != nil {
		return err
	}
	if err = speak(ctx, client); err != nil && ctx.Err() != nil {
		return fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return err
}

func (s *SMTP) dial(ctx context.Context) (net.Conn, error) {
	address := net.JoinHostPort(s.host, strconv.Itoa(s.port))
	if s.direct {
		return (&tls.Dialer{Config: s.tls}).DialContext(ctx, "tcp", address)
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", address)
}

// permanent is a fault that no later attempt mends.
type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// The replies that ask for a login, or for TLS before it (RFC 4954, section 6).
const (
	codeLoginNeeded  = 530
	codeLoginWeak    = 534
	codeLoginFailed  = 535
	codeLoginOverTLS = 538
)

// IsPermanent tells whether a mail was refused for good: a 5xx reply (RFC 5321, section 4.2.1) to
// the mail itself, or a mail that can't be written. Everything before the mail (a server that is
// away, its greeting, TLS, the login) is the operator's and may be mended, so it is not.
func IsPermanent(err error) bool {
	if errors.As(err, new(permanent)) {
		return true
	}
	var send *gomail.SendError
	if !errors.As(err, &send) || send.Reason == gomail.ErrConnCheck {
		return false
	}
	switch code := send.ErrorCode(); code {
	case codeLoginNeeded, codeLoginWeak, codeLoginFailed, codeLoginOverTLS:
		return false
	default:
		return code >= 500 && code < 600
	}
}
