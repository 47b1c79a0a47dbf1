package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	canopy "canopy/clients/go"
	"canopy/clients/go/schema"
	"canopy/internal/access"
	"canopy/internal/app"
)

// keyPlace is where API keys are managed: a platform, or its database.
type keyPlace interface {
	create(ctx context.Context, company int64, email, name string) (*madeKey, error)
	list(ctx context.Context, company int64) ([]keyRow, error)
	rotate(ctx context.Context, clientID string, company int64, grace time.Duration) (*madeKey, error)
	revoke(ctx context.Context, clientID string, company int64) error
	close()
}

// madeKey is a key with its secret, which is shown once.
type madeKey struct {
	ClientID     string `json:"clientId"`
	ClientSecret string `json:"clientSecret"`
	// GraceEndsAt is when the old secret ends, of a key that had one.
	GraceEndsAt *time.Time `json:"graceEndsAt,omitempty"`
}

// keyRow is a key in a list.
type keyRow struct {
	ClientID string `json:"clientId"`
	// UserID is whom it acts for; nil beyond the caller's reach.
	UserID     *int64     `json:"userId"`
	Name       string     `json:"name"`
	CreatedAt  time.Time  `json:"createdAt"`
	LastUsedAt *time.Time `json:"lastUsedAt"`
	ExpiresAt  *time.Time `json:"expiresAt"`
	RevokedAt  *time.Time `json:"revokedAt"`
}

// keys opens the place that is meant.
func (r *remote) keys(ctx context.Context) (keyPlace, error) {
	if r.direct() {
		p, err := r.m.tool(ctx)
		return databaseKeys{p}, err
	}
	c, err := r.client(access.Tenant)
	return platformKeys{c}, err
}

// databaseKeys are those of the operator's shell.
type databaseKeys struct{ p *app.Platform }

func (k databaseKeys) close() { k.p.Close() }

func (k databaseKeys) create(ctx context.Context, company int64, email, name string) (*madeKey, error) {
	if email == "" {
		return nil, usagef("--email is needed")
	}
	key, plain, err := k.p.Resolver.OperatorCreateKey(ctx, company, email, name)
	if err != nil {
		return nil, err
	}
	return &madeKey{ClientID: key.ClientID, ClientSecret: plain}, nil
}

func (k databaseKeys) list(ctx context.Context, company int64) ([]keyRow, error) {
	keys, err := k.p.Resolver.OperatorListKeys(ctx, company)
	rows := make([]keyRow, len(keys))
	for i, key := range keys {
		rows[i] = keyRow{
			ClientID: key.ClientID, UserID: &key.UserID, Name: key.Name,
			CreatedAt: key.CreatedAt, LastUsedAt: key.LastUsedAt, ExpiresAt: key.ExpiresAt, RevokedAt: key.RevokedAt,
		}
	}
	return rows, err
}

func (k databaseKeys) rotate(ctx context.Context, clientID string, _ int64, grace time.Duration) (*madeKey, error) {
	ends := time.Now().Add(grace)
	plain, err := k.p.Resolver.OperatorRotateKey(ctx, clientID, ends)
	return &madeKey{clientID, plain, &ends}, err
}

func (k databaseKeys) revoke(ctx context.Context, clientID string, _ int64) error {
	return k.p.Resolver.OperatorRevokeKey(ctx, clientID)
}

// platformKeys are asked of a platform.
type platformKeys struct{ *canopy.Client }

func (k platformKeys) close() {}

func (k platformKeys) create(ctx context.Context, company int64, email, name string) (*madeKey, error) {
	in := schema.CreateApiKeyInput{CustomerID: optionalID(company)}
	if name != "" {
		in.Name = &name
	}
	if email != "" {
		user, err := k.user(ctx, company, email)
		if err != nil {
			return nil, err
		}
		in.UserID = &user.ID
	}
	var data struct{ CreateAPIKey schema.CreateApiKeyPayload }
	err := k.GraphQL(ctx, `mutation($in: CreateApiKeyInput!) { createApiKey(input: $in) { clientId clientSecret } }`, map[string]any{"in": in}, &data)
	return &madeKey{ClientID: data.CreateAPIKey.ClientID, ClientSecret: data.CreateAPIKey.ClientSecret}, err
}

// user finds a person by the address.
func (k platformKeys) user(ctx context.Context, company int64, email string) (*schema.User, error) {
	filter := schema.UserFilter{Email: &email, CustomerID: optionalID(company)}
	var data struct{ Users schema.UserConnection }
	err := k.GraphQL(ctx, `query($f: UserFilter) { users(filter: $f, first: 1) { nodes { id } } }`, map[string]any{"f": filter}, &data)
	if err != nil {
		return nil, err
	}
	if len(data.Users.Nodes) == 0 {
		return nil, fmt.Errorf("there is no user with the address %s within reach", email)
	}
	return data.Users.Nodes[0], nil
}

// keysOf are a company's keys as the platform tells them.
type keysOf struct{ Customer *schema.Customer }

func (k platformKeys) list(ctx context.Context, company int64) (rows []keyRow, err error) {
	for key, err := range k.each(ctx, company) {
		if err != nil {
			return nil, err
		}
		row := keyRow{ClientID: key.ClientID, Name: key.Name, CreatedAt: key.CreatedAt, LastUsedAt: key.LastUsedAt, ExpiresAt: key.ExpiresAt, RevokedAt: key.RevokedAt}
		if key.User != nil {
			id := int64(key.User.DatabaseID)
			row.UserID = &id
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (k platformKeys) each(ctx context.Context, company int64) func(func(*schema.ApiKey, error) bool) {
	return canopy.Each(ctx, k.Client, `query($id: ID, $after: String) { customer(id: $id) { apiKeys(first: 200, after: $after) {
		nodes { id clientId name createdAt lastUsedAt expiresAt revokedAt user { databaseId } } pageInfo { hasNextPage endCursor } } } }`,
		map[string]any{"id": optionalID(company)}, func(data *keysOf) ([]*schema.ApiKey, *schema.PageInfo) {
			return data.Customer.APIKeys.Nodes, data.Customer.APIKeys.PageInfo
		})
}

// key finds a company's key by its client id.
func (k platformKeys) key(ctx context.Context, company int64, clientID string) (*schema.ApiKey, error) {
	for key, err := range k.each(ctx, company) {
		if err != nil {
			return nil, err
		}
		if key.ClientID == clientID {
			return key, nil
		}
	}
	return nil, fmt.Errorf("the company has no API key %s: --company names another", clientID)
}

func (k platformKeys) rotate(ctx context.Context, clientID string, company int64, grace time.Duration) (*madeKey, error) {
	key, err := k.key(ctx, company, clientID)
	if err != nil {
		return nil, err
	}
	seconds := int(grace / time.Second)
	var data struct {
		RotateAPIKeySecret schema.RotateApiKeySecretPayload
	}
	err = k.GraphQL(ctx, `mutation($in: RotateApiKeySecretInput!) { rotateApiKeySecret(input: $in) { clientSecret graceEndsAt } }`,
		map[string]any{"in": schema.RotateApiKeySecretInput{ID: key.ID, GraceSeconds: &seconds}}, &data)
	made := data.RotateAPIKeySecret
	return &madeKey{clientID, made.ClientSecret, &made.GraceEndsAt}, err
}

func (k platformKeys) revoke(ctx context.Context, clientID string, company int64) error {
	key, err := k.key(ctx, company, clientID)
	if err != nil {
		return err
	}
	return k.GraphQL(ctx, `mutation($in: RevokeApiKeyInput!) { revokeApiKey(input: $in) { apiKey { id } } }`,
		map[string]any{"in": schema.RevokeApiKeyInput{ID: key.ID}}, nil)
}

// optionalID is an id that may be left out: nil for 0.
func optionalID(id int64) *string {
	if id == 0 {
		return nil
	}
	text := strconv.FormatInt(id, 10)
	return &text
}
