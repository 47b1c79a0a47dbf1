package secret

import (
	"strings"
	"testing"
)

func TestSessionTokens(t *testing.T) {
	key, other := NewSessionKey(), NewSessionKey()
	made := NewSessionToken(key, 12, 3)
	read, ok := ParseSessionToken(made.String())
	if !ok || read != made || !read.MadeWith(key) || read.MadeWith(other) {
		t.Errorf("%v, %v", read, ok)
	}
	if NewSessionToken(key, 12, 3) != made || NewSessionToken(key, 12, 4).mac == made.mac || NewSessionToken(key, 1, 23).mac == made.mac {
		t.Error("a token is its number's alone")
	}
	forged := strings.Replace(made.String(), "_12_3_", "_12_4_", 1)
	if read, ok := ParseSessionToken(forged); !ok || read.MadeWith(key) {
		t.Error("another number has the same MAC")
	}
	for _, s := range []string{
		"", "cnpys_", "cnpys_12_3", "cnpys_x_3_" + made.mac, "cnpys_12_9999999999_" + made.mac, "cnpys_012_3_" + made.mac,
		"cnpys_+12_3_" + made.mac, " " + made.String(), strings.TrimPrefix(made.String(), sessionPrefix),
	} {
		if _, ok := ParseSessionToken(s); ok {
			t.Errorf("%q is taken for a token", s)
		}
	}
}
