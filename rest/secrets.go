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

type deleteSecretInput struct {
	SecretPath
	Restorable bool `query:"restorable" doc:"Keeps it, sealed, for 30 days, in which it can be restored; a company keeps at most 200"`
}

type restoreSecretInput struct {
	SecretPath
	Body *struct {
		Name *string `json:"name,omitempty" doc:"The name under which it comes back; the one that it had when left out"`
	} `nameHint:"RestoreSecretRequest"`
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
		summary: "Delete a secret", description: "Removes a secret, for good, or, with restorable, so that it can be restored for 30 days. Steps that use it fail from then on; its name is free.",
	}, func(ctx context.Context, in *deleteSecretInput) (*struct{}, error) {
		_, err := a.mutations().DeleteSecret(ctx, resolvers.DeleteSecretInput{ID: in.id(), IfVersion: ifMatch(ctx), Restorable: &in.Restorable})
		return nil, err
	})
	a.registerDeletedSecrets(path, notFound)
}

// registerDeletedSecrets registers what leads to secrets that were deleted, and brings them back.
func (a *api) registerDeletedSecrets(path string, notFound []int) {
	add(a, operation{
		id: "listDeletedSecrets", rule: rule.CustomerDeletedSecrets, method: http.MethodGet, path: path + "/deleted", tag: tagSecrets, errors: notFound,
		summary: "List the deleted secrets of a company", description: "Those that can be restored, the one that was deleted last first; at most 200.",
	}, func(ctx context.Context, in *DeletedOf) (*one[[]deleted], error) {
		return deletedAnswer(a.queries().ListDeletedSecrets(ctx, idOf(in.CustomerID)))
	})
	add(a, operation{
		id: "restoreSecret", rule: rule.RestoreSecret, method: http.MethodPost, path: path + "/{id}/restore", tag: tagSecrets, errors: notFound, status: http.StatusOK,
		summary: "Restore a deleted secret", description: "Brings a secret back, with its value, that was deleted as a restorable one within the last 30 days. Where another secret has its name by now, it needs another one.",
	}, func(ctx context.Context, in *restoreSecretInput) (*tagged[Secret], error) {
		change := resolvers.RestoreSecretInput{ID: in.id()}
		if in.Body != nil {
			change.Name = in.Body.Name
		}
		out, err := a.mutations().RestoreSecret(ctx, change)
		if err != nil {
			return nil, err
		}
		return tag(ctx, out.Secret.Version, secretOf(out.Secret))
	})
}
