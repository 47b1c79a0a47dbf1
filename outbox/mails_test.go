package outbox

import (
	"strings"
	"testing"

	"canopy/db"
	"canopy/internal/mail"
	"canopy/internal/secret"
)

// TestMailsThatDoNotOpenAreNamed: the error tells which mail it is, as it is kept with others.
func TestMailsThatDoNotOpenAreNamed(t *testing.T) {
	box := func(letter string) *secret.Box {
		b, err := secret.NewBox([]byte(strings.Repeat(letter, 32)))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	sealed, err := SealMail(box("a"), mail.Message{Subject: "Hello"})
	if err != nil {
		t.Fatal(err)
	}
	row := &db.OutboxMail{ID: 4711, Message: sealed}
	if m, err := OpenMail(box("a"), row); err != nil || m.Subject != "Hello" {
		t.Errorf("%+v, %v", m, err)
	}
	if _, err := OpenMail(box("b"), row); err == nil || !strings.Contains(err.Error(), "opens mail_outbox.message of 4711") {
		t.Error(err)
	}
}
