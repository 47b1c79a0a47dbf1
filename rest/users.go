package rest

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"canopy/db"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/problem"
	"canopy/internal/rule"
	"canopy/resolvers"
)

type createUserInput struct {
	Body struct {
		CustomerID *int64  `json:"customerId,omitempty" doc:"The company that the user is added to; by default the caller's own"`
		Email      string  `json:"email" example:"ada@example.com"`
		FirstName  *string `json:"firstName,omitempty"`
		LastName   *string `json:"lastName,omitempty"`
		Name       *string `json:"name,omitempty" doc:"The full name, split into first and last name where both are left out"`
	} `nameHint:"CreateUserRequest"`
}

type inviteInput struct {
	Body struct {
		ID int64 `json:"id" doc:"The user identity id"`
	} `nameHint:"InviteRequest"`
}

type updateUserInput struct {
	ID   int64 `path:"id" doc:"The user identity id"`
	Body struct {
		FirstName *string `json:"firstName,omitempty"`
		LastName  *string `json:"lastName,omitempty"`
	} `nameHint:"UpdateUserRequest"`
}

type removeUserInput struct {
	ID         int64 `path:"id" doc:"The user identity id"`
	CustomerID int64 `query:"customerId" minimum:"1" doc:"The company that the user is taken out of; by default the caller's own"`
}

func (in *removeUserInput) customer() *globalid.ID { return idOf(in.CustomerID) }

func (a *api) registerUsers() {
	const doc = "The users of a company, each with the permissions that the caller may see."
	addList(a, operation{
		id: "listUsers", rule: rule.CustomerUsers, orders: db.Users, path: "/tenant/users", tag: tagUsers, errors: []int{http.StatusNotFound},
		summary: "List the users of the caller's company", description: doc,
	}, anyOrder, listUsers[listOwnUsers](a))
	addList(a, operation{
		id: "listUsersOf", rule: rule.CustomerUsers, orders: db.Users, path: "/tenant/users/{cid}", tag: tagUsers, errors: []int{http.StatusNotFound},
		summary: "List the users of a company", description: doc,
	}, anyOrder, listUsers[listUsersOf](a))
	add(a, operation{
		id: "createUser", rule: rule.CreateUser, method: http.MethodPost, path: "/tenant/user", tag: tagUsers, status: http.StatusCreated, errors: []int{http.StatusNotFound},
		summary: "Add a user", description: "Adds a user to a company and sends an invitation. One who has a password hears of it by signing in to the company. Until such a user has accepted the company it sees what is given here.",
	}, a.createUser)
	add(a, operation{
		id: "updateUser", rule: rule.UpdateUser, method: http.MethodPut, path: "/tenant/user/{id}", tag: tagUsers, status: http.StatusOK, errors: []int{http.StatusNotFound},
		summary: "Change a user's names", description: "Changes what is given: of the caller itself, or, with the right user.write, of somebody who has accepted no company out of reach.",
	}, func(ctx context.Context, in *updateUserInput) (*one[user], error) {
		out, err := a.mutations().UpdateUser(ctx, resolvers.UpdateUserInput{ID: globalid.ID{Int: in.ID}, FirstName: in.Body.FirstName, LastName: in.Body.LastName})
		if err != nil {
			return nil, err
		}
		shown, err := a.user(ctx, out.User)
		return &one[user]{shown}, err
	})
	add(a, operation{
		id: "removeUser", rule: rule.RemoveUser, method: http.MethodDelete, path: "/tenant/user/{id}", tag: tagUsers, errors: []int{http.StatusNotFound},
		summary: "Remove a user", description: "Takes a user out of a company: its permissions, API keys and sessions there end. The last owner of the caller's own company stays.",
		names: map[string]string{"userId": "path.id"},
	}, func(ctx context.Context, in *removeUserInput) (*struct{}, error) {
		_, err := a.mutations().RemoveUser(ctx, resolvers.RemoveUserInput{CustomerID: in.customer(), UserID: globalid.ID{Int: in.ID}})
		return nil, err
	})
	add(a, operation{
		id: "inviteAgain", rule: rule.ResendInvitation, method: http.MethodPost, path: "/tenant/user/init", tag: tagUsers, errors: []int{http.StatusNotFound},
		summary: "Send an invitation again", description: "The invitation of the caller's company, or else of one within reach. Only for a user who has not completed the setup; for others it is 400. Of more than five to a user in a day none is sent.",
		names: map[string]string{"userId": "id"},
	}, func(ctx context.Context, in *inviteInput) (*struct{}, error) {
		_, err := a.mutations().ResendInvitation(ctx, resolvers.ResendInvitationInput{UserID: &globalid.ID{Int: in.Body.ID}})
		return nil, err
	})
}

// UsersQuery are the parameters of a list of users.
type UsersQuery struct {
	Pages
	OrderQuery
	UserFilter
	Subtree bool `query:"subtree" doc:"Whether with the users of everything below the company; by default it is not"`

	filter *resolvers.UserFilter
	found  bool
}

// Resolve tells what was given from what was left out.
func (q *UsersQuery) Resolve(hc huma.Context) []error {
	q.filter = filterGiven[resolvers.UserFilter](hc, &q.UserFilter)
	if q.filter.CustomerID != nil && hc.Query("subtree") == "" {
		q.Subtree = true
	}
	q.found = q.Subtree || anyGiven(hc, &q.UserFilter, &q.OrderQuery, &q.LastPage)
	return nil
}

func (q *UsersQuery) users() *UsersQuery { return q }

type listOwnUsers struct {
	OwnCustomer
	UsersQuery
}

type listUsersOf struct {
	CustomerPath
	UsersQuery
}

// listUsers reads the list for either form of its path. As it is documented it is streamed with the permissions; what is looked for
// among more is read page by page.
func listUsers[I any, P interface {
	*I
	customerInput
	users() *UsersQuery
}](a *api) func(context.Context, *I, query, emit[user]) error {
	return func(ctx context.Context, in *I, _ query, each emit[user]) error {
		q := P(in).users()
		if q.found {
			return a.queries().FindUsers(ctx, P(in).customer(), q.Subtree, q.filter, q.listing(&q.Pages), func(u *db.User, at paging.Cursor) error {
				shown, err := a.user(ctx, u)
				if err != nil {
					return err
				}
				return each(shown, at)
			})
		}
		after, err := paging.Order{Keys: 1}.Parse(q.After, "after")
		if err != nil {
			return err
		}
		at, err := a.places(ctx)
		if err != nil {
			return err
		}
		return a.queries().ListUsers(ctx, P(in).customer(), after, q.listing(&q.Pages).Limit, func(l *db.UserLine) error {
			return each(at.userLine(l), paging.IDs(l.ID))
		})
	}
}

func (a *api) createUser(ctx context.Context, in *createUserInput) (*one[user], error) {
	b := &in.Body
	made, err := a.mutations().CreateUser(ctx, resolvers.CreateUserInput{
		CustomerID: optionalID(b.CustomerID), Email: b.Email, FirstName: b.FirstName, LastName: b.LastName, Name: b.Name,
	})
	if err != nil {
		return nil, err
	}
	shown, err := a.user(ctx, made.User)
	if err != nil {
		return nil, err
	}
	return &one[user]{shown}, nil
}

// user shapes a user with what the caller may see of its permissions: none of them, for one who
// may add users but not read them.
func (a *api) user(ctx context.Context, u *db.User) (user, error) {
	edges := resolvers.UserEdges{Resolver: a.r}
	last, err := edges.LastAccess(ctx, u)
	if err != nil {
		return user{}, err
	}
	permissions := []userPermission{}
	first := paging.MaxFirst
	for after := (*string)(nil); ; {
		page, err := edges.Permissions(ctx, u, nil, nil, &first, after, nil, nil)
		if err != nil {
			if problem.From(err).Code == problem.Forbidden {
				return userOf(u, nil, permissions), nil
			}
			return user{}, err
		}
		for _, p := range page.Nodes() {
			shaped, err := a.permission(ctx, p)
			if err != nil {
				return user{}, err
			}
			permissions = append(permissions, shaped)
		}
		if after = page.PageInfo().EndCursor(); !page.PageInfo().HasNextPage {
			return userOf(u, last, permissions), nil
		}
	}
}

// permission shapes a permission with its edges, which are loaded for the whole page at once.
func (a *api) permission(ctx context.Context, p *db.Permission) (userPermission, error) {
	edges := resolvers.PermissionEdges{Resolver: a.r}
	role, err := edges.Role(ctx, p)
	if err != nil {
		return userPermission{}, err
	}
	account, err := edges.Account(ctx, p)
	if err != nil {
		return userPermission{}, err
	}
	app, err := edges.Application(ctx, p)
	if err != nil {
		return userPermission{}, err
	}
	region, err := edges.Region(ctx, p)
	if err != nil {
		return userPermission{}, err
	}
	return userPermissionOf(p, role, account, applicationOf(app), region), nil
}
