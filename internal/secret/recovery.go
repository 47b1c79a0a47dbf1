package secret

import (
	"crypto/rand"
	"strings"
)

const (
	// RecoveryCodes is how many recovery codes a person has at once.
	RecoveryCodes = 10
	// recoveryBytes are 80 random bits: 16 characters of base32, in four groups.
	recoveryBytes, recoveryChars, recoveryGroup = 10, 16, 4
)

// NewRecoveryCodes makes the codes that stand in for a lost authenticator, and what is stored of them.
func NewRecoveryCodes() (codes []string, hashes [][]byte) {
	for range RecoveryCodes {
		raw := make([]byte, recoveryBytes)
		_, _ = rand.Read(raw) // never fails, by its documentation
		plain := totpEncoding.EncodeToString(raw)
		groups := make([]string, 0, recoveryChars/recoveryGroup)
		for i := 0; i < recoveryChars; i += recoveryGroup {
			groups = append(groups, plain[i:i+recoveryGroup])
		}
		hash := HashSecret(plain)
		codes, hashes = append(codes, strings.Join(groups, "-")), append(hashes, hash[:])
	}
	return codes, hashes
}

// HashRecoveryCode gives what is stored of a recovery code, however its groups are set apart and whatever
// its letter case; false for a text that can't be one.
func HashRecoveryCode(code string) (hash [32]byte, ok bool) {
	plain := strings.ToUpper(strings.Join(strings.FieldsFunc(code, func(r rune) bool { return r == '-' || r == ' ' }), ""))
	if len(plain) != recoveryChars {
		return hash, false
	}
	if _, err := totpEncoding.DecodeString(plain); err != nil {
		return hash, false
	}
	return HashSecret(plain), true
}
