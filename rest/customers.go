package rest

import (
	"context"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"canopy/db"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/rule"
	"canopy/resolvers"
)

// Customer are the members that every view of a company begins with.
type Customer struct {
	ID                int64      `json:"id"`
	ParentID          *int64     `json:"parentId" doc:"The company above; null for the root"`
	Name              string     `json:"name"`
	RegionID          int64      `json:"regionId"`
	CanAddCustomers   bool       `json:"canAddCustomers" doc:"The company may create others below it, as far as those above allow it"`
	DescendantsCanAdd bool       `json:"descendantsCanAdd" doc:"Companies below may create others"`
	CreatedAt         time.Time  `json:"createdAt"`
	Status            string     `json:"status,omitempty" enum:"suspended,deleted" doc:"The company's own status; left out while it is active"`
	EraseAt           *time.Time `json:"eraseAt,omitempty" doc:"From when on a deleted company is erased; left out of others"`
}

func customerOf(c *db.Customer) Customer {
	return Customer{
		ID:                c.ID,
		ParentID:          c.ParentID,
		Name:              c.Name,
		RegionID:          c.RegionID,
		CanAddCustomers:   c.CanAddCustomers,
		DescendantsCanAdd: c.DescendantsCanAdd,
		CreatedAt:         c.CreatedAt.UTC(),
		Status:            unlessActive(c.Status),
		EraseAt:           utc(c.EraseAt),
	}
}

// unlessActive is the status of a company that is not active; the others are shown as they are documented.
func unlessActive(status string) string {
	if status == db.CustomerActive {
		return ""
	}
	return strings.ToLower(status)
}

// listedCustomer is a company in the list.
type listedCustomer struct {
	Customer
	Path  string `json:"path" example:"Root/Acme/Acme Paris" doc:"The names from the root down"`
	Level int    `json:"level" doc:"How deep the company is; 0 is the root"`
}

func listedCustomerOf(c resolvers.ListedCustomer) listedCustomer {
	return listedCustomer{Customer: customerOf(c.Customer), Path: c.Path, Level: c.Level}
}

// detailedCustomer is a company with its region.
type detailedCustomer struct {
	Customer
	EffectiveStatus string `json:"effectiveStatus,omitempty" enum:"suspended,deleted" doc:"The status that holds: the gravest of its own and of those above it; left out while that is active"`
	Region          region `json:"region"`
}

// parentCustomer is the company above another.
type parentCustomer struct {
	ID       int64  `json:"id"`
	Name     string `json:"name"`
	RegionID int64  `json:"regionId"`
}

// ancestorCustomer is one of the companies above another.
type ancestorCustomer struct {
	ID       int64  `json:"id"`
	Name     string `json:"name"`
	RegionID int64  `json:"regionId"`
	Level    int    `json:"level"`
}

// customerDetails is a company with where it stands in the tree.
type customerDetails struct {
	Customer  detailedCustomer   `json:"customer"`
	Parent    *parentCustomer    `json:"parent" doc:"The company above; null for the root"`
	Ancestors []ancestorCustomer `json:"ancestors" doc:"The companies above, the root first"`
}

// TransformSchema documents that the parent may be null, which needs the object spelled out.
func (customerDetails) TransformSchema(r huma.Registry, s *huma.Schema) *huma.Schema {
	parent := huma.SchemaFromType(r, reflect.TypeFor[parentCustomer]())
	parent.Nullable = true
	parent.Description = "The company above; null for the root"
	s.Properties["parent"] = parent
	delete(r.Map(), "ParentCustomer")
	return s
}

// identity is the caller.
type identity struct {
	Identity caller           `json:"identity"`
	Customer identityCustomer `json:"customer"`
}

// caller is who a token stands for.
type caller struct {
	CustomerID     int64  `json:"customerId" doc:"The company that the token acts for"`
	UserIdentityID int64  `json:"userIdentityId" doc:"The user that the token stands for"`
	Email          string `json:"email"`
}

// identityCustomer is the caller's company.
type identityCustomer struct {
	ID                int64     `json:"id"`
	Name              string    `json:"name"`
	RegionID          int64     `json:"regionId"`
	CanAddCustomers   bool      `json:"canAddCustomers"`
	DescendantsCanAdd bool      `json:"descendantsCanAdd"`
	CreatedAt         time.Time `json:"createdAt"`
}

// one is an answer of one JSON value.
type one[T any] struct{ Body T }

// CustomerPath names a company in the path.
type CustomerPath struct {
	CID int64 `path:"cid" doc:"The company's id"`
}

func (p *CustomerPath) customer() *globalid.ID { return &globalid.ID{Int: p.CID} }

// OwnCustomer is the input of an operation whose optional company was left out.
type OwnCustomer struct{}

func (*OwnCustomer) customer() *globalid.ID { return nil }

// customerInput is the input of the two forms of an operation with an optional company.
type customerInput interface{ customer() *globalid.ID }

type ListCustomersQuery struct {
	Pages
	OrderQuery
	CustomerFilter
	Self string `query:"self" enum:"true,false,0,1,include,exclude" doc:"Whether the company itself is listed too, first of all; by default it is not"`

	filter *resolvers.CustomerFilter
	found  bool
}

// Resolve tells what was given from what was left out.
func (q *ListCustomersQuery) Resolve(hc huma.Context) []error {
	q.filter = filterGiven[resolvers.CustomerFilter](hc, &q.CustomerFilter)
	q.found = anyGiven(hc, &q.CustomerFilter, &q.OrderQuery, &q.LastPage)
	return nil
}

func (q *ListCustomersQuery) customers() *ListCustomersQuery { return q }

func (q *ListCustomersQuery) self() bool {
	return q.Self == "true" || q.Self == "1" || q.Self == "include"
}

type listOwnCustomers struct {
	OwnCustomer
	ListCustomersQuery
}

type listCustomersOf struct {
	CustomerPath
	ListCustomersQuery
}

type updateCustomerInput struct {
	Body struct {
		CustomerID        int64         `json:"customerId" doc:"The company to change"`
		Name              *string       `json:"name,omitempty"`
		CanAddCustomers   *bool         `json:"canAddCustomers,omitempty" doc:"Turned on only from a company above"`
		DescendantsCanAdd *bool         `json:"descendantsCanAdd,omitempty" doc:"Turned on only from a company above"`
		MaxKeyDays        nullable[int] `json:"maxKeyDays,omitempty" doc:"How many days new API keys may live at most, here and in the companies below: 1 to 3650. Null takes the bound away"`
	} `nameHint:"UpdateCustomerRequest"`
}

type moveCustomerInput struct {
	CustomerPath
	Body struct {
		ParentID int64 `json:"parentId" doc:"The company to put it below; neither itself nor one below it"`
	} `nameHint:"MoveCustomerRequest"`
}

type createCustomerInput struct {
	Body struct {
		ParentID          *int64  `json:"parentId,omitempty" doc:"The company above; by default the caller's own"`
		Name              string  `json:"name" example:"Acme"`
		RegionID          int64   `json:"regionId" doc:"One of GET /region/available"`
		CanAddCustomers   *bool   `json:"canAddCustomers,omitempty" default:"false"`
		DescendantsCanAdd *bool   `json:"descendantsCanAdd,omitempty" default:"false"`
		Email             string  `json:"email" example:"ada@example.com" doc:"The address of the first admin, who is invited"`
		FirstName         *string `json:"firstName,omitempty" doc:"The admin's first name"`
		LastName          *string `json:"lastName,omitempty" doc:"The admin's last name; by default, and where it is empty, the company's name"`
		Assistant         *bool   `json:"assistant,omitempty" default:"true" doc:"Whether the company gets the assistant application"`
		Builder           *bool   `json:"builder,omitempty" default:"true" doc:"Whether the company gets the agent builder"`
		Tenant            *bool   `json:"tenant,omitempty" default:"true" doc:"Whether the company gets tenant management"`
	} `nameHint:"CreateCustomerRequest"`
}

func (a *api) registerCustomers() {
	add(a, operation{
		id: "getIdentity", rule: rule.Identity, method: http.MethodGet, path: "/tenant", tag: tagCustomers,
		summary: "Get the current identity", description: "The user and the company that the token stands for.",
	}, a.identity)
	add(a, operation{
		id: "getCustomer", rule: rule.Customer, method: http.MethodGet, path: "/tenant/{cid}", tag: tagCustomers, errors: []int{http.StatusNotFound},
		summary: "Get a company", description: "A company with its region and the companies above it.",
		names: map[string]string{"id": "cid"},
	}, a.customer)
	add(a, operation{
		id: "updateCustomer", rule: rule.UpdateCustomer, method: http.MethodPut, path: "/tenant", tag: tagCustomers, errors: []int{http.StatusNotFound},
		summary: "Update a company", description: "Renames a company or sets its flags. What is left out stays as it is.",
	}, a.updateCustomer)
	add(a, operation{
		id: "createCustomer", rule: rule.CreateCustomer, method: http.MethodPost, path: "/tenant/customer", tag: tagCustomers, errors: []int{http.StatusNotFound}, status: http.StatusOK,
		summary: "Create a company", description: "Creates a company with an account for each chosen application, and invites its first admin, who owns them.",
	}, a.createCustomer)
	add(a, operation{
		id: "moveCustomer", rule: rule.MoveCustomer, method: http.MethodPost, path: "/tenant/customer/{cid}/move", tag: tagCustomers, errors: []int{http.StatusNotFound}, status: http.StatusOK,
		summary: "Move a company", description: "Puts a company below another, with everything below it, and answers it as it is there. For callers whose company is above it, and above or at both places.",
		names: map[string]string{"id": "cid"},
	}, a.moveCustomer)
	const doc = "Every company below one, each before those below it, with its path and level."
	addList(a, operation{
		id: "listCustomers", rule: rule.CustomerDescendants, orders: db.Customers, path: "/tenant/customers", tag: tagCustomers, errors: []int{http.StatusNotFound},
		summary: "List the companies below the caller's", description: doc,
	}, anyOrder, listCustomers[listOwnCustomers](a))
	addList(a, operation{
		id: "listCustomersOf", rule: rule.CustomerDescendants, orders: db.Customers, path: "/tenant/customers/{cid}", tag: tagCustomers, errors: []int{http.StatusNotFound},
		summary: "List the companies below a company", description: doc,
	}, anyOrder, listCustomers[listCustomersOf](a))
}

func (a *api) identity(ctx context.Context, _ *struct{}) (*one[identity], error) {
	me, err := a.queries().Identity(ctx)
	if err != nil {
		return nil, err
	}
	c := me.Customer
	return &one[identity]{identity{
		caller{CustomerID: me.CustomerID, UserIdentityID: me.UserIdentityID, Email: me.Email},
		identityCustomer{
			ID:                c.ID,
			Name:              c.Name,
			RegionID:          c.RegionID,
			CanAddCustomers:   c.CanAddCustomers,
			DescendantsCanAdd: c.DescendantsCanAdd,
			CreatedAt:         c.CreatedAt.UTC(),
		},
	}}, nil
}

func (a *api) customer(ctx context.Context, in *CustomerPath) (*one[customerDetails], error) {
	c, err := a.queries().Customer(ctx, in.customer())
	if err != nil {
		return nil, err
	}
	return a.detailsOf(ctx, c)
}

// detailsOf shows a company with where it stands, which was read with it.
func (a *api) detailsOf(ctx context.Context, c *db.Customer) (*one[customerDetails], error) {
	region, err := c.Region(ctx, a.r.Store)
	if err != nil {
		return nil, err
	}
	above, err := c.Ancestors(ctx, a.r.Store)
	if err != nil {
		return nil, err
	}
	status, err := c.EffectiveStatus(ctx, a.r.Store)
	if err != nil {
		return nil, err
	}
	details := customerDetails{Customer: detailedCustomer{customerOf(c), unlessActive(status), regionOf(region)}, Ancestors: mapped(above, ancestorOf)}
	if n := len(above); n > 0 {
		p := above[n-1]
		details.Parent = &parentCustomer{ID: p.ID, Name: p.Name, RegionID: p.RegionID}
	}
	return &one[customerDetails]{details}, nil
}

func (a *api) moveCustomer(ctx context.Context, in *moveCustomerInput) (*one[customerDetails], error) {
	out, err := a.mutations().MoveCustomer(ctx, resolvers.MoveCustomerInput{ID: *in.customer(), ParentID: globalid.ID{Int: in.Body.ParentID}})
	if err != nil {
		return nil, err
	}
	return a.detailsOf(ctx, out.Customer)
}

func ancestorOf(c *db.CustomerRef) ancestorCustomer {
	return ancestorCustomer{ID: c.ID, Name: c.Name, RegionID: c.RegionID, Level: c.Level}
}

func (a *api) updateCustomer(ctx context.Context, in *updateCustomerInput) (*struct{}, error) {
	_, err := a.mutations().UpdateCustomer(ctx, resolvers.UpdateCustomerInput{
		CustomerID: globalid.ID{Int: in.Body.CustomerID}, Name: in.Body.Name,
		CanAddCustomers: in.Body.CanAddCustomers, DescendantsCanAdd: in.Body.DescendantsCanAdd, MaxKeyDays: in.Body.MaxKeyDays.Nullable,
	})
	return nil, err
}

func (a *api) createCustomer(ctx context.Context, in *createCustomerInput) (*one[Customer], error) {
	b := &in.Body
	lastName := b.LastName
	if lastName != nil && strings.TrimSpace(*lastName) == "" {
		lastName = nil // here an empty one is as if left out
	}
	made, err := a.mutations().CreateCustomer(ctx, resolvers.CreateCustomerInput{
		ParentID: optionalID(b.ParentID), Name: b.Name, RegionID: globalid.ID{Int: b.RegionID},
		CanAddCustomers: b.CanAddCustomers, DescendantsCanAdd: b.DescendantsCanAdd,
		Email: b.Email, FirstName: b.FirstName, LastName: lastName, Assistant: b.Assistant, Builder: b.Builder, Tenant: b.Tenant,
	})
	if err != nil {
		return nil, err
	}
	return &one[Customer]{customerOf(made.Customer)}, nil
}

// listCustomers reads the list for either form of its path. As it is documented it is streamed in preorder, which gives the paths
// by the way; what is looked for among more is read page by page.
func listCustomers[I any, P interface {
	*I
	customerInput
	customers() *ListCustomersQuery
}](a *api) func(context.Context, *I, query, emit[listedCustomer]) error {
	return func(ctx context.Context, in *I, _ query, each emit[listedCustomer]) error {
		q, top := P(in).customers(), P(in).customer()
		listing := q.listing(&q.Pages)
		if q.found {
			return a.queries().FindCustomers(ctx, top, q.self(), q.filter, listing, func(c resolvers.ListedCustomer, at paging.Cursor) error {
				return each(listedCustomerOf(c), at)
			})
		}
		after, err := paging.Order{}.Parse(q.After, "after")
		if err != nil {
			return err
		}
		return a.queries().ListCustomers(ctx, top, q.self(), after, listing.Limit, func(c resolvers.ListedCustomer) error {
			return each(listedCustomerOf(c), paging.IDs(c.Lineage...))
		})
	}
}

func (a *api) queries() resolvers.Query      { return resolvers.Query{Resolver: a.r} }
func (a *api) mutations() resolvers.Mutation { return resolvers.Mutation{Resolver: a.r} }
func (a *api) subscriptions() resolvers.Subscription {
	return resolvers.Subscription{Resolver: a.r}
}
