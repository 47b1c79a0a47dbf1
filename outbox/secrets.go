package outbox

import (
	"fmt"
	"strconv"

	"canopy/internal/secret"
)

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
