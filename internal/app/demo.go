package app

import (
	"context"
	"errors"
	"fmt"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/secret"
	"canopy/resolvers"
)

// DemoAdmin is the address of the demo data's first person, the root company's owner.
const DemoAdmin = "ada.owner@northwind.example"

// demoRegions: in the last one the builder does not run, so that it takes no new companies.
var demoRegions = append(append([]resolvers.RegionSeed{}, resolvers.DefaultRegions...),
	resolvers.RegionSeed{Code: "uk-south", Name: "UK South", Description: "London", Apps: []access.App{access.Tenant, access.Assistant}})

// demoCustomer is a company of the demo tree, below the one that is called parent.
type demoCustomer struct {
	parent, name, region string
	canAdd, below        bool
	admin, first, last   string
	staff                []demoUser
}

type demoUser struct {
	email, name, role string
	disabled          bool
}

var demoTree = []demoCustomer{
	{
		name: "Alpine Energy", region: "eu-central", canAdd: true, below: true,
		admin: "greta@alpine.example", first: "Greta", last: "Huber",
		staff: []demoUser{
			{email: "jonas@alpine.example", name: "Jonas Keller", role: resolvers.AdminRole},
			{email: "mira@alpine.example", name: "Mira Vogel", role: resolvers.ViewerRole},
			{email: "temp@alpine.example", name: "Tim Temp", role: resolvers.MemberRole, disabled: true},
		},
	},
	{
		name: "Brightwater Health", region: "us-east", canAdd: true,
		admin: "olivia@brightwater.example", first: "Olivia", last: "Chen",
		staff: []demoUser{
			{email: "marcus@brightwater.example", name: "Marcus Reed", role: resolvers.AdminRole},
			{email: "sofia@brightwater.example", name: "Sofia Alvarez", role: resolvers.MemberRole},
		},
	},
	{
		name: "Coral Logistics", region: "ap-southeast", canAdd: true, below: true,
		admin: "wei@coral.example", first: "Wei", last: "Tan",
		staff: []demoUser{
			{email: "aisha@coral.example", name: "Aisha Rahman", role: resolvers.ViewerRole},
		},
	},
	{
		name: "Dune Retail", region: "us-east",
		admin: "hana@dune.example", first: "Hana", last: "Silva",
	},
	{
		parent: "Alpine Energy", name: "Alpine Hydro", region: "eu-central", canAdd: true,
		admin: "lukas@alpine-hydro.example", first: "Lukas", last: "Brunner",
		staff: []demoUser{
			{email: "eva@alpine-hydro.example", name: "Eva Moser", role: resolvers.MemberRole},
		},
	},
	{
		parent: "Alpine Energy", name: "Alpine Solar", region: "eu-central",
		admin: "nina@alpine-solar.example", first: "Nina", last: "Fischer",
		staff: []demoUser{
			{email: "old@alpine-solar.example", name: "Otto Alt", role: resolvers.AdminRole, disabled: true},
		},
	},
	{
		parent: "Brightwater Health", name: "Brightwater Clinics", region: "us-east",
		admin: "james@brightwater-clinics.example", first: "James", last: "Ortiz",
	},
	{
		parent: "Brightwater Health", name: "Brightwater Labs", region: "us-east",
		admin: "priya@brightwater-labs.example", first: "Priya", last: "Nair",
	},
	{
		parent: "Coral Logistics", name: "Coral Ports", region: "ap-southeast", canAdd: true, below: true,
		admin: "minh@coral-ports.example", first: "Minh", last: "Le",
	},
	{
		parent: "Coral Logistics", name: "Coral Air", region: "ap-southeast",
		admin: "siti@coral-air.example", first: "Siti", last: "Aminah",
	},
	{
		parent: "Coral Ports", name: "Harbour Robotics", region: "ap-southeast",
		admin: "kenji@harbour.example", first: "Kenji", last: "Mori",
	},
}

// Demo are the credentials of the demo data: the root company's first API key, and the password of its
// owner.
type Demo struct {
	ClientID      string `json:"clientId"`
	ClientSecret  string `json:"clientSecret"`
	AdminEmail    string `json:"adminEmail"`
	AdminPassword string `json:"adminPassword"`
}

// MakeDemo makes the demo data through the resolvers, all of it or, if anything fails, nothing. keep
// is given the credentials before that is final.
func (p *Platform) MakeDemo(ctx context.Context, keep func(Demo) error) error {
	return p.Store.Tx(ctx, func(tx *db.Store) error {
		inside := *p.Resolver
		inside.Store, inside.Together = tx, nil
		demo, err := fillDemo(ctx, &inside)
		if err != nil {
			return err
		}
		return keep(demo)
	})
}

// fillDemo makes the demo data as the root company's owner.
func fillDemo(ctx context.Context, r *resolvers.Resolver) (Demo, error) {
	password := secret.NewLinkToken()[:16]
	made, err := r.Found(ctx, resolvers.Founding{
		Regions: demoRegions, Customer: "Northwind Group", Email: DemoAdmin, FirstName: "Ada", LastName: "Owner", Password: password,
	})
	if err != nil {
		return Demo{}, err
	}
	demo := Demo{ClientID: made.ClientID, ClientSecret: made.ClientSecret, AdminEmail: DemoAdmin, AdminPassword: password}
	issued, err := r.ExchangeToken(ctx, resolvers.TokenRequest{
		GrantType: "client_credentials", ClientID: made.ClientID, ClientSecret: made.ClientSecret, TargetApp: access.Tenant.String(),
	})
	if err != nil {
		return Demo{}, err
	}
	if ctx, err = r.Admit(ctx, "Bearer "+issued.AccessToken); err != nil {
		return Demo{}, err
	}
	m := &demoMaker{q: resolvers.Query{Resolver: r}, m: resolvers.Mutation{Resolver: r}}
	return demo, m.make(ctx, made.Customer)
}

type demoMaker struct {
	q         resolvers.Query
	m         resolvers.Mutation
	regions   map[string]int64
	customers map[string]*db.Customer
}

func (d *demoMaker) make(ctx context.Context, root *db.Customer) error {
	regions, err := d.q.Regions(ctx, new(true))
	if err != nil {
		return err
	}
	d.regions, d.customers = map[string]int64{}, map[string]*db.Customer{"": root}
	for _, r := range regions {
		d.regions[r.Code] = r.ID
	}
	for _, c := range demoTree {
		if err := d.customer(ctx, c); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	name, country := "Northwind Group", "DE"
	city, line, zip := "Frankfurt am Main", "Mainzer Landstraße 1", "60329"
	_, err = d.m.SaveBilling(ctx, resolvers.SaveBillingInput{BillingName: &name, CountryCode: &country, City: &city, AddressLine1: &line, ZipCode: &zip})
	return err
}

func (d *demoMaker) customer(ctx context.Context, c demoCustomer) error {
	made, err := d.m.CreateCustomer(ctx, resolvers.CreateCustomerInput{
		ParentID: id(d.customers[c.parent].ID), Name: c.name, RegionID: globalid.ID{Int: d.regions[c.region]},
		CanAddCustomers: &c.canAdd, DescendantsCanAdd: &c.below, Email: c.admin, FirstName: &c.first, LastName: &c.last,
	})
	if err != nil {
		return err
	}
	d.customers[c.name] = made.Customer
	for _, u := range c.staff {
		if err := d.user(ctx, made.Customer, u); err != nil {
			return fmt.Errorf("%s: %w", u.email, err)
		}
	}
	return nil
}

// user adds a person to a company, with a role on each of the company's accounts.
func (d *demoMaker) user(ctx context.Context, customer *db.Customer, u demoUser) error {
	made, err := d.m.CreateUser(ctx, resolvers.CreateUserInput{CustomerID: id(customer.ID), Email: u.email, Name: &u.name})
	if err != nil {
		return err
	}
	roles, err := d.q.Roles(ctx, id(customer.ID), nil)
	if err != nil {
		return err
	}
	var accounts []db.Account
	err = d.q.ListAccounts(ctx, id(customer.ID), nil, resolvers.Listing{}, func(a *db.AccountLine, _ paging.Cursor) error {
		accounts = append(accounts, a.Account)
		return nil
	})
	if err != nil {
		return err
	}
	for _, a := range accounts {
		roleID, err := roleOf(roles, a.ApplicationID, u.role)
		if err != nil {
			return err
		}
		_, err = d.m.CreatePermission(ctx, resolvers.CreatePermissionInput{
			AccountID: globalid.ID{Int: a.ID}, RoleID: globalid.ID{Int: roleID}, UserID: id(made.User.ID), Disabled: &u.disabled,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func roleOf(roles []*db.Role, applicationID int64, name string) (int64, error) {
	for _, r := range roles {
		if r.ApplicationID == applicationID && r.Name == name {
			return r.ID, nil
		}
	}
	return 0, errors.New("no role " + name)
}

func id(n int64) *globalid.ID { return &globalid.ID{Int: n} }
