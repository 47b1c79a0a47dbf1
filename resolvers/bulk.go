package resolvers

import (
	"context"

	"canopy/db"
	"canopy/internal/globalid"
	"canopy/internal/problem"
	"canopy/internal/quota"
	"canopy/internal/rule"
)

// maxBulk is how many rows a bulk mutation takes.
const maxBulk = 200

// BulkError says why a row of a bulk mutation was refused: what the mutation for one would have said.
type BulkError struct{ Code, Message string }

// bulk does what a bulk mutation is for with each of n rows of a field, in their order. Each is a change by itself, by the rules
// of the mutation for one, and counts as a request. It gives why rows were refused; nil for those that were not. A fault of the
// platform's ends it: what comes behind is refused alike, or all of it where nothing was done before.
func (m Mutation) bulk(ctx context.Context, c *caller, field string, n int, do func(i int) error) ([]*BulkError, error) {
	var v check
	if n < 1 || n > maxBulk {
		v.fault(field, "must have 1 to %d entries", maxBulk)
	}
	if err := v.err(); err != nil {
		return nil, err
	}
	if n > 1 {
		if _, err := m.Rates.Spend(ctx, c.Principal, quota.RequestsPerMinute, n-1, m.RequestsPerMinute); err != nil {
			return nil, err
		}
	}
	refused := make([]*BulkError, n)
	done := false
	for i := range refused {
		err := do(i)
		switch e := problem.From(err); {
		case err == nil:
			done = true
		case e.Code != problem.Internal && e.Code != problem.Unavailable:
			refused[i] = bulkError(err)
		case !done:
			return nil, err
		default:
			m.Log.ErrorContext(ctx, "a bulk mutation stopped", "row", i, "error", err)
			for ; i < n; i++ {
				refused[i] = bulkError(err)
			}
			return refused, nil
		}
	}
	return refused, nil
}

func bulkError(err error) *BulkError {
	e := problem.From(err)
	return &BulkError{Code: e.PublicCode(), Message: e.Detail}
}

// NewUserInput is one of the users of CreateUsers.
type NewUserInput struct {
	Email     string
	FirstName *string
	LastName  *string
}

// CreateUsersInput are new users of a company.
type CreateUsersInput struct {
	CustomerID *globalid.ID
	Users      []*NewUserInput
}

// CreateUsersResult is what became of one of the users.
type CreateUsersResult struct {
	Index int
	Error *BulkError
	User  *db.User
}

// CreateUsersPayload is what became of each user.
type CreateUsersPayload struct{ Results []*CreateUsersResult }

// CreateUsers adds up to 200 users to a company, each as CreateUser does.
func (m Mutation) CreateUsers(ctx context.Context, in CreateUsersInput) (*CreateUsersPayload, error) {
	c, err := m.may(ctx, rule.CreateUsers)
	if err != nil {
		return nil, err
	}
	if _, err := m.customer(ctx, c, in.CustomerID, "customerId"); err != nil {
		return nil, err
	}
	made := make([]*db.User, len(in.Users))
	refused, err := m.bulk(ctx, c, "users", len(in.Users), func(i int) error {
		u := in.Users[i]
		out, err := m.CreateUser(ctx, CreateUserInput{CustomerID: in.CustomerID, Email: u.Email, FirstName: u.FirstName, LastName: u.LastName})
		if err == nil {
			made[i] = out.User
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	db.Together(made)
	out := &CreateUsersPayload{}
	for i, e := range refused {
		out.Results = append(out.Results, &CreateUsersResult{i, e, made[i]})
	}
	return out, nil
}

// CreatePermissionsInput are new permissions.
type CreatePermissionsInput struct{ Permissions []*CreatePermissionInput }

// CreatePermissionsResult is what became of one of the permissions.
type CreatePermissionsResult struct {
	Index      int
	Error      *BulkError
	Permission *db.Permission
}

// CreatePermissionsPayload is what became of each permission.
type CreatePermissionsPayload struct{ Results []*CreatePermissionsResult }

// CreatePermissions gives up to 200 permissions, each as CreatePermission does.
func (m Mutation) CreatePermissions(ctx context.Context, in CreatePermissionsInput) (*CreatePermissionsPayload, error) {
	c, err := m.may(ctx, rule.CreatePermissions)
	if err != nil {
		return nil, err
	}
	made := make([]*db.Permission, len(in.Permissions))
	refused, err := m.bulk(ctx, c, "permissions", len(in.Permissions), func(i int) error {
		out, err := m.CreatePermission(ctx, *in.Permissions[i])
		if err == nil {
			made[i] = out.Permission
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	db.Together(made)
	out := &CreatePermissionsPayload{}
	for i, e := range refused {
		out.Results = append(out.Results, &CreatePermissionsResult{i, e, made[i]})
	}
	return out, nil
}

// RemoveUsersInput are users of a company, by default the caller's own.
type RemoveUsersInput struct {
	CustomerID *globalid.ID
	UserIDs    []globalid.ID
}

// RemoveUsersResult is what became of one of the users.
type RemoveUsersResult struct {
	Index     int
	Error     *BulkError
	DeletedID *globalid.ID
}

// RemoveUsersPayload is what became of each user.
type RemoveUsersPayload struct{ Results []*RemoveUsersResult }

// RemoveUsers takes up to 200 users out of a company, each as RemoveUser does.
func (m Mutation) RemoveUsers(ctx context.Context, in RemoveUsersInput) (*RemoveUsersPayload, error) {
	c, err := m.may(ctx, rule.RemoveUsers)
	if err != nil {
		return nil, err
	}
	if _, err := m.customer(ctx, c, in.CustomerID, "customerId"); err != nil {
		return nil, err
	}
	removed := make([]*globalid.ID, len(in.UserIDs))
	refused, err := m.bulk(ctx, c, "userIds", len(in.UserIDs), func(i int) error {
		out, err := m.RemoveUser(ctx, RemoveUserInput{CustomerID: in.CustomerID, UserID: in.UserIDs[i]})
		if err == nil {
			removed[i] = &out.DeletedID
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	out := &RemoveUsersPayload{}
	for i, e := range refused {
		out.Results = append(out.Results, &RemoveUsersResult{i, e, removed[i]})
	}
	return out, nil
}
