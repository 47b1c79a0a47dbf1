package db_test

import (
	"fmt"
	"testing"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/devstack/devtest"
	"canopy/internal/paging"
)

// tree makes a root company and one below it, each with an account that the user owns.
func tree(t *testing.T, s *db.Store) (root, child *db.Customer, user *db.User) {
	t.Helper()
	ctx := t.Context()
	region := devtest.Must[int64](t)(s.PutRegion(ctx, db.Region{Code: "eu", Name: "Europe"}))
	devtest.Check(t, s.PutApplication(ctx, db.Application{ID: 1, Code: access.Tenant.String(), Name: "Tenant"}))
	devtest.Check(t, s.PutInstance(ctx, 1, region, "https://tenant.example", true))
	devtest.Check(t, s.PutSystemRole(ctx, db.Role{ApplicationID: 1, Name: "Owner", IsOwner: true, Features: []string{}}))
	instances := devtest.Must[map[string]int64](t)(s.InstancesIn(ctx, region))
	ada := db.Given{Email: "ada@example.com", FirstName: "Ada", LastName: "Lovelace"}
	person := devtest.Must[*db.Person](t)(s.EnsureUser(ctx, ada))
	root = devtest.Must[*db.Customer](t)(s.InsertCustomer(ctx, db.Customer{Name: "Root", RegionID: region}))
	child = devtest.Must[*db.Customer](t)(s.InsertCustomer(ctx, db.Customer{ParentID: &root.ID, Name: "Child", RegionID: region}))
	for _, c := range []*db.Customer{root, child} {
		devtest.Must[bool](t)(s.AddMember(ctx, c.ID, person.ID, ada, 0))
		devtest.Check(t, s.OpenAccounts(ctx, c, []int64{instances[access.Tenant.String()]}, person.ID, "Owner", 0))
	}
	return root, child, devtest.Must[*db.User](t)(s.User(ctx, root.Lineage.Subtree(), person.ID))
}

// TestEdgesKeepScopesApart: what a row answered within one scope is not its answer within another.
func TestEdgesKeepScopesApart(t *testing.T) {
	s := openStore(t)
	root, child, user := tree(t, s)
	user = devtest.Must[*db.User](t)(s.User(t.Context(), root.Lineage.Subtree(), user.ID))
	all := db.NewAsk(db.Where{}, "", paging.NewPage(paging.MaxFirst, paging.Cursor{}))
	for _, c := range []struct {
		scope access.Scope
		want  int
	}{
		{root.Lineage.Subtree(), 2},
		{child.Lineage.Subtree(), 1},
		{access.Scope{}, 0},
	} {
		got := map[string]int{
			"permissions":          len(devtest.Must[[]*db.Permission](t)(user.Permissions(t.Context(), s, c.scope, all))),
			"count of permissions": devtest.Must[int](t)(user.PermissionCount(t.Context(), s, c.scope, all)),
			"companies":            len(devtest.Must[[]*db.Customer](t)(user.Customers(t.Context(), s, c.scope, all))),
			"count of companies":   devtest.Must[int](t)(user.CustomerCount(t.Context(), s, c.scope, all)),
		}
		for edge, n := range got {
			if n != c.want {
				t.Errorf("%d %s within %v, want %d", n, edge, c.scope.From(), c.want)
			}
		}
	}
}

// TestEdgesKeepPagesApart: a page is not the answer to another one.
func TestEdgesKeepPagesApart(t *testing.T) {
	s := openStore(t)
	root, child, _ := tree(t, s)
	root = devtest.Must[*db.Customer](t)(s.Customer(t.Context(), root.Lineage.Subtree(), root.ID))
	for _, c := range []struct {
		self bool
		page paging.Page
		want []int64
	}{
		{false, paging.NewPage(0, paging.Cursor{}), []int64{child.ID}},
		{true, paging.NewPage(0, paging.Cursor{}), []int64{root.ID}},
		{true, paging.NewPage(1, paging.Cursor{}), []int64{root.ID, child.ID}},
		{true, paging.NewPage(1, db.Customers.At("", []string{fmt.Sprintf("{%d}", root.ID)})), []int64{child.ID}},
		{true, paging.NewPage(1, db.Customers.At("", []string{fmt.Sprintf("{%d,%d}", root.ID, child.ID)})), nil},
	} {
		rows := devtest.Must[[]*db.Customer](t)(root.Descendants(t.Context(), s, c.self, db.NewAsk(db.Where{}, "", c.page)))
		var ids []int64
		for _, r := range rows {
			ids = append(ids, r.ID)
		}
		if len(ids) != len(c.want) || len(ids) > 0 && ids[0] != c.want[0] {
			t.Errorf("%+v with self %v: %v, want %v", c.page, c.self, ids, c.want)
		}
	}
}
