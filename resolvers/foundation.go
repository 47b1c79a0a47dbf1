package resolvers

import (
	"context"
	"errors"
	"maps"
	"slices"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/audit"
	"canopy/internal/problem"
	"canopy/internal/secret"
)

// RegionSeed is a region to set up: which applications run there, and take new companies.
type RegionSeed struct {
	Code, Name, Description string
	Apps                    []access.App
}

// DefaultRegions are set up where an operator names none.
var DefaultRegions = []RegionSeed{
	{Code: "eu-central", Name: "Europe Central", Description: "Frankfurt", Apps: access.Apps()},
	{Code: "us-east", Name: "US East", Description: "Virginia", Apps: access.Apps()},
	{Code: "ap-southeast", Name: "Asia Pacific Southeast", Description: "Singapore", Apps: access.Apps()},
}

// Founding is a first start: the regions, the root company, and its first admin.
type Founding struct {
	Regions   []RegionSeed
	Customer  string
	Email     string
	FirstName string
	LastName  string
	// Password, where it is set, is the admin's; without it the admin is invited by mail.
	Password string
}

// Founded is what a first start made. The secret is shown this once.
type Founded struct {
	Customer     *db.Customer
	Admin        *db.User
	ClientID     string
	ClientSecret string
	// SetupLink is where an admin without a password sets one.
	SetupLink string
}

// Found makes the applications, their system roles, the regions, and the root company with its
// first admin and one API key of hers. It is for the operator's shell, and runs once.
func (r *Resolver) Found(ctx context.Context, f Founding) (*Founded, error) {
	var v check
	v.name("company", f.Customer)
	v.email(f.Email)
	v.person("first name", &f.FirstName)
	v.person("last name", &f.LastName)
	if err := v.err(); err != nil {
		return nil, err
	}
	out := &Founded{}
	err := r.change(ctx, nil, func(tx *db.Store, ch *changes) error {
		regionID, err := r.foundPlatform(ctx, tx, f.Regions)
		if err != nil {
			return err
		}
		out.Customer, err = tx.InsertCustomer(ctx, db.Customer{Name: f.Customer, RegionID: regionID, CanAddCustomers: true, DescendantsCanAdd: true})
		if db.Violates(err, db.OneRoot) {
			return problem.Bad("there is a root company already: the platform has been bootstrapped")
		}
		if err != nil {
			return err
		}
		return r.foundAdmin(ctx, ch, f, out)
	})
	return out, err
}

func (r *Resolver) foundAdmin(ctx context.Context, ch *changes, f Founding, out *Founded) (err error) {
	if f.Password == "" {
		out.Admin, out.SetupLink, err = r.inviteFirst(ctx, ch, out.Customer, f)
	} else {
		out.Admin, err = r.enlist(ctx, ch.tx, out.Customer, f)
	}
	if err != nil {
		return err
	}
	available, err := ch.tx.InstancesIn(ctx, out.Customer.RegionID)
	if err != nil {
		return err
	}
	instances := slices.Collect(maps.Values(available))
	if err := ch.tx.OpenAccounts(ctx, out.Customer, instances, out.Admin.ID, OwnerRole, ch.actor()); err != nil {
		return err
	}
	key, plain, err := NewAPIKey(ctx, ch.tx, db.APIKey{CustomerID: out.Customer.ID, UserID: out.Admin.ID, Name: "bootstrap"}, 0)
	if err != nil {
		return err
	}
	out.ClientID, out.ClientSecret = key.ClientID, plain
	return ch.audit(out.Customer.ID, audit.CustomerCreated, out.Customer, audit.Created(out.Customer).With("admin", out.Admin.ID))
}

// inviteFirst makes the first admin without a password. The link goes by mail, and to the shell:
// there may be no mail server yet.
func (r *Resolver) inviteFirst(ctx context.Context, ch *changes, customer *db.Customer, f Founding) (*db.User, string, error) {
	user, err := admitFirst(ctx, ch.tx, customer, f)
	if err != nil {
		return nil, "", err
	}
	m := &db.Member{UserID: user.ID, CustomerID: customer.ID, CustomerName: customer.Name, Given: f.admin()}
	link, err := r.sendInvitation(ctx, ch, m)
	return user, link, err
}

// enlist makes the first admin with a password, uninvited: whoever chose the password has accepted the company.
func (r *Resolver) enlist(ctx context.Context, tx *db.Store, customer *db.Customer, f Founding) (*db.User, error) {
	if err := passwordFaults("password", f.Password); err != nil {
		return nil, err
	}
	if err := ownPassword("password", f.Password, f.Email, f.FirstName, f.LastName, f.Customer); err != nil {
		return nil, err
	}
	hash, err := secret.HashPassword(ctx, secret.Known(0), f.Password)
	if err != nil {
		return nil, err
	}
	user, err := admitFirst(ctx, tx, customer, f)
	if err != nil {
		return nil, err
	}
	if err := tx.Accept(ctx, customer.ID, user.ID); err != nil {
		return nil, err
	}
	return user, tx.SetPassword(ctx, user.ID, hash)
}

// admitFirst makes the first admin a member of the root company.
func admitFirst(ctx context.Context, tx *db.Store, customer *db.Customer, f Founding) (*db.User, error) {
	person, err := tx.EnsureUser(ctx, f.admin())
	if err != nil {
		return nil, err
	}
	if _, err := tx.AddMember(ctx, customer.ID, person.ID, f.admin(), 0); err != nil {
		return nil, err
	}
	return tx.User(ctx, customer.Lineage.Subtree(), person.ID)
}

func (f Founding) admin() db.Given {
	return db.Given{Email: f.Email, FirstName: f.FirstName, LastName: f.LastName}
}

var applications = []db.Application{
	{ID: 1, Code: "tenant", Name: "Tenant management", Description: "Companies, users, permissions and billing", AppType: 1},
	{ID: 2, Code: "assistant", Name: "Assistant", Description: "Contexts with documents and semantic search", AppType: 2},
	{ID: 3, Code: "builder", Name: "Agent builder", Description: "Agents, their runs and webhooks", AppType: 3},
}

var systemRoles = []db.Role{
	{Name: OwnerRole, Description: "Everything, owner roles included", IsOwner: true, Features: access.AllFeatures.Names()},
	{Name: AdminRole, Description: "Everything short of owner roles and other users' API keys", Features: access.AllFeatures.Names()},
	{Name: MemberRole, Description: "Reads, works on contexts and runs agents", Features: access.MemberFeatures.Names()},
	{Name: ViewerRole, Description: "Reads", Features: access.ViewerFeatures.Names()},
}

// foundPlatform makes applications, roles and regions, and gives the first region where every
// application runs.
func (r *Resolver) foundPlatform(ctx context.Context, tx *db.Store, regions []RegionSeed) (home int64, err error) {
	domain := r.Issuer()
	for _, a := range applications {
		a.AuthURL = domain
		if err := tx.PutApplication(ctx, a); err != nil {
			return 0, err
		}
		for _, role := range systemRoles {
			role.ApplicationID = a.ID
			if err := tx.PutSystemRole(ctx, role); err != nil {
				return 0, err
			}
		}
	}
	for _, seed := range regions {
		id, err := tx.PutRegion(ctx, db.Region{Code: seed.Code, Name: seed.Name, Description: seed.Description})
		if err != nil {
			return 0, err
		}
		for _, app := range seed.Apps {
			if err := tx.PutInstance(ctx, applications[app].ID, id, domain, true); err != nil {
				return 0, err
			}
		}
		if home == 0 && len(seed.Apps) == len(applications) {
			home = id
		}
	}
	if home == 0 {
		return 0, errors.New("no region runs every application")
	}
	return home, nil
}
