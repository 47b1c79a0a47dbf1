package platform

import (
	"context"
	"errors"
	"testing"
	"time"
)

// Turn does what the upkeep does again and again: once more where a busy database had no time to answer.
func Turn(t testing.TB, do func(context.Context) error) {
	t.Helper()
	err := do(t.Context())
	for end := time.Now().Add(Patience); errors.Is(err, context.DeadlineExceeded) && t.Context().Err() == nil && time.Now().Before(end); {
		err = do(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}
