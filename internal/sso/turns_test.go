package sso

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"canopy/internal/devstack/devtest"
	"canopy/internal/egress"
)

// TestSlowProvidersKeepNobodyElseWaiting: however many providers of one branch don't answer, one of another branch is asked at once.
func TestSlowProvidersKeepNobodyElseWaiting(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	idp := httptest.NewTLSServer(mux)
	defer idp.Close()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"issuer": idp.URL, "authorization_endpoint": idp.URL + "/auth", "token_endpoint": idp.URL + "/token", "jwks_uri": idp.URL + "/keys",
		})
	})
	c := New(&egress.Client{}, devtest.Must[*url.URL](t)(url.Parse("https://canopy.example")))
	c.http = idp.Client()
	for c.gate.TryEnter(1) { // each of them an issuer that does not answer
	}
	where, err := c.Begin(t.Context(), Provider{Branch: 2, Issuer: idp.URL, ClientID: "canopy"}, NewFlow(false), "gwen@corp.example")
	if err != nil || where == "" {
		t.Errorf("%s %v", where, err)
	}
	if c.gate.TryEnter(1) {
		t.Error("the places were not taken")
	}
}
