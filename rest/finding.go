package rest

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"canopy/db"
	"canopy/internal/enum"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/rule"
	"canopy/resolvers"
)

// OrderQuery is the parameter with the order of a list.
type OrderQuery struct {
	OrderBy []string `query:"orderBy" doc:"The order: fields, separated by commas, at most 3; - before one is for the largest first"`
}

// order gives the order as the resolvers take it: createdAt is CREATED_AT there.
func (q *OrderQuery) order() []*resolvers.Order {
	by := make([]*resolvers.Order, len(q.OrderBy))
	for i, text := range q.OrderBy {
		field, down := strings.CutPrefix(text, "-")
		by[i] = &resolvers.Order{Field: enum.UpperCase(field)}
		if down {
			by[i].Direction = "DESC"
		}
	}
	return by
}

// offerOrders documents what orderBy takes, and has nothing else let through. An operation that takes an order and does not say of
// which list, or the other way round, is a fault of the program.
func (o operation) offerOrders(doc *huma.OpenAPI) {
	var fields *huma.Schema
	for _, op := range operationsAt(doc, o.path) {
		for _, p := range op.Parameters {
			if op.Method == o.method && p.Name == "orderBy" {
				fields = p.Schema.Items
			}
		}
	}
	if (fields != nil) != (o.orders != nil) {
		panic("rest: the operation " + o.id + " needs the list whose fields orderBy takes")
	}
	if fields == nil {
		return
	}
	for _, f := range o.orders.Fields() {
		fields.Enum = append(fields.Enum, enum.LowerCamel(f), "-"+enum.LowerCamel(f))
	}
	fields.PrecomputeMessages()
}

// tellEmpty documents which texts that bound a list must not be empty.
func (o operation) tellEmpty(doc *huma.OpenAPI) {
	for _, op := range operationsAt(doc, o.path) {
		for _, p := range op.Parameters {
			if s := p.Schema; op.Method == o.method && p.In == "query" && s.Type == huma.TypeString && s.Format == "" && len(s.Enum) == 0 && saysSomething(op, p) {
				one := 1
				s.MinLength = &one
				s.PrecomputeMessages()
			}
		}
	}
}

// listing is what is asked of a list of any length.
func (q *OrderQuery) listing(p *Pages) resolvers.Listing {
	l := resolvers.Listing{OrderBy: q.order(), Bound: p.After}
	size := p.Limit
	if p.Last > 0 {
		l.Backward, l.Bound, size = true, p.Before, p.Last
	}
	if size > 0 {
		l.Limit = size + 1
	}
	return l
}

// CustomerFilter are the parameters that bound a list of companies.
type CustomerFilter struct {
	IDs          []int64   `query:"ids" doc:"Only those of these ids, separated by commas"`
	Search       string    `query:"search" doc:"Only those whose names have all words of this text, the last one as a beginning; where none has, within one edit"`
	Status       string    `query:"status" enum:"active,suspended,deleted" doc:"Only those of this status, which is their own; deleted ones, with all below them, are listed only when this asks for them"`
	RegionID     int64     `query:"regionId" doc:"Only those whose data live in this region"`
	Level        int       `query:"level" doc:"Only those of this depth; 0 is the root"`
	ParentID     int64     `query:"parentId" doc:"Only those right below this company"`
	CreatedSince time.Time `query:"createdSince" doc:"Only those from this moment on"`
	CreatedUntil time.Time `query:"createdUntil" doc:"Only those before this moment"`
}

// UserFilter are the parameters that bound a list of users.
type UserFilter struct {
	IDs             []int64   `query:"ids" doc:"Only those of these ids, separated by commas"`
	Search          string    `query:"search" doc:"Only those whose names and addresses have all words of this text, the last one as a beginning; where none has, within one edit"`
	Email           string    `query:"email" doc:"Only the one of this address, without regard to case"`
	HasPassword     bool      `query:"hasPassword" doc:"Only those who have, or have not, completed the setup"`
	LastAccessSince time.Time `query:"lastAccessSince" doc:"Only those who have used a permission within reach from this moment on"`
	CustomerID      int64     `query:"customerId" minimum:"1" doc:"Only those who belong to this company itself; subtree is then true unless it says otherwise"`
	CreatedSince    time.Time `query:"createdSince" doc:"Only those from this moment on"`
	CreatedUntil    time.Time `query:"createdUntil" doc:"Only those before this moment"`
}

// PermissionFilter are the parameters that bound a list of permissions.
type PermissionFilter struct {
	IDs           []int64 `query:"ids" doc:"Only those of these ids, separated by commas"`
	UserID        int64   `query:"userId" doc:"Only those of this user"`
	AccountID     int64   `query:"accountId" doc:"Only those on this account"`
	RoleID        int64   `query:"roleId" doc:"Only those with this role"`
	ApplicationID int64   `query:"applicationId" doc:"Only those on accounts of this application"`
	Disabled      bool    `query:"disabled" doc:"Only those that are, or are not, suspended"`
}

// ContextFilter are the parameters that bound a list of contexts.
type ContextFilter struct {
	IDs        []int64 `query:"ids" doc:"Only those of these ids, separated by commas"`
	Search     string  `query:"search" doc:"Only those whose names have all words of this text, the last one as a beginning; where none has, within one edit"`
	AccountID  int64   `query:"accountId" doc:"Only those of this account"`
	ShareState int     `query:"shareState" doc:"Only private ones (0), or shared ones (1)"`
}

// DocumentFilter are the parameters that bound a list of documents.
type DocumentFilter struct {
	IDs          []int64   `query:"ids" doc:"Only those of these ids, separated by commas"`
	Search       string    `query:"search" doc:"Only those whose names have all words of this text, the last one as a beginning; where none has, within one edit"`
	Status       string    `query:"status" enum:"pending,processing,ready,failed" doc:"Only those in this state"`
	Format       string    `query:"format" enum:"pdf,docx,doc,txt,md,csv,html,pptx,xlsx,odt,epub" doc:"Only those of this format"`
	Attributes   jsonText  `query:"attributes" doc:"Only those whose attributes fit a filter, a JSON object" example:"{\"year\":{\"gte\":2024}}"`
	CreatedSince time.Time `query:"createdSince" doc:"Only those from this moment on"`
	CreatedUntil time.Time `query:"createdUntil" doc:"Only those before this moment"`
}

// RunFilter are the parameters that bound a list of runs.
type RunFilter struct {
	IDs          []int64   `query:"ids" doc:"Only those of these ids, separated by commas"`
	Status       string    `query:"status" enum:"running,finished,failed" doc:"Only those in this state"`
	CreatedSince time.Time `query:"createdSince" doc:"Only those from this moment on"`
	CreatedUntil time.Time `query:"createdUntil" doc:"Only those before this moment"`
}

// Part is the part of the tree that a list is about.
type Part struct {
	CustomerID int64 `query:"customerId" minimum:"1" doc:"The company; by default the caller's own"`
	Subtree    bool  `query:"subtree" default:"true" doc:"Whether with everything below it"`
}

func (p *Part) customer() *globalid.ID { return idOf(p.CustomerID) }

// filterGiven makes the filter F of the resolvers from parameters, a pointer to a struct: those that a request has, under
// the same names.
func filterGiven[F any](hc huma.Context, parameters any) *F {
	filter := new(F)
	to, from := reflect.ValueOf(filter).Elem(), reflect.ValueOf(parameters).Elem()
	for i := range from.NumField() {
		field := from.Type().Field(i)
		if hasParameter(hc, field) {
			to.FieldByName(field.Name).Set(reflect.ValueOf(memberOf(from.Field(i).Addr().Interface())))
		}
	}
	return filter
}

// memberOf is the value of a parameter as a filter has it: an integer is an id.
func memberOf(value any) any {
	switch v := value.(type) {
	case *int64:
		return &globalid.ID{Int: *v}
	case *[]int64:
		return mapped(*v, func(n int64) globalid.ID { return globalid.ID{Int: n} })
	case *jsonText:
		return json.RawMessage(*v)
	default:
		return value
	}
}

// jsonText is a parameter that holds JSON.
type jsonText string

// hasParameter tells whether a request has the parameter of a field. One without a value is a list of nothing; any other has been refused (saysSomething).
func hasParameter(hc huma.Context, field reflect.StructField) bool {
	name, _, _ := strings.Cut(field.Tag.Get("query"), ",")
	if field.Type.Kind() == reflect.Slice {
		u := hc.URL()
		return u.Query().Has(name)
	}
	return hc.Query(name) != ""
}

// anyGiven tells whether a request has one of some parameters.
func anyGiven(hc huma.Context, parameters ...any) bool {
	for _, p := range parameters {
		for field := range reflect.TypeOf(p).Elem().Fields() {
			if hasParameter(hc, field) {
				return true
			}
		}
	}
	return false
}

// PermissionsQuery are the parameters of the list of permissions.
type PermissionsQuery struct {
	Pages
	OrderQuery
	Part
	PermissionFilter

	filter *resolvers.PermissionFilter
}

// Resolve tells what was given from what was left out.
func (q *PermissionsQuery) Resolve(hc huma.Context) []error {
	q.filter = filterGiven[resolvers.PermissionFilter](hc, &q.PermissionFilter)
	return nil
}

// RunsQuery are the parameters of the list of runs.
type RunsQuery struct {
	Pages
	OrderQuery
	Part
	RunFilter
	AgentID int64 `query:"agentId" minimum:"1" doc:"Only those of this agent"`

	filter *resolvers.RunFilter
}

// Resolve tells what was given from what was left out.
func (q *RunsQuery) Resolve(hc huma.Context) []error {
	q.filter = filterGiven[resolvers.RunFilter](hc, &q.RunFilter)
	q.filter.AgentID = idOf(q.AgentID)
	return nil
}

// DocumentsQuery are the parameters of the list of all documents.
type DocumentsQuery struct {
	Pages
	OrderQuery
	Part
	DocumentFilter
	ContextID int64 `query:"contextId" minimum:"1" doc:"Only those of this context"`

	filter *resolvers.DocumentFilter
}

// Resolve tells what was given from what was left out.
func (q *DocumentsQuery) Resolve(hc huma.Context) []error {
	q.filter = filterGiven[resolvers.DocumentFilter](hc, &q.DocumentFilter)
	q.filter.ContextID = idOf(q.ContextID)
	return nil
}

// listedPermission is a permission in the list.
type listedPermission struct {
	ID             int64      `json:"id"`
	AppAccountID   int64      `json:"appAccountId"`
	UserIdentityID int64      `json:"userIdentityId"`
	AppRoleID      int64      `json:"appRoleId"`
	CustomerID     int64      `json:"customerId" doc:"The company whose account it is on"`
	ApplicationID  int64      `json:"applicationId"`
	LastAccess     *time.Time `json:"lastAccess" doc:"Null when it was never used"`
	Disabled       bool       `json:"disabled"`
	CreatedAt      time.Time  `json:"createdAt"`
}

func listedPermissionOf(p *db.Permission) listedPermission {
	return listedPermission{
		ID: p.ID, AppAccountID: p.AccountID, UserIdentityID: p.UserID, AppRoleID: p.RoleID, CustomerID: p.CustomerID, ApplicationID: p.ApplicationID,
		LastAccess: utc(p.LastAccess), Disabled: p.Disabled, CreatedAt: p.CreatedAt.UTC(),
	}
}

// registerFinding registers the lists over everything within reach.
func (a *api) registerFinding() {
	notFound := []int{http.StatusNotFound}
	addList(a, operation{
		id: "listPermissions", rule: rule.Permissions, orders: db.Permissions, path: "/v1/permissions", tag: tagPermissions, errors: notFound,
		summary: "List permissions", description: "The permissions on accounts within reach, by id unless asked for otherwise.",
	}, anyOrder, func(ctx context.Context, in *PermissionsQuery, _ query, each emit[listedPermission]) error {
		return a.queries().ListPermissions(ctx, in.customer(), in.Subtree, in.filter, in.listing(&in.Pages), func(p *db.Permission, at paging.Cursor) error {
			return each(listedPermissionOf(p), at)
		})
	})
	addList(a, operation{
		id: "listAllDocuments", rule: rule.Documents, orders: db.Documents, path: "/v1/documents", tag: tagContexts, errors: notFound,
		summary: "List the documents of all contexts", description: "The documents of all contexts of the token's account that the caller may see, by id unless asked for otherwise.",
	}, anyOrder, func(ctx context.Context, in *DocumentsQuery, _ query, each emit[trainingDocument]) error {
		return a.queries().ListAllDocuments(ctx, in.customer(), in.filter, in.listing(&in.Pages), func(d *db.Document, at paging.Cursor) error {
			return each(documentOf(d), at)
		})
	})
}
