package token

import "encoding/json"

// Metadata is the document of an authorization server that issues tokens by client credentials
// (RFC 8414, section 2). issuer has no slash at its end.
func Metadata(issuer string, scopes []string) []byte {
	doc, _ := json.Marshal(map[string]any{ // strings and lists always marshal
		"issuer":                                issuer,
		"token_endpoint":                        issuer + "/connect/token",
		"jwks_uri":                              issuer + "/.well-known/jwks.json",
		"grant_types_supported":                 []string{"client_credentials"},
		"response_types_supported":              []string{},
		"token_endpoint_auth_methods_supported": []string{"client_secret_basic", "client_secret_post"},
		"scopes_supported":                      scopes,
		"service_documentation":                 issuer + "/docs",
	})
	return doc
}
