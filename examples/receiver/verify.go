package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
)

// verify tells whether one of the headers holds the signature of body by one of the secrets. The second
// header is there while a secret is being rotated with an overlap.
func verify(header http.Header, body []byte, secrets []string) bool {
	for _, name := range []string{"x-service-signature", "x-service-signature-next"} {
		given, err := hex.DecodeString(strings.TrimPrefix(header.Get(name), "sha256="))
		if err != nil {
			continue
		}
		for _, secret := range secrets {
			mac := hmac.New(sha256.New, []byte(secret))
			mac.Write(body)
			if hmac.Equal(given, mac.Sum(nil)) { // constant time
				return true
			}
		}
	}
	return false
}
