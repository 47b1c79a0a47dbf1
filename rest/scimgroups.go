package rest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"canopy/db"
	"canopy/internal/problem"
	"canopy/internal/scim"
	"canopy/resolvers"
)

// A group is a role on an account of the company: its members have the role there.

func groupID(account, role int64) string { return fmt.Sprintf("%d-%d", account, role) }

// groupName is the application and the role of a group, and where the company has several accounts for the application, the account, too.
func groupName(g *db.ScimGroup) string {
	if g.Several {
		return fmt.Sprintf("%s %d: %s", g.Application, g.AccountID, g.RoleName)
	}
	return g.Application + ": " + g.RoleName
}

func (r *scimRequest) group(g *db.ScimGroup) scim.Resource {
	id := groupID(g.AccountID, g.RoleID)
	return scim.Resource{
		"schemas": []any{schemaGroup}, "id": id, "displayName": groupName(g), "meta": scim.Resource{"resourceType": "Group", "location": r.at("Groups", id)},
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

// groupOf gives the group of the path.
func (r *scimRequest) groupOf() (*db.ScimGroup, error) {
	missing := problem.Missing("there is no group %s", clip(r.PathValue("id")))
	account, role, _ := strings.Cut(r.PathValue("id"), "-")
	accountID, bad := strconv.ParseInt(account, 10, 64)
	roleID, worse := strconv.ParseInt(role, 10, 64)
	if bad != nil || worse != nil || groupID(accountID, roleID) != r.PathValue("id") {
		return nil, missing
	}
	g, err := r.dir.Group(r.ctx, accountID, roleID)
	if errors.Is(err, db.ErrNoRows) {
		err = missing
	}
	return g, err
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
	shown := mapped(all, r.group)
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
	g, err := r.groupOf()
	if err != nil {
		return nil, err
	}
	return r.groupAnswer(g)
}

func (r *scimRequest) groupAnswer(g *db.ScimGroup) (*scimAnswer, error) {
	of := r.group(g)
	if err := r.withMembers([]scim.Resource{of}, []*db.ScimGroup{g}); err != nil {
		return nil, err
	}
	return &scimAnswer{status: http.StatusOK, body: r.shown(of)}, nil
}

func scimNoGroup(*scimRequest) (*scimAnswer, error) { //nolint:unparam // of one form with the other handlers
	return nil, problem.Denied("groups are the roles on the company's accounts: they are made and removed where roles are")
}

func scimReplaceGroup(r *scimRequest) (*scimAnswer, error) {
	g, err := r.groupOf()
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
	if err := r.regroup(g, in, scim.Members{Only: true, Add: ids}); err != nil {
		return nil, err
	}
	return r.groupAnswer(g)
}

// scimPatchGroup answers with nothing, as there may be many members that the patch does not name.
func scimPatchGroup(r *scimRequest) (*scimAnswer, error) {
	g, err := r.groupOf()
	if err != nil {
		return nil, err
	}
	patch, err := r.patch()
	if err != nil {
		return nil, err
	}
	of := r.group(g)
	members, err := scim.PatchGroup(of, patch)
	if err != nil {
		return nil, err
	}
	if err := r.regroup(g, of, members); err != nil {
		return nil, err
	}
	if r.URL.Query().Has("attributes") {
		return r.groupAnswer(g)
	}
	return &scimAnswer{status: http.StatusNoContent}, nil
}

// regroup gives the role to those who come, and takes it from those who leave.
func (r *scimRequest) regroup(g *db.ScimGroup, in scim.Resource, m scim.Members) error {
	if to := scimText(in, "displayName"); to != "" && to != groupName(g) {
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
