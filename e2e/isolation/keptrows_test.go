package isolation

import (
	"canopy/e2e/platform"
	"canopy/internal/globalid"
	"canopy/resolvers"
)

// writeRow gives a mutation that makes or changes an object a good value for each field of its input.
type writeRow struct {
	mutation string
	// app is the application of the token: tenant, assistant or builder.
	app string
	// names are the fields that say which object is changed.
	names object
	// gives are those that are kept, each with another value than the object has before.
	gives object
	// shown are the fields of the object that show what is given under another name; "" for what it
	// does not show.
	shown map[string]string
	// byREST are the fields that REST takes in another form.
	byREST object
}

// toldAs are the fields that the log has under another name; "" for what it tells by another field, or by
// the company that the event is about.
var toldAs = map[string]string{
	"createCustomer.parentId": "parent", "moveCustomer.parentId": "parent", "createCustomer.regionId": "region", "createUser.name": "", "createAgent.accountId": "account",
	"createApiKey.customerId": "", "createRole.customerId": "", "createWebhookDestination.customerId": "",
	"updatePermission.roleId": "role", "updateAgent.diagram": "draft", "updateWebhookDestination.allEvents": "",
	"setLimits.limits":                     "", // each by its name: TestLimitsAreTold
	"createIdentityProvider.defaultRoleId": "defaultRole", "updateIdentityProvider.defaultRoleId": "defaultRole", "createIdentityProvider.customerId": "customer", "createScimToken.customerId": "",
	"updateSecret.value": "", // it tells that it was changed: TestSecretsAreManaged
}

// writeRows has a row for every mutation whose input is kept. What is given in place of something else
// has a row of its own.
func (y *yard) writeRows() []writeRow {
	a := &ask{world: y.world, as: asOwner}
	admin := map[string]string{"email": "", "firstName": "", "lastName": "", "assistant": "", "builder": "", "tenant": ""}
	user := map[string]string{"customerId": ""}
	person := map[string]string{"email": "", "firstName": "", "lastName": "", "name": "", "accountId": "account { databaseId }", "roleId": "role { databaseId }", "userId": "user { databaseId }"}
	of := map[string]string{"accountId": "account { databaseId }", "applicationId": "application { databaseId }", "customerId": "customer { databaseId }", "userId": "user { databaseId }"}
	sealed := map[string]string{"customerId": "customer { databaseId }", "value": ""}
	account := a.Account(a.target, "tenant")
	return append(a.identityWrites(), []writeRow{
		{mutation: "createCustomer", app: "tenant", shown: admin, gives: object{
			"parentId": a.freshCustomer(), "name": a.unique(), "regionId": a.region(), "canAddCustomers": true, "descendantsCanAdd": true, "email": a.freshMail(),
			"firstName": "Ada", "lastName": "Lovelace", "assistant": true, "builder": true, "tenant": false,
		}},
		{mutation: "updateCustomer", app: "tenant", names: object{"customerId": a.freshCustomer()}, gives: object{
			"name": a.unique(), "canAddCustomers": false, "descendantsCanAdd": false, "maxKeyDays": 90,
		}},
		{mutation: "moveCustomer", app: "tenant", names: object{"id": a.freshCustomer()}, gives: object{"parentId": a.target}},
		{mutation: "setLimits", app: "tenant", names: object{"customerId": a.freshCustomer()}, shown: map[string]string{"limits": ""}, gives: object{
			"limits": []object{{"name": "USERS", "limit": 10}},
		}, byREST: object{"limits": object{"users": 10}}},
		{mutation: "saveBilling", app: "tenant", names: object{"customerId": a.freshCustomer()}, gives: object{
			"billingName": "a", "businessId": "b", "taxId": "c", "addressLine1": "d", "addressLine2": "e", "city": "f", "state": "g", "zipCode": "h", "countryCode": "NO",
		}},
		{mutation: "createUser", app: "tenant", shown: user, gives: object{"customerId": a.target, "email": a.freshMail(), "firstName": "Ada", "lastName": "Lovelace"}},
		{mutation: "createUser", app: "tenant", shown: user, gives: object{"customerId": a.target, "email": a.freshMail(), "name": "Grace Hopper"}},
		{mutation: "updateUser", app: "tenant", names: object{"id": a.freshUser()}, gives: object{"firstName": "Ada", "lastName": "Lovelace"}},
		{mutation: "createPermission", app: "tenant", shown: person, gives: object{
			"accountId": account, "roleId": a.viewerRole(), "email": a.freshMail(), "firstName": "Ada", "lastName": "Lovelace", "name": "Ada Lovelace", "disabled": true,
		}},
		{mutation: "createPermission", app: "tenant", shown: person, gives: object{"accountId": account, "roleId": a.viewerRole(), "userId": a.freshUser()}},
		{mutation: "setPermissionDisabled", app: "tenant", names: object{"id": a.freshPermission()}, shown: person, gives: object{"disabled": true}},
		{mutation: "updatePermission", app: "tenant", names: object{"id": a.freshPermission()}, shown: person, gives: object{"roleId": a.viewerRole()}},
		{mutation: "createApiKey", app: "tenant", shown: of, gives: object{
			"customerId": a.target, "userId": a.shared, "name": a.unique(), "expiresAt": "2046-01-02T03:04:05Z",
			"features": []string{"user.read"}, "allowedAddresses": []string{"198.51.100.0/24"},
		}},
		{mutation: "createRole", app: "tenant", shown: of, gives: object{
			"applicationId": 1, "customerId": a.target, "name": a.unique(), "description": "d", "isOwner": true, "features": []string{"user.read"},
		}},
		{mutation: "updateRole", app: "tenant", names: object{"id": a.freshRole()}, gives: object{"name": a.unique(), "description": "d", "features": []string{"user.read"}}},
		{mutation: "setAccountDisabled", app: "tenant", names: object{"id": a.Account(a.freshCustomer(), "builder")}, gives: object{"disabled": true}},
		{mutation: "createContext", app: "assistant", gives: object{"name": a.unique(), "description": "d", "caption": "c", "toolsJson": platform.OneTool(7), "starterPrompts": []string{"Where?"}}},
		{mutation: "updateContext", app: "assistant", names: object{"id": a.freshContext()}, gives: object{
			"name": a.unique(), "description": "d", "caption": "c", "toolsJson": platform.OneTool(7), "starterPrompts": []string{"Where?"},
			"topN": 3, "scoreThreshold": .25, "searchMode": "HYBRID", "denseWeight": .75, "logsQueries": true, "chunkSize": 50, "overlap": .5, "embeddingModel": "canopy-lexical-1",
		}},
		{mutation: "updateDocument", app: "assistant", names: object{"id": a.aDocument()}, gives: object{"displayName": a.unique(), "attributes": object{"lang": "de", "year": 2024, "draft": false}}},
		{mutation: "shareContext", app: "assistant", names: object{"id": a.freshContext()}, gives: object{"shareState": 1, "icon": "📚"}},
		{mutation: "createAgent", app: "builder", shown: map[string]string{"diagram": "draft"}, gives: object{"accountId": y.agent.Agent.AccountID, "name": a.unique(), "diagram": object{"steps": []any{}}}},
		{mutation: "updateAgent", app: "builder", names: object{"id": y.freshAgent(a)}, shown: map[string]string{"diagram": "draft"}, gives: object{"name": a.unique(), "diagram": object{"steps": []any{}}}},
		{mutation: "createSecret", app: "builder", shown: sealed, gives: object{"customerId": a.target, "name": a.secretName(), "value": a.unique()}},
		{mutation: "updateSecret", app: "builder", names: object{"id": y.freshSecret(a)}, shown: sealed, gives: object{"name": a.secretName(), "value": a.unique()}},
		{mutation: "createWebhookDestination", app: "builder", shown: of, gives: object{"customerId": a.target, "url": platform.PublicURL, "name": a.unique(), "events": []string{"run.started"}, "signing": "STANDARD"}},
		{mutation: "updateWebhookDestination", app: "builder", names: object{"id": y.freshDestination(a)}, shown: map[string]string{"allEvents": ""}, gives: object{
			"url": platform.PublicURL + "/new", "name": a.unique(), "events": []string{"run.started"}, "allEvents": false, "enabled": false, "signing": "STANDARD",
		}},
	}...)
}

// freshCustomer is a company that may do all that its flags allow.
func (a *ask) freshCustomer() int64 {
	on := true
	made, err := a.m.CreateCustomer(a.ctx, resolvers.CreateCustomerInput{
		Name: a.unique(), RegionID: globalid.ID{Int: a.region()}, CanAddCustomers: &on, DescendantsCanAdd: &on, Email: a.freshMail(),
	})
	a.ok(err)
	return made.Customer.ID
}
