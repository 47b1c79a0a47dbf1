package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Company is one below the first, with an API key, as `canopy key create` prints it, of its admin.
type Company struct {
	ID        int64
	Name, Key string
}

// NewCompany makes a company of a region at the home.
func (c *Cluster) NewCompany(ctx context.Context, region, name, email string) (*Company, error) {
	var issued struct {
		AccessToken string `json:"access_token"`
	}
	form := url.Values{
		"grant_type": {"client_credentials"}, "client_id": {printed(c.Key, "client_id")}, "client_secret": {printed(c.Key, "client_secret")}, "target_app": {"tenant"},
	}
	if err := c.post(ctx, "/connect/token", "application/x-www-form-urlencoded", "", form.Encode(), &issued); err != nil {
		return nil, err
	}
	id, err := number(ctx, c.Primary.URL(), `SELECT id FROM regions WHERE code = $1`, region)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(map[string]any{
		"query":     `mutation($in: CreateCustomerInput!) { createCustomer(input: $in) { customer { databaseId } } }`,
		"variables": map[string]any{"in": map[string]any{"regionId": id, "name": name, "email": email}},
	})
	if err != nil {
		return nil, err
	}
	var answer struct {
		Data struct {
			CreateCustomer struct{ Customer struct{ DatabaseID int64 } }
		}
		Errors []struct{ Message string }
	}
	if err := c.post(ctx, "/graphql", "application/json", issued.AccessToken, string(body), &answer); err != nil {
		return nil, err
	}
	if len(answer.Errors) > 0 {
		return nil, fmt.Errorf("a company of %s: %s", region, answer.Errors[0].Message)
	}
	o := &Company{ID: answer.Data.CreateCustomer.Customer.DatabaseID, Name: name}
	o.Key, err = c.canopy("key", nil, "key", "create", "--company", fmt.Sprint(o.ID), "--email", email, "--name", "cluster").Run(ctx)
	return o, err
}

// printed is a value of those that the program prints, one a line.
func printed(text, name string) string {
	for line := range strings.Lines(text) {
		if key, value, _ := strings.Cut(line, " "); key == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// post sends something to the balancer and reads the answer's JSON.
func (c *Cluster) post(ctx context.Context, path, contentType, token, body string, out any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", contentType)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %d %s", path, resp.StatusCode, raw)
	}
	return json.Unmarshal(raw, out)
}
