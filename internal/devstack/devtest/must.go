package devtest

import "testing"

// Check ends a test where there is an error.
func Check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Must gives what a call has given, and ends the test where that is an error: Must[int](t)(strconv.Atoi("1")).
func Must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		Check(t, err)
		return v
	}
}
