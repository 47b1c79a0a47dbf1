package rest

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"canopy/db"
	"canopy/internal/paging"
	"canopy/internal/rule"
	"canopy/resolvers"
)

// account is a company's account in an application.
type account struct {
	ID                int64               `json:"id"`
	Name              string              `json:"name"`
	CustomerID        int64               `json:"customerId"`
	AppInstanceID     int64               `json:"appInstanceId"`
	InstanceAccountID int64               `json:"instanceAccountId"`
	Disabled          bool                `json:"disabled"`
	CreatedAt         time.Time           `json:"createdAt"`
	Application       application         `json:"application"`
	Region            accountRegion       `json:"region"`
	InstanceActive    bool                `json:"instanceActive"`
	Domain            string              `json:"domain" doc:"The URL of the application instance"`
	Permissions       []accountPermission `json:"permissions"`
}

// accountPermission is a permission in the listing of accounts.
type accountPermission struct {
	ID             int64         `json:"id"`
	LastAccess     *time.Time    `json:"lastAccess" doc:"The last access to the account; null when there was none"`
	Disabled       bool          `json:"disabled" doc:"The permission is suspended"`
	CreatedAt      time.Time     `json:"createdAt"`
	CreatedBy      string        `json:"createdBy" doc:"Who granted it: a JSON object with id and email, as a string"`
	Role           role          `json:"role"`
	InstanceActive bool          `json:"instanceActive"`
	Application    application   `json:"application"`
	Region         accountRegion `json:"region"`
	UserIdentity   userSummary   `json:"userIdentity"`
}

// accountLine shapes an entry of the listing of accounts.
func (p places) accountLine(l *db.AccountLine) account {
	reg := accountRegionOf(p.region(l.RegionID))
	app := p.applications[l.ApplicationID]
	permissions := make([]accountPermission, len(l.Permissions))
	for i := range l.Permissions {
		x := &l.Permissions[i]
		permissions[i] = accountPermission{
			ID:             x.ID,
			LastAccess:     utc(x.LastAccess),
			Disabled:       x.Disabled,
			CreatedAt:      x.CreatedAt.UTC(),
			CreatedBy:      createdBy(x.CreatorID, x.CreatorEmail),
			Role:           roleOf(&x.Role),
			InstanceActive: x.InstanceActive,
			Application:    app,
			Region:         reg,
			UserIdentity:   userSummaryOf(&x.User),
		}
	}
	return account{
		ID:                l.ID,
		Name:              l.Name,
		CustomerID:        l.CustomerID,
		AppInstanceID:     l.AppInstanceID,
		InstanceAccountID: l.InstanceAccountID,
		Disabled:          l.Disabled,
		CreatedAt:         l.CreatedAt.UTC(),
		Application:       app,
		Region:            reg,
		InstanceActive:    l.InstanceActive,
		Domain:            l.Domain,
		Permissions:       permissions,
	}
}

func accountRegionOf(r *db.Region) accountRegion {
	return accountRegion{ID: r.ID, Name: r.Name, Description: r.Description, CreatedAt: r.CreatedAt.UTC()}
}

// billing is a company's billing record.
type billing struct {
	CustomerID   int64     `json:"customerId"`
	BillingName  string    `json:"billingName"`
	BusinessID   string    `json:"businessId"`
	TaxID        string    `json:"taxId"`
	CreatedAt    time.Time `json:"createdAt"`
	LocationID   int64     `json:"locationId"`
	AddressLine1 string    `json:"addressLine1"`
	AddressLine2 string    `json:"addressLine2"`
	City         string    `json:"city"`
	State        string    `json:"state"`
	ZipCode      string    `json:"zipCode"`
	CountryCode  string    `json:"countryCode" example:"DE" doc:"ISO 3166-1 alpha-2"`
}

type billingBody struct {
	BillingName  *string `json:"billingName,omitempty"`
	BusinessID   *string `json:"businessId,omitempty" doc:"The business registration id"`
	TaxID        *string `json:"taxId,omitempty"`
	AddressLine1 *string `json:"addressLine1,omitempty"`
	AddressLine2 *string `json:"addressLine2,omitempty"`
	City         *string `json:"city,omitempty"`
	State        *string `json:"state,omitempty"`
	ZipCode      *string `json:"zipCode,omitempty"`
	CountryCode  *string `json:"countryCode,omitempty" example:"DE" doc:"ISO 3166-1 alpha-2"`
}

type saveOwnBilling struct {
	OwnCustomer
	Body billingBody `nameHint:"BillingRequest"`
}

func (in *saveOwnBilling) body() *billingBody { return &in.Body }

type saveBillingOf struct {
	CustomerPath
	Body billingBody `nameHint:"BillingRequest"`
}

func (in *saveBillingOf) body() *billingBody { return &in.Body }

// AccountFilter are the parameters that bound a list of accounts.
type AccountFilter struct {
	IDs           []int64 `query:"ids" doc:"Only those of these ids, separated by commas"`
	Search        string  `query:"search" doc:"Only those whose names have all words of this text, the last one as a beginning; where none has, within one edit"`
	ApplicationID int64   `query:"applicationId" doc:"Only those for this application"`
	RegionID      int64   `query:"regionId" doc:"Only those that run in this region"`
	Disabled      bool    `query:"disabled" doc:"Only those that are, or are not, closed"`
}

// AccountsQuery are the parameters of a list of accounts.
type AccountsQuery struct {
	Pages
	OrderQuery
	AccountFilter

	filter *resolvers.AccountFilter
}

// Resolve tells what was given from what was left out.
func (q *AccountsQuery) Resolve(hc huma.Context) []error {
	q.filter = filterGiven[resolvers.AccountFilter](hc, &q.AccountFilter)
	return nil
}

func (q *AccountsQuery) accounts() *AccountsQuery { return q }

type listOwnAccounts struct {
	OwnCustomer
	AccountsQuery
}

type listAccountsOf struct {
	CustomerPath
	AccountsQuery
}

func (a *api) registerAccounts() {
	a.registerAccountLists()
	const get, save = "The billing record of a company; 404 before there is any.", "Creates the billing record of a company, or changes the given fields of the one it has."
	add(a, operation{
		id: "getBilling", conditions: byNoneMatch, rule: rule.CustomerBilling, method: http.MethodGet, path: "/tenant/billing", tag: tagAccounts, errors: []int{http.StatusNotFound},
		summary: "Get the caller's billing record", description: get,
	}, getBilling[OwnCustomer](a))
	add(a, operation{
		id: "getBillingOf", conditions: byNoneMatch, rule: rule.CustomerBilling, method: http.MethodGet, path: "/tenant/billing/{cid}", tag: tagAccounts, errors: []int{http.StatusNotFound},
		summary: "Get a company's billing record", description: get,
	}, getBilling[CustomerPath](a))
	add(a, operation{
		id: "saveBilling", conditions: byMatch, rule: rule.SaveBilling, method: http.MethodPost, path: "/tenant/billing", tag: tagAccounts, errors: []int{http.StatusNotFound},
		summary: "Create or update the caller's billing record", description: save,
	}, saveBilling[saveOwnBilling](a))
	add(a, operation{
		id: "saveBillingOf", conditions: byMatch, rule: rule.SaveBilling, method: http.MethodPost, path: "/tenant/billing/{cid}", tag: tagAccounts, errors: []int{http.StatusNotFound},
		summary: "Create or update a company's billing record", description: save, names: map[string]string{"customerId": "cid"},
	}, saveBilling[saveBillingOf](a))
}

func (a *api) registerAccountLists() {
	const doc = "The application accounts of a company, each with the permissions on it, by id unless asked for otherwise."
	addList(a, operation{
		id: "listAccounts", rule: rule.CustomerAccounts, orders: db.Accounts, path: "/tenant/accounts", tag: tagAccounts, errors: []int{http.StatusNotFound},
		summary: "List the caller's application accounts", description: doc,
	}, anyOrder, listAccounts[listOwnAccounts](a))
	addList(a, operation{
		id: "listAccountsOf", rule: rule.CustomerAccounts, orders: db.Accounts, path: "/tenant/accounts/{cid}", tag: tagAccounts, errors: []int{http.StatusNotFound},
		summary: "List a company's application accounts", description: doc,
	}, anyOrder, listAccounts[listAccountsOf](a))
}

// inputOf is a pointer to an input with an optional company.
type inputOf[I any] interface {
	*I
	customerInput
}

func listAccounts[I any, P interface {
	inputOf[I]
	accounts() *AccountsQuery
}](a *api) func(context.Context, *I, query, emit[account]) error {
	return func(ctx context.Context, in *I, _ query, each emit[account]) error {
		at, err := a.places(ctx)
		if err != nil {
			return err
		}
		q := P(in).accounts()
		return a.queries().ListAccounts(ctx, P(in).customer(), q.filter, q.listing(&q.Pages), func(l *db.AccountLine, place paging.Cursor) error {
			return each(at.accountLine(l), place)
		})
	}
}

// places reads what the listing shows beside accounts before it is streamed: what is looked up
// meanwhile would need a second connection of the pool for each list.
func (a *api) places(ctx context.Context) (places, error) {
	p, err := a.queries().Places(ctx)
	if err != nil {
		return places{}, err
	}
	return placesOf(p), nil
}

func billingOf(b *db.Billing) billing {
	return billing{
		CustomerID:   b.CustomerID,
		BillingName:  b.BillingName,
		BusinessID:   b.BusinessID,
		TaxID:        b.TaxID,
		CreatedAt:    b.CreatedAt.UTC(),
		LocationID:   b.LocationID,
		AddressLine1: b.AddressLine1,
		AddressLine2: b.AddressLine2,
		City:         b.City,
		State:        b.State,
		ZipCode:      b.ZipCode,
		CountryCode:  b.CountryCode,
	}
}

func getBilling[I any, P inputOf[I]](a *api) func(context.Context, *I) (*tagged[billing], error) {
	return func(ctx context.Context, in *I) (*tagged[billing], error) {
		b, err := a.queries().Billing(ctx, P(in).customer())
		if err != nil {
			return nil, err
		}
		return tag(ctx, b.Version, billingOf(b))
	}
}

func saveBilling[I any, P interface {
	inputOf[I]
	body() *billingBody
}](a *api) func(context.Context, *I) (*changedOnly, error) {
	return func(ctx context.Context, in *I) (*changedOnly, error) {
		b := P(in).body()
		out, err := a.mutations().SaveBilling(ctx, resolvers.SaveBillingInput{
			CustomerID: P(in).customer(), BillingName: b.BillingName, BusinessID: b.BusinessID, TaxID: b.TaxID,
			AddressLine1: b.AddressLine1, AddressLine2: b.AddressLine2, City: b.City, State: b.State, ZipCode: b.ZipCode, CountryCode: b.CountryCode,
			IfVersion: ifMatch(ctx), MustExist: mustExist(ctx),
		})
		if err != nil {
			return nil, err
		}
		return &changedOnly{etagOf(out.Billing.Version, billingOf(out.Billing))}, nil
	}
}
