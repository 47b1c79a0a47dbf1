package resolvers

import (
	"context"

	"canopy/db"
	"canopy/internal/globalid"
	"canopy/internal/problem"
	"canopy/internal/rule"
)

// Node gives any object by its global id, under the rules of the object's own field.
func (q Query) Node(ctx context.Context, id globalid.ID) (Node, error) {
	if _, err := q.may(ctx, rule.Node); err != nil {
		return nil, err
	}
	switch id.Type {
	case "Customer":
		return found(q.Customer(ctx, &id))
	case "User":
		return found(q.User(ctx, id))
	case "Permission":
		return found(q.Permission(ctx, id))
	case "Role":
		return found(q.roleNode(ctx, id))
	case "Account":
		return found(q.Account(ctx, id))
	case "Application":
		return found(q.applicationNode(ctx, id))
	case "Region":
		return found(q.Region(ctx, id))
	case "Billing":
		company := globalid.ID{Type: "Customer", Int: id.Int}
		return found(q.Billing(ctx, &company))
	case "ApiKey":
		return found(q.apiKeyNode(ctx, id))
	case "AuditEvent":
		return found(q.auditNode(ctx, id))
	case "Context":
		return found(q.Context(ctx, id))
	case "Document":
		return found(q.documentNode(ctx, id))
	case "Chunk":
		return found(q.chunkNode(ctx, id))
	case "Agent":
		return found(q.Agent(ctx, id))
	case "AgentRevision":
		return found(q.revisionNode(ctx, id))
	case "Run":
		return found(q.runNode(ctx, id))
	case "WebhookDestination":
		return found(q.WebhookDestination(ctx, id))
	case "WebhookDelivery":
		return found(q.deliveryNode(ctx, id))
	}
	return nil, problem.Invalid(problem.Fault{Location: "id", Message: "is not the global id of a node"})
}

// found keeps a nil row from becoming a Node that is not nil.
func found[T Node](row T, err error) (Node, error) {
	if err != nil {
		return nil, err
	}
	return row, nil
}

func (q Query) apiKeyNode(ctx context.Context, id globalid.ID) (*db.APIKey, error) {
	c, err := q.may(ctx, rule.CustomerAPIKeys)
	if err != nil {
		return nil, err
	}
	row, err := q.Store.APIKey(ctx, c.Scope(), id.Int)
	return row, c.unreached(err, "API key", id.Int)
}
