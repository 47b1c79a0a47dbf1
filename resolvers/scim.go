package resolvers

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/globalid"
	"canopy/internal/problem"
	"canopy/internal/quota"
	"canopy/internal/secret"
)

// Directory is a company's directory at work: it does, by the rules of everybody, what the one may who has made its token.
type Directory struct {
	Mutation
	token *db.ScimToken
}

// AdmitDirectory puts the caller behind a SCIM token into the context. Errors are 401, 403 where nobody acts behind it any more, and 429.
func (r *Resolver) AdmitDirectory(ctx context.Context, authorization string) (context.Context, *Directory, error) {
	scheme, token, _ := strings.Cut(authorization, " ")
	unknown := problem.Unauthorized("a SCIM token that works is needed: Authorization: Bearer <token>")
	if !strings.EqualFold(scheme, "Bearer") || !secret.IsScimToken(token) {
		return ctx, nil, unknown
	}
	t, err := r.Store.ScimTokenByHash(ctx, secret.HashSecret(token))
	if errors.Is(err, db.ErrNoRows) {
		err = unknown
	}
	if err != nil {
		return ctx, nil, err
	}
	if t.Suspended {
		return ctx, nil, errSuspended
	}
	p, err := r.behind(ctx, t)
	if err != nil {
		return ctx, nil, err
	}
	ctx = r.Store.ForCompany(ctx, t.CustomerID)
	r.Store.KnowBranch(t.CustomerID, p.Lineage.Branch())
	if _, err := r.Rates.Spend(ctx, p, quota.RequestsPerMinute, 1, r.RequestsPerMinute); err != nil {
		return ctx, nil, err
	}
	return access.WithPrincipal(ctx, p), &Directory{Mutation{r}, &t.ScimToken}, nil
}

// behind gives the caller that a token stands for: who has made it, in the token's company alone, with the rights of then and of now.
func (r *Resolver) behind(ctx context.Context, t *db.ScimAtWork) (*access.Principal, error) {
	maker, err := r.Store.LoginCaller(ctx, db.LoginToken{UserID: t.CreatedBy, CustomerID: t.ActsIn, IssuedAt: time.Now()})
	if err != nil && !errors.Is(err, db.ErrNoRows) {
		return nil, err
	}
	if err != nil || maker.Grants[access.Tenant] == nil {
		return nil, problem.Denied("who has made the token has no access to tenant management any more")
	}
	grant := *maker.Grants[access.Tenant]
	grant.Features &= access.ParseFeatures(t.Features)
	grant.Owner = grant.Owner && t.Owner
	p := &access.Principal{
		UserID: maker.UserID, Email: maker.Email, CustomerID: t.CustomerID, Lineage: t.Lineage, Moves: t.Moves, Rates: t.Rates(),
		DirectoryID: t.ID, ClientID: "scim:" + strconv.FormatInt(t.ID, 10),
	}
	p.Grants[access.Tenant], p.Serves[access.Tenant] = &grant, true
	return p, nil
}

// Used writes down that the directory has asked for something, or changed it.
func (d *Directory) Used(ctx context.Context, changed bool) {
	if err := d.Store.UseScimToken(ctx, d.token.ID, changed); err != nil {
		d.Log.WarnContext(ctx, "the use of a SCIM token was not written down", "token", d.token.ID, "error", err)
	}
}

func (d *Directory) company() *globalid.ID { return &globalid.ID{Int: d.token.CustomerID} }
