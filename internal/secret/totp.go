package secret

import (
	"crypto/rand"
	"encoding/base32"
	"net/url"
	"strings"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/totp"
)

const (
	totpPeriod = 30
	totpBytes  = 20
)

var totpEncoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// NewTOTPSecret makes the shared secret of a time-based one-time password (RFC 6238), in base32.
func NewTOTPSecret() string {
	raw := make([]byte, totpBytes)
	_, _ = rand.Read(raw) // never fails, by its documentation
	return totpEncoding.EncodeToString(raw)
}

// TOTPURI is the otpauth URI that authenticators read from a QR code.
func TOTPURI(secret, issuer, account string) string {
	return "otpauth://totp/" + escape(issuer) + ":" + escape(account) + "?secret=" + secret + "&issuer=" + escape(issuer)
}

// escape writes a space as %20: some authenticators show a "+".
func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// ValidateTOTP checks a code against the time step of now and the ones beside it. A step up to
// lastStep was used before and does not count. It gives the step that the code belongs to. Blanks in
// the code are passed over: authenticators show it in two groups.
func ValidateTOTP(secret, code string, lastStep int64, now time.Time) (step int64, ok bool) {
	code = strings.Join(strings.Fields(code), "")
	current := now.Unix() / totpPeriod
	for _, step := range []int64{current, current - 1, current + 1} {
		if step <= lastStep {
			continue
		}
		valid, err := totp.ValidateCustom(code, secret, time.Unix(step*totpPeriod, 0), totp.ValidateOpts{
			Period: totpPeriod, Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1,
		})
		if err == nil && valid {
			return step, true
		}
	}
	return 0, false
}
