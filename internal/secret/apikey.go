package secret

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"hash/crc32"
	"math/big"
	"strings"
)

const (
	alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	// 43 digits of base 62 hold 256 bits, 6 hold a CRC-32.
	randomDigits = 43
	crcDigits    = 6
	clientDigits = 20
	signingBytes = 32

	apiPrefix     = "cnpy_"
	clientPrefix  = "cnpyid_"
	signingPrefix = "whsec_"
)

// NewAPISecret makes the secret of an API key: a prefix that scanners of leaked secrets know, 256
// random bits, and a checksum that tells a mistyped one without a look-up.
func NewAPISecret() string {
	body := apiPrefix + randomBase62(randomDigits)
	return body + checksum(body)
}

// CheckAPISecret tells whether s has the form and the checksum of an API key's secret.
func CheckAPISecret(s string) bool {
	const length = len(apiPrefix) + randomDigits + crcDigits
	if len(s) != length || !strings.HasPrefix(s, apiPrefix) || !isBase62(s[len(apiPrefix):]) {
		return false
	}
	return checksum(s[:length-crcDigits]) == s[length-crcDigits:]
}

// NewClientID makes the public name of an API key.
func NewClientID() string { return clientPrefix + randomBase62(clientDigits) }

// IsClientID tells whether s has the form of an API key's name.
func IsClientID(s string) bool {
	return len(s) == len(clientPrefix)+clientDigits && strings.HasPrefix(s, clientPrefix) && isBase62(s[len(clientPrefix):])
}

// NewSigningSecret makes the secret that a webhook destination's deliveries are signed with: 32 random
// bytes in base64, as the libraries of Standard Webhooks take them. Its prefix, too, is one that scanners
// know.
func NewSigningSecret() string {
	key := make([]byte, signingBytes)
	_, _ = rand.Read(key) // never fails, by its documentation
	return signingPrefix + base64.StdEncoding.EncodeToString(key)
}

// SigningKey gives the bytes of a signing secret; false for one of the older form, which is no base64.
func SigningKey(s string) ([]byte, bool) {
	encoded, prefixed := strings.CutPrefix(s, signingPrefix)
	key, err := base64.StdEncoding.Strict().DecodeString(encoded)
	return key, prefixed && err == nil && len(key) == signingBytes
}

// NewLinkToken makes the token of a link: 256 random bits.
func NewLinkToken() string { return randomBase62(randomDigits) }

// HashSecret is what is stored of a random secret. A plain SHA-256 is enough: 256 random bits
// can't be guessed, however fast the hash.
func HashSecret(s string) [32]byte { return sha256.Sum256([]byte(s)) }

// Matches tells, in constant time, whether s is the secret of one of the hashes.
func Matches(s string, hashes [][]byte) bool {
	sum := HashSecret(s)
	found := 0
	for _, h := range hashes {
		found |= subtle.ConstantTimeCompare(sum[:], h)
	}
	return found == 1
}

// randomBase62 makes digits of base 62 that hold as many random bits as fit them.
func randomBase62(digits int) string {
	limit := new(big.Int).Exp(big.NewInt(int64(len(alphabet))), big.NewInt(int64(digits)), nil)
	n, err := rand.Int(rand.Reader, limit)
	if err != nil {
		panic(err) // the system's randomness does not fail, by its documentation
	}
	return base62(n, digits)
}

func base62(n *big.Int, digits int) string {
	out := make([]byte, digits)
	base, rest := big.NewInt(int64(len(alphabet))), new(big.Int)
	for i := digits - 1; i >= 0; i-- {
		n, rest = new(big.Int).QuoRem(n, base, rest)
		out[i] = alphabet[rest.Int64()]
	}
	return string(out)
}

func checksum(s string) string {
	return base62(big.NewInt(int64(crc32.ChecksumIEEE([]byte(s)))), crcDigits)
}

func isBase62(s string) bool {
	for i := range len(s) {
		if strings.IndexByte(alphabet, s[i]) < 0 {
			return false
		}
	}
	return true
}
