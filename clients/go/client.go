// Package canopy calls the platform as any integrator does, over GraphQL and REST: with an API key, or for a person who has signed in.
// It rests on the standard library alone. The types of the graph are in canopy/clients/go/schema.
package canopy

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"sync"
	"time"
)

// spare is how long before its end a token is no longer used.
const spare = 2 * time.Minute

// Client calls a platform. Many may use it at the same time.
type Client struct {
	// URL is where the platform is reached, without a slash at its end.
	URL string
	Key
	// App is the application that a key's tokens are for: tenant, assistant or builder.
	App string
	// Login gives the tokens of a person in place of the key's; nil is the key.
	Login Login
	// Retries is how often a request is sent again after 429, 502, 503, 504 or a lost connection; 0 is never. Changes are done once all
	// the same: they carry an Idempotency-Key then.
	Retries int
	// Waits, unless it is nil, is told what a request is sent again for, and after how long. It may be called at any time.
	Waits func(why error, pause time.Duration)
	// HTTP sends the requests; http.DefaultClient when nil.
	HTTP *http.Client

	mu      sync.Mutex
	token   string
	expires time.Time
}

// Login gives a person's access token, and when that ends. It is asked again shortly before.
type Login interface {
	Token(ctx context.Context) (token string, expires time.Time, err error)
}

// Token gives an access token, another one when the last is about to expire.
func (c *Client) Token(ctx context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Until(c.expires) > spare {
		return c.token, nil
	}
	token, expires, err := c.nextToken(ctx)
	if err != nil {
		return "", err
	}
	c.token, c.expires = token, expires
	return token, nil
}

func (c *Client) nextToken(ctx context.Context) (token string, expires time.Time, err error) {
	if c.Login != nil {
		return c.Login.Token(ctx)
	}
	var issued struct {
		AccessToken string `json:"access_token"`
		ExpiresIn   int    `json:"expires_in"`
	}
	err = c.again(ctx, func() error {
		return c.send(ctx, request{
			method: http.MethodPost, path: "/connect/token", contentType: "application/x-www-form-urlencoded",
			body: strings.NewReader(c.Form(c.App).Encode()), open: true,
		}, &issued)
	})
	return issued.AccessToken, time.Now().Add(time.Duration(issued.ExpiresIn) * time.Second), err
}

// Call sends a request whose body is in as JSON, none for nil, and decodes the answer's JSON into
// out, unless that is nil. Its errors are *Refusal, or what kept the request from being answered.
func (c *Client) Call(ctx context.Context, method, path string, in, out any) error {
	return c.call(ctx, method, path, in, method != http.MethodGet && method != http.MethodDelete, out)
}

// call sends a request, once more where that is told; changes says that it may not be done twice.
func (c *Client) call(ctx context.Context, method, path string, in any, changes bool, out any) error {
	r := request{method: method, path: path, contentType: "application/json"}
	var raw []byte
	if in != nil {
		var err error
		if raw, err = json.Marshal(in); err != nil {
			return err
		}
	}
	if changes && c.Retries > 0 {
		r.idempotencyKey = rand.Text()
	}
	return c.again(ctx, func() error {
		if in != nil {
			r.body = bytes.NewReader(raw)
		}
		return c.send(ctx, r, out)
	})
}

// Reach tells whether a platform answers at URL. It takes no token.
func (c *Client) Reach(ctx context.Context) error {
	var set struct{ Keys []json.RawMessage }
	err := c.send(ctx, request{method: http.MethodGet, path: "/.well-known/jwks.json", open: true}, &set)
	refused := new(Refusal)
	switch {
	case errors.As(err, new(*lost)):
		return err
	case errors.As(err, &refused):
		return c.notReached(err)
	case err != nil || len(set.Keys) == 0:
		return c.notReached(errors.New("what answers there is not a platform"))
	}
	return nil
}

// GraphQL sends a GraphQL request and decodes data into out, unless that is nil. Errors in the
// answer are Errors; out has what was answered all the same.
func (c *Client) GraphQL(ctx context.Context, query string, variables, out any) error {
	var answer struct {
		Data   json.RawMessage
		Errors Errors
	}
	body := map[string]any{"query": query}
	if variables != nil {
		body["variables"] = variables
	}
	changes := strings.HasPrefix(strings.TrimSpace(query), "mutation")
	if err := c.call(ctx, http.MethodPost, "/graphql", body, changes, &answer); err != nil {
		return err
	}
	if out != nil && len(answer.Data) > 0 {
		if err := json.Unmarshal(answer.Data, out); err != nil {
			return err
		}
	}
	if len(answer.Errors) > 0 {
		return answer.Errors
	}
	return nil
}

// Upload streams a file to a context.
func (c *Client) Upload(ctx context.Context, contextID int64, name string, content io.Reader) error {
	return c.stream(ctx, fmt.Sprintf("/context/upload/%d", contextID), name, content, nil)
}

// Import streams the archive of an export, to be read in below a company, or to be looked at only, and gives the import's id.
func (c *Client) Import(ctx context.Context, parentID int64, dryRun bool, name string, content io.Reader) (int64, error) {
	var started struct{ ID int64 }
	err := c.stream(ctx, fmt.Sprintf("/tenant/customer/%d/import?dryRun=%t", parentID, dryRun), name, content, &started)
	return started.ID, err
}

// stream sends a file as the one of a form, and decodes the answer into out, unless that is nil.
func (c *Client) stream(ctx context.Context, path, name string, content io.Reader, out any) error {
	body, to := io.Pipe()
	form := multipart.NewWriter(to)
	go func() {
		part, err := form.CreateFormFile("file", name)
		if err == nil {
			_, err = io.Copy(part, content)
		}
		to.CloseWithError(errors.Join(err, form.Close()))
	}()
	err := c.send(ctx, request{method: http.MethodPost, path: path, contentType: form.FormDataContentType(), body: body}, out)
	_ = body.Close() // so that the writer ends, whatever came of it
	return err
}

// request is one request. body is none for nil; open says that it carries no token.
type request struct {
	method, path, contentType, accept, idempotencyKey string
	body                                              io.Reader
	open                                              bool
}

// send sends a request once, and decodes the answer into out, unless that is nil.
func (c *Client) send(ctx context.Context, r request, out any) error {
	resp, err := c.open(ctx, r)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || out == nil {
		return err
	}
	return json.Unmarshal(raw, out)
}

// open sends a request once, and gives the answer, whose body is to be closed. Another status than 2xx is a *Refusal.
func (c *Client) open(ctx context.Context, r request) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, c.URL+r.path, r.body)
	if err != nil {
		return nil, err
	}
	if !r.open {
		token, err := c.Token(ctx)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for name, value := range map[string]string{"Accept": r.accept, "Idempotency-Key": r.idempotencyKey} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	if r.body != nil {
		req.Header.Set("Content-Type", r.contentType)
	}
	caller := c.HTTP
	if caller == nil {
		caller = http.DefaultClient
	}
	resp, err := caller.Do(req)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, &lost{err}
	case err != nil:
		return nil, &lost{c.notReached(err)}
	}
	if resp.StatusCode >= 300 {
		defer func() { _ = resp.Body.Close() }()
		return nil, refusal(req, resp)
	}
	return resp, nil
}
