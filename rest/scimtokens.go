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

// ScimToken lets a company's directory provision its people.
type ScimToken struct {
	ID            int64      `json:"id"`
	CustomerID    int64      `json:"customerId" doc:"Whose people it provisions"`
	Name          string     `json:"name"`
	Features      []string   `json:"features" doc:"The most that it may; what who has made it may no longer, it may no longer either"`
	CreatedByID   *int64     `json:"createdById,omitempty" doc:"Who has made it, and as whom it acts, for who reaches that user"`
	ExpiresAt     *time.Time `json:"expiresAt,omitempty"`
	CreatedAt     time.Time  `json:"createdAt"`
	LastUsedAt    *time.Time `json:"lastUsedAt,omitempty"`
	LastChangedAt *time.Time `json:"lastChangedAt,omitempty" doc:"When something was last changed by it"`
}

// MadeScimToken is a token with what its directory sends.
type MadeScimToken struct {
	ScimToken
	Token string `json:"token" doc:"What the directory sends as Authorization: Bearer, shown this once"`
}

// ScimTokenPath names a token in the path.
type ScimTokenPath struct {
	ID int64 `path:"id" doc:"The SCIM token's id"`
}

type createScimTokenInput struct {
	Body struct {
		CustomerID *int64     `json:"customerId,omitempty" doc:"The company; by default the caller's own"`
		Name       *string    `json:"name,omitempty" doc:"By default SCIM"`
		ExpiresAt  *time.Time `json:"expiresAt,omitempty" doc:"By default never"`
	} `nameHint:"CreateScimTokenRequest"`
}

func (a *api) registerScimTokens() {
	const path = "/v1/scim-tokens"
	notFound := []int{http.StatusNotFound}
	addList(a, operation{
		id: "listScimTokens", rule: rule.CustomerScimTokens, path: path, tag: tagIdentity, errors: notFound,
		summary: "List the SCIM tokens of a company", description: "By id, with their last use.",
	}, 1, func(ctx context.Context, in *CustomerList, q query, each emit[ScimToken]) error {
		return a.queries().ListScimTokens(ctx, in.customer(), q.after, q.limit, func(t *db.ScimToken) error {
			shape, err := a.scimToken(ctx, t)
			if err != nil {
				return err
			}
			return each(shape, paging.IDs(t.ID))
		})
	})
	add(a, operation{
		id: "createScimToken", rule: rule.CreateScimToken, method: http.MethodPost, path: path, tag: tagIdentity, status: http.StatusCreated, errors: notFound,
		summary: "Make a SCIM token", description: "Lets a company's directory provision its people at /scim/v2, as the caller may.",
	}, func(ctx context.Context, in *createScimTokenInput) (*one[MadeScimToken], error) {
		out, err := a.mutations().CreateScimToken(ctx, resolvers.CreateScimTokenInput{CustomerID: optionalID(in.Body.CustomerID), Name: in.Body.Name, ExpiresAt: in.Body.ExpiresAt})
		if err != nil {
			return nil, err
		}
		shape, err := a.scimToken(ctx, out.ScimToken)
		return &one[MadeScimToken]{MadeScimToken{shape, out.Token}}, err
	})
	add(a, operation{
		id: "getScimToken", rule: rule.CustomerScimTokens, method: http.MethodGet, path: path + "/{id}", tag: tagIdentity, errors: notFound,
		summary: "Get a SCIM token", description: "A token of a company within reach, without what its directory sends.",
	}, func(ctx context.Context, in *ScimTokenPath) (*one[ScimToken], error) {
		t, err := a.queries().GetScimToken(ctx, globalid.ID{Int: in.ID})
		if err != nil {
			return nil, err
		}
		shape, err := a.scimToken(ctx, t)
		return &one[ScimToken]{shape}, err
	})
	add(a, operation{
		id: "deleteScimToken", rule: rule.DeleteScimToken, method: http.MethodDelete, path: path + "/{id}", tag: tagIdentity, errors: notFound,
		summary: "End a SCIM token", description: "At once: one that the caller has made, or, for an owner, any.",
	}, func(ctx context.Context, in *ScimTokenPath) (*struct{}, error) {
		_, err := a.mutations().DeleteScimToken(ctx, resolvers.DeleteScimTokenInput{ID: globalid.ID{Int: in.ID}})
		return nil, err
	})
}

func (a *api) scimToken(ctx context.Context, t *db.ScimToken) (ScimToken, error) {
	edges := resolvers.ScimTokenEdges{Resolver: a.r}
	features, _ := edges.Features(ctx, t)
	out := ScimToken{
		ID: t.ID, CustomerID: t.CustomerID, Name: t.Name, Features: features, ExpiresAt: utc(t.ExpiresAt), CreatedAt: t.CreatedAt.UTC(), LastUsedAt: utc(t.LastUsedAt), LastChangedAt: utc(t.LastChangedAt),
	}
	by, err := edges.CreatedBy(ctx, t)
	if by != nil {
		out.CreatedByID = &by.ID
	}
	return out, err
}
