package identity

import (
	"strconv"
	"testing"

	"canopy/e2e/platform"
)

// waitLong adds eight failures of a network for a person to those of before. After five the next try is a second away, which
// a slow machine may need from one request to the next; after thirteen it is 256 seconds away.
func waitLong(s *platform.Platform, account, network string) {
	for range 8 {
		s.App.Resolver.Throttle.Fail(s.T.Context(), account+"|"+network)
	}
}

// wantsLongWait judges what somebody is answered who had failed five times before waitLong: its eight alone would be a wait of
// eight seconds.
func wantsLongWait(t *testing.T, got platform.Answer) {
	t.Helper()
	wants(t, "after them", got, 429)
	if n, err := strconv.Atoi(got.Header.Get("Retry-After")); err != nil || n < 128 || n > 256 {
		t.Errorf("Retry-After %q, want 256 at most, and more than half of it", got.Header.Get("Retry-After"))
	}
	if code := codeOf(t, got); code != "RATE_LIMITED" {
		t.Errorf("code %v", code)
	}
}

// codeOf is the code of a refusal, at whichever door.
func codeOf(t *testing.T, a platform.Answer) any {
	t.Helper()
	body := a.JSON(t).(map[string]any)
	if code, is := body["code"]; is {
		return code
	}
	return platform.Member(t, body, "errors.0.extensions.code")
}
