package rest

import (
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"canopy/db"
	"canopy/resolvers"
)

// region is a region wherever its name is enough.
type region struct {
	ID          int64  `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

func regionOf(r *db.Region) region { return region{ID: r.ID, Name: r.Name, Description: r.Description} }

// accountRegion is a region in the listing of accounts.
type accountRegion struct {
	ID          int64     `json:"id"`
	Name        string    `json:"name"`
	Description string    `json:"description"`
	CreatedAt   time.Time `json:"createdAt"`
}

// application is one of the platform's products.
type application struct {
	ID          int64     `json:"id"`
	Name        string    `json:"name"`
	Description string    `json:"description"`
	AppType     int       `json:"appType"`
	AuthURL     string    `json:"authUrl" doc:"Where people log in to the application"`
	CreatedAt   time.Time `json:"createdAt"`
}

// role is a named set of rights in one application.
type role struct {
	ID            int64     `json:"id"`
	ApplicationID int64     `json:"applicationId"`
	CustomerID    *int64    `json:"customerId" doc:"The company that the role belongs to; null for a system-wide role"`
	Name          string    `json:"name"`
	Description   string    `json:"description"`
	IsOwner       bool      `json:"isOwner"`
	Features      string    `json:"features" example:"[\"company.read\",\"user.read\"]" doc:"The role's rights: a JSON array of strings, as a string"`
	CreatedAt     time.Time `json:"createdAt"`
}

func roleOf(r *db.Role) role {
	return role{
		ID:            r.ID,
		ApplicationID: r.ApplicationID,
		CustomerID:    r.CustomerID,
		Name:          r.Name,
		Description:   r.Description,
		IsOwner:       r.IsOwner,
		Features:      jsonStrings(r.Features),
		CreatedAt:     r.CreatedAt.UTC(),
	}
}

// jsonStrings is a JSON array of strings as a string.
func jsonStrings(list []string) string {
	b := []byte{'['}
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendQuoted(b, s)
	}
	return string(append(b, ']'))
}

// appendQuoted appends a JSON string.
func appendQuoted(b []byte, s string) []byte {
	// The only error is invalid UTF-8, which is replaced before.
	quoted, _ := jsontext.AppendQuote(b, strings.ToValidUTF8(s, "\uFFFD"))
	return quoted
}

// createdBy is the JSON object of who granted a permission, as a string. The platform itself has
// the id 0 and no address.
func createdBy(id int64, email string) string {
	b := strconv.AppendInt([]byte(`{"id":`), id, 10)
	b = appendQuoted(append(b, `,"email":`...), email)
	return string(append(b, '}'))
}

// utc is a moment that may be missing.
func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

// permissionAccount is the account of a permission in the listing of users.
type permissionAccount struct {
	ID         int64  `json:"id"`
	Name       string `json:"name"`
	CustomerID int64  `json:"customerId"`
	Disabled   bool   `json:"disabled"`
}

// userPermission is a permission in the listing of users.
type userPermission struct {
	ID             int64             `json:"id"`
	LastAccess     *time.Time        `json:"lastAccess" doc:"The last access to the account; null when there was none"`
	Disabled       bool              `json:"disabled" doc:"The permission is suspended"`
	CreatedAt      time.Time         `json:"createdAt"`
	CreatedBy      string            `json:"createdBy" example:"{\"id\":7,\"email\":\"ada@example.com\"}" doc:"Who granted it: a JSON object with id and email, as a string"`
	Role           role              `json:"role"`
	Account        permissionAccount `json:"account"`
	InstanceActive bool              `json:"instanceActive" doc:"The account's application instance is in service"`
	Application    application       `json:"application"`
	Region         region            `json:"region"`
}

func userPermissionOf(p *db.Permission, r *db.Role, a *db.Account, app application, reg *db.Region) userPermission {
	return userPermission{
		ID:             p.ID,
		LastAccess:     utc(p.LastAccess),
		Disabled:       p.Disabled,
		CreatedAt:      p.CreatedAt.UTC(),
		CreatedBy:      createdBy(p.CreatorID, p.CreatorEmail),
		Role:           roleOf(r),
		Account:        permissionAccount{ID: a.ID, Name: a.Name, CustomerID: a.CustomerID, Disabled: a.Disabled},
		InstanceActive: p.InstanceActive,
		Application:    app,
		Region:         regionOf(reg),
	}
}

// user is a person, with the permissions that the caller may see.
type user struct {
	ID          int64            `json:"id"`
	FirstName   string           `json:"firstName"`
	LastName    string           `json:"lastName"`
	Name        string           `json:"name" doc:"The full name"`
	Email       string           `json:"email"`
	CreatedAt   time.Time        `json:"createdAt"`
	HasPassword bool             `json:"hasPassword" doc:"The account setup is complete"`
	OTPMethod   string           `json:"otpMethod" enum:"none,totp,passkey" doc:"The two-factor method; passkey of who has passkeys and no authenticator of codes"`
	LastAccess  *time.Time       `json:"lastAccess" doc:"The most recent access; null when there was none"`
	Permissions []userPermission `json:"permissions"`
}

func userOf(u *db.User, lastAccess *time.Time, permissions []userPermission) user {
	return user{
		ID:          u.ID,
		FirstName:   u.FirstName,
		LastName:    u.LastName,
		Name:        u.Name(),
		Email:       u.Email,
		CreatedAt:   u.CreatedAt.UTC(),
		HasPassword: u.HasPassword,
		OTPMethod:   u.OTPMethod,
		LastAccess:  utc(lastAccess),
		Permissions: permissions,
	}
}

// userSummary is a user in the listing of accounts.
type userSummary struct {
	ID        int64     `json:"id"`
	FirstName string    `json:"firstName"`
	LastName  string    `json:"lastName"`
	Email     string    `json:"email"`
	CreatedAt time.Time `json:"createdAt"`
	Name      string    `json:"name" doc:"The full name"`
}

func userSummaryOf(u *db.User) userSummary {
	return userSummary{
		ID:        u.ID,
		FirstName: u.FirstName,
		LastName:  u.LastName,
		Email:     u.Email,
		CreatedAt: u.CreatedAt.UTC(),
		Name:      u.Name(),
	}
}

// latest is the latest of moments that may be missing.
func latest(lines []db.PermissionLine) *time.Time {
	var last *time.Time
	for i := range lines {
		if t := lines[i].LastAccess; t != nil && (last == nil || t.After(*last)) {
			last = t
		}
	}
	return last
}

// places are the platform's applications and regions, which every entry of a listing shows.
type places struct {
	applications map[int64]application
	regions      map[int64]*db.Region
}

func placesOf(known *resolvers.Places) places {
	p := places{make(map[int64]application, len(known.Applications)), known.Regions}
	for id, a := range known.Applications {
		p.applications[id] = applicationOf(a)
	}
	return p
}

func applicationOf(a *db.Application) application {
	return application{
		ID:          a.ID,
		Name:        a.Name,
		Description: a.Description,
		AppType:     a.AppType,
		AuthURL:     a.AuthURL,
		CreatedAt:   a.CreatedAt.UTC(),
	}
}

// region is the region of an id; one that was made a moment ago has only its id.
func (p places) region(id int64) *db.Region {
	if r := p.regions[id]; r != nil {
		return r
	}
	return &db.Region{ID: id}
}

// userLine shapes an entry of the listing of users.
func (p places) userLine(l *db.UserLine) user {
	permissions := make([]userPermission, len(l.Permissions))
	for i := range l.Permissions {
		x := &l.Permissions[i]
		permissions[i] = userPermissionOf(&x.Permission, &x.Role, &x.Account, p.applications[x.ApplicationID], p.region(x.RegionID))
	}
	return userOf(&l.User, latest(l.Permissions), permissions)
}
