package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// importClient calls the platform as any integrator does.
type importClient struct {
	url, clientID, clientSecret string

	token   string
	expires time.Time
}

// newImportClient reads the credentials: CANOPY_CLIENT_ID and CANOPY_CLIENT_SECRET of the environment,
// otherwise those of the file.
func newImportClient(m *Main, server, file string) (*importClient, error) {
	c := &importClient{url: server, clientID: m.Getenv("CANOPY_CLIENT_ID"), clientSecret: m.Getenv("CANOPY_CLIENT_SECRET")}
	if c.url == "" || c.clientID == "" {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("CANOPY_CLIENT_ID, CANOPY_CLIENT_SECRET and --url are not all set, and the credentials' file: %w", err)
		}
		var kept devFile
		if err := json.Unmarshal(raw, &kept); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if c.url == "" {
			c.url = kept.URL
		}
		if c.clientID == "" {
			c.clientID, c.clientSecret = kept.ClientID, kept.ClientSecret
		}
	}
	c.url = strings.TrimRight(c.url, "/")
	return c, nil
}

// authorize gets a token, or a new one when it is about to expire.
func (c *importClient) authorize(ctx context.Context) error {
	if time.Until(c.expires) > 2*time.Minute {
		return nil
	}
	values := url.Values{
		"grant_type": {"client_credentials"}, "client_id": {c.clientID}, "client_secret": {c.clientSecret}, "target_app": {"assistant"},
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/connect/token", strings.NewReader(values.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	var issued struct {
		AccessToken string `json:"access_token"`
		ExpiresIn   int    `json:"expires_in"`
	}
	if err := c.answer(r, &issued); err != nil {
		return err
	}
	c.token, c.expires = issued.AccessToken, time.Now().Add(time.Duration(issued.ExpiresIn)*time.Second)
	return nil
}

// hashes gives the hashes of the documents of a context.
func (c *importClient) hashes(ctx context.Context, contextID int64) (map[string]bool, error) {
	var list []struct{ ContentHash string }
	err := c.send(ctx, http.MethodGet, fmt.Sprintf("/context/documents/%d", contextID), "", nil, &list)
	have := make(map[string]bool, len(list))
	for _, d := range list {
		have[d.ContentHash] = true
	}
	return have, err
}

// upload streams a file to a context.
func (c *importClient) upload(ctx context.Context, contextID int64, name string, content io.Reader) error {
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

func (c *importClient) send(ctx context.Context, method, path, contentType string, body io.Reader, into any) error {
	if err := c.authorize(ctx); err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, method, c.url+path, body)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	return c.answer(r, into)
}

// answer reads what comes of a request; a refusal is an error with the platform's own sentence.
func (c *importClient) answer(r *http.Request, into any) error {
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return err
	case resp.StatusCode < 300 && into == nil:
		return nil
	case resp.StatusCode < 300:
		return json.Unmarshal(raw, into)
	}
	var refusal struct{ Detail string }
	if json.Unmarshal(raw, &refusal) != nil || refusal.Detail == "" {
		refusal.Detail = resp.Status
	}
	return errors.New(refusal.Detail)
}
