package config

import (
	"slices"
	"strings"
	"testing"
)

// TestUnknown: a misspelt setting would be passed over in silence.
func TestUnknown(t *testing.T) {
	const none = ": canopy serve --help lists the settings"
	for set, want := range map[string]string{
		"CANOPY_WEBHOOK_RETENTON=7d":      ": is CANOPY_WEBHOOK_RETENTION meant?",
		"CANOPY_TRUSTED_PROXY=10.0.0.0/8": ": is CANOPY_TRUSTED_PROXIES meant?",
		"canopy_drain=5s":                 ": is CANOPY_DRAIN meant?",
		"CANOPY_DATABASE_URL=postgres://": ": is DATABASE_URL meant?",
		"CANOPY_PORT=8080":                none,
		"CANOPY_LOG_LEVEL=debug":          none,
		"CANOPY_=x":                       none,

		"CANOPY_DRAIN=5s":                           "",
		"CANOPY_DRIAN=":                             "", // counts as unset
		"CANOPY_CLIENT_ID=x":                        "",
		"CANOPY_TEST_RUN=x":                         "",
		"DATABASE_ULR=x":                            "",
		"CANOPY":                                    "",
		"CANOPY_SERVICE_HOST=10.0.0.1":              "",
		"CANOPY_API_SERVICE_PORT_HTTP=8080":         "",
		"CANOPY_PORT=tcp://10.0.0.1:8080":           "",
		"CANOPY_PORT_8080_TCP_ADDR=10.0.0.1":        "",
		"CANOPY_API_PORT=tcp://10.0.0.1:8080":       "",
		"CANOPY_WEBHOOK_ALLOW=CANOPY_SMTP_ULR=here": "",
	} {
		got := Unknown([]string{"HOME=/root", set})
		var expected []string
		if want != "" {
			name, _, _ := strings.Cut(set, "=")
			expected = []string{name + " is set, but there is no such setting" + want}
		}
		if !slices.Equal(got, expected) {
			t.Errorf("%s: %q, want %q", set, got, expected)
		}
	}
	if got := Unknown([]string{"CANOPY_B=1", "CANOPY_A=1"}); len(got) != 2 || got[0] > got[1] {
		t.Errorf("not in order: %q", got)
	}
}
