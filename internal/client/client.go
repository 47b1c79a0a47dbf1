// Package client calls the platform as any integrator does: with an API key, over REST and GraphQL.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// spare is how long before its end a token is no longer used.
const spare = 2 * time.Minute

// Client calls a platform. Many may use it at the same time.
type Client struct {
	// URL is where the platform is reached.
	URL string
	Key
	// App is the application that the tokens are for: tenant, assistant or builder.
	App string
	// HTTP sends the requests; http.DefaultClient when nil.
	HTTP *http.Client

	mu      sync.Mutex
	token   string
	expires time.Time
}

// Refusal is an answer other than 2xx.
type Refusal struct {
	Method, Path string
	Status       int
	// Detail is the platform's own sentence.
	Detail string
	// RetryAfter is when to come back; 0 where the platform does not say.
	RetryAfter time.Duration
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("%s (%s %s: %d)", r.Detail, r.Method, r.Path, r.Status)
}

// Token gives an access token, another one when the last is about to expire.
func (c *Client) Token(ctx context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Until(c.expires) > spare {
		return c.token, nil
	}
	form := c.Form(c.App)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+"/connect/token", strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	var issued struct {
		AccessToken string `json:"access_token"`
		ExpiresIn   int    `json:"expires_in"`
	}
	if err := c.answer(r, &issued); err != nil {
		return "", err
	}
	c.token, c.expires = issued.AccessToken, time.Now().Add(time.Duration(issued.ExpiresIn)*time.Second)
	return c.token, nil
}

// Call sends a request whose body is in as JSON, none for nil, and decodes the answer's JSON into
// out, unless that is nil.
func (c *Client) Call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(raw)
	}
	return c.send(ctx, method, path, "application/json", body, out)
}

// GraphQL sends a GraphQL request and decodes data into out, unless that is nil. Any error in the
// answer is one.
func (c *Client) GraphQL(ctx context.Context, query string, variables map[string]any, out any) error {
	var answer struct {
		Data   json.RawMessage
		Errors []struct{ Message string }
	}
	if err := c.Call(ctx, http.MethodPost, "/graphql", map[string]any{"query": query, "variables": variables}, &answer); err != nil {
		return err
	}
	if len(answer.Errors) > 0 {
		return errors.New("GraphQL: " + answer.Errors[0].Message)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer.Data, out)
}

// Upload streams a file to a context.
func (c *Client) Upload(ctx context.Context, contextID int64, name string, content io.Reader) error {
	body, out := io.Pipe()
	form := multipart.NewWriter(out)
	go func() {
		part, err := form.CreateFormFile("file", name)
		if err == nil {
			_, err = io.Copy(part, content)
		}
		out.CloseWithError(errors.Join(err, form.Close()))
	}()
	err := c.send(ctx, http.MethodPost, fmt.Sprintf("/context/upload/%d", contextID), form.FormDataContentType(), body, nil)
	_ = body.Close() // so that the writer ends, whatever came of it
	return err
}

func (c *Client) send(ctx context.Context, method, path, contentType string, body io.Reader, out any) error {
	token, err := c.Token(ctx)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, method, c.URL+path, body)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if body != nil {
		r.Header.Set("Content-Type", contentType)
	}
	return c.answer(r, out)
}

// answer reads what comes of a request.
func (c *Client) answer(r *http.Request, out any) error {
	caller := c.HTTP
	if caller == nil {
		caller = http.DefaultClient
	}
	resp, err := caller.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		var problem struct{ Detail string }
		if json.Unmarshal(raw, &problem) != nil || problem.Detail == "" {
			problem.Detail = resp.Status
		}
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return &Refusal{
			Method: r.Method, Path: r.URL.Path, Status: resp.StatusCode, Detail: problem.Detail, RetryAfter: time.Duration(seconds) * time.Second,
		}
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(raw, out)
}
