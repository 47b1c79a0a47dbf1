package mail

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	gomail "github.com/wneessen/go-mail"
)

// idPattern keeps a message's id a dot-atom (RFC 5322, section 3.2.3) and a file's name.
var idPattern = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)

// compose writes a message in the Internet's format, its plain part first (RFC 2046, section
// 5.1.4). A message that would smuggle in a header is refused for good.
func compose(m Message, from string) (*gomail.Msg, error) {
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	if err := msg.From(from); err != nil {
		return nil, fmt.Errorf("sender: %w", err)
	}
	if err := msg.To(m.To); err != nil {
		return nil, permanent{fmt.Errorf("recipient: %w", err)}
	}
	if strings.ContainsFunc(m.Subject, isControl) {
		return nil, permanent{errors.New("subject: has a control character")}
	}
	msg.Subject(m.Subject)
	if m.ID != "" {
		if !idPattern.MatchString(m.ID) {
			return nil, permanent{fmt.Errorf("id %q: has other signs than letters, digits, _ - and inner dots", m.ID)}
		}
		msg.SetMessageIDWithValue("canopy." + m.ID + "@" + domainOf(msg))
	}
	msg.SetDate()
	// Nobody is to answer, and no auto-responder (RFC 3834, section 5).
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	msg.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	return msg, nil
}

// domainOf is the sender's domain, which is the platform's to name messages in.
func domainOf(msg *gomail.Msg) string {
	address := msg.GetFrom()[0].Address
	return address[strings.LastIndexByte(address, '@')+1:]
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }
