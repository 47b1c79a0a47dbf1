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

// bulkError says why a row was refused.
type bulkError struct {
	Code    string `json:"code" example:"user_exists" doc:"The code of the problem that the operation for one would have answered"`
	Message string `json:"message" example:"email: belongs to a user of this company already" doc:"Its detail"`
}

// bulkErrorOf tells why a row was refused, of fields by the names that the body has.
func bulkErrorOf(e *resolvers.BulkError, names map[string]string) *bulkError {
	if e == nil {
		return nil
	}
	return &bulkError{e.Code, (&locator{names: names}).reword(e.Message)}
}

// BulkResult says what became of a row: one without an error is as it was asked for.
type BulkResult struct {
	Index int        `json:"index" doc:"Its place in what was asked, from 0"`
	Error *bulkError `json:"error,omitempty"`
}

// results is the answer of a bulk operation.
type results[T any] struct {
	Results []T `json:"results" doc:"What became of each row, in the order asked"`
}

// addedUser is a user who was added.
type addedUser struct {
	ID        int64     `json:"id"`
	Email     string    `json:"email"`
	FirstName string    `json:"firstName"`
	LastName  string    `json:"lastName"`
	CreatedAt time.Time `json:"createdAt"`
}

type addedUserResult struct {
	BulkResult
	User *addedUser `json:"user,omitempty"`
}

type givenPermissionResult struct {
	BulkResult
	Permission *createdPermission `json:"permission,omitempty"`
}

type removedUserResult struct {
	BulkResult
	DeletedID *int64 `json:"deletedId,omitempty" doc:"The user's id; left out where it was refused"`
}

type createUsersInput struct {
	Body struct {
		CustomerID *int64 `json:"customerId,omitempty" doc:"The company; by default the caller's own"`
		Users      []struct {
			Email     string  `json:"email" example:"ada@example.com"`
			FirstName *string `json:"firstName,omitempty"`
			LastName  *string `json:"lastName,omitempty"`
		} `json:"users" doc:"1 to 200"`
	} `nameHint:"CreateUsersRequest"`
}

type createPermissionsInput struct {
	Body struct {
		Permissions []CreatePermissionRequest `json:"permissions" doc:"1 to 200"`
	} `nameHint:"CreatePermissionsRequest"`
}

type removeUsersInput struct {
	Body struct {
		CustomerID *int64  `json:"customerId,omitempty" doc:"The company; by default the caller's own"`
		UserIDs    []int64 `json:"userIds" doc:"1 to 200"`
	} `nameHint:"RemoveUsersRequest"`
}

func (a *api) registerBulk() {
	notFound := []int{http.StatusNotFound}
	const each = " What became of each is in the answer, in the order asked; each is a change by itself, and counts as a request."
	add(a, operation{
		id: "createUsers", rule: rule.CreateUsers, method: http.MethodPost, path: "/v1/users/bulk", tag: tagUsers, status: http.StatusOK, errors: notFound,
		summary: "Add users to a company", description: "Adds up to 200 users, as POST /tenant/user does." + each,
	}, a.createUsers)
	add(a, operation{
		id: "removeUsers", rule: rule.RemoveUsers, method: http.MethodPost, path: "/v1/users/bulk/remove", tag: tagUsers, status: http.StatusOK, errors: notFound,
		summary: "Take users out of a company", description: "Takes up to 200 users out, as DELETE /tenant/user/{id} does." + each,
	}, a.removeUsers)
	add(a, operation{
		id: "createPermissions", rule: rule.CreatePermissions, method: http.MethodPost, path: "/v1/permissions/bulk", tag: tagPermissions, status: http.StatusOK, errors: notFound,
		summary: "Create permissions", description: "Gives up to 200 permissions, as POST /permission does." + each,
	}, a.createPermissions)
}

func (a *api) createUsers(ctx context.Context, in *createUsersInput) (*one[results[addedUserResult]], error) {
	asked := resolvers.CreateUsersInput{CustomerID: optionalID(in.Body.CustomerID)}
	for _, u := range in.Body.Users {
		asked.Users = append(asked.Users, &resolvers.NewUserInput{Email: u.Email, FirstName: u.FirstName, LastName: u.LastName})
	}
	out, err := a.mutations().CreateUsers(ctx, asked)
	if err != nil {
		return nil, err
	}
	return &one[results[addedUserResult]]{results[addedUserResult]{mapped(out.Results, func(r *resolvers.CreateUsersResult) addedUserResult {
		return addedUserResult{BulkResult{r.Index, bulkErrorOf(r.Error, nil)}, addedUserOf(r.User)}
	})}}, nil
}

func addedUserOf(u *db.User) *addedUser {
	if u == nil {
		return nil
	}
	return &addedUser{ID: u.ID, Email: u.Email, FirstName: u.FirstName, LastName: u.LastName, CreatedAt: u.CreatedAt.UTC()}
}

func (a *api) createPermissions(ctx context.Context, in *createPermissionsInput) (*one[results[givenPermissionResult]], error) {
	var asked resolvers.CreatePermissionsInput
	for i := range in.Body.Permissions {
		p := in.Body.Permissions[i].asked()
		asked.Permissions = append(asked.Permissions, &p)
	}
	out, err := a.mutations().CreatePermissions(ctx, asked)
	if err != nil {
		return nil, err
	}
	return &one[results[givenPermissionResult]]{results[givenPermissionResult]{mapped(out.Results, func(r *resolvers.CreatePermissionsResult) givenPermissionResult {
		return givenPermissionResult{BulkResult{r.Index, bulkErrorOf(r.Error, permissionNames)}, createdPermissionOf(r.Permission)}
	})}}, nil
}

func (a *api) removeUsers(ctx context.Context, in *removeUsersInput) (*one[results[removedUserResult]], error) {
	asked := resolvers.RemoveUsersInput{CustomerID: optionalID(in.Body.CustomerID), UserIDs: mapped(in.Body.UserIDs, func(id int64) globalid.ID { return globalid.ID{Int: id} })}
	out, err := a.mutations().RemoveUsers(ctx, asked)
	if err != nil {
		return nil, err
	}
	return &one[results[removedUserResult]]{results[removedUserResult]{mapped(out.Results, func(r *resolvers.RemoveUsersResult) removedUserResult {
		removed := removedUserResult{BulkResult: BulkResult{r.Index, bulkErrorOf(r.Error, nil)}}
		if r.DeletedID != nil {
			removed.DeletedID = &r.DeletedID.Int
		}
		return removed
	})}}, nil
}
