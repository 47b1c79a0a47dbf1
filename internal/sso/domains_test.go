package sso

import "testing"

// TestDomainOf: an address belongs to one domain, in one spelling, and to none where that leaves a doubt.
func TestDomainOf(t *testing.T) {
	for email, want := range map[string]string{
		"a@corp.example": "corp.example", "A@CORP.example": "corp.example", "a@b@corp.example": "corp.example",
		"a@bücher.example": "xn--bcher-kva.example", "a@xn--bcher-kva.example": "xn--bcher-kva.example",
		"a@ｃorp.example": "", "a@corp。example": "", "a@corp.example.": "", "a@corp": "", "a@127.0.0.1": "", "a@[127.0.0.1]": "", "corp.example": "", "@corp.example": "", "": "",
		"a@corp..example": "", "a@-corp.example": "", "a@co_rp.example": "", "a@corp.example ": "", "a@xn--.example": "",
	} {
		if got, ok := DomainOf(email); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q, %v", email, got, ok)
		}
	}
}
