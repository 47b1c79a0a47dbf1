package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// api asks the platform.
type api struct {
	url, id, secret string
	token           string
	expires         time.Time
}

var client = &http.Client{Timeout: 10 * time.Second}

// result prints the result of a run that has ended; events tell only that it has. Of a run that is not
// kept any more there is nothing to print.
func (a *api) result(ctx context.Context, e event) error {
	if a.url == "" || e.Type != "run.completed" && e.Type != "run.failed" {
		return nil
	}
	var data struct {
		JobKey string `json:"jobKey"`
	}
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return err
	}
	if err := a.signIn(ctx); err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.url+"/job/"+url.PathEscape(data.JobKey), nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	// 200 is a run that finished, 400 one that failed, 404 one that is not kept any more.
	status, body, err := ask(req)
	switch {
	case err != nil:
		return err
	case status == http.StatusOK || status == http.StatusBadRequest || status == http.StatusNotFound:
		fmt.Println("result", data.JobKey, status, string(body))
		return nil
	case status == http.StatusUnauthorized:
		a.token = "" // the next try gets another one
	}
	return fmt.Errorf("the run %s: %d %s", data.JobKey, status, body)
}

// signIn gets an access token, shortly before the one that it has expires.
func (a *api) signIn(ctx context.Context) error {
	if a.token != "" && time.Now().Before(a.expires) {
		return nil
	}
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {a.id}, "client_secret": {a.secret}, "target_app": {"builder"}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url+"/connect/token", strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	status, body, err := ask(req)
	if err != nil {
		return err
	}
	var issued struct {
		AccessToken string `json:"access_token"`
		ExpiresIn   int    `json:"expires_in"`
	}
	if err := json.Unmarshal(body, &issued); err != nil || status != http.StatusOK {
		return fmt.Errorf("no token: %d %s", status, body)
	}
	a.token, a.expires = issued.AccessToken, time.Now().Add(time.Duration(issued.ExpiresIn)*time.Second-time.Minute)
	return nil
}

func ask(req *http.Request) (status int, body []byte, err error) {
	resp, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err = io.ReadAll(io.LimitReader(resp.Body, 2<<20))
	return resp.StatusCode, body, err
}
