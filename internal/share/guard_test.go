package share

import (
	"errors"
	"strings"
	"testing"
)

// TestGuard: a panic is an error that says where it came from, and whatever else ends as it does.
func TestGuard(t *testing.T) {
	var none []int
	_, err := Guarded(func() (int, error) { return none[3], nil })
	if err == nil || !strings.Contains(err.Error(), "out of range") || !strings.Contains(err.Error(), "guard_test.go") {
		t.Errorf("%v", err)
	}
	failed := errors.New("failed")
	if n, err := Guarded(func() (int, error) { return 7, failed }); n != 7 || !errors.Is(err, failed) {
		t.Errorf("%d, %v", n, err)
	}
	if err := Guard(func() error { return nil }); err != nil {
		t.Error(err)
	}
}
