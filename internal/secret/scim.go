package secret

import "strings"

const scimPrefix = "cnpyd_"

// NewScimToken makes the secret of a directory: 256 random bits, with a prefix by which scanners know it.
func NewScimToken() string { return scimPrefix + randomBase62(randomDigits) }

// IsScimToken tells whether a text can be one.
func IsScimToken(s string) bool {
	rest, ok := strings.CutPrefix(s, scimPrefix)
	return ok && len(rest) == randomDigits && isBase62(rest)
}
