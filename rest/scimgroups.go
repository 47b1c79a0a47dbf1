package rest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"canopy/db"
	"canopy/internal/problem"
	"canopy/internal/scim"
	"canopy/resolvers"
)

// A group is a role on an account of the company: its members have the role there.

func groupID(account, role int64) string { return fmt.Sprintf("%d-%d", account, role) }

// groupNames are the names of groups by their id: the application and the role, and where the company has several accounts for the
// application, the account, too.
func groupNames(all []*db.ScimGroup) map[string]string {
	accounts := map[string]map[int64]bool{}
	for _, g := range all {
		if accounts[g.Application] == nil {
			accounts[g.Application] = map[int64]bool{}
		}
		accounts[g.Application][g.AccountID] = true
	}
	names := make(map[string]string, len(all))
	for _, g := range all {
		name := g.Application + ": " + g.RoleName
		if len(accounts[g.Application]) > 1 {
			name = fmt.Sprintf("%s %d: %s", g.Application, g.AccountID, g.RoleName)
		}
		names[groupID(g.AccountID, g.RoleID)] = name
	}
	return names
}

func (r *scimRequest) group(id, name string) scim.Resource {
	return scim.Resource{
		"schemas": []any{schemaGroup}, "id": id, "displayName": name, "meta": scim.Resource{"resourceType": "Group", "location": r.at("Groups", id)},
	}
}

// withMembers shows the members of groups, where they are wanted.
func (r *scimRequest) withMembers(shown []scim.Resource, groups []*db.ScimGroup) error {
	if !r.wants("members") || len(groups) == 0 {
		return nil
	}
	rows, err := r.dir.Members(r.ctx, groups...)
	if err != nil {
		return err
	}
	r.enter(shown, rows)
	return nil
}

// enter gives groups their members.
func (r *scimRequest) enter(groups []scim.Resource, rows []*db.ScimMember) {
	of := map[string][]any{}
	for _, m := range rows {
		group, user := groupID(m.AccountID, m.RoleID), strconv.FormatInt(m.UserID, 10)
		of[group] = append(of[group], scim.Resource{"value": user, "$ref": r.at("Users", user), "type": "User"})
	}
	for _, g := range groups {
		members := of[g["id"].(string)]
		if members == nil {
			members = []any{}
		}
		g["members"] = members
	}
}

// groupOf gives the group of the path, and its name.
func (r *scimRequest) groupOf() (*db.ScimGroup, string, error) {
	all, err := r.dir.Groups(r.ctx)
	if err != nil {
		return nil, "", err
	}
	for _, g := range all {
		if id := groupID(g.AccountID, g.RoleID); id == r.PathValue("id") {
			return g, groupNames(all)[id], nil
		}
	}
	return nil, "", problem.Missing("there is no group %s", clip(r.PathValue("id")))
}

func scimListGroups(r *scimRequest) (*scimAnswer, error) {
	skip, count, f, err := r.asked()
	if err != nil {
		return nil, err
	}
	all, err := r.dir.Groups(r.ctx)
	if err != nil {
		return nil, err
	}
	names := groupNames(all)
	shown := mapped(all, func(g *db.ScimGroup) scim.Resource {
		id := groupID(g.AccountID, g.RoleID)
		return r.group(id, names[id])
	})
	if err := r.markAsked(f, shown); err != nil {
		return nil, err
	}
	var fit []scim.Resource
	var groups []*db.ScimGroup
	for i, of := range shown {
		if scim.Fits(f, of) {
			fit, groups = append(fit, of), append(groups, all[i])
		}
	}
	from, to := min(skip, len(fit)), min(skip+count, len(fit))
	if err := r.withMembers(fit[from:to], groups[from:to]); err != nil {
		return nil, err
	}
	return r.list(fit[from:to], skip, len(fit)), nil
}

// markAsked gives groups the members that a filter asks for, and no others.
func (r *scimRequest) markAsked(f scim.Filter, groups []scim.Resource) error {
	names, err := scim.MembersIn(f)
	if err != nil || len(names) == 0 {
		return err
	}
	var ids []int64
	for _, name := range names {
		if id, err := strconv.ParseInt(name, 10, 64); err == nil {
			ids = append(ids, id)
		}
	}
	rows, err := r.dir.Memberships(r.ctx, ids)
	if err == nil {
		r.enter(groups, rows)
	}
	return err
}

func scimGetGroup(r *scimRequest) (*scimAnswer, error) {
	g, name, err := r.groupOf()
	if err != nil {
		return nil, err
	}
	return r.groupAnswer(g, name)
}

func (r *scimRequest) groupAnswer(g *db.ScimGroup, name string) (*scimAnswer, error) {
	of := r.group(groupID(g.AccountID, g.RoleID), name)
	if err := r.withMembers([]scim.Resource{of}, []*db.ScimGroup{g}); err != nil {
		return nil, err
	}
	return &scimAnswer{status: http.StatusOK, body: r.shown(of)}, nil
}

func scimNoGroup(*scimRequest) (*scimAnswer, error) { //nolint:unparam // of one form with the other handlers
	return nil, problem.Denied("groups are the roles on the company's accounts: they are made and removed where roles are")
}

func scimReplaceGroup(r *scimRequest) (*scimAnswer, error) {
	g, name, err := r.groupOf()
	if err != nil {
		return nil, err
	}
	var in scim.Resource
	if err := r.read(&in); err != nil {
		return nil, err
	}
	list, ok := scimValue(in, "members").([]any)
	if !ok && scimValue(in, "members") != nil {
		return nil, problem.Bad("members must be a list").With("invalidValue")
	}
	ids, err := scim.MemberIDs(list)
	if err != nil {
		return nil, err
	}
	if err := r.regroup(g, name, in, scim.Members{Only: true, Add: ids}); err != nil {
		return nil, err
	}
	return r.groupAnswer(g, name)
}

// scimPatchGroup answers with nothing, as there may be many members that the patch does not name.
func scimPatchGroup(r *scimRequest) (*scimAnswer, error) {
	g, name, err := r.groupOf()
	if err != nil {
		return nil, err
	}
	patch, err := r.patch()
	if err != nil {
		return nil, err
	}
	of := r.group(groupID(g.AccountID, g.RoleID), name)
	members, err := scim.PatchGroup(of, patch)
	if err != nil {
		return nil, err
	}
	if err := r.regroup(g, name, of, members); err != nil {
		return nil, err
	}
	if r.URL.Query().Has("attributes") {
		return r.groupAnswer(g, name)
	}
	return &scimAnswer{status: http.StatusNoContent}, nil
}

// regroup gives the role to those who come, and takes it from those who leave.
func (r *scimRequest) regroup(g *db.ScimGroup, name string, in scim.Resource, m scim.Members) error {
	if to := scimText(in, "displayName"); to != "" && to != name {
		return problem.Bad("displayName: groups are named after roles").With("mutability")
	}
	to := resolvers.GroupChange{Only: m.Only}
	for _, id := range m.Add {
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			return problem.Bad("members: there is no user %s in the company", clip(id)).With("invalidValue")
		}
		to.Add = append(to.Add, n)
	}
	for _, id := range m.Drop { // nobody else is a member
		if n, err := strconv.ParseInt(id, 10, 64); err == nil {
			to.Drop = append(to.Drop, n)
		}
	}
	slices.Sort(to.Drop)
	to.Drop = slices.Compact(to.Drop)
	return r.dir.ChangeGroup(r.ctx, g, to)
}
