package rest

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"canopy/db"
	"canopy/internal/globalid"
	"canopy/internal/rule"
	"canopy/resolvers"
)

// option is one thing to choose on the way to a permission.
type option struct {
	Value    int64  `json:"value"`
	Title    string `json:"title"`
	Selected bool   `json:"selected" doc:"It is chosen, or the only one there is"`
}

// permissionOptions is what can be chosen, step by step; the lists of later steps are empty.
type permissionOptions struct {
	Applications []option `json:"applications"`
	Regions      []option `json:"regions"`
	Accounts     []option `json:"accounts"`
	Roles        []option `json:"roles"`
	Users        []option `json:"users"`
}

func optionOf(o *db.Option) option {
	return option{Value: o.Value, Title: o.Title, Selected: o.Selected}
}

type OptionsQuery struct {
	CID int64 `query:"cid" doc:"The company to choose for; by default that of the chosen account, or the caller's own"`
	All bool  `query:"all" doc:"Whether disabled accounts are offered too"`

	given given
}

// Resolve tells a company 0, which is none, from one that was left out.
func (q *OptionsQuery) Resolve(hc huma.Context) []error {
	q.given = givenOf(hc, "cid")
	return nil
}

type optionsStep1 struct{ OptionsQuery }

type optionsStep2 struct {
	Type int64 `path:"type" doc:"The chosen application's id"`
	OptionsQuery
}

type optionsStep3 struct {
	Type   int64 `path:"type" doc:"The chosen application's id"`
	Region int64 `path:"region" doc:"The chosen region's id"`
	OptionsQuery
}

type optionsStep4 struct {
	Type    int64 `path:"type" doc:"The chosen application's id"`
	Region  int64 `path:"region" doc:"The chosen region's id"`
	Account int64 `path:"account" doc:"The chosen account's id"`
	OptionsQuery
}

// CreatePermissionRequest is a new permission.
type CreatePermissionRequest struct {
	AppAccountID   int64   `json:"appAccountId" doc:"The account that access is given to"`
	AppRoleID      int64   `json:"appRoleId" doc:"The role that the user gets there"`
	UserIdentityID *int64  `json:"userIdentityId,omitempty" doc:"The user; required where no email is given"`
	Disabled       *bool   `json:"disabled,omitempty" default:"false" doc:"Whether the permission starts suspended"`
	Email          *string `json:"email,omitempty" doc:"The user's address, in place of userIdentityId; whoever is not in the company is added, and invited where there is no password"`
	FirstName      *string `json:"firstName,omitempty" doc:"The first name of a user who is added"`
	LastName       *string `json:"lastName,omitempty" doc:"The last name of a user who is added"`
	Name           *string `json:"name,omitempty" doc:"The full name of a user who is invited, split where both others are left out"`
}

func (b *CreatePermissionRequest) asked() resolvers.CreatePermissionInput {
	return resolvers.CreatePermissionInput{
		AccountID: globalid.ID{Int: b.AppAccountID}, RoleID: globalid.ID{Int: b.AppRoleID}, UserID: optionalID(b.UserIdentityID),
		Email: b.Email, FirstName: b.FirstName, LastName: b.LastName, Name: b.Name, Disabled: b.Disabled,
	}
}

type createPermissionInput struct{ Body CreatePermissionRequest }

// createdPermission is a permission as it was made.
type createdPermission struct {
	ID             int64      `json:"id"`
	AppAccountID   int64      `json:"appAccountId"`
	UserIdentityID int64      `json:"userIdentityId"`
	AppRoleID      int64      `json:"appRoleId"`
	LastAccess     *time.Time `json:"lastAccess" doc:"Null: the permission is new"`
	Disabled       bool       `json:"disabled"`
	CreatedAt      time.Time  `json:"createdAt"`
	CreatedBy      string     `json:"createdBy" example:"{\"id\":7,\"email\":\"ada@example.com\"}" doc:"Who granted it: a JSON object with id and email, as a string"`
}

type updatePermissionInput struct {
	Body struct {
		ID        int64 `json:"id" doc:"The permission's id"`
		AppRoleID int64 `json:"appRoleId" doc:"The new role"`
	} `nameHint:"UpdatePermissionRequest"`
}

type permissionPath struct {
	PermID int64 `path:"permId" doc:"The permission's id"`
}

func (p *permissionPath) id() globalid.ID { return globalid.ID{Int: p.PermID} }

// permissionNames are what the bodies of new permissions call what the resolvers call otherwise.
var permissionNames = map[string]string{"accountId": "appAccountId", "roleId": "appRoleId", "userId": "userIdentityId"}

func (a *api) registerPermissions() {
	a.registerOptions()
	add(a, operation{
		id: "createPermission", rule: rule.CreatePermission, method: http.MethodPost, path: "/permission", tag: tagPermissions, status: http.StatusOK, errors: []int{http.StatusNotFound},
		summary: "Create a permission", description: "Gives a user a role on an account. An unknown e-mail address is created in the account's company and invited.",
		names: permissionNames,
	}, a.createPermission)
	add(a, operation{
		id: "updatePermission", rule: rule.UpdatePermission, method: http.MethodPut, path: "/permission", tag: tagPermissions, errors: []int{http.StatusNotFound},
		summary: "Change the role of a permission", description: "Replaces the role; whether the permission is suspended does not change.",
		names: map[string]string{"roleId": "appRoleId"},
	}, func(ctx context.Context, in *updatePermissionInput) (*struct{}, error) {
		_, err := a.mutations().UpdatePermission(ctx, resolvers.UpdatePermissionInput{ID: globalid.ID{Int: in.Body.ID}, RoleID: globalid.ID{Int: in.Body.AppRoleID}})
		return nil, err
	})
	add(a, operation{
		id: "togglePermission", rule: rule.TogglePermission, method: http.MethodPatch, path: "/permission/{permId}", tag: tagPermissions, errors: []int{http.StatusNotFound},
		summary: "Suspend or restore a permission", description: "Flips whether the permission is suspended.", names: map[string]string{"id": "permId"},
	}, func(ctx context.Context, in *permissionPath) (*struct{}, error) {
		_, err := a.mutations().TogglePermission(ctx, resolvers.TogglePermissionInput{ID: in.id()})
		return nil, err
	})
	add(a, operation{
		id: "deletePermission", conditions: byMatch, rule: rule.DeletePermission, method: http.MethodDelete, path: "/permission/{permId}", tag: tagPermissions, errors: []int{http.StatusNotFound},
		summary: "Delete a permission", description: "Removes the permission for good.", names: map[string]string{"id": "permId"},
	}, func(ctx context.Context, in *permissionPath) (*struct{}, error) {
		_, err := a.mutations().DeletePermission(ctx, resolvers.DeletePermissionInput{ID: in.id(), IfVersion: ifMatch(ctx)})
		return nil, err
	})
}

func (a *api) createPermission(ctx context.Context, in *createPermissionInput) (*one[createdPermission], error) {
	made, err := a.mutations().CreatePermission(ctx, in.Body.asked())
	if err != nil {
		return nil, err
	}
	return &one[createdPermission]{*createdPermissionOf(made.Permission)}, nil
}

func createdPermissionOf(p *db.Permission) *createdPermission {
	if p == nil {
		return nil
	}
	return &createdPermission{
		ID:             p.ID,
		AppAccountID:   p.AccountID,
		UserIdentityID: p.UserID,
		AppRoleID:      p.RoleID,
		LastAccess:     utc(p.LastAccess),
		Disabled:       p.Disabled,
		CreatedAt:      p.CreatedAt.UTC(),
		CreatedBy:      createdBy(p.CreatorID, p.CreatorEmail),
	}
}

// registerOptions registers the four steps of the options, one for each length of the path.
func (a *api) registerOptions() {
	describe := func(id, path, summary string) operation {
		return operation{
			id: id, rule: rule.PermissionOptions, method: http.MethodGet, path: path, tag: tagPermissions, errors: []int{http.StatusNotFound}, summary: summary,
			description: "What can be chosen for a new permission, one step after the other: application, region, account, then role and user.",
			names:       map[string]string{"customerId": "cid"},
		}
	}
	add(a, describe("listPermissionApplications", "/permission/options", "List the applications to choose from"),
		func(ctx context.Context, in *optionsStep1) (*one[permissionOptions], error) {
			return a.options(ctx, &in.OptionsQuery)
		})
	add(a, describe("listPermissionRegions", "/permission/options/{type}", "List the regions to choose from"),
		func(ctx context.Context, in *optionsStep2) (*one[permissionOptions], error) {
			return a.options(ctx, &in.OptionsQuery, in.Type)
		})
	add(a, describe("listPermissionAccounts", "/permission/options/{type}/{region}", "List the accounts to choose from"),
		func(ctx context.Context, in *optionsStep3) (*one[permissionOptions], error) {
			return a.options(ctx, &in.OptionsQuery, in.Type, in.Region)
		})
	add(a, describe("listPermissionRolesAndUsers", "/permission/options/{type}/{region}/{account}", "List the roles and users to choose from"),
		func(ctx context.Context, in *optionsStep4) (*one[permissionOptions], error) {
			return a.options(ctx, &in.OptionsQuery, in.Type, in.Region, in.Account)
		})
}

// options asks for what can be chosen after the chosen application, region and account.
func (a *api) options(ctx context.Context, in *OptionsQuery, chosen ...int64) (*one[permissionOptions], error) {
	steps := [3]*globalid.ID{}
	for i := range chosen {
		steps[i] = &globalid.ID{Int: chosen[i]}
	}
	o, err := a.queries().PermissionOptions(ctx, steps[0], steps[1], steps[2], in.given.id("cid", in.CID), &in.All)
	if err != nil {
		return nil, err
	}
	return &one[permissionOptions]{permissionOptions{
		Applications: mapped(o.Applications, optionOf),
		Regions:      mapped(o.Regions, optionOf),
		Accounts:     mapped(o.Accounts, optionOf),
		Roles:        mapped(o.Roles, optionOf),
		Users:        mapped(o.Users, optionOf),
	}}, nil
}
