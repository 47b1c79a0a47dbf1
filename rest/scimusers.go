package rest

import (
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"time"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/problem"
	"canopy/internal/scim"
	"canopy/internal/share"
	"canopy/resolvers"
)

const (
	// scimScan is how many users are looked through for a filter that no index serves, scimBatch how many at once.
	scimScan  = 20_000
	scimBatch = 500
)

func (r *scimRequest) user(u *db.ScimUser) scim.Resource {
	id := strconv.FormatInt(u.ID, 10)
	full := strings.TrimSpace(u.FirstName + " " + u.LastName)
	out := scim.Resource{
		"schemas": []any{schemaUser}, "id": id, "userName": u.Email, "active": u.Active, "displayName": full,
		"name":   scim.Resource{"givenName": u.FirstName, "familyName": u.LastName, "formatted": full},
		"emails": []any{scim.Resource{"value": u.Email, "type": "work", "primary": true}},
		"meta": scim.Resource{
			"resourceType": "User", "created": u.CreatedAt.UTC().Format(time.RFC3339), "lastModified": u.ChangedAt.UTC().Format(time.RFC3339), "location": r.at("Users", id),
		},
	}
	if u.ExternalID != nil {
		out["externalId"] = *u.ExternalID
	}
	return out
}

func (r *scimRequest) userAnswer(status int, u *db.ScimUser, err error) (*scimAnswer, error) {
	if err != nil {
		return nil, err
	}
	of := r.user(u)
	out := &scimAnswer{status: status, body: r.shown(of)}
	if status == http.StatusCreated {
		out.location = r.at("Users", strconv.FormatInt(u.ID, 10))
	}
	return out, nil
}

func (r *scimRequest) userID() (int64, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		err = problem.Missing("there is no user %s", clip(r.PathValue("id")))
	}
	return id, err
}

func scimGetUser(r *scimRequest) (*scimAnswer, error) {
	id, err := r.userID()
	if err != nil {
		return nil, err
	}
	u, err := r.dir.User(r.ctx, id)
	return r.userAnswer(http.StatusOK, u, err)
}

func scimListUsers(r *scimRequest) (*scimAnswer, error) {
	skip, count, f, err := r.asked()
	if err != nil {
		return nil, err
	}
	switch c, simple := f.(scim.Compare); {
	case f == nil:
		return r.allUsers(skip, count)
	case simple && c.Operator == "eq":
		text, _ := c.Value.(string)
		switch strings.ToLower(c.Attribute) {
		case "username", "emails.value", "emails":
			return r.found(f, skip, count, func() ([]*db.ScimUser, error) { return r.dir.Find(r.ctx, text, "") })
		case "externalid":
			return r.found(f, skip, count, func() ([]*db.ScimUser, error) { return r.dir.Find(r.ctx, "", text) })
		}
	}
	return r.scanned(f, skip, count)
}

// found gives those of a few users that fit.
func (r *scimRequest) found(f scim.Filter, skip, count int, find func() ([]*db.ScimUser, error)) (*scimAnswer, error) {
	rows, err := find()
	if err != nil {
		return nil, err
	}
	var fit []scim.Resource
	for _, u := range rows {
		if of := r.user(u); scim.Fits(f, of) {
			fit = append(fit, of)
		}
	}
	return r.list(fit[min(skip, len(fit)):min(skip+count, len(fit))], skip, len(fit)), nil
}

func (r *scimRequest) allUsers(skip, count int) (*scimAnswer, error) {
	n, err := r.dir.UserCount(r.ctx)
	if err != nil || count == 0 || skip >= n {
		return r.list(nil, skip, n), err
	}
	rows, err := r.dir.Users(r.ctx, 0, skip, count)
	return r.list(mapped(rows, r.user), skip, n), err
}

// scans are the places in which users are looked through for filters, by turns of branches: each keeps a processor busy for as long as it takes.
var scans = share.NewGate[int64](max(2, runtime.GOMAXPROCS(0)))

// scanned looks through the company's users, of which there may be so many.
func (r *scimRequest) scanned(f scim.Filter, skip, count int) (*scimAnswer, error) {
	n, err := r.dir.UserCount(r.ctx)
	if err == nil && n > scimScan {
		err = problem.Bad("the company has more than %d users: filter by userName eq or externalId eq", scimScan).With("tooMany")
	}
	if err != nil {
		return nil, err
	}
	branch := access.BranchOf(r.ctx)
	if err := scans.Enter(r.ctx, branch); err != nil {
		return nil, err
	}
	defer scans.Leave(branch)
	var fit []scim.Resource
	total, after := 0, int64(0)
	for {
		rows, err := r.dir.Users(r.ctx, after, 0, scimBatch)
		if err != nil {
			return nil, err
		}
		for _, u := range rows {
			after = u.ID
			of := r.user(u)
			if !scim.Fits(f, of) {
				continue
			}
			if total++; total > skip && len(fit) < count {
				fit = append(fit, of)
			}
		}
		if len(rows) < scimBatch {
			return r.list(fit, skip, total), nil
		}
	}
}

func scimCreateUser(r *scimRequest) (*scimAnswer, error) {
	var in scim.Resource
	if err := r.read(&in); err != nil {
		return nil, err
	}
	as, err := directoryUser(in, &db.ScimUser{})
	if err != nil {
		return nil, err
	}
	u, err := r.dir.CreateUser(r.ctx, as)
	return r.userAnswer(http.StatusCreated, u, err)
}

func scimReplaceUser(r *scimRequest) (*scimAnswer, error) {
	id, err := r.userID()
	if err != nil {
		return nil, err
	}
	var in scim.Resource
	if err := r.read(&in); err != nil {
		return nil, err
	}
	u, err := r.dir.EditUser(r.ctx, id, func(now *db.ScimUser) (resolvers.DirectoryUser, error) {
		return directoryUser(in, now)
	})
	return r.userAnswer(http.StatusOK, u, err)
}

func scimPatchUser(r *scimRequest) (*scimAnswer, error) {
	id, err := r.userID()
	if err != nil {
		return nil, err
	}
	patch, err := r.patch()
	if err != nil {
		return nil, err
	}
	u, err := r.dir.EditUser(r.ctx, id, func(now *db.ScimUser) (resolvers.DirectoryUser, error) {
		of := r.user(now)
		delete(of, "active") // what the patch does not say stays as it is
		if err := scim.Patch(of, patch); err != nil {
			return resolvers.DirectoryUser{}, err
		}
		return directoryUser(of, now)
	})
	return r.userAnswer(http.StatusOK, u, err)
}

// patch reads the operations of a patch.
func (r *scimRequest) patch() ([]scim.Operation, error) {
	var in struct {
		Schemas    []string
		Operations []scim.Operation
	}
	if err := r.read(&in); err != nil {
		return nil, err
	}
	if len(in.Schemas) != 1 || in.Schemas[0] != schemaPatch || len(in.Operations) == 0 || len(in.Operations) > maxScimPage {
		return nil, problem.Bad("a patch has the schema %s and 1 to %d operations", schemaPatch, maxScimPage).With("invalidSyntax")
	}
	return in.Operations, nil
}

func scimDeleteUser(r *scimRequest) (*scimAnswer, error) {
	id, err := r.userID()
	if err != nil {
		return nil, err
	}
	return &scimAnswer{status: http.StatusNoContent}, r.dir.DeleteUser(r.ctx, id)
}

// directoryUser reads what a directory says of a person. Names and active stay as they are now where they are left out.
func directoryUser(in scim.Resource, now *db.ScimUser) (resolvers.DirectoryUser, error) {
	as := resolvers.DirectoryUser{Email: scimText(in, "userName")}
	if name := scimValue(in, "name"); name != nil {
		if _, ok := name.(scim.Resource); !ok {
			return as, problem.Bad("name must have givenName and familyName").With("invalidValue")
		}
	}
	as.FirstName, as.LastName = scimNames(in, now)
	switch id := scimValue(in, "externalId").(type) {
	case nil:
	case string:
		if id != "" {
			as.ExternalID = &id
		}
	default:
		return as, problem.Bad("externalId must be a text").With("invalidValue")
	}
	switch active := scimValue(in, "active").(type) {
	case nil:
	case bool:
		as.Active = &active
	case string: // as some directories write it
		on := strings.EqualFold(active, "true")
		if as.Active = &on; !on && !strings.EqualFold(active, "false") {
			return as, errActive
		}
	default:
		return as, errActive
	}
	if as.Email == "" {
		return as, problem.Bad("userName is required: the e-mail address").With("invalidValue")
	}
	return as, nil
}

var errActive = problem.Bad("active must be true or false").With("invalidValue")

// scimNames are the names of a person, or what can be made of a full name, or those of now.
func scimNames(in scim.Resource, now *db.ScimUser) (first, last string) {
	name, _ := scimValue(in, "name").(scim.Resource)
	first, last = scimText(name, "givenName"), scimText(name, "familyName")
	if first != "" || last != "" {
		return first, last
	}
	full := scimText(name, "formatted")
	if full == "" {
		full = scimText(in, "displayName")
	}
	if full == "" {
		return now.FirstName, now.LastName
	}
	first, last, _ = strings.Cut(strings.TrimSpace(full), " ")
	return first, last
}

// scimValue is an attribute's value by its name in any case.
func scimValue(in scim.Resource, name string) any {
	for key, value := range in {
		if strings.EqualFold(key, name) {
			return value
		}
	}
	return nil
}

func scimText(in scim.Resource, name string) string {
	text, _ := scimValue(in, name).(string)
	return text
}
