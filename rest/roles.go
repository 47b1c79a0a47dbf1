package rest

import (
	"context"
	"net/http"
	"time"

	"canopy/db"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/rule"
	"canopy/resolvers"
)

// givenRole is a role among those that a company can give.
type givenRole struct {
	ID            int64     `json:"id"`
	ApplicationID int64     `json:"applicationId"`
	CustomerID    *int64    `json:"customerId" doc:"The company that the role belongs to; null for a system-wide role"`
	Name          string    `json:"name"`
	Description   string    `json:"description"`
	IsOwner       bool      `json:"isOwner"`
	Features      []string  `json:"features" example:"[\"company.read\",\"user.read\"]" doc:"The role's rights"`
	CreatedAt     time.Time `json:"createdAt"`
}

func givenRoleOf(r *db.Role) givenRole {
	return givenRole{
		ID: r.ID, ApplicationID: r.ApplicationID, CustomerID: r.CustomerID, Name: r.Name, Description: r.Description, IsOwner: r.IsOwner,
		Features: r.Features, CreatedAt: r.CreatedAt.UTC(),
	}
}

// RolePath names a role in the path.
type RolePath struct {
	ID int64 `path:"id" doc:"The role's id"`
}

func (p *RolePath) id() globalid.ID { return globalid.ID{Int: p.ID} }

// RolesQuery are the parameters of the list of roles.
type RolesQuery struct {
	CustomerList
	ApplicationID int64 `query:"applicationId" minimum:"1" doc:"Only those of this application"`
}

func (q *RolesQuery) application() *globalid.ID { return idOf(q.ApplicationID) }

type createRoleInput struct {
	Body struct {
		ApplicationID int64    `json:"applicationId" doc:"The application that it is for"`
		CustomerID    *int64   `json:"customerId,omitempty" doc:"The company; by default the caller's own"`
		Name          string   `json:"name" example:"Auditor" doc:"Unique in the company and application, without regard to case"`
		Description   *string  `json:"description,omitempty"`
		IsOwner       *bool    `json:"isOwner,omitempty" default:"false" doc:"Whether it is an owner's role, which only owners give"`
		Features      []string `json:"features" example:"[\"company.read\"]" doc:"The rights, at most those of the caller's own role in tenant management"`
	} `nameHint:"CreateRoleRequest"`
}

type updateRoleInput struct {
	RolePath
	Body struct {
		Name        *string  `json:"name,omitempty" doc:"Unique in the company and application, without regard to case"`
		Description *string  `json:"description,omitempty"`
		Features    []string `json:"features,omitempty" nullable:"true" doc:"The rights, at most those of the caller's own role in tenant management"`
	} `nameHint:"UpdateRoleRequest"`
}

func (a *api) registerRoles() {
	const path = "/v1/roles"
	notFound := []int{http.StatusNotFound}
	addList(a, operation{
		id: "listRoles", rule: rule.Roles, path: path, tag: tagPermissions, errors: notFound,
		summary: "List the roles of a company", description: "The roles that the company can give: the system-wide ones and its own, by id.",
	}, 1, func(ctx context.Context, in *RolesQuery, q query, each emit[givenRole]) error {
		return a.queries().ListRoles(ctx, in.customer(), in.application(), q.after, q.limit, func(r *db.Role) error {
			return each(givenRoleOf(r), paging.IDs(r.ID))
		})
	})
	add(a, operation{
		id: "createRole", rule: rule.CreateRole, method: http.MethodPost, path: path, tag: tagPermissions, status: http.StatusCreated, errors: notFound,
		summary: "Create a role", description: "Makes a role of a company's own.",
	}, a.createRole)
	add(a, operation{
		id: "getRole", conditions: byNoneMatch, rule: rule.Roles, method: http.MethodGet, path: path + "/{id}", tag: tagPermissions, errors: notFound,
		summary: "Get a role", description: "A role that is system-wide, or of a company within reach.",
	}, func(ctx context.Context, in *RolePath) (*tagged[givenRole], error) {
		r, err := a.queries().GetRole(ctx, in.id())
		if err != nil {
			return nil, err
		}
		return tag(ctx, r.Version, givenRoleOf(r))
	})
	add(a, operation{
		id: "updateRole", conditions: byMatch, rule: rule.UpdateRole, method: http.MethodPut, path: path + "/{id}", tag: tagPermissions, status: http.StatusOK, errors: notFound,
		summary: "Update a role", description: "Changes what is given of a company's own role. Whoever carries it has its rights at the next request.",
	}, func(ctx context.Context, in *updateRoleInput) (*tagged[givenRole], error) {
		out, err := a.mutations().UpdateRole(ctx, resolvers.UpdateRoleInput{ID: in.id(), Name: in.Body.Name, Description: in.Body.Description, Features: in.Body.Features, IfVersion: ifMatch(ctx)})
		if err != nil {
			return nil, err
		}
		return tag(ctx, out.Role.Version, givenRoleOf(out.Role))
	})
	add(a, operation{
		id: "deleteRole", conditions: byMatch, rule: rule.DeleteRole, method: http.MethodDelete, path: path + "/{id}", tag: tagPermissions, errors: notFound,
		summary: "Delete a role", description: "Removes a company's own role that no permission carries.",
	}, func(ctx context.Context, in *RolePath) (*struct{}, error) {
		_, err := a.mutations().DeleteRole(ctx, resolvers.DeleteRoleInput{ID: in.id(), IfVersion: ifMatch(ctx)})
		return nil, err
	})
}

func (a *api) createRole(ctx context.Context, in *createRoleInput) (*tagged[givenRole], error) {
	b := &in.Body
	out, err := a.mutations().CreateRole(ctx, resolvers.CreateRoleInput{
		ApplicationID: globalid.ID{Int: b.ApplicationID}, CustomerID: optionalID(b.CustomerID), Name: b.Name, Description: b.Description,
		IsOwner: b.IsOwner, Features: b.Features,
	})
	if err != nil {
		return nil, err
	}
	return tag(ctx, out.Role.Version, givenRoleOf(out.Role))
}
