package jobs

import (
	"fmt"
	"strconv"

	"canopy/internal/secret"
)

// TopicDeliveries is where the ids of a destination's deliveries are told that have moved on,
// separated by commas.
func TopicDeliveries(destinationID int64) string {
	return "deliveries:" + strconv.FormatInt(destinationID, 10)
}

// signingSeal is the associated data of a destination's sealed signing secrets.
func signingSeal(destinationID int64) string {
	return "webhook secret " + strconv.FormatInt(destinationID, 10)
}

// SealSigningSecret seals a destination's signing secret.
func SealSigningSecret(box *secret.Box, destinationID int64, plain string) []byte {
	return box.Seal([]byte(plain), signingSeal(destinationID))
}

// openSigningSecret opens a sealed signing secret; there may be none.
func openSigningSecret(box *secret.Box, destinationID int64, sealed []byte) (string, error) {
	if len(sealed) == 0 {
		return "", nil
	}
	plain, err := box.Open(sealed, signingSeal(destinationID))
	if err != nil {
		return "", fmt.Errorf("open the signing secret of destination %d (has CANOPY_SECRET_KEY changed?): %w", destinationID, err)
	}
	return string(plain), nil
}
