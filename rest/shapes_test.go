package rest

import (
	"testing"
	"time"

	"canopy/db"
	"canopy/resolvers"
)

func moment(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t
}

// The documented members, in the documented order.
func TestShapes(t *testing.T) {
	made := moment("2026-01-02T03:04:05+01:00")
	parent := int64(1)
	customer := &db.Customer{ID: 2, ParentID: &parent, Name: "Acme", RegionID: 3, CanAddCustomers: true, CreatedAt: made, Level: 1, Status: db.CustomerActive}
	role := db.Role{ID: 4, ApplicationID: 1, Name: "Viewer", Features: []string{"company.read", "user.read"}, CreatedAt: made}
	line := db.PermissionLine{
		Permission: db.Permission{ID: 5, CreatedAt: made, LastAccess: &made, CreatorID: 7, CreatorEmail: `a"b@x.test`, ApplicationID: 1, RegionID: 3, InstanceActive: true},
		Role:       role, Account: db.Account{ID: 6, Name: "Acme", CustomerID: 2}, User: db.User{ID: 8, FirstName: "Ada", Email: "ada@x.test", CreatedAt: made},
	}
	at := placesOf(&resolvers.Places{
		Applications: map[int64]*db.Application{1: {ID: 1, Name: "Tenant", AppType: 9, CreatedAt: made}},
		Regions:      map[int64]*db.Region{3: {ID: 3, Name: "EU", Description: "Europe", CreatedAt: made}},
	})
	const (
		utcTime = `"2026-01-02T02:04:05Z"`
		shown   = `"id":2,"parentId":1,"name":"Acme","regionId":3,"canAddCustomers":true,"descendantsCanAdd":false,"createdAt":` + utcTime
		app     = `{"id":1,"name":"Tenant","description":"","appType":9,"authUrl":"","createdAt":` + utcTime + `}`
		region  = `{"id":3,"name":"EU","description":"Europe"}`
		dated   = `{"id":3,"name":"EU","description":"Europe","createdAt":` + utcTime + `}`
		head    = `"id":5,"lastAccess":` + utcTime + `,"disabled":false,"createdAt":` + utcTime + `,"createdBy":"{\"id\":7,\"email\":\"a\\\"b@x.test\"}","role":` +
			`{"id":4,"applicationId":1,"customerId":null,"name":"Viewer","description":"","isOwner":false,"features":"[\"company.read\",\"user.read\"]","createdAt":` + utcTime + `}`
	)
	for name, c := range map[string]struct {
		value any
		want  string
	}{
		"a company in the list": {listedCustomer{customerOf(customer), "Root/Acme", 1}, `{` + shown + `,"path":"Root/Acme","level":1}`},
		"a company's details": {
			customerDetails{Customer: detailedCustomer{customerOf(customer), unlessActive(customer.Status), regionOf(at.region(3))}, Parent: &parentCustomer{1, "Root", 3}, Ancestors: []ancestorCustomer{{1, "Root", 3, 0}}},
			`{"customer":{` + shown + `,"region":` + region + `},"parent":{"id":1,"name":"Root","regionId":3},"ancestors":[{"id":1,"name":"Root","regionId":3,"level":0}]}`,
		},
		"a user": {
			at.userLine(&db.UserLine{User: db.User{ID: 8, FirstName: "Ada", LastName: "L", Email: "ada@x.test", CreatedAt: made, OTPMethod: "none"}, Permissions: []db.PermissionLine{line}}),
			`{"id":8,"firstName":"Ada","lastName":"L","name":"Ada L","email":"ada@x.test","createdAt":` + utcTime + `,"hasPassword":false,"otpMethod":"none","lastAccess":` + utcTime +
				`,"permissions":[{` + head + `,"account":{"id":6,"name":"Acme","customerId":2,"disabled":false},"instanceActive":true,"application":` + app + `,"region":` + region + `}]}`,
		},
		"a user without permissions": {
			at.userLine(&db.UserLine{User: db.User{ID: 8, CreatedAt: made, OTPMethod: "totp", HasPassword: true}}),
			`{"id":8,"firstName":"","lastName":"","name":"","email":"","createdAt":` + utcTime + `,"hasPassword":true,"otpMethod":"totp","lastAccess":null,"permissions":[]}`,
		},
		"an account": {
			at.accountLine(&db.AccountLine{Account: db.Account{ID: 6, Name: "Acme", CustomerID: 2, AppInstanceID: 10, InstanceAccountID: 11, CreatedAt: made, ApplicationID: 1, RegionID: 3, Domain: "https://x.test"}, Permissions: []db.PermissionLine{line}}),
			`{"id":6,"name":"Acme","customerId":2,"appInstanceId":10,"instanceAccountId":11,"disabled":false,"createdAt":` + utcTime + `,"application":` + app + `,"region":` + dated +
				`,"instanceActive":false,"domain":"https://x.test","permissions":[{` + head + `,"instanceActive":true,"application":` + app + `,"region":` + dated +
				`,"userIdentity":{"id":8,"firstName":"Ada","lastName":"","email":"ada@x.test","createdAt":` + utcTime + `,"name":"Ada"}}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := marshal(c.value)
			if err != nil || string(got) != c.want {
				t.Errorf("%v\ngot  %s\nwant %s", err, got, c.want)
			}
		})
	}
}
