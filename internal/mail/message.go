// Package mail renders the platform's mails and sends them: over SMTP, or into files.
package mail

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	htmltemplate "html/template"
	"strings"
	texttemplate "text/template"
	"time"
	"unicode"
)

// Message is a mail to one person, with a plain and an HTML part. ID, where it is set, makes the
// Message-ID, so that a mail sent twice can be told: letters, digits, "_", "-" and inner dots.
type Message struct {
	ID      string `json:"-"`
	To      string `json:"to"`
	Subject string `json:"subject"`
	Text    string `json:"text"`
	HTML    string `json:"html"`
}

// Sender sends mails.
type Sender interface {
	// Send hands a mail on. An error for which IsPermanent holds will not go away by itself.
	Send(ctx context.Context, m Message) error
}

//go:embed templates
var templates embed.FS

var (
	funcs  = map[string]any{"shown": shown}
	plain  = texttemplate.Must(texttemplate.New("").Funcs(funcs).ParseFS(templates, "templates/*.txt"))
	markup = htmltemplate.Must(htmltemplate.New("").Funcs(funcs).ParseFS(templates, "templates/*.html"))
)

// render makes a message of the two templates of a name.
func render(name, to, subject string, data any) (Message, error) {
	var text, html bytes.Buffer
	if err := plain.ExecuteTemplate(&text, name+".txt", data); err != nil {
		return Message{}, fmt.Errorf("mail %s: %w", name, err)
	}
	if err := markup.ExecuteTemplate(&html, name+".html", data); err != nil {
		return Message{}, fmt.Errorf("mail %s: %w", name, err)
	}
	return Message{To: to, Subject: subject, Text: text.String(), HTML: html.String()}, nil
}

// InvitationData is what an invitation says.
type InvitationData struct {
	To, Name, Customer, Link string
	ValidFor                 time.Duration
}

// Days is how long the link can be used.
func (d InvitationData) Days() int { return int(d.ValidFor / (24 * time.Hour)) }

// Invitation asks a new user to set a password.
func Invitation(d InvitationData) (Message, error) {
	return render("invitation", d.To, "You are invited to "+shown(d.Customer), d)
}

// ResetData is what a password reset says.
type ResetData struct {
	To, Link string
	ValidFor time.Duration
}

// Minutes is how long the link can be used.
func (d ResetData) Minutes() int { return int(d.ValidFor / time.Minute) }

// Reset lets a user set a new password.
func Reset(d ResetData) (Message, error) { return render("reset", d.To, "Set a new password", d) }

// EmailData is what the mails of a change of an address say.
type EmailData struct {
	// New is the address that is to take the place of another.
	To, New, Link string
	// StopLink leads the old address to where the change is stopped.
	StopLink string
	ValidFor time.Duration
}

// Hours is how long the link can be used.
func (d EmailData) Hours() int { return int(d.ValidFor / time.Hour) }

// EmailChange lets a new address be confirmed.
func EmailChange(d EmailData) (Message, error) {
	return render("emailchange", d.To, "Confirm your new address", d)
}

// EmailNotice tells an address that another is to take its place, and lets that be confirmed or stopped.
func EmailNotice(d EmailData) (Message, error) {
	return render("emailnotice", d.To, "Your address is to change", d)
}

// DisabledData is what the news of a disabled webhook destination says.
type DisabledData struct {
	To, Customer, URL string
	// Reason is a sentence for a person.
	Reason string
	// Link leads to the destination's deliveries.
	Link string
}

// DestinationDisabled tells that a webhook destination gets no more events.
func DestinationDisabled(d DisabledData) (Message, error) {
	return render("disabled", d.To, "A webhook destination of "+shown(d.Customer)+" was disabled", d)
}

// LimitData is what the news of a limit says.
type LimitData struct {
	To, Customer string
	// Name is the limit's, as the API has it.
	Name      string
	Used, Max int64
	// Reached: it is reached, and not only nearly.
	Reached bool
	// Link leads to what the company uses.
	Link string
}

// Limit tells that a limit of a company is reached, or nearly.
func Limit(d LimitData) (Message, error) {
	subject := "A limit of " + shown(d.Customer) + " is nearly reached"
	if d.Reached {
		subject = "A limit of " + shown(d.Customer) + " is reached"
	}
	return render("limit", d.To, subject, d)
}

// shown is a name as mails show it: one line, as a header is not to be split, in which nothing looks like an address that programs
// would make a link of. Whoever names a company can have it written to anybody.
func shown(s string) string {
	line := strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || isControl(r) }), " ")
	list := []rune(strings.ReplaceAll(line, "://", ": //"))
	var out strings.Builder
	for i, r := range list {
		out.WriteRune(r)
		if strings.ContainsRune(".。．｡@", r) && i > 0 && inWord(list[i-1]) && i+2 < len(list) && inWord(list[i+1]) && inWord(list[i+2]) {
			out.WriteByte(' ')
		}
	}
	return out.String()
}

func inWord(r rune) bool { return r == '-' || unicode.IsLetter(r) || unicode.IsNumber(r) }
