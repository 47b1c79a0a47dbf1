package outbox

import (
	"fmt"
	"strconv"

	"canopy/internal/secret"
)

// secretSeal is the associated data of the sealed value of an agents' secret.
func secretSeal(id int64) string { return "agent secret " + strconv.FormatInt(id, 10) }

// SealSecret seals the value of an agents' secret.
func SealSecret(box *secret.Box, id int64, plain string) []byte {
	return box.Seal([]byte(plain), secretSeal(id))
}

// OpenSecret opens the sealed value of an agents' secret.
func OpenSecret(box *secret.Box, id int64, sealed []byte) (string, error) {
	plain, err := box.Open(sealed, secretSeal(id))
	if err != nil {
		return "", fmt.Errorf("open the secret %d (has CANOPY_SECRET_KEY changed?): %w", id, err)
	}
	return string(plain), nil
}

// signingSeal is the associated data of a destination's sealed signing secrets.
func signingSeal(destinationID int64) string {
	return "webhook secret " + strconv.FormatInt(destinationID, 10)
}

// SealSigningSecret seals a destination's signing secret.
func SealSigningSecret(box *secret.Box, destinationID int64, plain string) []byte {
	return box.Seal([]byte(plain), signingSeal(destinationID))
}

// OpenSigningSecret opens a sealed signing secret; there may be none.
func OpenSigningSecret(box *secret.Box, destinationID int64, sealed []byte) (string, error) {
	if len(sealed) == 0 {
		return "", nil
	}
	plain, err := box.Open(sealed, signingSeal(destinationID))
	if err != nil {
		return "", fmt.Errorf("open the signing secret of destination %d (has CANOPY_SECRET_KEY changed?): %w", destinationID, err)
	}
	return string(plain), nil
}
