package rest

import (
	"context"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"canopy/db"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/rule"
	"canopy/resolvers"
)

// Company are the members that every view of a company begins with.
type Company struct {
	ID                int64     `json:"id"`
	ParentID          *int64    `json:"parentId" doc:"The company above; null for the root"`
	Name              string    `json:"name"`
	RegionID          int64     `json:"regionId"`
	CanAddCustomers   bool      `json:"canAddCustomers" doc:"The company may create others below it, as far as those above allow it"`
	DescendantsCanAdd bool      `json:"descendantsCanAdd" doc:"Companies below may create others"`
	CreatedAt         time.Time `json:"createdAt"`
}

func companyOf(c *db.Customer) Company {
	return Company{
		ID:                c.ID,
		ParentID:          c.ParentID,
		Name:              c.Name,
		RegionID:          c.RegionID,
		CanAddCustomers:   c.CanAddCustomers,
		DescendantsCanAdd: c.DescendantsCanAdd,
		CreatedAt:         c.CreatedAt.UTC(),
	}
}

// listedCompany is a company in the list.
type listedCompany struct {
	Company
	Path  string `json:"path" example:"Root/Acme/Acme Paris" doc:"The names from the root down"`
	Level int    `json:"level" doc:"How deep the company is; 0 is the root"`
}

// detailedCompany is a company with its region.
type detailedCompany struct {
	Company
	Region region `json:"region"`
}

// parentCompany is the company above another.
type parentCompany struct {
	ID       int64  `json:"id"`
	Name     string `json:"name"`
	RegionID int64  `json:"regionId"`
}

// ancestorCompany is one of the companies above another.
type ancestorCompany struct {
	ID       int64  `json:"id"`
	Name     string `json:"name"`
	RegionID int64  `json:"regionId"`
	Level    int    `json:"level"`
}

// companyDetails is a company with where it stands in the tree.
type companyDetails struct {
	Customer  detailedCompany   `json:"customer"`
	Parent    *parentCompany    `json:"parent" doc:"The company above; null for the root"`
	Ancestors []ancestorCompany `json:"ancestors" doc:"The companies above, the root first"`
}

// TransformSchema documents that the parent may be null, which needs the object spelled out.
func (companyDetails) TransformSchema(r huma.Registry, s *huma.Schema) *huma.Schema {
	parent := huma.SchemaFromType(r, reflect.TypeFor[parentCompany]())
	parent.Nullable = true
	parent.Description = "The company above; null for the root"
	s.Properties["parent"] = parent
	delete(r.Map(), "ParentCompany")
	return s
}

// identity is the caller.
type identity struct {
	Identity caller          `json:"identity"`
	Customer identityCompany `json:"customer"`
}

// caller is who a token stands for.
type caller struct {
	CustomerID     int64  `json:"customerId" doc:"The company that the token acts for"`
	UserIdentityID int64  `json:"userIdentityId" doc:"The user that the token stands for"`
	Email          string `json:"email"`
}

// identityCompany is the caller's company.
type identityCompany struct {
	ID                int64     `json:"id"`
	Name              string    `json:"name"`
	RegionID          int64     `json:"regionId"`
	CanAddCustomers   bool      `json:"canAddCustomers"`
	DescendantsCanAdd bool      `json:"descendantsCanAdd"`
	CreatedAt         time.Time `json:"createdAt"`
}

// one is an answer of one JSON value.
type one[T any] struct{ Body T }

// CompanyPath names a company in the path.
type CompanyPath struct {
	CID int64 `path:"cid" doc:"The company's id"`
}

func (p *CompanyPath) company() *globalid.ID { return &globalid.ID{Int: p.CID} }

// OwnCompany is the input of an operation whose optional company was left out.
type OwnCompany struct{}

func (*OwnCompany) company() *globalid.ID { return nil }

// companyInput is the input of the two forms of an operation with an optional company.
type companyInput interface{ company() *globalid.ID }

type ListCompaniesQuery struct {
	Paging
	Self string `query:"self" enum:"true,false,0,1,include,exclude" doc:"Whether the company itself is listed too, first of all; by default it is not"`
}

func (q *ListCompaniesQuery) self() bool {
	return q.Self == "true" || q.Self == "1" || q.Self == "include"
}

type listOwnCompanies struct {
	OwnCompany
	ListCompaniesQuery
}

type listCompaniesOf struct {
	CompanyPath
	ListCompaniesQuery
}

type updateCompanyInput struct {
	Body struct {
		CustomerID        int64   `json:"customerId" doc:"The company to change"`
		Name              *string `json:"name,omitempty"`
		CanAddCustomers   *bool   `json:"canAddCustomers,omitempty" doc:"Turned on only from a company above"`
		DescendantsCanAdd *bool   `json:"descendantsCanAdd,omitempty" doc:"Turned on only from a company above"`
	} `nameHint:"UpdateCompanyRequest"`
}

type createCompanyInput struct {
	Body struct {
		ParentID          *int64  `json:"parentId,omitempty" doc:"The company above; by default the caller's own"`
		Name              string  `json:"name" example:"Acme"`
		RegionID          int64   `json:"regionId" doc:"One of GET /region/available"`
		CanAddCustomers   *bool   `json:"canAddCustomers,omitempty" default:"false"`
		DescendantsCanAdd *bool   `json:"descendantsCanAdd,omitempty" default:"false"`
		Email             string  `json:"email" example:"ada@example.com" doc:"The address of the first admin, who is invited"`
		FirstName         *string `json:"firstName,omitempty" doc:"The admin's first name"`
		LastName          *string `json:"lastName,omitempty" doc:"The admin's last name; by default the company's name"`
		Assistant         *bool   `json:"assistant,omitempty" default:"true" doc:"Whether the company gets the assistant application"`
		Builder           *bool   `json:"builder,omitempty" default:"true" doc:"Whether the company gets the agent builder"`
		Tenant            *bool   `json:"tenant,omitempty" default:"true" doc:"Whether the company gets tenant management"`
	} `nameHint:"CreateCompanyRequest"`
}

func (a *api) registerCompanies() {
	add(a, operation{
		id: "getIdentity", rule: rule.Identity, method: http.MethodGet, path: "/tenant", tag: tagCompanies,
		summary: "Get the current identity", description: "The user and the company that the token stands for.",
	}, a.identity)
	add(a, operation{
		id: "getCompany", rule: rule.Customer, method: http.MethodGet, path: "/tenant/{cid}", tag: tagCompanies, errors: []int{http.StatusNotFound},
		summary: "Get a company", description: "A company with its region and the companies above it.",
		names: map[string]string{"id": "cid"},
	}, a.company)
	add(a, operation{
		id: "updateCompany", rule: rule.UpdateCustomer, method: http.MethodPut, path: "/tenant", tag: tagCompanies, errors: []int{http.StatusNotFound},
		summary: "Update a company", description: "Renames a company or sets its flags. What is left out stays as it is.",
	}, a.updateCompany)
	add(a, operation{
		id: "createCompany", rule: rule.CreateCustomer, method: http.MethodPost, path: "/tenant/customer", tag: tagCompanies, errors: []int{http.StatusNotFound}, status: http.StatusOK,
		summary: "Create a company", description: "Creates a company with an account for each chosen application, and invites its first admin, who owns them.",
	}, a.createCompany)
	const doc = "Every company below one, each before those below it, with its path and level."
	addList(a, operation{
		id: "listCompanies", rule: rule.CustomerDescendants, path: "/tenant/customers", tag: tagCompanies, errors: []int{http.StatusNotFound},
		summary: "List the companies below the caller's", description: doc,
	}, 0, listCompanies[listOwnCompanies](a))
	addList(a, operation{
		id: "listCompaniesOf", rule: rule.CustomerDescendants, path: "/tenant/customers/{cid}", tag: tagCompanies, errors: []int{http.StatusNotFound},
		summary: "List the companies below a company", description: doc,
	}, 0, listCompanies[listCompaniesOf](a))
}

func (a *api) identity(ctx context.Context, _ *struct{}) (*one[identity], error) {
	me, err := a.queries().Identity(ctx)
	if err != nil {
		return nil, err
	}
	c := me.Customer
	return &one[identity]{identity{
		caller{CustomerID: me.CustomerID, UserIdentityID: me.UserIdentityID, Email: me.Email},
		identityCompany{
			ID:                c.ID,
			Name:              c.Name,
			RegionID:          c.RegionID,
			CanAddCustomers:   c.CanAddCustomers,
			DescendantsCanAdd: c.DescendantsCanAdd,
			CreatedAt:         c.CreatedAt.UTC(),
		},
	}}, nil
}

func (a *api) company(ctx context.Context, in *CompanyPath) (*one[companyDetails], error) {
	c, err := a.queries().Customer(ctx, in.company())
	if err != nil {
		return nil, err
	}
	edges := resolvers.CustomerEdges{Resolver: a.r}
	region, err := edges.Region(ctx, c)
	if err != nil {
		return nil, err
	}
	above, err := edges.Ancestors(ctx, c)
	if err != nil {
		return nil, err
	}
	details := companyDetails{Customer: detailedCompany{companyOf(c), regionOf(region)}, Ancestors: mapped(above, ancestorOf)}
	if n := len(above); n > 0 {
		p := above[n-1]
		details.Parent = &parentCompany{ID: p.ID, Name: p.Name, RegionID: p.RegionID}
	}
	return &one[companyDetails]{details}, nil
}

func ancestorOf(c *db.CustomerRef) ancestorCompany {
	return ancestorCompany{ID: c.ID, Name: c.Name, RegionID: c.RegionID, Level: c.Level}
}

func (a *api) updateCompany(ctx context.Context, in *updateCompanyInput) (*struct{}, error) {
	_, err := a.mutations().UpdateCustomer(ctx, resolvers.UpdateCustomerInput{
		CustomerID: globalid.ID{Int: in.Body.CustomerID}, Name: in.Body.Name,
		CanAddCustomers: in.Body.CanAddCustomers, DescendantsCanAdd: in.Body.DescendantsCanAdd,
	})
	return nil, err
}

func (a *api) createCompany(ctx context.Context, in *createCompanyInput) (*one[Company], error) {
	b := &in.Body
	made, err := a.mutations().CreateCustomer(ctx, resolvers.CreateCustomerInput{
		ParentID: relayID(b.ParentID), Name: b.Name, RegionID: globalid.ID{Int: b.RegionID},
		CanAddCustomers: b.CanAddCustomers, DescendantsCanAdd: b.DescendantsCanAdd,
		Email: b.Email, FirstName: b.FirstName, LastName: b.LastName, Assistant: b.Assistant, Builder: b.Builder, Tenant: b.Tenant,
	})
	if err != nil {
		return nil, err
	}
	return &one[Company]{companyOf(made.Customer)}, nil
}

// listCompanies reads the list for either form of its path.
func listCompanies[I any, P interface {
	*I
	companyInput
	self() bool
}](a *api) func(context.Context, *I, query, emit[listedCompany]) error {
	return func(ctx context.Context, in *I, q query, each emit[listedCompany]) error {
		p := P(in)
		return a.queries().ListCustomers(ctx, p.company(), p.self(), q.after, q.limit, func(c resolvers.ListedCustomer) error {
			return each(listedCompany{Company: companyOf(c.Customer), Path: c.Path, Level: c.Level}, paging.Cursor(c.Lineage))
		})
	}
}

func (a *api) queries() resolvers.Query      { return resolvers.Query{Resolver: a.r} }
func (a *api) mutations() resolvers.Mutation { return resolvers.Mutation{Resolver: a.r} }
