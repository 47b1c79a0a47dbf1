package secret

import "testing"

func TestIsCommon(t *testing.T) {
	for password, want := range map[string]bool{
		"1234567890": true, "qwertyuiop": true, "1q2w3e4r5t": true, "basketball": true, "christopher": true, // as they are in the lists
		"QwertyUiop": true, "password123": true, "Sunshine12345": true, "password1234567890": true,
		"": false, "correct horse battery": false, "password-and-more": false, "123sunshine": false, "sunshine124": false,
		NewLinkToken(): false,
	} {
		if IsCommon(password) != want {
			t.Errorf("IsCommon(%q) is not %v", password, want)
		}
	}
	if n := len(common()); n < 10_000 {
		t.Errorf("there are %d", n)
	}
}
