package graph

import (
	"encoding/json"
	"testing"

	"canopy/e2e/platform"
)

// failure is an error of a GraphQL answer.
type failure struct {
	Path       []any
	Extensions struct{ Code string }
}

// TestAFailedFieldKeepsTheOthers: what stands beside a mutation or a look-up that fails is done and
// answered, a secret that is shown this once included.
func TestAFailedFieldKeepsTheOthers(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	token := s.Root()
	for name, c := range map[string]struct {
		query string
		// kept are the fields that are answered, failed the one that is null, with its code.
		kept         []string
		failed, code string
	}{
		"mutations": {
			`mutation {
				a: createUser(input: {email: "a@siblings.example"}) { user { email } }
				b: createUser(input: {email: "no address"}) { user { email } }
				c: createUser(input: {email: "c@siblings.example"}) { user { email } } }`,
			[]string{"a", "c"},
			"b", "BAD_REQUEST",
		},
		"a secret": {
			`mutation {
				a: createApiKey(input: {name: "shown once"}) { clientSecret }
				b: deleteRole(input: {id: 999999}) { deletedId } }`,
			[]string{"a"},
			"b", "NOT_FOUND",
		},
		"an argument": {
			`mutation {
				a: createUser(input: {email: "d@siblings.example"}) { user { email } }
				b: updateRole(input: {id: "no id", name: "x"}) { role { name } } }`,
			[]string{"a"},
			"b", "BAD_REQUEST",
		},
		"look-ups": {
			`{ a: customer { name } b: customer(id: 999999) { name } c: regions { name } }`,
			[]string{"a", "c"},
			"b", "NOT_FOUND",
		},
		"another application's": {
			`{ a: customer { name } b: agent(id: 1) { name } }`,
			[]string{"a"},
			"b", "FORBIDDEN",
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.Do("POST", "/graphql", token, object{"query": c.query})
			var body struct {
				Data   map[string]json.RawMessage
				Errors []failure
			}
			if err := json.Unmarshal(a.Body, &body); err != nil {
				t.Fatal(err)
			}
			if len(body.Errors) != 1 || body.Errors[0].Extensions.Code != c.code || len(body.Errors[0].Path) == 0 || body.Errors[0].Path[0] != c.failed {
				t.Errorf("want one %s at %s: %+v", c.code, c.failed, body.Errors)
			}
			if len(body.Data) != len(c.kept)+1 || string(body.Data[c.failed]) != "null" {
				t.Errorf("%s", a.Body)
			}
			for _, field := range c.kept {
				if raw := body.Data[field]; len(raw) == 0 || string(raw) == "null" {
					t.Errorf("%s was lost: %s", field, a.Body)
				}
			}
		})
	}
}

// TestASecretOutlivesWhatStandsBesideIt: a secret that is shown this once is answered where the object beside it
// can't be read.
func TestASecretOutlivesWhatStandsBesideIt(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	token := s.Root()
	for field, document := range map[string]string{
		"clientSecret": `mutation { a: createApiKey(input: {name: "shown once"}) { clientSecret beside: apiKey { customer { users(first: -1) { totalCount } } } } }`,
		"secret":       `mutation { a: createWebhookDestination(input: {url: "https://8.8.8.8/"}) { secret beside: destination { deliveries(first: -1) { totalCount } } } }`,
	} {
		a := s.Do("POST", "/graphql", token, object{"query": document})
		var body struct {
			Data   struct{ A map[string]json.RawMessage }
			Errors []failure
		}
		if err := json.Unmarshal(a.Body, &body); err != nil {
			t.Fatal(err)
		}
		if len(body.Errors) != 1 || body.Errors[0].Extensions.Code != "BAD_REQUEST" || string(body.Data.A["beside"]) != "null" || len(body.Data.A[field]) < 20 {
			t.Errorf("%s", a.Body)
		}
	}
}
