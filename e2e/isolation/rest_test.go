package isolation

import (
	"slices"

	"canopy/e2e/platform"
	"canopy/internal/access"
)

// restRow says how to ask a REST operation for the target company, and what each caller must get.
// A name may have a variant behind a slash: the operation asked in another way.
type restRow struct {
	op string
	// path fills the template's places; query goes behind it.
	path  func(*ask) []any
	query func(*ask) string
	body  func(*ask) any
	want  rule
	// form is the body of an upload.
	form []platform.Part
	// public: no token is asked for; assistant: one for the assistant.
	public, assistant bool
}

func onCustomer(a *ask) []any { return []any{a.theCustomer()} }

func onPermission(a *ask) []any { return []any{a.freshPermission()} }

func billingBody(*ask) any { return object{"billingName": secretMark} }

// restRows has at least one row for every documented operation.
func restRows() []restRow {
	return slices.Concat(customerRows(), userRows(), permissionRows(), contextRows())
}

func customerRows() []restRow {
	return []restRow{
		{op: "exchangeToken", public: true},
		{op: "getKeys", public: true},
		{op: "getServerMetadata", public: true},
		{op: "logIn", public: true},
		{op: "setPassword", public: true},
		{op: "requestReset", public: true},
		{op: "getIdentity", want: shared(0)},
		{op: "getCustomer", path: onCustomer, want: reach(access.CompanyRead)},
		{op: "updateCustomer", body: func(a *ask) any {
			return object{"customerId": a.theCustomer(), "name": targetName}
		}, want: reach(access.CompanyWrite)},
		{op: "createCustomer", body: func(a *ask) any {
			return object{"parentId": a.theCustomer(), "name": a.unique(), "regionId": 1, "email": a.freshMail()}
		}, want: reach(access.CompanyCreate)},
		{op: "listCustomers", want: shared(access.CompanyRead)},
		{op: "listCustomersOf", path: onCustomer, want: reach(access.CompanyRead)},
		{op: "listAccounts", want: shared(access.PermissionRead)},
		{op: "listAccountsOf", path: onCustomer, want: reach(access.PermissionRead)},
		{op: "getBilling", want: shared(access.BillingRead).but(gets404, asAncestor, asDescendant, asSibling, asStranger)},
		{op: "getBillingOf", path: onCustomer, want: reach(access.BillingRead)},
		{op: "saveBilling", body: billingBodyOfOwn, want: shared(access.BillingWrite)},
		{op: "saveBillingOf", path: onCustomer, body: billingBody, want: reach(access.BillingWrite)},
		{op: "listAvailableRegions", want: shared(0)},
		{op: "listRegions", want: shared(0).but(gets403, asAncestor, asOwner, asViewer, asDescendant, asSibling, asStranger)},
		{op: "getRegion", path: func(a *ask) []any { return []any{a.or(func() int64 { return 1 })} }, want: shared(0).found()},
	}
}

func userRows() []restRow {
	return []restRow{
		{op: "listUsers", want: shared(access.UserRead)},
		{op: "listUsersOf", path: onCustomer, want: reach(access.UserRead)},
		{op: "createUser", body: func(a *ask) any {
			return object{"customerId": a.theCustomer(), "email": a.freshMail()}
		}, want: reach(access.UserWrite)},
		{op: "inviteAgain", body: func(a *ask) any { return object{"id": a.freshUser()} }, want: reach(access.UserWrite)},
	}
}

func permissionRows() []restRow {
	options := reach(access.PermissionRead)
	ofCustomer := func(a *ask) string { return "cid=" + platform.Decimal(a.theCustomer()) }
	return []restRow{
		{op: "listPermissionApplications", query: ofCustomer, want: options},
		{op: "listPermissionApplications/own", want: shared(access.PermissionRead)},
		{op: "listPermissionRegions", path: func(*ask) []any { return []any{1} }, query: ofCustomer, want: options},
		{op: "listPermissionAccounts", path: func(a *ask) []any { return []any{1, a.region()} }, query: ofCustomer, want: options},
		{op: "listPermissionRolesAndUsers", path: onAccountOption, query: ofCustomer, want: options},
		{op: "listPermissionRolesAndUsers/account", path: onAccountOption, want: options},
		{op: "createPermission", body: func(a *ask) any {
			return object{"appAccountId": a.theAccount(), "appRoleId": a.viewerRole(), "email": a.freshMail()}
		}, want: reach(access.PermissionWrite)},
		{op: "createPermission/user", body: func(a *ask) any {
			return object{"appAccountId": a.Account(a.home(), "tenant"), "appRoleId": a.viewerRole(), "userIdentityId": a.freshUser()}
		}, want: reach(access.PermissionWrite)},
		{op: "createPermission/role", body: func(a *ask) any {
			return object{"appAccountId": a.Account(a.home(), "tenant"), "appRoleId": a.freshRole(), "email": a.unique() + "@role.example"}
		}, want: foreignRole()},
		{op: "updatePermission", body: func(a *ask) any {
			return object{"id": a.freshPermission(), "appRoleId": a.viewerRole()}
		}, want: reach(access.PermissionWrite)},
		{op: "togglePermission", path: onPermission, want: reach(access.PermissionWrite)},
		{op: "deletePermission", path: onPermission, want: reach(access.PermissionWrite)},
	}
}

func onAccountOption(a *ask) []any { return []any{1, a.region(), a.theAccount()} }

// foreignRole: the target company's role fits its own account, and nobody else's.
func foreignRole() rule {
	r := reach(access.PermissionWrite).but(getsBad, asRoot, asAncestor, asDescendant, asSibling, asStranger)
	r.absent[asOwner] = getsBad
	return r
}

// billingBodyOfOwn leaves the mark of a caller's own company alone: it writes nothing new.
func billingBodyOfOwn(*ask) any { return object{"city": "Hamburg"} }
