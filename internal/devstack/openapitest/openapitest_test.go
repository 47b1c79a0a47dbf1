package openapitest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const document = `{"openapi": "3.1.0", "paths": {"/things/{id}": {
	"get": {"responses": {
		"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}},
		"404": {"content": {"application/problem+json": {"schema": {"type": "object"}}}}}},
	"delete": {"responses": {"204": {"description": "Gone"}}}}},
	"components": {"schemas": {"Thing": {"type": "object", "required": ["at"], "properties": {"at": {"type": "string", "format": "date-time"}}}}}}`

func TestCheck(t *testing.T) {
	d, err := Load([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	const good = `{"at":"2026-01-02T03:04:05Z"}`
	for name, c := range map[string]struct {
		method, path string
		status       int
		mediaType    string
		body         string
		says         string
	}{
		"as documented":        {"GET", "/things/5?x=1", 200, "application/json; charset=utf-8", good, ""},
		"an error":             {"GET", "/things/5", 404, "application/problem+json", `{"detail":"none"}`, ""},
		"nothing but headers":  {"HEAD", "/things/5", 200, "application/json", "", ""},
		"no body":              {"DELETE", "/things/5", 204, "", "", ""},
		"another path":         {"GET", "/others", 500, "text/plain", "x", ""},
		"another method":       {"PUT", "/things/5", 405, "text/plain", "x", ""},
		"another status":       {"GET", "/things/5", 403, "application/problem+json", `{}`, "GET /things/{id}: 403 is not documented"},
		"another type":         {"GET", "/things/5", 200, "text/html", good, "text/html"},
		"no type":              {"GET", "/things/5", 200, "", good, "is of the type"},
		"a body where none is": {"DELETE", "/things/5", 204, "", "x", "has a body"},
		"no JSON":              {"GET", "/things/5", 200, "application/json", "{", "not JSON"},
		"a missing member":     {"GET", "/things/5", 200, "application/json", `{}`, "missing property 'at'"},
		"a wrong format":       {"GET", "/things/5", 200, "application/json", `{"at":"today"}`, "date-time"},
		"one member too many":  {"GET", "/things/5", 200, "application/json", good[:len(good)-1] + `,"more":1}`, "more"},
	} {
		t.Run(name, func(t *testing.T) {
			header := http.Header{}
			if c.mediaType != "" {
				header.Set("Content-Type", c.mediaType)
			}
			err := d.Check(httptest.NewRequest(c.method, c.path, nil), c.status, header, []byte(c.body))
			if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
}
