package rest

import (
	"context"
	"net/http"
	"time"

	"canopy/db"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/rule"
	"canopy/resolvers"
)

// UserIdentity is who a user is at an identity provider.
type UserIdentity struct {
	ID         int64     `json:"id"`
	UserID     int64     `json:"userId"`
	ProviderID int64     `json:"providerId" doc:"The identity provider"`
	Subject    string    `json:"subject" doc:"The provider's name of the person (sub)"`
	Email      string    `json:"email" doc:"The address by which the user was found"`
	CreatedAt  time.Time `json:"createdAt" doc:"When that was"`
	LastUsedAt time.Time `json:"lastUsedAt" doc:"When the person last signed in there"`
}

func identityOf(i *db.UserIdentity) UserIdentity {
	return UserIdentity{
		ID: i.ID, UserID: i.UserID, ProviderID: i.ProviderID, Subject: i.Subject, Email: i.Email, CreatedAt: i.CreatedAt.UTC(), LastUsedAt: i.LastUsedAt.UTC(),
	}
}

// IdentityPath names an identity in the path.
type IdentityPath struct {
	ID int64 `path:"id" doc:"The identity's id"`
}

type listIdentitiesInput struct {
	Paging
	UserID int64 `query:"userId" minimum:"1" doc:"The user identity id; by default the caller's own"`
}

func (a *api) registerIdentities() {
	const path = "/v1/identities"
	notFound := []int{http.StatusNotFound}
	addList(a, operation{
		id: "listUserIdentities", rule: rule.UserIdentities, path: path, tag: tagIdentity, errors: notFound,
		summary: "List who a user is at identity providers", description: "Those of companies within reach, by id.",
	}, 1, func(ctx context.Context, in *listIdentitiesInput, q query, each emit[UserIdentity]) error {
		return a.queries().ListUserIdentities(ctx, idOf(in.UserID), q.after, q.limit, func(i *db.UserIdentity) error {
			return each(identityOf(i), paging.IDs(i.ID))
		})
	})
	add(a, operation{
		id: "getUserIdentity", rule: rule.UserIdentities, method: http.MethodGet, path: path + "/{id}", tag: tagIdentity, errors: notFound,
		summary: "Get an identity", description: "Who a user is at an identity provider of a company within reach.",
	}, func(ctx context.Context, in *IdentityPath) (*one[UserIdentity], error) {
		i, err := a.queries().GetUserIdentity(ctx, globalid.ID{Int: in.ID})
		if err != nil {
			return nil, err
		}
		return &one[UserIdentity]{identityOf(i)}, nil
	})
	add(a, operation{
		id: "unlinkIdentity", rule: rule.UnlinkIdentity, method: http.MethodDelete, path: path + "/{id}", tag: tagIdentity, errors: notFound,
		summary: "Forget an identity", description: "Forgets who a user is at an identity provider, for an owner, and ends the sessions that come from there. The next sign-in there is a first one.",
	}, func(ctx context.Context, in *IdentityPath) (*struct{}, error) {
		_, err := a.mutations().UnlinkIdentity(ctx, resolvers.UnlinkIdentityInput{ID: globalid.ID{Int: in.ID}})
		return nil, err
	})
}
