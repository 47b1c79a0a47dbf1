package resolvers

import (
	"context"

	"canopy/db"
	"canopy/internal/globalid"
	"canopy/internal/paging"
)

// Node is every object with a global id.
type Node interface{ GlobalID() globalid.ID }

// The connections of the graph, and their edges.
type (
	CustomerConnection   = Connection[*db.Customer]
	CustomerEdge         = Edge[*db.Customer]
	UserConnection       = Connection[*db.User]
	UserEdge             = Edge[*db.User]
	PermissionConnection = Connection[*db.Permission]
	PermissionEdge       = Edge[*db.Permission]
	AccountConnection    = Connection[*db.Account]
	AccountEdge          = Edge[*db.Account]
	APIKeyConnection     = Connection[*db.APIKey]
	APIKeyEdge           = Edge[*db.APIKey]
	AuditEventConnection = Connection[*db.AuditEvent]
	AuditEventEdge       = Edge[*db.AuditEvent]
	ContextConnection    = Connection[*db.Context]
	ContextEdge          = Edge[*db.Context]
	DocumentConnection   = Connection[*db.Document]
	DocumentEdge         = Edge[*db.Document]
	ChunkConnection      = Connection[*db.Chunk]
	ChunkEdge            = Edge[*db.Chunk]

	AgentConnection              = Connection[*db.Agent]
	AgentEdge                    = Edge[*db.Agent]
	AgentRevisionConnection      = Connection[*db.Revision]
	AgentRevisionEdge            = Edge[*db.Revision]
	RunConnection                = Connection[*db.Run]
	RunEdge                      = Edge[*db.Run]
	WebhookDestinationConnection = Connection[*db.Destination]
	WebhookDestinationEdge       = Edge[*db.Destination]
	WebhookDeliveryConnection    = Connection[*db.Delivery]
	WebhookDeliveryEdge          = Edge[*db.Delivery]
)

// connect answers a connection whose cursors are ids: it reads the page that the arguments ask
// for, and counts only when asked.
func connect[T Node](ctx context.Context, first *int, after *string,
	read func(context.Context, paging.Page) ([]T, error), count func(context.Context) (int, error),
) (*Connection[T], error) {
	return connectBy(ctx, first, after, 1, func(row T) paging.Cursor { return paging.Cursor{row.GlobalID().Int} }, read, count)
}

// connectBy is connect for a list in another order; keys is the number of integers in its
// cursors, 0 for any.
func connectBy[T any](ctx context.Context, first *int, after *string, keys int, at func(T) paging.Cursor,
	read func(context.Context, paging.Page) ([]T, error), count func(context.Context) (int, error),
) (*Connection[T], error) {
	page, err := paging.ParsePage(first, after, keys)
	if err != nil {
		return nil, err
	}
	rows, err := read(ctx, page)
	if err != nil {
		return nil, err
	}
	return newConnection(page, rows, at, count), nil
}
