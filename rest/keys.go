package rest

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"canopy/db"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/rule"
	"canopy/resolvers"
)

// APIKey lets a program act for a user in a company. Its secret is never shown again.
type APIKey struct {
	ID               int64      `json:"id"`
	ClientID         string     `json:"clientId" doc:"The client_id of the token exchange"`
	CustomerID       int64      `json:"customerId" doc:"The company that it acts in"`
	UserID           int64      `json:"userId" doc:"The user that it acts for"`
	Name             string     `json:"name"`
	Features         *[]string  `json:"features" nullable:"true" doc:"The rights that it has at most, of those of its user; null for all of them"`
	AllowedAddresses *[]string  `json:"allowedAddresses" nullable:"true" doc:"The networks that it works from; null for any"`
	CreatedAt        time.Time  `json:"createdAt"`
	ExpiresAt        *time.Time `json:"expiresAt" doc:"When it ends; null for never"`
	RevokedAt        *time.Time `json:"revokedAt" doc:"When it was revoked; null where it was not"`
	LastUsedAt       *time.Time `json:"lastUsedAt" doc:"When it was last used; null for never"`
}

func apiKeyOf(k *db.APIKey) APIKey {
	return APIKey{
		ID: k.ID, ClientID: k.ClientID, CustomerID: k.CustomerID, UserID: k.UserID, Name: k.Name,
		Features: listOrNull(k.Features), AllowedAddresses: listOrNull(k.AllowedAddresses),
		CreatedAt: k.CreatedAt.UTC(), ExpiresAt: utc(k.ExpiresAt), RevokedAt: utc(k.RevokedAt), LastUsedAt: utc(k.LastUsedAt),
	}
}

// listOrNull is a list that is null, and not empty, where there is none.
func listOrNull(list []string) *[]string {
	if list == nil {
		return nil
	}
	return &list
}

// keyWithSecret is a key with its secret, which is shown this once.
type keyWithSecret struct {
	APIKey
	ClientSecret string `json:"clientSecret" doc:"The client_secret of the token exchange; it is shown this once"`
}

// rotatedKey is a key with its new secret.
type rotatedKey struct {
	APIKey
	ClientSecret string    `json:"clientSecret" doc:"The new client_secret; it is shown this once"`
	GraceEndsAt  time.Time `json:"graceEndsAt" doc:"When the old secret ends"`
}

// KeyPath names a key in the path.
type KeyPath struct {
	ID int64 `path:"id" doc:"The key's id"`
}

func (p *KeyPath) id() globalid.ID { return globalid.ID{Int: p.ID} }

type createKeyInput struct {
	Body struct {
		CustomerID       *int64     `json:"customerId,omitempty" doc:"The company that it acts in; by default the caller's own"`
		UserID           *int64     `json:"userId,omitempty" doc:"The user that it acts for; by default the caller"`
		Name             *string    `json:"name,omitempty" doc:"What it is for"`
		ExpiresAt        *time.Time `json:"expiresAt,omitempty" doc:"When it ends; by default never. A company's maxKeyDays, and those above it, bound it"`
		Features         []string   `json:"features,omitempty" nullable:"true" doc:"The rights that it has at most, of those of its user; by default all of them"`
		AllowedAddresses []string   `json:"allowedAddresses,omitempty" nullable:"true" doc:"The networks that it works from, as CIDRs; by default any"`
	} `nameHint:"CreateKeyRequest"`
}

type rotateKeyInput struct {
	KeyPath
	Body *struct {
		GraceSeconds *int `json:"graceSeconds,omitempty" doc:"Seconds that the old secret lives on, at most 30 days; by default 24 hours"`
	} `nameHint:"RotateKeyRequest"`
}

// APIKeyFilter are the parameters that bound a list of API keys.
type APIKeyFilter struct {
	IDs          []int64   `query:"ids" doc:"Only those of these ids, separated by commas"`
	Search       string    `query:"search" doc:"Only those whose names have all words of this text, the last one as a beginning; where none has, within one edit"`
	UserID       int64     `query:"userId" minimum:"1" doc:"Only those that act for this user"`
	Active       bool      `query:"active" doc:"Only those that work, neither revoked nor ended, or those that don't"`
	ExpiresUntil time.Time `query:"expiresUntil" doc:"Only those that end before this moment; not those that never end"`
	CreatedSince time.Time `query:"createdSince" doc:"Only those from this moment on"`
	CreatedUntil time.Time `query:"createdUntil" doc:"Only those before this moment"`
}

type keysQuery struct {
	Pages
	OrderQuery
	APIKeyFilter
	CustomerID int64 `query:"customerId" minimum:"1" doc:"The company; by default the caller's own"`

	filter *resolvers.APIKeyFilter
}

// Resolve tells what was given from what was left out.
func (q *keysQuery) Resolve(hc huma.Context) []error {
	q.filter = filterGiven[resolvers.APIKeyFilter](hc, &q.APIKeyFilter)
	return nil
}

func (a *api) registerKeys() {
	addList(a, operation{
		id: "listKeys", rule: rule.CustomerAPIKeys, orders: db.APIKeys, path: "/v1/keys", tag: tagKeys, errors: []int{http.StatusNotFound},
		summary: "List the API keys of a company", description: "The keys by id unless asked for otherwise, the revoked ones included.",
	}, anyOrder, func(ctx context.Context, in *keysQuery, _ query, each emit[APIKey]) error {
		return a.queries().ListAPIKeys(ctx, idOf(in.CustomerID), in.filter, in.listing(&in.Pages), func(k *db.APIKey, at paging.Cursor) error {
			return each(apiKeyOf(k), at)
		})
	})
	add(a, operation{
		id: "createKey", rule: rule.CreateAPIKey, method: http.MethodPost, path: "/v1/keys", tag: tagKeys, status: http.StatusCreated, errors: []int{http.StatusNotFound},
		summary: "Create an API key", description: "For the caller or, by an owner, for another user, who has accepted the company or is new to the platform: otherwise it is 400 with the code not_accepted. The secret is shown this once.",
	}, a.createKey)
	add(a, operation{
		id: "getKey", conditions: byNoneMatch, rule: rule.CustomerAPIKeys, method: http.MethodGet, path: "/v1/keys/{id}", tag: tagKeys, errors: []int{http.StatusNotFound},
		summary: "Get an API key", description: "A key of a company within reach.",
	}, func(ctx context.Context, in *KeyPath) (*tagged[APIKey], error) {
		k, err := a.queries().GetAPIKey(ctx, in.id())
		if err != nil {
			return nil, err
		}
		return tag(ctx, k.Version, apiKeyOf(k))
	})
	add(a, operation{
		id: "rotateKey", rule: rule.RotateAPIKeySecret, method: http.MethodPost, path: "/v1/keys/{id}/rotate", tag: tagKeys, status: http.StatusOK, errors: []int{http.StatusNotFound},
		summary: "Give an API key a new secret", description: "The new secret is shown this once; the old one lives on for a grace time.",
	}, a.rotateKey)
	add(a, operation{
		id: "revokeKey", conditions: byMatch, rule: rule.RevokeAPIKey, method: http.MethodDelete, path: "/v1/keys/{id}", tag: tagKeys, errors: []int{http.StatusNotFound},
		summary: "Revoke an API key", description: "Ends a key at once and for good.",
	}, func(ctx context.Context, in *KeyPath) (*struct{}, error) {
		_, err := a.mutations().RevokeAPIKey(ctx, resolvers.RevokeAPIKeyInput{ID: in.id(), IfVersion: ifMatch(ctx)})
		return nil, err
	})
}

func (a *api) createKey(ctx context.Context, in *createKeyInput) (*tagged[keyWithSecret], error) {
	b := &in.Body
	made, err := a.mutations().CreateAPIKey(ctx, resolvers.CreateAPIKeyInput{
		CustomerID: optionalID(b.CustomerID), UserID: optionalID(b.UserID), Name: b.Name, ExpiresAt: b.ExpiresAt,
		Features: b.Features, AllowedAddresses: b.AllowedAddresses,
	})
	if err != nil {
		return nil, err
	}
	shown := apiKeyOf(made.APIKey)
	return &tagged[keyWithSecret]{etagOf(made.APIKey.Version, shown), keyWithSecret{shown, made.ClientSecret}}, nil
}

func (a *api) rotateKey(ctx context.Context, in *rotateKeyInput) (*tagged[rotatedKey], error) {
	r := resolvers.RotateAPIKeySecretInput{ID: in.id()}
	if in.Body != nil {
		r.GraceSeconds = in.Body.GraceSeconds
	}
	out, err := a.mutations().RotateAPIKeySecret(ctx, r)
	if err != nil {
		return nil, err
	}
	shown := apiKeyOf(out.APIKey)
	return &tagged[rotatedKey]{etagOf(out.APIKey.Version, shown), rotatedKey{shown, out.ClientSecret, out.GraceEndsAt}}, nil
}
