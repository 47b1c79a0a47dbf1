package rest

import (
	"context"
	"net/http"
	"time"

	"canopy/db"
	"canopy/internal/globalid"
	"canopy/internal/rule"
	"canopy/resolvers"
)

// plainAccount is an account without the permissions on it.
type plainAccount struct {
	ID                int64     `json:"id"`
	Name              string    `json:"name"`
	CustomerID        int64     `json:"customerId"`
	AppInstanceID     int64     `json:"appInstanceId"`
	InstanceAccountID int64     `json:"instanceAccountId"`
	ApplicationID     int64     `json:"applicationId"`
	RegionID          int64     `json:"regionId"`
	Disabled          bool      `json:"disabled"`
	CreatedAt         time.Time `json:"createdAt"`
	InstanceActive    bool      `json:"instanceActive"`
	Domain            string    `json:"domain" doc:"The URL of the application instance"`
}

func accountAnswer(ctx context.Context, row *db.Account) (*tagged[plainAccount], error) {
	return tag(ctx, row.Version, plainAccount{
		ID: row.ID, Name: row.Name, CustomerID: row.CustomerID, AppInstanceID: row.AppInstanceID, InstanceAccountID: row.InstanceAccountID,
		ApplicationID: row.ApplicationID, RegionID: row.RegionID, Disabled: row.Disabled, CreatedAt: row.CreatedAt.UTC(),
		InstanceActive: row.InstanceActive, Domain: row.Domain,
	})
}

func permissionAnswer(ctx context.Context, row *db.Permission) (*tagged[listedPermission], error) {
	return tag(ctx, row.Version, listedPermissionOf(row))
}

// AccountPath names an account in the path.
type AccountPath struct {
	ID int64 `path:"id" doc:"The account's id"`
}

func (p *AccountPath) id() globalid.ID { return globalid.ID{Int: p.ID} }

// PermissionPath names a permission in the path.
type PermissionPath struct {
	ID int64 `path:"id" doc:"The permission's id"`
}

func (p *PermissionPath) id() globalid.ID { return globalid.ID{Int: p.ID} }

type disableAccountInput struct {
	AccountPath
	Body struct {
		Disabled bool `json:"disabled" doc:"Whether the account is closed to all its users"`
	} `nameHint:"DisableAccountRequest"`
}

type disablePermissionInput struct {
	PermissionPath
	Body struct {
		Disabled bool `json:"disabled" doc:"Whether the permission is suspended"`
	} `nameHint:"DisablePermissionRequest"`
}

// registerStates registers one account and one permission: what closes and opens them, as is said and however often.
func (a *api) registerStates() {
	notFound := []int{http.StatusNotFound}
	add(a, operation{
		id: "getAccount", conditions: byNoneMatch, rule: rule.Account, method: http.MethodGet, path: "/v1/accounts/{id}", tag: tagAccounts, errors: notFound,
		summary: "Get an account", description: "An account of a company within reach.",
	}, func(ctx context.Context, in *AccountPath) (*tagged[plainAccount], error) {
		row, err := a.queries().Account(ctx, in.id())
		if err != nil {
			return nil, err
		}
		return accountAnswer(ctx, row)
	})
	add(a, operation{
		id: "getPermission", conditions: byNoneMatch, rule: rule.Permission, method: http.MethodGet, path: "/v1/permissions/{id}", tag: tagPermissions, errors: notFound,
		summary: "Get a permission", description: "A permission on an account within reach.",
	}, func(ctx context.Context, in *PermissionPath) (*tagged[listedPermission], error) {
		row, err := a.queries().Permission(ctx, in.id())
		if err != nil {
			return nil, err
		}
		return permissionAnswer(ctx, row)
	})
	add(a, operation{
		id: "setAccountDisabled", conditions: byMatch, rule: rule.SetAccountDisabled, method: http.MethodPut, path: "/v1/accounts/{id}", tag: tagAccounts, errors: notFound, status: http.StatusOK,
		summary: "Close or open an account", description: "Closes an account to all its users, or opens it again.",
	}, func(ctx context.Context, in *disableAccountInput) (*tagged[plainAccount], error) {
		out, err := a.mutations().SetAccountDisabled(ctx, resolvers.SetAccountDisabledInput{ID: in.id(), Disabled: in.Body.Disabled, IfVersion: ifMatch(ctx)})
		if err != nil {
			return nil, err
		}
		return accountAnswer(ctx, out.Account)
	})
	add(a, operation{
		id: "setPermissionDisabled", conditions: byMatch, rule: rule.SetPermissionDisabled, method: http.MethodPut, path: "/v1/permissions/{id}", tag: tagPermissions, errors: notFound, status: http.StatusOK,
		summary: "Suspend or restore a permission, as is said", description: "Where it is so already, nothing changes.",
	}, func(ctx context.Context, in *disablePermissionInput) (*tagged[listedPermission], error) {
		out, err := a.mutations().SetPermissionDisabled(ctx, resolvers.SetPermissionDisabledInput{ID: in.id(), Disabled: in.Body.Disabled, IfVersion: ifMatch(ctx)})
		if err != nil {
			return nil, err
		}
		return permissionAnswer(ctx, out.Permission)
	})
}
