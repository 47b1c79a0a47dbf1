package isolation

import (
	"canopy/e2e/platform"
	"canopy/internal/rule"
	"canopy/resolvers"
)

// issuer is where an identity provider could be that nobody asks.
const issuer = "https://93.184.216.34/login"

// freshProvider is an identity provider of the target company.
func (a *ask) freshProvider() int64 {
	return a.or(func() int64 {
		a.makeRoom("identity_providers")
		made, err := a.m.CreateIdentityProvider(a.ctx, resolvers.CreateIdentityProviderInput{
			CustomerID: platform.ID(a.target), Name: a.providerName(), Issuer: issuer, ClientID: "canopy", ClientSecret: secretMark, Domains: []string{"coral-ports.example"},
		})
		a.ok(err)
		return made.IdentityProvider.ID
	})
}

// makeRoom removes what was made long ago in a table that a company may have twenty rows in.
func (a *ask) makeRoom(table string) {
	a.SQL(`DELETE FROM `+table+` WHERE id IN (SELECT id FROM `+table+` WHERE customer_id = $1 ORDER BY id DESC OFFSET 15)`, a.target)
}

// providerName is one that nobody else has. Those below may read it: they sign in there.
func (a *ask) providerName() string {
	a.serial++
	return "Login " + platform.Decimal(int64(a.serial))
}

// freshIdentity is one of somebody of the target company.
func (a *ask) freshIdentity() int64 {
	return a.or(func() int64 {
		provider := (&ask{world: a.world, as: a.as}).freshProvider()
		return a.Number(`INSERT INTO user_identities (user_id, provider_id, subject, email) VALUES ($1, $2, $3, $3) RETURNING id`, a.member(a.freshMail()), provider, a.unique())
	})
}

// provider is a new identity provider of the company that is asked for, where there is room.
func (a *ask) provider() object {
	a.makeRoom("identity_providers")
	return object{"customerId": a.theCustomer(), "name": a.providerName(), "issuer": issuer, "clientId": "canopy", "clientSecret": a.unique()}
}

// freshScimToken is one of the target company.
func (a *ask) freshScimToken() int64 {
	return a.or(func() int64 {
		a.makeRoom("scim_tokens")
		name := a.unique()
		made, err := a.m.CreateScimToken(a.ctx, resolvers.CreateScimTokenInput{CustomerID: platform.ID(a.target), Name: &name})
		a.ok(err)
		return made.ScimToken.ID
	})
}

// scimToken is a new token of the company that is asked for, where there is room.
func (a *ask) scimToken() object {
	a.makeRoom("scim_tokens")
	return object{"customerId": a.theCustomer(), "name": a.unique()}
}

func identityGraphRows() []graphRow {
	return []graphRow{
		edge("Customer.scimTokens ScimToken.customer ScimToken.createdBy", `scimTokens { name features customer { name } createdBy { email } }`),
		node("ScimToken", rule.CustomerScimTokens, (*ask).freshScimToken, reach),
		mutate("createScimToken", `scimToken { name } token`, (*ask).scimToken, reach),
		mutate("deleteScimToken", `deletedId`, func(a *ask) object { return object{"id": a.freshScimToken()} }, reach),
		edge("Customer.identityProviders IdentityProvider.claims IdentityProvider.defaultRole IdentityProvider.customer",
			`identityProviders { name issuer clientId domains claims { domain recordValue } defaultRole { name } customer { name } }`),
		{
			fields: "User.identities UserIdentity.provider UserIdentity.user", variables: anyUser, want: reach,
			query: `query($id: ID!){ user(id: $id) { identities { subject email provider { name } user { email } } } }`,
		},
		node("IdentityProvider", rule.CustomerIdentityProviders, (*ask).freshProvider, reach),
		node("UserIdentity", rule.UserIdentities, (*ask).freshIdentity, reach),
		mutate("createIdentityProvider", `identityProvider { name clientId }`, (*ask).provider, reach),
		mutate("updateIdentityProvider", `identityProvider { name clientId }`, func(a *ask) object {
			return object{"id": a.freshProvider(), "name": a.providerName()}
		}, reach),
		mutate("deleteIdentityProvider", `deletedId`, func(a *ask) object { return object{"id": a.freshProvider()} }, reach),
		mutate("verifyIdentityDomain", `identityProvider { claims { status } }`, func(a *ask) object {
			return object{"id": a.freshProvider(), "domain": "coral-ports.example"}
		}, reach),
		mutate("unlinkIdentity", `deletedId`, func(a *ask) object { return object{"id": a.freshIdentity()} }, reach),
	}
}

func identityRESTRows() []restRow {
	onProvider := func(a *ask) []any { return []any{a.freshProvider()} }
	onIdentity := func(a *ask) []any { return []any{a.freshIdentity()} }
	return []restRow{
		{op: "listScimTokens", query: func(a *ask) string { return "customerId=" + platform.Decimal(a.theCustomer()) }, want: reach},
		{op: "listScimTokens/own", want: shared},
		{op: "createScimToken", body: func(a *ask) any { return a.scimToken() }, want: reach},
		{op: "getScimToken", path: func(a *ask) []any { return []any{a.freshScimToken()} }, want: reach},
		{op: "deleteScimToken", path: func(a *ask) []any { return []any{a.freshScimToken()} }, want: reach},
		{op: "beginSignOn", public: true},
		{op: "finishSignOn", public: true},
		{op: "signedOutElsewhere", public: true},
		{op: "signOut", public: true},
		{op: "listIdentityProviders", query: func(a *ask) string { return "customerId=" + platform.Decimal(a.theCustomer()) }, want: reach},
		{op: "listIdentityProviders/own", want: shared},
		{op: "createIdentityProvider", body: func(a *ask) any { return a.provider() }, want: reach},
		{op: "getIdentityProvider", path: onProvider, want: reach},
		{op: "updateIdentityProvider", path: onProvider, body: func(a *ask) any { return object{"name": a.providerName()} }, want: reach},
		{op: "deleteIdentityProvider", path: onProvider, want: reach},
		{op: "verifyIdentityDomain", path: onProvider, body: func(*ask) any { return object{"domain": "coral-ports.example"} }, want: reach},
		{op: "listUserIdentities", query: func(a *ask) string { return "userId=" + platform.Decimal(a.freshUser()) }, want: reach},
		{op: "getUserIdentity", path: onIdentity, want: reach},
		{op: "unlinkIdentity", path: onIdentity, want: reach},
	}
}

// identityWrites are the rows of what is kept of identity providers.
func (a *ask) identityWrites() []writeRow {
	shown := map[string]string{"customerId": "customer { databaseId }", "clientSecret": "", "defaultRoleId": "defaultRole { databaseId }"}
	gives := func() object {
		return object{
			"name": a.unique(), "issuer": issuer + "/new", "clientId": "another", "clientSecret": a.unique(), "domains": []string{"a.example", "b.example"},
			"defaultRoleId": a.viewerRole(), "required": true, "enabled": false,
		}
	}
	made := gives()
	made["customerId"] = a.target
	return []writeRow{
		{mutation: "createIdentityProvider", app: "tenant", shown: shown, gives: made},
		{mutation: "createScimToken", app: "tenant", shown: map[string]string{"customerId": "customer { databaseId }"}, gives: object{"customerId": a.target, "name": a.unique(), "expiresAt": "2046-01-02T03:04:05Z"}},
		{mutation: "updateIdentityProvider", app: "tenant", names: object{"id": a.freshProvider()}, shown: shown, gives: gives()},
	}
}
