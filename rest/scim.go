package rest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"canopy/internal/access"
	"canopy/internal/problem"
	"canopy/internal/scim"
	"canopy/internal/web"
	"canopy/resolvers"
)

// The door of directories: SCIM 2.0 (RFC 7643, RFC 7644). Its form is the protocol's own, and so are its errors.

const (
	scimPath    = "/scim/v2"
	scimType    = "application/scim+json"
	maxScimBody = 1 << 20
	maxScimPage = 200
	// maxScimStart is the last place that a page of a list begins at.
	maxScimStart = 1 << 30

	schemaUser   = "urn:ietf:params:scim:schemas:core:2.0:User"
	schemaGroup  = "urn:ietf:params:scim:schemas:core:2.0:Group"
	schemaList   = "urn:ietf:params:scim:api:messages:2.0:ListResponse"
	schemaPatch  = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
	schemaError  = "urn:ietf:params:scim:api:messages:2.0:Error"
	schemaConfig = "urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"
	schemaType   = "urn:ietf:params:scim:schemas:core:2.0:ResourceType"
	schemaSchema = "urn:ietf:params:scim:schemas:core:2.0:Schema"
)

// scimRequest is a request of a directory.
type scimRequest struct {
	ctx context.Context
	*http.Request
	a   *api
	dir *resolvers.Directory
}

// scimAnswer is what it gets; a nil body is none.
type scimAnswer struct {
	status   int
	body     any
	location string
}

func (a *api) serveSCIM(mux *http.ServeMux) {
	for pattern, do := range map[string]func(*scimRequest) (*scimAnswer, error){
		"GET /ServiceProviderConfig": scimConfig,
		"GET /ResourceTypes":         scimTypes, "GET /ResourceTypes/{id}": scimOneType,
		"GET /Schemas": scimSchemas, "GET /Schemas/{id}": scimOneSchema,
		"GET /Users": scimListUsers, "POST /Users": scimCreateUser, "GET /Users/{id}": scimGetUser, "PUT /Users/{id}": scimReplaceUser,
		"PATCH /Users/{id}": scimPatchUser, "DELETE /Users/{id}": scimDeleteUser,
		"GET /Groups": scimListGroups, "POST /Groups": scimNoGroup, "GET /Groups/{id}": scimGetGroup, "PUT /Groups/{id}": scimReplaceGroup,
		"PATCH /Groups/{id}": scimPatchGroup, "DELETE /Groups/{id}": scimNoGroup,
	} {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" "+scimPath+path, func(w http.ResponseWriter, r *http.Request) {
			web.TellOperation(r.Context(), "scim "+pattern)
			a.answerSCIM(w, r, do)
		})
	}
	mux.HandleFunc(scimPath+"/", func(w http.ResponseWriter, _ *http.Request) {
		sendSCIM(w, &scimAnswer{status: http.StatusNotFound, body: scimFault(http.StatusNotFound, "", "there is nothing at this path, or it does not take the method")})
	})
}

func (a *api) answerSCIM(w http.ResponseWriter, r *http.Request, do func(*scimRequest) (*scimAnswer, error)) {
	r.Body = http.MaxBytesReader(w, r.Body, maxScimBody)
	ctx, dir, err := a.r.AdmitDirectory(r.Context(), r.Header.Get("Authorization"))
	var out *scimAnswer
	if err == nil {
		p := access.PrincipalOf(ctx)
		web.TellCaller(ctx, p.CustomerID, p.UserID, p.ClientID)
		out, err = do(&scimRequest{ctx: ctx, Request: r, a: a, dir: dir})
		dir.Used(ctx, err == nil && r.Method != http.MethodGet && r.Method != http.MethodHead)
	}
	if err != nil {
		out = a.scimRefusal(w, r, err)
	}
	sendSCIM(w, out)
}

func sendSCIM(w http.ResponseWriter, out *scimAnswer) {
	h := w.Header()
	if out.location != "" {
		h.Set("Location", out.location)
	}
	if out.body == nil {
		w.WriteHeader(out.status)
		return
	}
	raw, err := json.Marshal(out.body)
	if err != nil {
		panic(err)
	}
	h.Set("Content-Type", scimType)
	h.Set("Content-Length", strconv.Itoa(len(raw)))
	w.WriteHeader(out.status)
	_, _ = w.Write(raw)
}

// scimFault is the protocol's error (RFC 7644, section 3.12).
func scimFault(status int, kind, detail string) map[string]any {
	f := map[string]any{"schemas": []string{schemaError}, "status": strconv.Itoa(status), "detail": detail}
	if kind != "" {
		f["scimType"] = kind
	}
	return f
}

// scimKinds are the protocol's words for reasons of refusals.
var scimKinds = map[string]string{
	"user_exists": "uniqueness", "mutability": "mutability", "invalidValue": "invalidValue", "tooMany": "tooMany", "invalidSyntax": "invalidSyntax",
}

// scimRefusal is an error's face at this door.
func (a *api) scimRefusal(w http.ResponseWriter, r *http.Request, err error) *scimAnswer {
	for _, kind := range []error{scim.ErrFilter, scim.ErrPath, scim.ErrTarget, scim.ErrValue} {
		if errors.Is(err, kind) {
			return &scimAnswer{status: http.StatusBadRequest, body: scimFault(http.StatusBadRequest, kind.Error(), err.Error())}
		}
	}
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		err = problem.New(problem.PayloadTooLarge, "the body is larger than %d bytes", maxScimBody)
	}
	p := a.failure(r.Context(), err)
	for name, values := range p.headers {
		w.Header()[name] = values
	}
	status, kind := p.Status, scimKinds[p.Code]
	switch {
	case p.Code == "user_exists":
		status = http.StatusConflict
	case status == http.StatusBadRequest && kind == "":
		kind = "invalidValue"
	}
	return &scimAnswer{status: status, body: scimFault(status, kind, p.Detail)}
}

// read reads the body, of which the schemas tell what it is.
func (r *scimRequest) read(into any) error {
	if !isOfType(r.Header.Get("Content-Type"), scimType) && !isOfType(r.Header.Get("Content-Type"), jsonType) {
		return problem.Bad("the body must be %s", scimType)
	}
	d := json.NewDecoder(r.Body)
	err := d.Decode(into)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.Join(errors.New("there is more behind the body"), more)
		}
	}
	var large *http.MaxBytesError
	if err != nil && !errors.As(err, &large) {
		err = &problem.Error{Code: problem.BadRequest, Detail: "the body is no JSON of that kind", Reason: "invalidSyntax"}
	}
	return err
}

// asked reads which part of a list is asked for, and by which filter; nil for none.
func (r *scimRequest) asked() (skip, count int, f scim.Filter, err error) {
	if skip, count, err = r.page(); err == nil {
		f, err = r.filter()
	}
	return skip, count, f, err
}

// page gives the part of a list that is asked for: behind how many rows, and how many at most.
func (r *scimRequest) page() (skip, count int, err error) {
	number := func(name string, otherwise int) int {
		text := r.URL.Query().Get(name)
		if text == "" {
			return otherwise
		}
		n, bad := strconv.Atoi(text)
		if bad != nil {
			err = errors.Join(err, problem.Bad("%s must be a number", name))
		}
		return n
	}
	skip = min(max(number("startIndex", 1), 1), maxScimStart) - 1
	count = min(max(number("count", 100), 0), maxScimPage)
	return skip, count, err
}

func (r *scimRequest) filter() (scim.Filter, error) {
	text := r.URL.Query().Get("filter")
	if text == "" {
		return nil, nil
	}
	return scim.ParseFilter(text)
}

// wants tells whether an attribute is to be shown.
func (r *scimRequest) wants(name string) bool {
	has := func(list string) bool {
		for part := range strings.SplitSeq(list, ",") {
			part, _, _ = strings.Cut(part[strings.LastIndexByte(part, ':')+1:], ".")
			if strings.EqualFold(strings.TrimSpace(part), name) {
				return true
			}
		}
		return false
	}
	only := r.URL.Query().Get("attributes")
	return name == "id" || name == "schemas" || (only == "" || has(only)) && !has(r.URL.Query().Get("excludedAttributes"))
}

// shown leaves out of a resource what is not asked for.
func (r *scimRequest) shown(of scim.Resource) scim.Resource {
	maps.DeleteFunc(of, func(name string, _ any) bool { return !r.wants(name) })
	return of
}

func (r *scimRequest) list(resources []scim.Resource, skip, total int) *scimAnswer {
	if resources == nil {
		resources = []scim.Resource{}
	}
	for _, each := range resources {
		r.shown(each)
	}
	return &scimAnswer{status: http.StatusOK, body: map[string]any{
		"schemas": []string{schemaList}, "totalResults": total, "startIndex": skip + 1, "itemsPerPage": len(resources), "Resources": resources,
	}}
}

func (r *scimRequest) at(path ...string) string {
	return r.a.base + scimPath + "/" + strings.Join(path, "/")
}

func scimConfig(r *scimRequest) (*scimAnswer, error) { //nolint:unparam // of one form with the other handlers
	no := map[string]any{"supported": false}
	return &scimAnswer{status: http.StatusOK, body: map[string]any{
		"schemas": []string{schemaConfig}, "patch": map[string]any{"supported": true}, "bulk": map[string]any{"supported": false, "maxOperations": 0, "maxPayloadSize": 0},
		"filter": map[string]any{"supported": true, "maxResults": maxScimPage}, "changePassword": no, "sort": no, "etag": no,
		"authenticationSchemes": []any{map[string]any{"type": "oauthbearertoken", "name": "SCIM token", "description": "A token that the company has made", "primary": true}},
		"meta":                  map[string]any{"resourceType": "ServiceProviderConfig", "location": r.at("ServiceProviderConfig")},
	}}, nil
}
