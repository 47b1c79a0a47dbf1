package secret

import (
	"encoding/base32"
	"testing"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/totp"
)

// The vectors of RFC 6238, appendix B, for SHA-1, cut to six digits.
func TestTOTPVectors(t *testing.T) {
	secret := base32.StdEncoding.EncodeToString([]byte("12345678901234567890"))
	for at, code := range map[int64]string{
		59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037", 20000000000: "353130",
	} {
		step, ok := ValidateTOTP(secret, code, 0, time.Unix(at, 0))
		if !ok || step != at/30 {
			t.Errorf("at %d the code %s gave %d, %v", at, code, step, ok)
		}
	}
}

func TestTOTPWindow(t *testing.T) {
	secret := base32.StdEncoding.EncodeToString([]byte("12345678901234567890"))
	now := time.Unix(1_800_000_000, 0)
	current := now.Unix() / 30
	code := func(step int64) string {
		c, err := totp.GenerateCode(secret, time.Unix(step*30, 0))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, c := range []struct {
		name     string
		code     string
		lastStep int64
		step     int64
		ok       bool
	}{
		{"of now", code(current), 0, current, true},
		{"of the step before", code(current - 1), 0, current - 1, true},
		{"of the step after", code(current + 1), 0, current + 1, true},
		{"in two groups", code(current)[:3] + " " + code(current)[3:], 0, current, true},
		{"among blanks", " " + code(current)[:3] + "\u00A0\t" + code(current)[3:] + "\n", 0, current, true},
		{"nothing but blanks", "      ", 0, 0, false},
		{"two steps old", code(current - 2), 0, 0, false},
		{"two steps ahead", code(current + 2), 0, 0, false},
		{"used already", code(current), current, 0, false},
		{"older than the one used", code(current - 1), current, 0, false},
		{"newer than the one used", code(current + 1), current, current + 1, true},
		{"empty", "", 0, 0, false},
		{"letters", "abcdef", 0, 0, false},
		{"five digits", code(current)[:5], 0, 0, false},
		{"seven digits", code(current) + "0", 0, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if step, ok := ValidateTOTP(secret, c.code, c.lastStep, now); ok != c.ok || step != c.step {
				t.Errorf("got %d, %v", step, ok)
			}
		})
	}
}

// The URI is read back by the library's own reader, as an authenticator would.
func TestTOTPURI(t *testing.T) {
	secret := NewTOTPSecret()
	key, err := otp.NewKeyFromURL(TOTPURI(secret, "Canopy & Sons", "ann+x/y@example.com"))
	if err != nil {
		t.Fatal(err)
	}
	if key.Type() != "totp" || key.Secret() != secret || key.Issuer() != "Canopy & Sons" ||
		key.AccountName() != "ann+x/y@example.com" || key.Period() != totpPeriod || key.Digits() != otp.DigitsSix {
		t.Errorf("it reads as %+v", key)
	}
	raw, err := base32.StdEncoding.DecodeString(secret)
	if err != nil || len(raw) != totpBytes {
		t.Errorf("the secret holds %d bytes (%v)", len(raw), err)
	}
	if NewTOTPSecret() == secret {
		t.Error("a secret came twice")
	}
}

func FuzzValidateTOTP(f *testing.F) {
	f.Add("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", "287082", int64(0), int64(59))
	f.Add("not base32!", "1", int64(-1), int64(-1))
	f.Fuzz(func(t *testing.T, secret, code string, lastStep, at int64) {
		step, ok := ValidateTOTP(secret, code, lastStep, time.Unix(at, 0))
		if ok && (step <= lastStep || max(step-at/30, at/30-step) > 1) {
			t.Errorf("the step %d is accepted at %d after %d", step, at, lastStep)
		}
	})
}
