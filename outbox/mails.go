package outbox

import (
	"encoding/json"

	"canopy/db"
	"canopy/internal/mail"
	"canopy/internal/secret"
)

// unknownMail stands for a mail whose row has no id yet: a mail is sealed before.
const unknownMail = 0

// SealMail seals a message for the outbox.
func SealMail(box *secret.Box, m mail.Message) ([]byte, error) {
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	return db.SealedMails.Seal(box, unknownMail, raw), nil
}

// OpenMail opens the sealed message of a row.
func OpenMail(box *secret.Box, row *db.OutboxMail) (m mail.Message, err error) {
	raw, err := db.SealedMails.Open(box, row.ID, row.Message)
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(raw, &m)
}
