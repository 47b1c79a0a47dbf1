package resolvers

import (
	"context"

	"canopy/db"
	"canopy/internal/globalid"
	"canopy/internal/problem"
	"canopy/internal/rule"
)

// Node is every object with a global id.
type Node interface{ GlobalID() globalid.ID }

// Node gives any object by its global id, under the rules of the object's own field.
func (q Query) Node(ctx context.Context, id globalid.ID) (Node, error) {
	if _, err := q.may(ctx, rule.Node); err != nil {
		return nil, err
	}
	row, err := q.nodeOfType(ctx, id)
	if err == nil && row == nil {
		err = problem.Invalid(problem.Fault{Location: "id", Message: "is not the global id of a node"})
	}
	return row, err
}

// found keeps a nil row from becoming a Node that is not nil.
func found[T Node](row T, err error) (Node, error) {
	if err != nil {
		return nil, err
	}
	return row, nil
}

func (q Query) customerNode(ctx context.Context, id globalid.ID) (*db.Customer, error) {
	return q.Customer(ctx, &id)
}

// billingNode gives the billing record of the company of that id: they share it.
func (q Query) billingNode(ctx context.Context, id globalid.ID) (*db.Billing, error) {
	return q.Billing(ctx, &globalid.ID{Type: "Customer", Int: id.Int})
}

func (q Query) apiKeyNode(ctx context.Context, id globalid.ID) (*db.APIKey, error) {
	return q.GetAPIKey(ctx, id)
}
