package limit

import "testing"

func TestAddressGroup(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.7":         "192.0.2.0/24",
		"::ffff:192.0.2.7":  "192.0.2.0/24",
		"2001:db8:1:2:3::4": "2001:db8:1:2::/64",
		"fe80::1%eth0":      "fe80::/64",
		"":                  "",
		"not an address":    "not an address",
	} {
		if got := AddressGroup(address); got != want {
			t.Errorf("%q is in %q, want %q", address, got, want)
		}
	}
}
