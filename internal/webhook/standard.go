package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"

	"canopy/internal/secret"
)

// The ways in which a destination's deliveries are signed.
const (
	// SigningSpec is a signature of the body alone.
	SigningSpec = "SPEC"
	// SigningStandard adds the signature of Standard Webhooks, which covers the event's id and the time
	// of the attempt, too.
	SigningStandard = "STANDARD"
)

// The headers of Standard Webhooks (https://www.standardwebhooks.com).
const (
	HeaderStandardID        = "webhook-id"
	HeaderStandardTimestamp = "webhook-timestamp"
	HeaderStandardSignature = "webhook-signature"
)

// SetStandardHeaders puts the headers of Standard Webhooks beside those of SetHeaders, for an attempt at
// a time to deliver an event. There is one signature for each of the secrets that can make one.
func SetStandardHeaders(header http.Header, eventID string, at time.Time, body []byte, secrets ...string) {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	var signatures []string
	for _, plain := range secrets {
		if key, ok := secret.SigningKey(plain); ok {
			h := hmac.New(sha256.New, key)
			_, _ = h.Write([]byte(eventID + "." + timestamp + "."))
			_, _ = h.Write(body)
			signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(h.Sum(nil)))
		}
	}
	header.Set(HeaderStandardID, eventID)
	header.Set(HeaderStandardTimestamp, timestamp)
	header.Set(HeaderStandardSignature, strings.Join(signatures, " "))
}
