package rest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"canopy/db"
	"canopy/internal/problem"
	"canopy/internal/scim"
)

// A group is a role on an account of the company: its members have the role there.

func groupID(g *db.ScimGroup) string { return fmt.Sprintf("%d-%d", g.AccountID, g.RoleID) }

// groupName is the application and the role; where the company has several accounts for the application, the account, too.
func groupName(g *db.ScimGroup, all []*db.ScimGroup) string {
	twin := slices.ContainsFunc(all, func(o *db.ScimGroup) bool { return o.Application == g.Application && o.AccountID != g.AccountID })
	if twin {
		return fmt.Sprintf("%s %d: %s", g.Application, g.AccountID, g.RoleName)
	}
	return g.Application + ": " + g.RoleName
}

// group shows a group, with its members where these are wanted.
func (r *scimRequest) group(g *db.ScimGroup, all []*db.ScimGroup, members []*db.ScimMember) scim.Resource {
	id := groupID(g)
	list := make([]any, len(members))
	for i, m := range members {
		user := strconv.FormatInt(m.UserID, 10)
		list[i] = scim.Resource{"value": user, "display": m.Email, "$ref": r.at("Users", user), "type": "User"}
	}
	return scim.Resource{
		"schemas": []any{schemaGroup}, "id": id, "displayName": groupName(g, all), "members": list,
		"meta": scim.Resource{"resourceType": "Group", "location": r.at("Groups", id)},
	}
}

func (r *scimRequest) groupOf() (*db.ScimGroup, []*db.ScimGroup, error) {
	all, err := r.dir.Groups(r.ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, g := range all {
		if groupID(g) == r.PathValue("id") {
			return g, all, nil
		}
	}
	return nil, nil, problem.Missing("there is no group %s", clip(r.PathValue("id")))
}

func scimListGroups(r *scimRequest) (*scimAnswer, error) {
	skip, count, err := r.page()
	if err != nil {
		return nil, err
	}
	f, err := r.filter()
	if err != nil {
		return nil, err
	}
	all, err := r.dir.Groups(r.ctx)
	if err != nil {
		return nil, err
	}
	var fit []scim.Resource
	for _, g := range all {
		of := r.group(g, all, nil)
		if f != nil {
			members, err := r.dir.Members(r.ctx, g)
			if err != nil {
				return nil, err
			}
			of = r.group(g, all, members)
		}
		if scim.Fits(f, of) {
			fit = append(fit, of)
		}
	}
	page := fit[min(skip, len(fit)):min(skip+count, len(fit))]
	if f == nil {
		for _, of := range page {
			delete(of, "members") // which a list does not show: a group by its id does
		}
	}
	return r.list(page, skip, len(fit)), nil
}

func scimGetGroup(r *scimRequest) (*scimAnswer, error) {
	g, all, err := r.groupOf()
	if err != nil {
		return nil, err
	}
	members, err := r.dir.Members(r.ctx, g)
	if err != nil {
		return nil, err
	}
	return &scimAnswer{status: http.StatusOK, body: r.shown(r.group(g, all, members))}, nil
}

func scimNoGroup(r *scimRequest) (*scimAnswer, error) {
	return nil, problem.Denied("groups are the roles on the company's accounts: they are made and removed where roles are")
}

func scimReplaceGroup(r *scimRequest) (*scimAnswer, error) {
	g, all, err := r.groupOf()
	if err != nil {
		return nil, err
	}
	var in scim.Resource
	if err := r.read(&in); err != nil {
		return nil, err
	}
	members, err := r.dir.Members(r.ctx, g)
	if err != nil {
		return nil, err
	}
	return r.regroup(g, all, members, in)
}

func scimPatchGroup(r *scimRequest) (*scimAnswer, error) {
	g, all, err := r.groupOf()
	if err != nil {
		return nil, err
	}
	patch, err := r.patch()
	if err != nil {
		return nil, err
	}
	members, err := r.dir.Members(r.ctx, g)
	if err != nil {
		return nil, err
	}
	of := r.group(g, all, members)
	if err := scim.Patch(of, patch); err != nil {
		return nil, err
	}
	return r.regroup(g, all, members, of)
}

// regroup gives the role to those who are members now, and takes it away from those who no longer are.
func (r *scimRequest) regroup(g *db.ScimGroup, all []*db.ScimGroup, before []*db.ScimMember, in scim.Resource) (*scimAnswer, error) {
	if name := scimText(in, "displayName"); name != "" && name != groupName(g, all) {
		return nil, problem.Bad("displayName: groups are named after roles").With("mutability")
	}
	now := map[int64]bool{}
	list, _ := scimValue(in, "members").([]any)
	for _, m := range list {
		member, _ := m.(scim.Resource)
		id, err := strconv.ParseInt(scimText(member, "value"), 10, 64)
		if err != nil {
			return nil, problem.Bad("members: value is the id of a user").With("invalidValue")
		}
		now[id] = true
	}
	for _, m := range before {
		if now[m.UserID] {
			delete(now, m.UserID)
			continue
		}
		if err := r.dir.Leave(r.ctx, m); err != nil {
			return nil, err
		}
	}
	for id := range now {
		if err := r.dir.Join(r.ctx, g, id); err != nil {
			return nil, err
		}
	}
	members, err := r.dir.Members(r.ctx, g)
	if err != nil {
		return nil, err
	}
	return &scimAnswer{status: http.StatusOK, body: r.shown(r.group(g, all, members))}, nil
}
