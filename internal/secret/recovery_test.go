package secret

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

func TestRecoveryCodes(t *testing.T) {
	codes, hashes := NewRecoveryCodes()
	if len(codes) != RecoveryCodes || len(hashes) != RecoveryCodes {
		t.Fatalf("%d codes, %d hashes", len(codes), len(hashes))
	}
	form, seen := regexp.MustCompile(`^[A-Z2-7]{4}(-[A-Z2-7]{4}){3}$`), map[string]bool{}
	for i, code := range codes {
		if !form.MatchString(code) || seen[code] {
			t.Errorf("%q", code)
		}
		seen[code] = true
		for _, typed := range []string{code, strings.ToLower(code), strings.ReplaceAll(code, "-", " "), strings.ReplaceAll(code, "-", "")} {
			if hash, ok := HashRecoveryCode(typed); !ok || !bytes.Equal(hash[:], hashes[i]) {
				t.Errorf("%q is not read as %q", typed, code)
			}
		}
	}
	for _, text := range []string{"", "123456", codes[0] + "A", "1111-1111-1111-1111", "ÄÄÄÄ-ÄÄÄÄ"} {
		if _, ok := HashRecoveryCode(text); ok {
			t.Errorf("%q is read as a code", text)
		}
	}
}
