package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"golang.org/x/term"

	canopy "canopy/clients/go"
	"canopy/internal/access"
)

func loginCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	at := flags.String("url", "", "the platform's address (default CANOPY_URL; asked for otherwise)")
	id := flags.String("client-id", "", "client id of an API key; its secret is asked for, or CANOPY_CLIENT_SECRET")
	email := flags.String("email", "", "e-mail address of a person; the password is asked for")
	company := flags.Int64("company", 0, "id of the company that the person acts in (default the one they have belonged to longest)")
	return func(ctx context.Context, _ []string) error {
		if *id != "" && *email != "" {
			return usagef("either --client-id or --email is taken")
		}
		q := &questions{m: m, lines: bufio.NewReader(m.stdin())}
		address, err := q.url(cmp.Or(*at, m.Getenv("CANOPY_URL")))
		if err != nil {
			return err
		}
		if err := (&canopy.Client{URL: address}).Reach(ctx); err != nil {
			return err
		}
		if *id == "" && *email == "" {
			answer, err := q.ask("Client id of an API key, or e-mail address: ")
			if err != nil {
				return err
			}
			if strings.Contains(answer, "@") {
				*email = answer
			} else {
				*id = answer
			}
		}
		l, err := q.login(ctx, address, *id, *email, *company)
		if err != nil {
			return err
		}
		file, err := m.keepLogin(l)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(m.Stderr, "signed in at %s as %s, kept in %s\n", l.URL, cmp.Or(l.Email, l.ClientID), file)
		return err
	}
}

func logoutCommand(m *Main, _ *flag.FlagSet) func(context.Context, []string) error {
	return func(ctx context.Context, _ []string) error {
		l, err := m.readLogin()
		if err != nil {
			return err
		}
		if l.URL == "" {
			return errors.New("nobody is signed in")
		}
		var ended error
		if l.RefreshToken != "" {
			ended = (&canopy.Client{URL: l.URL}).End(ctx, l.RefreshToken)
		}
		return errors.Join(ended, l.remove())
	}
}

// stdin is where questions are answered.
func (m *Main) stdin() io.Reader {
	if m.Stdin == nil {
		return strings.NewReader("")
	}
	return m.Stdin
}

// questions asks whoever started the program.
type questions struct {
	m     *Main
	lines *bufio.Reader
}

func (q *questions) ask(question string) (string, error) {
	_, _ = fmt.Fprint(q.m.Stderr, question)
	line, err := q.lines.ReadString('\n')
	if answer := strings.TrimSpace(line); answer != "" {
		return answer, nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = errors.New("no answer")
	}
	return "", fmt.Errorf("%s%w", question, err)
}

// secret asks for what the terminal does not show.
func (q *questions) secret(question string) (string, error) {
	f, ok := q.m.stdin().(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return q.ask(question)
	}
	_, _ = fmt.Fprint(q.m.Stderr, question)
	raw, err := term.ReadPassword(int(f.Fd()))
	_, _ = fmt.Fprintln(q.m.Stderr)
	return string(raw), err
}

func (q *questions) url(given string) (string, error) {
	var err error
	if given == "" {
		if given, err = q.ask("Address of the platform: "); err != nil {
			return "", err
		}
	}
	u, err := url.Parse(given)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return "", usagef("the address must look like https://api.example.com")
	}
	return strings.TrimRight(given, "/"), nil
}

// login tries a key or a person's password.
func (q *questions) login(ctx context.Context, at, id, email string, company int64) (*login, error) {
	c := &canopy.Client{URL: at, App: access.Tenant.String(), Retries: retries, Waits: q.m.waits()}
	if id != "" {
		secret, err := q.m.Getenv("CANOPY_CLIENT_SECRET"), error(nil)
		if secret == "" {
			if secret, err = q.secret("Client secret: "); err != nil {
				return nil, err
			}
		}
		c.Key = canopy.Key{ClientID: id, ClientSecret: secret}
		return &login{URL: at, ClientID: id, ClientSecret: secret}, tryKey(ctx, c)
	}
	in := canopy.SignIn{Email: email, CustomerID: company}
	var err error
	if in.Password, err = q.secret("Password: "); err != nil {
		return nil, err
	}
	signed, err := c.Open(ctx, in)
	if refusal := new(canopy.Refusal); errors.As(err, &refusal) && refusal.Code == "otp_required" {
		if in.OTP, err = q.ask("Code of the authenticator: "); err != nil {
			return nil, err
		}
		signed, err = c.Open(ctx, in)
	}
	if err != nil {
		return nil, err
	}
	return &login{URL: at, Email: email, RefreshToken: signed.RefreshToken, AccessToken: signed.Token, Expires: signed.Expires()}, nil
}

// tryKey exchanges a key for a token, in whichever application it has.
func tryKey(ctx context.Context, c *canopy.Client) error {
	_, err := c.Token(ctx)
	for _, app := range []access.App{access.Assistant, access.Builder} {
		if refusal := new(canopy.Refusal); !errors.As(err, &refusal) || refusal.Code != "unauthorized_client" {
			return err
		}
		c.App = app.String()
		_, err = c.Token(ctx)
	}
	return err
}
