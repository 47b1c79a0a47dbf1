package mail

import (
	"bytes"
	"context"
	"errors"
	"html"
	"io"
	"log/slog"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	netmail "net/mail"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const link = "https://canopy.example/setup#token=abc&x=1"

func TestMessages(t *testing.T) {
	for _, c := range []struct {
		name    string
		make    func(customer string) (Message, error)
		subject string
		text    []string
		html    []string
	}{
		{
			"invitation", func(customer string) (Message, error) {
				return Invitation(InvitationData{To: "ann@example.com", Name: "Ann", Customer: customer, Link: link, ValidFor: 7 * 24 * time.Hour})
			}, "You are invited to A <b> & Sons",
			[]string{"Hello Ann,", "invited to A <b> & Sons", link, "within 7 days"},
			[]string{"Hello Ann,", "A &lt;b&gt; &amp; Sons", `href="https://canopy.example/setup#token=abc&amp;x=1"`, "within 7 days"},
		},
		{
			"reset", func(string) (Message, error) {
				return Reset(ResetData{To: "ann@example.com", Link: link, ValidFor: time.Hour})
			}, "Set a new password",
			[]string{link, "within 60 minutes"},
			[]string{`href="https://canopy.example/setup#token=abc&amp;x=1"`, "within 60 minutes"},
		},
		{
			"change of an address", func(string) (Message, error) {
				return EmailChange(EmailData{To: "ann@example.com", New: "ann@example.com", Link: link, ValidFor: 24 * time.Hour})
			}, "Confirm your new address",
			[]string{link, "within 24 hours"},
			[]string{`href="https://canopy.example/setup#token=abc&amp;x=1"`, "within 24 hours"},
		},
		{
			"notice of a change of an address", func(string) (Message, error) {
				return EmailNotice(EmailData{To: "ann@example.com", New: "o'hara@example.com", Link: link, StopLink: link + "2", ValidFor: 24 * time.Hour})
			}, "Your address is to change",
			[]string{"o'hara@example.com", link + "\n", link + "2\n", "for 24 hours"},
			[]string{"o&#39;hara@example.com", `href="https://canopy.example/setup#token=abc&amp;x=1"`, `href="https://canopy.example/setup#token=abc&amp;x=12"`, "for 24 hours"},
		},
		{
			"destination disabled", func(customer string) (Message, error) {
				return DestinationDisabled(DisabledData{To: "ann@example.com", Customer: customer, URL: "https://hook.example/?a&b", Reason: "It failed for 3 days.", Link: link})
			}, "A webhook destination of A <b> & Sons was disabled",
			[]string{"of A <b> & Sons", "https://hook.example/?a&b\n", "It failed for 3 days. ", link},
			[]string{"A &lt;b&gt; &amp; Sons", "https://hook.example/?a&amp;b", "It failed for 3 days.", `href="https://canopy.example/setup#token=abc&amp;x=1"`},
		},
		{
			"limit nearly reached", func(customer string) (Message, error) {
				return Limit(LimitData{To: "ann@example.com", Customer: customer, Name: "users", Used: 80, Max: 100, Link: link})
			}, "A limit of A <b> & Sons is nearly reached",
			[]string{"A <b> & Sons uses 80 of the 100", "limit users", "When it is reached", link},
			[]string{"A &lt;b&gt; &amp; Sons uses 80 of the 100", "is nearly reached"},
		},
		{
			"limit reached", func(customer string) (Message, error) {
				return Limit(LimitData{To: "ann@example.com", Customer: customer, Name: "users", Used: 100, Max: 100, Reached: true, Link: link})
			}, "A limit of A <b> & Sons is reached",
			[]string{"uses 100 of the 100", "What would go beyond it is refused, or waits."},
			[]string{"A limit of A &lt;b&gt; &amp; Sons is reached"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := c.make("A <b> & Sons")
			if err != nil {
				t.Fatal(err)
			}
			if m.To != "ann@example.com" || m.Subject != c.subject {
				t.Errorf("to %q, subject %q", m.To, m.Subject)
			}
			for _, want := range c.text {
				if !strings.Contains(m.Text, want) {
					t.Errorf("the text lacks %q:\n%s", want, m.Text)
				}
			}
			for _, want := range append(c.html, `<html lang="en">`, "<title>", "<h1 ") {
				if !strings.Contains(m.HTML, want) {
					t.Errorf("the markup lacks %q:\n%s", want, m.HTML)
				}
			}
			for _, part := range []string{m.Text, m.HTML} {
				if strings.Contains(part, "ZgotmplZ") || strings.Contains(part, "<no value>") {
					t.Errorf("a template failed:\n%s", part)
				}
			}
		})
		t.Run(c.name+" with a company of several lines", func(t *testing.T) {
			m, err := c.make("A\r\nBcc: eve@example.com\x00\u2028B")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := compose(m, fileSender); err != nil || strings.ContainsFunc(m.Subject, isControl) {
				t.Errorf("subject %q: %v", m.Subject, err)
			}
		})
	}
}

// read takes a mail apart as a mail program would.
func read(t testing.TB, raw []byte) (header netmail.Header, types, bodies []string) {
	t.Helper()
	m, err := netmail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("it is a %s, %v", kind, err)
	}
	for r := multipart.NewReader(m.Body, params["boundary"]); ; {
		part, err := r.NextRawPart()
		if errors.Is(err, io.EOF) {
			return m.Header, types, bodies
		}
		if err != nil {
			t.Fatal(err)
		}
		if encoding := part.Header.Get("Content-Transfer-Encoding"); encoding != "quoted-printable" {
			t.Fatalf("a part is encoded as %s", encoding)
		}
		body, err := io.ReadAll(quotedprintable.NewReader(part))
		if err != nil {
			t.Fatal(err)
		}
		types, bodies = append(types, part.Header.Get("Content-Type")), append(bodies, strings.ReplaceAll(string(body), "\r\n", "\n"))
	}
}

func composed(t testing.TB, m Message) []byte {
	t.Helper()
	msg, err := compose(m, "Canopy <no-reply@canopy.example>")
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	if _, err := msg.WriteTo(&buf); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// TestNamesLeadNowhere: whoever names a company or a person has it mailed to strangers. Mail programs find nothing to follow in it.
func TestNamesLeadNowhere(t *testing.T) {
	for name, want := range map[string]string{
		"Pay at https://evil.example/x now": "Pay at https: //evil. example/x now", "www.evil.co.uk": "www. evil. co. uk", "ann@evil.example": "ann@ evil. example",
		"evil。example": "evil。 example", "Dr. Oak B.V.": "Dr. Oak B.V.", "A <b> & 3.5": "A <b> & 3.5", "bücher.example": "bücher. example", "two\nlines": "two lines",
	} {
		m, err := Invitation(InvitationData{To: "ann@example.com", Name: name, Customer: name, Link: link, ValidFor: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		if m.Subject != "You are invited to "+want || !strings.Contains(m.Text, "Hello "+want+",") || !strings.Contains(m.Text, "invited to "+want+".") || !strings.Contains(m.HTML, html.EscapeString(want)+"</h1>") {
			t.Errorf("%q is shown as %q in %s %s", name, m.Subject, m.Text, m.HTML)
		}
	}
}

func TestCompose(t *testing.T) {
	m := testMessage()
	header, types, bodies := read(t, composed(t, m))
	subject, err := new(mime.WordDecoder).DecodeHeader(header.Get("Subject"))
	if err != nil || subject != m.Subject {
		t.Errorf("the subject is %q, %v", subject, err)
	}
	for name, want := range map[string]string{
		"Message-Id": "<canopy." + m.ID + "@canopy.example>", "To": "<ann@example.com>", "From": `"Canopy" <no-reply@canopy.example>`,
		"Auto-Submitted": "auto-generated",
	} {
		if got := header.Get(name); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	if _, err := header.Date(); err != nil {
		t.Error(err)
	}
	if len(types) != 2 || !strings.HasPrefix(types[0], "text/plain; charset=UTF-8") || !strings.HasPrefix(types[1], "text/html; charset=UTF-8") {
		t.Errorf("its parts are %v", types)
	}
	if bodies[0] != m.Text || bodies[1] != m.HTML {
		t.Errorf("they read %q", bodies)
	}
}

func TestComposeRefusesInjection(t *testing.T) {
	for name, change := range map[string]func(*Message){
		"a header in the address":     func(m *Message) { m.To = "ann@example.com\r\nBcc: eve@example.com" },
		"a header in the name":        func(m *Message) { m.To = "Ann\nBcc: eve@example.com <ann@example.com>" },
		"two addresses":               func(m *Message) { m.To = "ann@example.com, eve@example.com" },
		"no address":                  func(m *Message) { m.To = "" },
		"a header in the subject":     func(m *Message) { m.Subject = "Hello\r\nBcc: eve@example.com" },
		"a line feed in the subject":  func(m *Message) { m.Subject = "Hello\nBcc: eve@example.com" },
		"a zero byte in the subject":  func(m *Message) { m.Subject = "Hello\x00" },
		"a header in the id":          func(m *Message) { m.ID = "1>\r\nBcc: eve@example.com" },
		"a path in the id":            func(m *Message) { m.ID = "../1" },
		"dots at the edge of the id":  func(m *Message) { m.ID = "1." },
		"another sign in the id":      func(m *Message) { m.ID = "1@2" },
		"an end of line after the id": func(m *Message) { m.ID = "1\n" },
	} {
		t.Run(name, func(t *testing.T) {
			m := testMessage()
			change(&m)
			if _, err := compose(m, fileSender); err == nil || !IsPermanent(err) {
				t.Errorf("got %v", err)
			}
			files := &Files{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)}
			if err := files.Send(t.Context(), m); err == nil {
				t.Error("it got into a file")
			}
		})
	}
}

// Whatever a message says, it has no other headers and no other parts than it is to have.
func TestComposeKeepsWhatItIsGiven(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("ab -=.<>\nü✓"))).Draw(rt, "text")
		m := testMessage()
		m.Text, m.HTML = text, "<p>"+text+"</p>"
		m.Subject = rapid.StringOf(rapid.RuneFrom([]rune("ab:;?=_<>ü✓"))).Draw(rt, "subject")
		header, types, bodies := read(t, composed(t, m))
		subject, err := new(mime.WordDecoder).DecodeHeader(header.Get("Subject"))
		if err != nil || subject != m.Subject || len(types) != 2 || bodies[0] != m.Text || bodies[1] != m.HTML {
			rt.Fatalf("it reads %q, %q, %v", subject, bodies, err)
		}
		for name := range header {
			switch name {
			case "Subject", "To", "From", "Date", "Message-Id", "Mime-Version", "Content-Type", "Auto-Submitted":
			default:
				rt.Fatalf("it has a header %s", name)
			}
		}
	})
}

func TestFiles(t *testing.T) {
	var logged bytes.Buffer
	dir := filepath.Join(t.TempDir(), "new", "mail")
	files := &Files{Dir: dir, Log: slog.New(slog.NewTextHandler(&logged, nil))}
	m, err := Reset(ResetData{To: "ann@example.com", Link: link, ValidFor: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	for _, m.ID = range []string{"1.1", "2.2"} {
		if err := files.Send(context.Background(), m); err != nil {
			t.Fatal(err)
		}
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.eml"))
	if err != nil || len(paths) != 2 {
		t.Fatalf("the files are %v, %v", paths, err)
	}
	raw, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	header, _, bodies := read(t, raw)
	if header.Get("To") != "<ann@example.com>" || !strings.Contains(bodies[0], link) {
		t.Errorf("it is %s", raw)
	}
	for _, want := range []string{`link="` + link + `"`, "to=ann@example.com", paths[1]} {
		if !strings.Contains(logged.String(), want) {
			t.Errorf("the log lacks %s:\n%s", want, &logged)
		}
	}
}
