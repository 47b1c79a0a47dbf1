package mail

import (
	"context"
	"errors"
	"fmt"
	"net/textproto"
	"net/url"
	"strconv"
	"time"

	gomail "github.com/wneessen/go-mail"
)

const dialTimeout = 15 * time.Second

// SMTP sends mails through a server.
type SMTP struct {
	host    string
	from    string
	options []gomail.Option
}

// NewSMTP reads where and how to send: smtp://user:password@host:587?from=ADDRESS&tls=required,
// or smtps:// for TLS from the first byte. tls is required (the default wherever there is a
// password), optional (the default elsewhere) or none. from is no-reply at the host by default.
func NewSMTP(raw string) (*SMTP, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || u.Scheme != "smtp" && u.Scheme != "smtps" {
		return nil, errors.New("must look like smtp://user:password@host:587?from=ADDRESS")
	}
	s := &SMTP{host: u.Hostname(), from: u.Query().Get("from"), options: []gomail.Option{gomail.WithTimeout(dialTimeout)}}
	if s.from == "" {
		s.from = "no-reply@" + u.Hostname()
	}
	if port := u.Port(); port != "" {
		n, err := strconv.Atoi(port)
		if err != nil {
			return nil, fmt.Errorf("port %q: %w", port, err)
		}
		s.options = append(s.options, gomail.WithPort(n))
	}
	password, hasPassword := u.User.Password()
	if hasPassword {
		s.options = append(s.options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover),
			gomail.WithUsername(u.User.Username()), gomail.WithPassword(password))
	}
	policy, err := tlsOption(u, hasPassword)
	if err != nil {
		return nil, err
	}
	s.options = append(s.options, policy)
	return s, nil
}

func tlsOption(u *url.URL, hasPassword bool) (gomail.Option, error) {
	if u.Scheme == "smtps" {
		return gomail.WithSSL(), nil
	}
	policies := map[string]gomail.TLSPolicy{"required": gomail.TLSMandatory, "optional": gomail.TLSOpportunistic, "none": gomail.NoTLS}
	name := u.Query().Get("tls")
	if name == "" {
		name = "optional"
		if hasPassword {
			name = "required"
		}
	}
	policy, ok := policies[name]
	if !ok {
		return nil, fmt.Errorf("tls=%s: must be required, optional or none", name)
	}
	return gomail.WithTLSPolicy(policy), nil
}

// Send hands a mail to the server.
func (s *SMTP) Send(ctx context.Context, m Message) error {
	msg, err := compose(m, s.from, s.host)
	if err != nil {
		return err
	}
	client, err := gomail.NewClient(s.host, s.options...)
	if err != nil {
		return err
	}
	return client.DialAndSendWithContext(ctx, msg)
}

func compose(m Message, from, domain string) (*gomail.Msg, error) {
	msg := gomail.NewMsg()
	if err := msg.From(from); err != nil {
		return nil, permanent{fmt.Errorf("sender: %w", err)}
	}
	if err := msg.To(m.To); err != nil {
		return nil, permanent{fmt.Errorf("recipient: %w", err)}
	}
	msg.Subject(oneLine(m.Subject))
	if m.ID != "" {
		msg.SetMessageIDWithValue("canopy." + m.ID + "@" + domain)
	}
	msg.SetDate()
	msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	msg.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	return msg, nil
}

// permanent is a fault that no later attempt mends.
type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// IsPermanent tells whether a mail was refused for good: a 5xx reply (RFC 5321, section 4.2.1) to
// the mail itself, or an address that can't be written. A refused login is the operator's fault
// and may be mended, so it is not.
func IsPermanent(err error) bool {
	var p permanent
	if errors.As(err, &p) {
		return true
	}
	var send *gomail.SendError
	if errors.As(err, &send) {
		return !send.IsTemp() && send.ErrorCode() >= 500
	}
	var reply *textproto.Error
	return errors.As(err, &reply) && reply.Code >= 550 && reply.Code < 560
}
