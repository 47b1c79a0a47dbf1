package isolation

import (
	"slices"

	"canopy/e2e/platform"
)

// restRow says how to ask a REST operation for the target company, and what each caller must get.
// A name may have a variant behind a slash: the operation asked in another way.
type restRow struct {
	op string
	// path fills the template's places; query goes behind it.
	path  func(*ask) []any
	query func(*ask) string
	body  func(*ask) any
	want  shape
	// form is the body of an upload.
	form []platform.Part
	// gives: it gives what the caller must have itself (beyond_own_rights).
	gives bool
	// public: no token is asked for; assistant: one for the assistant.
	public, assistant bool
	// apart: it is asked of a company that lives in another cell than who is who, too, as all is that the assistant has.
	apart bool
}

func onCustomer(a *ask) []any { return []any{a.theCustomer()} }

// fromAbove: who is above the target is told that it is not in the status for it, and its own owner that it is not above.
func fromAbove(n needs) answers {
	return shape(reach).but(gets403, asOwner).there(getsBad, asRoot, asAncestor)(n)
}

func onPermission(a *ask) []any { return []any{a.freshPermission()} }

func billingBody(*ask) any { return object{"billingName": secretMark} }

// restRows has at least one row for every documented operation.
func restRows() []restRow {
	return slices.Concat(customerRows(), sessionRows(), passkeyRows(), limitRows(), userRows(), keyRows(), permissionRows(), contextRows(), identityRESTRows())
}

func customerRows() []restRow {
	return []restRow{
		{op: "exchangeToken", public: true},
		{op: "getKeys", public: true},
		{op: "getServerMetadata", public: true},
		{op: "logIn", public: true},
		{op: "setPassword", public: true},
		{op: "showLink", public: true},
		{op: "requestReset", public: true},
		{op: "settleEmail", public: true},
		{op: "openSession", public: true},
		{op: "refreshSession", public: true},
		{op: "endSession", public: true},
		{op: "askForPasskey", public: true},
		{op: "openPasskeySession", public: true},
		{op: "getIdentity", want: shared},
		{op: "getCustomer", path: onCustomer, want: reach},
		{op: "updateCustomer", body: func(a *ask) any {
			return object{"customerId": a.theCustomer(), "name": targetName}
		}, want: reach},
		{op: "createCustomer", body: func(a *ask) any {
			return object{"parentId": a.theCustomer(), "name": a.unique(), "regionId": 1, "email": a.freshMail()}
		}, want: reach},
		{op: "moveCustomer", path: func(a *ask) []any { return []any{a.aChild()} }, body: func(a *ask) any {
			return object{"parentId": a.aBranchBelow()}
		}, want: reach},
		{op: "suspendCustomer", path: func(a *ask) []any { return []any{a.aChild()} }, want: reach},
		{op: "resumeCustomer", path: func(a *ask) []any { return []any{a.aSuspended()} }, want: reach},
		{op: "resumeCustomer/own", path: onCustomer, want: fromAbove},
		{op: "deleteCustomer", path: func(a *ask) []any { return []any{a.aChild()} }, want: reach},
		{op: "restoreCustomer", path: func(a *ask) []any { return []any{a.aDeleted()} }, want: reach},
		{op: "restoreCustomer/own", path: onCustomer, want: fromAbove},
		{op: "exportCustomer", path: func(a *ask) []any { return []any{a.aChild()} }, want: reach, apart: true},
		{op: "getExport", path: func(a *ask) []any { return []any{a.freshExport()} }, want: reach, apart: true},
		{op: "getArchive", public: true},
		{op: "importCustomer", path: func(a *ask) []any { return []any{a.placeOfImport()} }, form: []platform.Part{{Field: "file", Name: "a.tar.gz", Content: []byte("an archive")}}, want: operators},
		{op: "getImport", path: func(a *ask) []any { return []any{a.freshImport()} }, want: operators},
		{op: "cancelImport", path: func(a *ask) []any { return []any{a.freshImport()} }, want: operators},
		{op: "getLinkedOriginal", public: true},
		{op: "listCustomers", want: shared},
		{op: "listCustomersOf", path: onCustomer, want: reach},
		{op: "listAccounts", want: shared},
		{op: "listAccountsOf", path: onCustomer, want: reach},
		{op: "listAccountsOf/filter", path: onCustomer, query: func(*ask) string { return "disabled=false&orderBy=-name" }, want: reach},
		{op: "getBilling", want: shape(shared).but(gets404, asAncestor, asDescendant, asSibling, asStranger)},
		{op: "getBillingOf", path: onCustomer, want: reach},
		{op: "saveBilling", body: billingBodyOfOwn, want: shared},
		{op: "saveBillingOf", path: onCustomer, body: billingBody, want: reach},
		{op: "listAvailableRegions", want: shared},
		{op: "listRegions", want: shape(shared).but(gets403, asAncestor, asOwner, asViewer, asDescendant, asSibling, asStranger)},
		{op: "getRegion", path: func(a *ask) []any { return []any{a.or(func() int64 { return 1 })} }, want: shape(shared).found()},
	}
}

func sessionRows() []restRow {
	onSession := func(a *ask) []any { return []any{a.freshSession()} }
	return []restRow{
		{op: "listSessions", want: shared},
		{op: "getSession", path: onSession, want: ownOnly},
		{op: "revokeSession", path: onSession, want: personsOnly},
		{op: "revokeOtherSessions", want: personsOnly},
	}
}

func passkeyRows() []restRow {
	onPasskey := func(a *ask) []any { return []any{a.freshPasskey()} }
	return []restRow{
		{op: "listPasskeys", want: shared},
		{op: "getPasskey", path: onPasskey, want: ownOnly},
		{op: "beginPasskey", body: func(a *ask) any { return object{"password": a.passwordNow()} }, want: personsOnly},
		{op: "createPasskey", body: func(*ask) any { return object{"state": "AAAA", "credential": object{}, "name": "Phone"} }, want: shape(personsOnly).there(getsBad, asDeputy)},
		{op: "updatePasskey", path: onPasskey, body: func(*ask) any { return object{"name": secretMark} }, want: personsOnly},
		{op: "deletePasskey", path: onPasskey, body: func(a *ask) any { return object{"password": a.passwordNow()} }, want: personsOnly},
	}
}

func limitRows() []restRow {
	body := func(*ask) any { return object{"limits": object{"secrets": 1000}} }
	return []restRow{
		{op: "getUsage", want: shared},
		{op: "getUsageOf", path: onCustomer, want: reach},
		{op: "setLimits", path: func(a *ask) []any { return []any{a.aChild()} }, body: body, want: reach},
		{op: "setLimits/own", path: onCustomer, body: body, want: shape(reach).but(gets403, asOwner)},
	}
}

func userRows() []restRow {
	return []restRow{
		{op: "search", query: func(a *ask) string { return "text=" + platform.Decimal(a.freshUser()) }, want: shared},
		{op: "search/name", query: func(*ask) string { return "first=50&text=Coral+Ports" }, want: shared},
		{op: "search/near", query: func(*ask) string { return "first=50&text=Corall" }, want: shared},
		{op: "listUsers", want: shared},
		{op: "listUsersOf", path: onCustomer, want: reach},
		{op: "listUsers/subtree", query: func(*ask) string { return "subtree=true&orderBy=-email" }, want: shared},
		{op: "listUsersOf/subtree", path: onCustomer, query: func(*ask) string { return "subtree=true&hasPassword=true" }, want: reach},
		{op: "listUsers/company", query: func(a *ask) string { return "customerId=" + platform.Decimal(a.theCustomer()) }, want: reach},
		{op: "createUser", body: func(a *ask) any {
			return object{"customerId": a.theCustomer(), "email": a.freshMail()}
		}, want: reach},
		{op: "createUsers", body: func(a *ask) any {
			return object{"customerId": a.theCustomer(), "users": []object{{"email": a.freshMail()}}}
		}, want: reach},
		{op: "removeUsers", body: func(a *ask) any {
			return object{"customerId": a.theCustomer(), "userIds": []any{a.freshUser()}}
		}, want: reach},
		{op: "updateUser", path: func(a *ask) []any { return []any{a.selfOrUser()} }, body: func(a *ask) any {
			return object{"firstName": a.unique()}
		}, want: shape(reach).but(gets403, asViewer, asOtherApp)},
		{
			op: "removeUser", path: func(a *ask) []any { return []any{a.freshUser()} },
			query: func(a *ask) string { return "customerId=" + platform.Decimal(a.theCustomer()) }, want: reach,
		},
		{op: "listInvitations", query: func(a *ask) string { return "customerId=" + platform.Decimal(a.theCustomer()) }, want: reach},
		{op: "listInvitations/own", want: shared},
		{op: "getInvitation", path: onInvitation, want: reach},
		{op: "withdrawInvitation", path: onInvitation, want: reach},
		{op: "resendInvitation", path: onInvitation, want: reach},
		{op: "inviteAgain", body: func(a *ask) any { return object{"id": a.freshUser()} }, want: reach},
	}
}

func onInvitation(a *ask) []any { return []any{a.freshInvitation()} }

func keyRows() []restRow {
	ofCustomer := func(a *ask) string { return "customerId=" + platform.Decimal(a.theCustomer()) }
	onKey := func(a *ask) []any { return []any{a.freshKey()} }
	return []restRow{
		{op: "listKeys", query: ofCustomer, want: reach},
		{op: "listKeys/own", want: shared},
		{op: "listKeys/filter", query: func(a *ask) string { return ofCustomer(a) + "&active=true&orderBy=-name" }, want: reach},
		{op: "listAuditEvents", want: shared},
		{op: "listAuditEvents/company", query: ofCustomer, want: reach},
		{op: "listAuditEvents/subtree", query: func(a *ask) string { return ofCustomer(a) + "&subtree=true" }, want: reach},
		{op: "createKey", body: func(a *ask) any {
			return object{"customerId": a.theCustomer(), "userId": a.shared, "name": a.unique()}
		}, gives: true, want: reach},
		{op: "getKey", path: onKey, want: reach},
		{op: "rotateKey", path: onKey, body: func(*ask) any { return object{"graceSeconds": 60} }, gives: true, want: reach},
		{op: "revokeKey", path: onKey, want: reach},
	}
}

func permissionRows() []restRow {
	ofCustomer := func(a *ask) string { return "cid=" + platform.Decimal(a.theCustomer()) }
	inCustomer := func(a *ask) string { return "customerId=" + platform.Decimal(a.theCustomer()) }
	return []restRow{
		{op: "listPermissions", want: shared},
		{op: "listPermissions/company", query: inCustomer, want: reach},
		{op: "listPermissionApplications", query: ofCustomer, want: reach},
		{op: "listPermissionApplications/own", want: shared},
		{op: "listPermissionRegions", path: func(*ask) []any { return []any{1} }, query: ofCustomer, want: reach},
		{op: "listPermissionAccounts", path: func(a *ask) []any { return []any{1, a.region()} }, query: ofCustomer, want: reach},
		{op: "listPermissionRolesAndUsers", path: onAccountOption, query: ofCustomer, want: reach},
		{op: "listPermissionRolesAndUsers/account", path: onAccountOption, want: reach},
		{op: "getPermission", path: onPermission, want: reach},
		{op: "setPermissionDisabled", path: onPermission, body: func(*ask) any { return object{"disabled": true} }, want: reach},
		{op: "getAccount", path: onAccount, want: reach},
		{op: "setAccountDisabled", path: onAccount, body: func(*ask) any { return object{"disabled": false} }, want: reach},
		{op: "listRoles", want: shared},
		{op: "listRoles/company", query: inCustomer, want: reach},
		{op: "createRole", body: func(a *ask) any {
			return object{"applicationId": 1, "customerId": a.theCustomer(), "name": a.unique(), "features": []string{}}
		}, want: reach},
		{op: "getRole", path: onRole, want: reach},
		{op: "updateRole", path: onRole, body: func(a *ask) any { return object{"name": a.unique()} }, want: reach},
		{op: "deleteRole", path: onRole, want: reach},
		{op: "createPermission", body: func(a *ask) any {
			return object{"appAccountId": a.theAccount(), "appRoleId": a.viewerRole(), "email": a.freshMail()}
		}, gives: true, want: reach},
		{op: "createPermission/user", body: func(a *ask) any {
			return object{"appAccountId": a.Account(a.home(), "tenant"), "appRoleId": a.viewerRole(), "userIdentityId": a.freshUser()}
		}, gives: true, want: reach},
		{op: "createPermission/role", body: func(a *ask) any {
			return object{"appAccountId": a.Account(a.home(), "tenant"), "appRoleId": a.freshRole(), "email": a.unique() + "@role.example"}
		}, want: foreignRole},
		{op: "createPermissions", body: func(a *ask) any {
			return object{"permissions": []object{{"appAccountId": a.Account(a.home(), "tenant"), "appRoleId": a.viewerRole(), "email": a.unique() + "@bulk.example"}}}
		}, want: shared},
		{op: "updatePermission", body: func(a *ask) any {
			return object{"id": a.freshPermission(), "appRoleId": a.viewerRole()}
		}, gives: true, want: reach},
		{op: "togglePermission", path: onPermission, want: reach},
		{op: "deletePermission", path: onPermission, want: reach},
	}
}

func onAccount(a *ask) []any { return []any{a.theAccount()} }

func onRole(a *ask) []any { return []any{a.freshRole()} }

func onAccountOption(a *ask) []any { return []any{1, a.region(), a.theAccount()} }

// foreignRole: the target company's role fits its own account, and nobody else's.
func foreignRole(n needs) answers {
	r := shape(reach).but(getsBad, asRoot, asAncestor, asDescendant, asSibling, asStranger)(n)
	r.absent[asOwner] = getsBad
	return r
}

// billingBodyOfOwn leaves the mark of a caller's own company alone: it writes nothing new.
func billingBodyOfOwn(*ask) any { return object{"city": "Hamburg"} }
