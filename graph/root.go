package graph

import (
	"canopy/graph/generated"
	"canopy/resolvers"
)

// root shows gqlgen the resolvers under the names it expects. Adding a type with edges to the
// schema adds a line here; the compiler says so.
type root struct{ r *resolvers.Resolver }

var _ generated.ResolverRoot = root{}

func (x root) Query() generated.QueryResolver       { return resolvers.Query{Resolver: x.r} }
func (x root) Mutation() generated.MutationResolver { return resolvers.Mutation{Resolver: x.r} }
func (x root) Subscription() generated.SubscriptionResolver {
	return resolvers.Subscription{Resolver: x.r}
}

func (x root) Account() generated.AccountResolver { return resolvers.AccountEdges{Resolver: x.r} }
func (x root) ApiKey() generated.ApiKeyResolver   { return resolvers.APIKeyEdges{Resolver: x.r} } // gqlgen's name
func (x root) AuditEvent() generated.AuditEventResolver {
	return resolvers.AuditEventEdges{Resolver: x.r}
}
func (x root) Chunk() generated.ChunkResolver     { return resolvers.ChunkEdges{Resolver: x.r} }
func (x root) Context() generated.ContextResolver { return resolvers.ContextEdges{Resolver: x.r} }
func (x root) ContextTool() generated.ContextToolResolver {
	return resolvers.ContextToolEdges{Resolver: x.r}
}
func (x root) Document() generated.DocumentResolver { return resolvers.DocumentEdges{Resolver: x.r} }
func (x root) SearchHit() generated.SearchHitResolver {
	return resolvers.SearchHitEdges{Resolver: x.r}
}
func (x root) Customer() generated.CustomerResolver { return resolvers.CustomerEdges{Resolver: x.r} }
func (x root) CustomerRef() generated.CustomerRefResolver {
	return resolvers.CustomerRefEdges{Resolver: x.r}
}

func (x root) Permission() generated.PermissionResolver {
	return resolvers.PermissionEdges{Resolver: x.r}
}
func (x root) Role() generated.RoleResolver   { return resolvers.RoleEdges{Resolver: x.r} }
func (x root) User() generated.UserResolver   { return resolvers.UserEdges{Resolver: x.r} }
func (x root) Agent() generated.AgentResolver { return resolvers.AgentEdges{Resolver: x.r} }
func (x root) AgentRevision() generated.AgentRevisionResolver {
	return resolvers.AgentRevisionEdges{Resolver: x.r}
}
func (x root) Run() generated.RunResolver { return resolvers.RunEdges{Resolver: x.r} }
func (x root) WebhookDestination() generated.WebhookDestinationResolver {
	return resolvers.WebhookDestinationEdges{Resolver: x.r}
}

func (x root) WebhookDelivery() generated.WebhookDeliveryResolver {
	return resolvers.WebhookDeliveryEdges{Resolver: x.r}
}
