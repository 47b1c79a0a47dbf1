package resolvers

import (
	"context"

	"canopy/internal/access"
	"canopy/internal/limit"
)

// FromNetwork has a request without an access token take turns with the others of its network, until it is known which branch it is for.
func (r *Resolver) FromNetwork(ctx context.Context) context.Context {
	if r.ClientAddress == nil {
		return ctx
	}
	return access.WithTurn(ctx, "network "+limit.AddressGroup(r.ClientAddress(ctx)))
}
