package outbox

import (
	"canopy/db"
	"canopy/internal/secret"
)

// SealSecret seals the value of an agents' secret.
func SealSecret(box *secret.Box, id int64, plain string) []byte {
	return db.SealedAgentSecrets.Seal(box, id, []byte(plain))
}

// OpenSecret opens the sealed value of an agents' secret.
func OpenSecret(box *secret.Box, id int64, sealed []byte) (string, error) {
	plain, err := db.SealedAgentSecrets.Open(box, id, sealed)
	return string(plain), err
}

// SealSigningSecret seals a destination's signing secret.
func SealSigningSecret(box *secret.Box, destinationID int64, plain string) []byte {
	return db.SealedSigningSecrets.Seal(box, destinationID, []byte(plain))
}

// OpenSigningSecret opens a sealed signing secret; there may be none.
func OpenSigningSecret(box *secret.Box, destinationID int64, sealed []byte) (string, error) {
	if len(sealed) == 0 {
		return "", nil
	}
	plain, err := db.SealedSigningSecrets.Open(box, destinationID, sealed)
	return string(plain), err
}
