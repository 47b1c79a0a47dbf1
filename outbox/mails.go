package outbox

import (
	"encoding/json"
	"fmt"

	"canopy/internal/mail"
	"canopy/internal/secret"
)

// mailSeal is the associated data of sealed mails.
const mailSeal = "mail"

// SealMail seals a message for the outbox.
func SealMail(box *secret.Box, m mail.Message) ([]byte, error) {
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	return box.Seal(raw, mailSeal), nil
}

// OpenMail opens a sealed message.
func OpenMail(box *secret.Box, sealed []byte) (m mail.Message, err error) {
	raw, err := box.Open(sealed, mailSeal)
	if err != nil {
		return m, fmt.Errorf("open a sealed mail (has CANOPY_SECRET_KEY changed?): %w", err)
	}
	return m, json.Unmarshal(raw, &m)
}
