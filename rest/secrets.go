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

// Secret names a value that a company's agents may use. The value is never shown.
type Secret struct {
	ID         int64     `json:"id"`
	CustomerID int64     `json:"customerId" doc:"The company whose agents may use it"`
	Name       string    `json:"name" doc:"What diagrams read it by, as secrets.NAME"`
	CreatedAt  time.Time `json:"createdAt"`
	UpdatedAt  time.Time `json:"updatedAt" doc:"When the name or the value was last written"`
}

func secretOf(s *db.Secret) Secret {
	return Secret{ID: s.ID, CustomerID: s.CustomerID, Name: s.Name, CreatedAt: s.CreatedAt.UTC(), UpdatedAt: s.UpdatedAt.UTC()}
}

// SecretPath names a secret in the path.
type SecretPath struct {
	ID int64 `path:"id" doc:"The secret's id"`
}

func (p *SecretPath) id() globalid.ID { return globalid.ID{Int: p.ID} }

type createSecretInput struct {
	Body struct {
		CustomerID *int64 `json:"customerId,omitempty" doc:"The company whose agents may use it; by default the caller's own"`
		Name       string `json:"name" example:"CRM_TOKEN" doc:"Letters, digits and underscores, at most 64; unique in the company"`
		Value      string `json:"value" doc:"At most 8 KiB; it is never shown again"`
	} `nameHint:"CreateSecretRequest"`
}

type updateSecretInput struct {
	SecretPath
	Body struct {
		Name  *string `json:"name,omitempty" doc:"Letters, digits and underscores, at most 64; unique in the company"`
		Value *string `json:"value,omitempty" doc:"At most 8 KiB; it is never shown again"`
	} `nameHint:"UpdateSecretRequest"`
}

func (a *api) registerSecrets() {
	const path = "/v1/secrets"
	notFound := []int{http.StatusNotFound}
	addList(a, operation{
		id: "listSecrets", rule: rule.CustomerSecrets, path: path, tag: tagSecrets, errors: notFound,
		summary: "List the secrets of a company", description: "The secrets by id, without their values.",
	}, 1, func(ctx context.Context, in *CustomerList, q query, each emit[Secret]) error {
		return a.queries().ListSecrets(ctx, in.customer(), q.after, q.limit, func(s *db.Secret) error {
			return each(secretOf(s), paging.IDs(s.ID))
		})
	})
	add(a, operation{
		id: "createSecret", rule: rule.CreateSecret, method: http.MethodPost, path: path, tag: tagSecrets, status: http.StatusCreated, errors: notFound,
		summary: "Create a secret", description: "Keeps a value for the http and chat steps of the company's agents. It is never shown again.",
	}, func(ctx context.Context, in *createSecretInput) (*tagged[Secret], error) {
		out, err := a.mutations().CreateSecret(ctx, resolvers.CreateSecretInput{CustomerID: optionalID(in.Body.CustomerID), Name: in.Body.Name, Value: in.Body.Value})
		if err != nil {
			return nil, err
		}
		return tag(ctx, out.Secret.Version, secretOf(out.Secret))
	})
	add(a, operation{
		id: "getSecret", conditions: byNoneMatch, rule: rule.CustomerSecrets, method: http.MethodGet, path: path + "/{id}", tag: tagSecrets, errors: notFound,
		summary: "Get a secret", description: "A secret of a company within reach, without its value.",
	}, func(ctx context.Context, in *SecretPath) (*tagged[Secret], error) {
		s, err := a.queries().GetSecret(ctx, in.id())
		if err != nil {
			return nil, err
		}
		return tag(ctx, s.Version, secretOf(s))
	})
	add(a, operation{
		id: "updateSecret", conditions: byMatch, rule: rule.UpdateSecret, method: http.MethodPut, path: path + "/{id}", tag: tagSecrets, status: http.StatusOK, errors: notFound,
		summary: "Update a secret", description: "Changes what is given. Runs under way use the new value from their next step on.",
	}, func(ctx context.Context, in *updateSecretInput) (*tagged[Secret], error) {
		out, err := a.mutations().UpdateSecret(ctx, resolvers.UpdateSecretInput{ID: in.id(), Name: in.Body.Name, Value: in.Body.Value, IfVersion: ifMatch(ctx)})
		if err != nil {
			return nil, err
		}
		return tag(ctx, out.Secret.Version, secretOf(out.Secret))
	})
	add(a, operation{
		id: "deleteSecret", conditions: byMatch, rule: rule.DeleteSecret, method: http.MethodDelete, path: path + "/{id}", tag: tagSecrets, errors: notFound,
		summary: "Delete a secret", description: "Removes a secret. Steps that use it fail from then on.",
	}, func(ctx context.Context, in *SecretPath) (*struct{}, error) {
		_, err := a.mutations().DeleteSecret(ctx, resolvers.DeleteSecretInput{ID: in.id(), IfVersion: ifMatch(ctx)})
		return nil, err
	})
}
