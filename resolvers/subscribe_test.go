package resolvers

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"canopy/internal/access"
	"canopy/internal/bus"
)

// TestFollowFromPassesOver: an object that can't be read at the moment is not sent half empty.
func TestFollowFromPassesOver(t *testing.T) {
	r := &Resolver{Bus: bus.New(nil, slog.New(slog.DiscardHandler))}
	ctx := access.WithPrincipal(t.Context(), &access.Principal{Expires: time.Now().Add(time.Hour)})
	objects := followFrom(ctx, r, "topic",
		func(context.Context, []byte) (*int, error) { return new(int), errors.New("away") },
		func(*int) bool { return true })
	r.Bus.Close()
	if _, open := <-objects; open {
		t.Error("it was sent")
	}
}
