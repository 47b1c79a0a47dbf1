package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
)

// The headers of a delivery. Lower case as HTTP/2 sends them; HTTP does not mind.
const (
	HeaderEvent     = "x-service-event"
	HeaderSignature = "x-service-signature"
	// HeaderSignatureNext carries the new secret's signature while a rotation overlaps.
	HeaderSignatureNext = "x-service-signature-next"
	// HeaderTest is "true" on a delivery that was sent to try the destination out; others have none.
	HeaderTest = "x-canopy-test"
)

const signaturePrefix = "sha256="

// Sign is the value of the signature header for the exact bytes of a body: "sha256=" and the hex
// HMAC-SHA256 (RFC 2104) of the body, keyed with the bytes of the whole secret, its prefix included.
func Sign(secret string, body []byte) string {
	return signaturePrefix + hex.EncodeToString(mac(secret, body))
}

func mac(secret string, body []byte) []byte {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write(body)
	return h.Sum(nil)
}

// Verify tells whether a signature header's value is the body's. It compares in constant time. An
// empty secret verifies nothing.
func Verify(secret string, body []byte, signature string) bool {
	digest, ok := strings.CutPrefix(signature, signaturePrefix)
	if !ok || secret == "" {
		return false
	}
	given, err := hex.DecodeString(digest)
	return err == nil && hmac.Equal(given, mac(secret, body))
}

// VerifyHeader tells whether a delivery is signed with one of the secrets, in either signature
// header: so a receiver is right before, during and after a rotation, whichever secret it has.
func VerifyHeader(header http.Header, body []byte, secrets ...string) bool {
	for _, name := range []string{HeaderSignature, HeaderSignatureNext} {
		signature := header.Get(name)
		for _, secret := range secrets {
			if Verify(secret, body, signature) {
				return true
			}
		}
	}
	return false
}

// SetHeaders puts the headers of a delivery on a request. next is the new secret while a rotation
// overlaps, and empty otherwise.
func SetHeaders(header http.Header, eventType string, body []byte, secret, next string) {
	header.Set("Content-Type", "application/json")
	header.Set(HeaderEvent, eventType)
	header.Set(HeaderSignature, Sign(secret, body))
	header.Del(HeaderSignatureNext)
	if next != "" {
		header.Set(HeaderSignatureNext, Sign(next, body))
	}
}
