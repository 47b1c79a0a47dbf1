// Package problemtest judges refusals in tests.
package problemtest

import (
	"errors"
	"testing"

	"canopy/internal/problem"
)

// IsBad asks for a refusal of bad input.
func IsBad(t testing.TB, err error) {
	t.Helper()
	var p *problem.Error
	if !errors.As(err, &p) || p.Code != problem.BadRequest {
		t.Errorf("got %v, want a %s", err, problem.BadRequest)
	}
}
