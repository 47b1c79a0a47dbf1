package resolvers

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/extract"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/problem"
	"canopy/internal/rule"
)

// The lists over everything within reach: of the caller's company and all below it, of another company's subtree, or of
// one company alone.

// part gives the part of the tree that is asked for: a company within reach, the caller's own when it is left out, with
// everything below it or, by a term, alone.
func (r *Resolver) part(ctx context.Context, c *caller, customerID *globalid.ID, subtree bool, member string) (access.Scope, []db.Term, error) {
	return partBelow(ctx, c, customerID, subtree, member, r.customer)
}

// partHere is part for what companies have. Of a company alone it has to be here; of all below one the list tells what is here.
func (r *Resolver) partHere(ctx context.Context, c *caller, customerID *globalid.ID, subtree bool, member string) (access.Scope, []db.Term, error) {
	if subtree {
		return r.part(ctx, c, customerID, subtree, member)
	}
	return partBelow(ctx, c, customerID, subtree, member, r.holder)
}

func partBelow(ctx context.Context, c *caller, customerID *globalid.ID, subtree bool, member string, find func(context.Context, *caller, *globalid.ID, string) (*db.Customer, error)) (access.Scope, []db.Term, error) {
	if customerID == nil && subtree {
		return c.Scope(), nil, nil
	}
	top, err := find(ctx, c, customerID, "customerId")
	if err != nil {
		return access.Scope{}, nil, err
	}
	if subtree {
		return top.Lineage.Subtree(), nil, nil
	}
	return top.Lineage.Subtree(), []db.Term{idTerm(member, top.ID)}, nil
}

func idTerm(member string, id int64) db.Term {
	n := strconv.FormatInt(id, 10)
	if member == "ids" {
		n = "{" + n + "}"
	}
	return db.Term{Member: member, Value: n}
}

// CustomerFilter bounds a list of companies; nil leaves it open.
type CustomerFilter struct {
	IDs                        []globalid.ID `of:"Customer"`
	Search                     *string       `search:"words"`
	Status                     *string
	RegionID                   *globalid.ID `of:"Region"`
	Level                      *int         `most:"63"`
	ParentID                   *globalid.ID `of:"Customer"`
	CreatedSince, CreatedUntil *time.Time
	Or                         []*CustomerFilter
}

// UserFilter bounds a list of users; nil leaves it open.
type UserFilter struct {
	IDs                        []globalid.ID `of:"User"`
	Search                     *string       `search:"words"`
	Email                      *string
	HasPassword                *bool
	LastAccessSince            *time.Time
	CustomerID                 *globalid.ID `of:"Customer" reach:"company"`
	CreatedSince, CreatedUntil *time.Time
	Or                         []*UserFilter
}

// PermissionFilter bounds a list of permissions; nil leaves it open.
type PermissionFilter struct {
	IDs           []globalid.ID `of:"Permission"`
	UserID        *globalid.ID  `of:"User"`
	AccountID     *globalid.ID  `of:"Account"`
	RoleID        *globalid.ID  `of:"Role"`
	ApplicationID *globalid.ID  `of:"Application"`
	Disabled      *bool
	CustomerID    *globalid.ID `of:"Customer" reach:"company"`
	Or            []*PermissionFilter
}

// ContextFilter bounds a list of contexts; nil leaves it open.
type ContextFilter struct {
	IDs        []globalid.ID `of:"Context"`
	Search     *string       `search:"words"`
	AccountID  *globalid.ID  `of:"Account"`
	ShareState *int          `most:"1"`
	Or         []*ContextFilter
}

// DocumentFilter bounds a list of documents; nil leaves it open.
type DocumentFilter struct {
	IDs                        []globalid.ID `of:"Document"`
	Search                     *string       `search:"words"`
	ContextID                  *globalid.ID  `of:"Context"`
	Status, Format             *string
	Attributes                 json.RawMessage
	CreatedSince, CreatedUntil *time.Time
	Or                         []*DocumentFilter
}

// AgentFilter bounds a list of agents; nil leaves it open.
type AgentFilter struct {
	IDs               []globalid.ID `of:"Agent"`
	Search            *string       `search:"words"`
	AccountID         *globalid.ID  `of:"Account"`
	Enabled, Runnable *bool
	Or                []*AgentFilter
}

// RunFilter bounds a list of runs; nil leaves it open.
type RunFilter struct {
	IDs                        []globalid.ID `of:"Run"`
	AgentID                    *globalid.ID  `of:"Agent"`
	Status                     *string
	CreatedSince, CreatedUntil *time.Time
	CustomerID                 *globalid.ID `of:"Customer" reach:"company"`
	Or                         []*RunFilter
}

// AccountFilter bounds a list of accounts; nil leaves it open.
type AccountFilter struct {
	IDs           []globalid.ID `of:"Account"`
	Search        *string       `search:"words"`
	ApplicationID *globalid.ID  `of:"Application"`
	RegionID      *globalid.ID  `of:"Region"`
	Disabled      *bool
	Or            []*AccountFilter
}

// APIKeyFilter bounds a list of API keys; nil leaves it open.
type APIKeyFilter struct {
	IDs                                      []globalid.ID `of:"ApiKey"`
	Search                                   *string       `search:"words"`
	UserID                                   *globalid.ID  `of:"User"`
	Active                                   *bool
	ExpiresUntil, CreatedSince, CreatedUntil *time.Time
	Or                                       []*APIKeyFilter
}

// WebhookDestinationFilter bounds a list of destinations; nil leaves it open.
type WebhookDestinationFilter struct {
	IDs                        []globalid.ID `of:"WebhookDestination"`
	Search                     *string       `search:"words"`
	Enabled, Failing           *bool
	CreatedSince, CreatedUntil *time.Time
	Or                         []*WebhookDestinationFilter
}

// ChunkFilter bounds a list of chunks; nil leaves it open.
type ChunkFilter struct {
	IDs                               []globalid.ID `of:"Chunk"`
	Search                            *string       `search:"words"`
	Page, PositionFrom, PositionUntil *int          `most:"2147483647"`
	Or                                []*ChunkFilter
}

// AgentRevisionFilter bounds a list of revisions; nil leaves it open.
type AgentRevisionFilter struct {
	IDs                        []globalid.ID `of:"AgentRevision"`
	CreatedSince, CreatedUntil *time.Time
	Or                         []*AgentRevisionFilter
}

// The states that filters name.
var (
	runStates      = []string{db.RunRunning, db.RunFinished, db.RunFailed}
	documentStates = []string{"pending", "processing", "ready", "failed"}
)

// documentFormats are the formats that filters name.
func documentFormats() (names []string) {
	for _, f := range extract.Formats {
		names = append(names, string(f))
	}
	return names
}

func (f *UserFilter) complete(v *check, at string) {
	if f.Email != nil {
		v.address(at+"email", *f.Email)
	}
}

func (f *RunFilter) complete(v *check, at string) { v.oneOf(at+"status", f.Status, runStates) }

func (f *DocumentFilter) complete(v *check, at string) {
	f.Attributes = given(f.Attributes)
	v.oneOf(at+"status", f.Status, documentStates)
	v.oneOf(at+"format", f.Format, documentFormats())
}

// oneOf checks a word, if there is any.
func (v *check) oneOf(field string, word *string, words []string) {
	if word != nil && !slices.Contains(words, *word) {
		v.fault(field, "must be one of %s", strings.Join(words, ", "))
	}
}

// Customers is a page of the companies within reach, in preorder unless asked for otherwise.
func (q Query) Customers(ctx context.Context, customerID *globalid.ID, subtree *bool, filter *CustomerFilter, orderBy []*Order, first *int, after *string, last *int, before *string) (*CustomerConnection, error) {
	c, err := q.may(ctx, rule.Customers)
	if err != nil {
		return nil, err
	}
	scope, also, err := q.part(ctx, c, customerID, or(subtree, true), "ids")
	if err != nil {
		return nil, err
	}
	return connected(ctx, q.Resolver, c, asked{list: db.Customers, filter: filter, order: orderBy, args: page(first, after, last, before), also: also, top: access.Lineage(scope.From())},
		within(scope, q.Store.FindCustomers),
		within(scope, q.Store.CountCustomers))
}

// Users is a page of the users within reach, by id unless asked for otherwise.
func (q Query) Users(ctx context.Context, customerID *globalid.ID, subtree *bool, filter *UserFilter, orderBy []*Order, first *int, after *string, last *int, before *string) (*UserConnection, error) {
	c, err := q.may(ctx, rule.Users)
	if err != nil {
		return nil, err
	}
	scope, also, err := q.part(ctx, c, customerID, or(subtree, true), "customerId")
	if err != nil {
		return nil, err
	}
	return connected(ctx, q.Resolver, c, asked{list: db.Users, filter: filter, order: orderBy, args: page(first, after, last, before), also: also},
		within(scope, q.Store.FindUsers),
		within(scope, q.Store.CountUsers))
}

// Permissions is a page of the permissions within reach, by id unless asked for otherwise.
func (q Query) Permissions(ctx context.Context, customerID *globalid.ID, subtree *bool, filter *PermissionFilter, orderBy []*Order, first *int, after *string, last *int, before *string) (*PermissionConnection, error) {
	c, err := q.may(ctx, rule.Permissions)
	if err != nil {
		return nil, err
	}
	scope, also, err := q.part(ctx, c, customerID, or(subtree, true), "customerId")
	if err != nil {
		return nil, err
	}
	return connected(ctx, q.Resolver, c, asked{list: db.Permissions, filter: filter, order: orderBy, args: page(first, after, last, before), also: also},
		within(scope, q.Store.FindPermissions),
		within(scope, q.Store.CountPermissions))
}

// Runs is a page of the runs within reach, newest first unless asked for otherwise.
func (q Query) Runs(ctx context.Context, customerID *globalid.ID, subtree *bool, filter *RunFilter, orderBy []*Order, first *int, after *string, last *int, before *string) (*RunConnection, error) {
	c, err := q.may(ctx, rule.Runs)
	if err != nil {
		return nil, err
	}
	scope, also, err := q.part(ctx, c, customerID, or(subtree, true), "customerId")
	if err != nil {
		return nil, err
	}
	all := spreadRuns.in(q.Resolver, scope)
	return connected(ctx, q.Resolver, c, asked{list: db.Runs, filter: filter, order: orderBy, args: page(first, after, last, before), also: also}, all.rows, all.counted)
}

// Documents is a page of the documents of the token's contexts, by id unless asked for otherwise. A company that is named
// has to be the token's: of another's documents, a token for its account tells.
func (q Query) Documents(ctx context.Context, company *globalid.ID, _ *bool, filter *DocumentFilter, orderBy []*Order, first *int, after *string, last *int, before *string) (*DocumentConnection, error) {
	c, err := q.may(ctx, rule.Documents)
	if err != nil {
		return nil, err
	}
	if err := q.ownDocuments(ctx, c, company); err != nil {
		return nil, err
	}
	return connected(ctx, q.Resolver, c, asked{list: db.Documents, filter: filter, order: orderBy, args: page(first, after, last, before)},
		within(c.desk(), q.Store.FindDocuments),
		within(c.desk(), q.Store.CountDocuments))
}

// ListAllDocuments is Documents for lists of any length.
func (q Query) ListAllDocuments(ctx context.Context, company *globalid.ID, filter *DocumentFilter, l Listing, each func(*db.Document, paging.Cursor) error) error {
	c, err := q.may(ctx, rule.Documents)
	if err != nil {
		return err
	}
	if err := q.ownDocuments(ctx, c, company); err != nil {
		return err
	}
	read := within(c.desk(), q.Store.FindDocuments)
	if filter != nil && filter.ContextID != nil {
		if _, err := q.aContext(ctx, c, *filter.ContextID, "contextId"); err == nil { // of one that is not there, no document is
			read = q.documentsOf(c, *filter.ContextID)
		}
	}
	return listAll(ctx, q.Resolver, c, asked{list: db.Documents, filter: filter}, l, read, each)
}

// ownDocuments refuses another company than that of the token's account.
func (q Query) ownDocuments(ctx context.Context, c *caller, company *globalid.ID) error {
	of, err := q.customer(ctx, c, company, "customerId")
	if err != nil {
		return err
	}
	if of.ID != c.CustomerID {
		return problem.Denied("the token does not serve the documents of the company %d: a token for the company's assistant account does", of.ID)
	}
	return nil
}

// ListPermissions is Permissions for lists of any length.
func (q Query) ListPermissions(ctx context.Context, id *globalid.ID, subtree bool, filter *PermissionFilter, l Listing, each func(*db.Permission, paging.Cursor) error) error {
	c, err := q.may(ctx, rule.Permissions)
	if err != nil {
		return err
	}
	scope, also, err := q.part(ctx, c, id, subtree, "customerId")
	if err != nil {
		return err
	}
	return listAll(ctx, q.Resolver, c, asked{list: db.Permissions, filter: filter, also: also}, l,
		within(scope, q.Store.FindPermissions), each)
}

// ListRuns is Runs for lists of any length.
func (q Query) ListRuns(ctx context.Context, id *globalid.ID, subtree bool, filter *RunFilter, l Listing, each func(*db.Run, paging.Cursor) error) error {
	c, err := q.may(ctx, rule.Runs)
	if err != nil {
		return err
	}
	scope, also, err := q.part(ctx, c, id, subtree, "customerId")
	if err != nil {
		return err
	}
	return listAll(ctx, q.Resolver, c, asked{list: db.Runs, filter: filter, also: also}, l,
		spreadRuns.in(q.Resolver, scope).rows, each)
}
