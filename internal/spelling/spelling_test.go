package spelling

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"email", "firstName", "lastName"}
	for name, want := range map[string]string{"e-mail": "email", "mail": "email", "first_name": "firstName", "lstname": "lastName", "permissions": "", "name": "", "": ""} {
		if got := Nearest(name, known, strings.ToLower); got != want {
			t.Errorf("%q is near %q, want %q", name, got, want)
		}
	}
}
