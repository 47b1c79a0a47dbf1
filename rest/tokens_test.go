package rest

import (
	"encoding/base64"
	"net/http"
	"testing"
)

func TestTokenRequest(t *testing.T) {
	basic := func(s string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(s)) }
	for name, c := range map[string]struct {
		authorization, form, refusal, id, secret string
	}{
		"in the form":             {"", "grant_type=client_credentials&client_id=a&client_secret=b&target_app=tenant", "", "a", "b"},
		"by HTTP Basic":           {basic("a:b"), "grant_type=client_credentials", "", "a", "b"},
		"Basic is form-encoded":   {basic("a%3Ab:c%2Bd+e"), "", "", "a:b", "c+d e"},
		"both, the same":          {basic("a:b"), "client_id=a", "", "a", "b"},
		"both, another client":    {basic("a:b"), "client_id=z", "invalid_request", "", ""},
		"both, another secret":    {basic("a:b"), "client_id=a&client_secret=z", "invalid_request", "", ""},
		"Basic without a colon":   {basic("ab"), "", "invalid_client", "", ""},
		"Basic that is no base64": {"Basic !", "", "invalid_client", "", ""},
		"another scheme":          {"Bearer x", "", "invalid_client", "", ""},
		"an old bearer token":     {"Bearer x", "client_id=a&client_secret=b", "", "a", "b"},
		"a parameter twice":       {"", "client_id=a&client_id=a", "invalid_request", "", ""},
		"an account in capitals":  {"", "client_id=a&client_secret=b&Account_Id=3", "invalid_request", "", ""},
		"an account that is none": {"", "account_id=x", "invalid_request", "", ""},
		"an account beyond":       {"", "account_id=9223372036854775808", "invalid_request", "", ""},
		"no form":                 {"", "%zz", "invalid_request", "", ""},
		"unknown parameters":      {"", "client_id=a&client_secret=b&scope=x&scope=y", "", "a", "b"},
	} {
		t.Run(name, func(t *testing.T) {
			req, refused := tokenRequest(c.authorization, []byte(c.form))
			if refused != nil || c.refusal != "" {
				if refused == nil || refused.Code != c.refusal || refused.Description == "" {
					t.Fatalf("refused: %+v, want %q", refused, c.refusal)
				}
				return
			}
			if req.ClientID != c.id || req.ClientSecret != c.secret {
				t.Errorf("got %+v", req)
			}
		})
	}
}

func TestTokenEndpoint(t *testing.T) {
	h, _ := testDoor(t)
	for name, c := range map[string]struct {
		contentType, form string
		status            int
		body              string
	}{
		"a refusal has the form of RFC 6749": {
			formType, "grant_type=password", 400,
			`{"error":"unsupported_grant_type","error_description":"the only grant_type is client_credentials","detail":"the only grant_type is client_credentials"}`,
		},
		"nothing at all": {
			formType, "", 400, `{"error":"invalid_request","error_description":"grant_type is required","detail":"grant_type is required"}`,
		},
		"JSON": {jsonType, `{"grant_type":"client_credentials"}`, 415, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := send(t, h, http.MethodPost, "/connect/token", c.contentType, c.form)
			if w.Code != c.status || (c.body != "" && w.Body.String() != c.body) {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			if c.body != "" && w.Header().Get("Content-Type") != jsonType {
				t.Errorf("headers: %v", w.Header())
			}
		})
	}
	t.Run("a client that is none", func(t *testing.T) {
		w, _ := send(t, h, http.MethodPost, "/connect/token", formType, "grant_type=client_credentials&target_app=tenant")
		if w.Code != 401 || w.Header().Get("WWW-Authenticate") == "" {
			t.Errorf("%d %v", w.Code, w.Header())
		}
	})
}

func TestTokenFormIsDocumented(t *testing.T) {
	_, registry := testDoor(t)
	schema := registry.OpenAPI().Paths["/connect/token"].Post.RequestBody.Content[formType].Schema
	for _, name := range []string{"grant_type", "client_id", "client_secret", "target_app", "account_id"} {
		if schema.Properties[name] == nil {
			t.Errorf("%s is missing", name)
		}
	}
}
