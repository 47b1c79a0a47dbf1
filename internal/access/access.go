// Package access tells who a caller is and how far its arm reaches: the principal of a request,
// the rights of its role, and the part of the company tree that it may touch.
package access

import (
	"context"
	"slices"
	"strconv"
	"time"
)

// App is an application of the platform: the audience of a token.
type App uint8

// The applications, in the order of their ids in a fresh database.
const (
	Tenant App = iota
	Assistant
	Builder
	appCount
)

var appCodes = [appCount]string{"tenant", "assistant", "builder"}

// Apps lists every application.
func Apps() []App { return []App{Tenant, Assistant, Builder} }

// String is the target_app value of the token endpoint, and the audience of a token.
func (a App) String() string { return appCodes[a] }

// ParseApp reads a target_app value.
func ParseApp(s string) (App, bool) {
	for i, c := range appCodes {
		if c == s {
			return App(i), true
		}
	}
	return 0, false
}

// Grant is what a principal may do in one application: the role that an enabled permission gives
// it on an account.
type Grant struct {
	PermissionID int64
	AccountID    int64
	RoleID       int64
	RoleName     string
	Owner        bool
	Features     Features
	// KeptBack are the rights of the role that the session's identity provider keeps back; Features has none of them.
	KeptBack Features
	// Stale: the permission's last use was written down over a minute ago.
	Stale bool
}

// Principal is the authenticated caller of a request, as the database has it at this moment.
type Principal struct {
	UserID int64
	Email  string
	// CustomerID is the company that the token acts for; Lineage its ids from the root down.
	CustomerID int64
	Lineage    Lineage
	// Moves is how often the company was moved until now, by itself or with one above it.
	Moves int
	// RegionID is the region of that company, where what it has lives.
	RegionID int64
	// KeyID and ClientID are those of the API key; 0 and "" for a login token.
	KeyID    int64
	ClientID string
	// DirectoryID is the SCIM token of a company's directory; 0 for all other callers.
	DirectoryID int64
	// SessionID is the session of the login; 0 for a login without one, and for an API key.
	SessionID int64
	// ProviderID is the identity provider that the session comes from; 0 for none.
	ProviderID int64
	// Withheld are the rights that no session from that provider has, whatever the roles of its user.
	Withheld Features
	// KeyStale: the key's last use was written down over a minute ago.
	KeyStale bool
	// Serves tells which applications the token was issued for.
	Serves [appCount]bool
	// Grants holds one grant for each application that the token serves, by App; nil elsewhere,
	// and where the permission or the account has been disabled since.
	Grants [appCount]*Grant
	// Expires is when the token does.
	Expires time.Time
	// Rates are the limits on what is done in a minute that the companies of Lineage have of their own.
	Rates []Rate
}

// Rate is a limit of a company on what is done in a minute.
type Rate struct {
	CustomerID int64
	Name       string
	Most       int64
}

// Rate gives the limit of that name that a company has of its own, if it has one.
func (p *Principal) Rate(customerID int64, name string) (most int64, limited bool) {
	for _, r := range p.Rates {
		if r.CustomerID == customerID && r.Name == name {
			return r.Most, true
		}
	}
	return 0, false
}

// IsRoot tells whether the caller acts for the root company.
func (p *Principal) IsRoot() bool { return len(p.Lineage) == 1 }

// Scope is the part of the tree that the caller reaches: its own company and all below.
func (p *Principal) Scope() Scope { return p.Lineage.Subtree() }

// Login tells a token of a person's login from one of an API key, or of a directory.
func (p *Principal) Login() bool { return p.KeyID == 0 && p.DirectoryID == 0 }

// Credential names what the caller has come with, for what is counted by it: a person's login, an API key, or the token of a directory.
func (p *Principal) Credential() string {
	if p.DirectoryID != 0 {
		return "scim:" + strconv.FormatInt(p.DirectoryID, 10)
	}
	if p.Login() {
		return "user:" + strconv.FormatInt(p.UserID, 10)
	}
	return "key:" + strconv.FormatInt(p.KeyID, 10)
}

// HasAccess tells whether there is an application left that the caller may use.
func (p *Principal) HasAccess() bool {
	return slices.ContainsFunc(p.Grants[:], func(g *Grant) bool { return g != nil })
}

type principalKey struct{}

// WithPrincipal puts the caller of a request into its context.
func WithPrincipal(ctx context.Context, p *Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// PrincipalOf gives the caller of a request, nil when there is none.
func PrincipalOf(ctx context.Context) *Principal {
	p, _ := ctx.Value(principalKey{}).(*Principal)
	return p
}

type branchKey struct{}

// WithBranch says for which branch something is done that no caller waits for, as a step of a run.
func WithBranch(ctx context.Context, branch int64) context.Context {
	return context.WithValue(ctx, branchKey{}, branch)
}

// BranchOf is the branch that the caller of a request belongs to, or that of WithBranch; 0 when there is neither.
func BranchOf(ctx context.Context) int64 {
	if p := PrincipalOf(ctx); p != nil {
		return p.Lineage.Branch()
	}
	branch, _ := ctx.Value(branchKey{}).(int64)
	return branch
}
