package tenancy

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"canopy/e2e/platform"
)

// keyed sends a request with an idempotency key.
func keyed(t *testing.T, s *platform.Platform, method, path, token, key, body string) platform.Answer {
	t.Helper()
	return s.Send(platform.Keyed(t, method, s.URL+path, token, key, body))
}

// again sends a request twice, the second time to another server: both are answered alike, with the status, to the byte.
func again(t *testing.T, s, twin *platform.Platform, status int, method, path, token, key, body string) {
	t.Helper()
	first, second := keyed(t, s, method, path, token, key, body), keyed(t, twin, method, path, token, key, body)
	if first.Status != status || second.Status != status || !bytes.Equal(first.Body, second.Body) ||
		first.Header.Get("Idempotency-Replayed") != "" || second.Header.Get("Idempotency-Replayed") != "true" ||
		first.Header.Get("Content-Type") != second.Header.Get("Content-Type") {
		t.Errorf("%s %s:\n%d %v %s\n%d %v %s", method, path, first.Status, first.Header, first.Body, second.Status, second.Header, second.Body)
	}
}

// code is the reason of a refusal at either door.
func code(a platform.Answer) string {
	for _, word := range []string{"idempotency_mismatch", "idempotency_in_progress", "idempotency_answer_lost", "idempotency_full"} {
		if bytes.Contains(a.Body, []byte(`"`+word+`"`)) {
			return word
		}
	}
	return ""
}

func TestDoneOnce(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	twin := s.Twin(t)
	token := s.Root()
	graph := func(query string) string { return fmt.Sprintf(`{"query": %q}`, query) }
	users := func() int64 { return s.Number(`SELECT count(*) FROM users`) }

	t.Run("REST", func(t *testing.T) {
		before := users()
		again(t, s, twin, 201, "POST", "/tenant/user", token, "a", `{"email": "once@example.org", "firstName": "O", "lastName": "N"}`)
		again(t, s, twin, 400, "POST", "/tenant/user", token, "b", `{"email": "no address"}`)
		again(t, s, twin, 400, "POST", "/tenant/user", token, "c", `{"email": `)
		again(t, s, twin, 404, "PATCH", "/permission/4711", token, "d", `{}`)
		if n := users() - before; n != 1 {
			t.Errorf("%d users were made", n)
		}
		if a := keyed(t, twin, "POST", "/tenant/user", token, "a", `{"email": "other@example.org"}`); a.Status != 409 || code(a) != "idempotency_mismatch" {
			t.Errorf("another request: %d %s", a.Status, a.Body)
		}
		if a := keyed(t, s, "POST", "/tenant/user/init", token, "a", `{"email": "once@example.org", "firstName": "O", "lastName": "N"}`); a.Status != 409 {
			t.Errorf("another path: %d %s", a.Status, a.Body)
		}
	})
	t.Run("GraphQL", func(t *testing.T) {
		before := users()
		made := graph(`mutation { createUser(input: {email: "graph@example.org", firstName: "G", lastName: "Q"}) { user { email } } }`)
		again(t, s, twin, 200, "POST", "/graphql", token, "g", made)
		again(t, s, twin, 200, "POST", "/graphql", token, "h", graph(`mutation { createUser(input: {email: "none"}) { user { email } } }`))
		again(t, s, twin, 200, "POST", "/graphql", token, "i", graph(`mutation { createUser { user { email } } }`))
		if n := users() - before; n != 1 {
			t.Errorf("%d users were made", n)
		}
		if a := keyed(t, s, "POST", "/graphql", token, "g", graph(`mutation { createUser(input: {email: "x@example.org"}) { user { email } } }`)); a.Status != 409 || code(a) != "idempotency_mismatch" {
			t.Errorf("another mutation: %d %s", a.Status, a.Body)
		}
		for range 2 { // a query is asked anew
			if a := keyed(t, s, "POST", "/graphql", token, "g", graph(`{ me { user { email } } }`)); a.Status != 200 || a.Header.Get("Idempotency-Replayed") != "" {
				t.Errorf("a query: %d %v", a.Status, a.Header)
			}
		}
	})
	t.Run("keys", func(t *testing.T) {
		for _, key := range []string{" ", "two words", "ü", strings.Repeat("k", 256)} {
			for _, path := range []string{"/tenant/user", "/graphql"} {
				a := keyed(t, s, "POST", path, token, key, graph(`mutation { createUser(input: {email: "bad@example.org"}) { user { id } } }`))
				if !bytes.Contains(a.Body, []byte("header.Idempotency-Key")) || !bytes.Contains(a.Body, []byte("BAD_REQUEST")) {
					t.Errorf("%q at %s: %d %s", key, path, a.Status, a.Body)
				}
			}
		}
		if n := s.Number(`SELECT count(*) FROM users WHERE email = 'bad@example.org'`); n != 0 {
			t.Error("a request with a bad key was done")
		}
	})
	t.Run("many at the same time", func(t *testing.T) {
		var all sync.WaitGroup
		for i := range 20 {
			at := []*platform.Platform{s, twin}[i%2]
			all.Go(func() {
				a := keyed(t, at, "POST", "/tenant/user", token, "crowd", `{"email": "crowd@example.org"}`)
				if a.Status != 201 && (a.Status != 409 || code(a) != "idempotency_in_progress" || a.Header.Get("Retry-After") == "") {
					t.Errorf("%d %s", a.Status, a.Body)
				}
			})
		}
		all.Wait()
		if a := keyed(t, s, "POST", "/tenant/user", token, "crowd", `{"email": "crowd@example.org"}`); a.Status != 201 {
			t.Errorf("afterwards: %d %s", a.Status, a.Body)
		}
	})
	t.Run("forms", func(t *testing.T) {
		assistant := s.Assistant()
		id := s.NewContext(assistant, "Forms")
		header := http.Header{"Idempotency-Key": {"form"}, "Graphql-Preflight": {"1"}}
		for _, path := range []string{fmt.Sprintf("/context/upload/%d", id), "/graphql"} {
			a := s.PostWith(path, assistant, "multipart/form-data; boundary=x", []byte("--x--\r\n"), header)
			if a.Status != 400 || !bytes.Contains(a.Body, []byte("header.Idempotency-Key")) {
				t.Errorf("%s: %d %s", path, a.Status, a.Body)
			}
		}
	})
}

// TestKeptForWhoMay: what is kept is the caller's own, sealed, and shown to nobody who could not do the same now.
func TestKeptForWhoMay(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	owner := s.Root()
	body := fmt.Sprintf(`{"userId": %d, "name": "Once"}`, s.UserID(s.Demo.AdminEmail))
	a := keyed(t, s, "POST", "/v1/keys", owner, "secret", body)
	b := keyed(t, s, "POST", "/v1/keys", owner, "secret", body)
	if a.Status != 201 || !bytes.Equal(a.Body, b.Body) || b.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %s\n%d %v %s", a.Status, a.Body, b.Status, b.Header, b.Body)
	}
	secret := platform.Member(t, a.JSON(t), "clientSecret").(string)
	if n := s.Number(`SELECT count(*) FROM idempotency_keys k WHERE position($1 IN encode(k.answer, 'escape')) > 0 OR position($1 IN k.id) > 0`, secret); n != 0 {
		t.Error("an answer lies open")
	}
	// The made key is another caller, whose keys are its own.
	made := s.Token(platform.Member(t, a.JSON(t), "clientId").(string), secret, "tenant")
	user := `{"email": "kept@example.org"}`
	if a := keyed(t, s, "POST", "/tenant/user", made, "secret", user); a.Status != 201 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	graph := `{"query": "mutation { createUser(input: {email: \"graphlater@example.org\"}) { user { email } } }"}`
	// That a key is none is told to who may.
	if a := keyed(t, s, "POST", "/graphql", made, "refused too", graph); a.Status != 400 || !bytes.Contains(a.Body, []byte("Idempotency-Key")) {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	permission := s.Permission(s.UserID(s.Demo.AdminEmail), s.Account(1, "tenant"))
	role := s.Number(`SELECT role_id FROM permissions WHERE id = $1`, permission)
	s.SQL(`UPDATE permissions SET role_id = $1 WHERE id = $2`, s.RoleID(0, "tenant", "Viewer"), permission)
	if a := keyed(t, s, "POST", "/tenant/user", made, "secret", user); a.Status != 403 {
		t.Errorf("with the right lost: %d %s", a.Status, a.Body)
	}
	if a := keyed(t, s, "POST", "/tenant/user", made, "refused", `{"email": "later@example.org"}`); a.Status != 403 {
		t.Errorf("without the right: %d %s", a.Status, a.Body)
	}
	for _, key := range []string{"refused too", "refused-too"} {
		if a := keyed(t, s, "POST", "/graphql", made, key, graph); !bytes.Contains(a.Body, []byte("FORBIDDEN")) || bytes.Contains(a.Body, []byte("Idempotency-Key")) {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	s.SQL(`UPDATE permissions SET role_id = $1 WHERE id = $2`, role, permission)
	s.SQL(`UPDATE permissions SET user_id = $1 WHERE id = $2`, s.UserID("kept@example.org"), permission)
	for _, key := range []string{"secret", "refused"} {
		if a := keyed(t, s, "POST", "/tenant/user", made, key, user); a.Status != 403 {
			t.Errorf("with the permission lost, %s: %d %s", key, a.Status, a.Body)
		}
		if a := keyed(t, s, "POST", "/graphql", made, key, graph); !bytes.Contains(a.Body, []byte("FORBIDDEN")) {
			t.Errorf("with the permission lost, %s: %d %s", key, a.Status, a.Body)
		}
	}
	s.SQL(`UPDATE permissions SET user_id = $1 WHERE id = $2`, s.UserID(s.Demo.AdminEmail), permission)
	// A refusal is not kept.
	if a := keyed(t, s, "POST", "/tenant/user", made, "refused", `{"email": "later@example.org"}`); a.Status != 201 {
		t.Errorf("with the right again: %d %s", a.Status, a.Body)
	}
	if a := keyed(t, s, "POST", "/graphql", made, "refused-too", graph); a.Status != 200 || bytes.Contains(a.Body, []byte("errors")) {
		t.Errorf("with the right again: %d %s", a.Status, a.Body)
	}
	s.SQL(`UPDATE api_keys SET revoked_at = now() WHERE client_id = $1`, platform.Member(t, a.JSON(t), "clientId"))
	if a := keyed(t, s, "POST", "/tenant/user", made, "secret", user); a.Status != 401 {
		t.Errorf("with the key revoked: %d %s", a.Status, a.Body)
	}
}

// TestRoomForAnswers: who has no room for another answer is told so, and an old key is used anew.
func TestRoomForAnswers(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	token := s.Root()
	if a := keyed(t, s, "POST", "/tenant/user", token, "old", `{"email": "old@example.org"}`); a.Status != 201 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	s.SQL(`UPDATE idempotency_bytes SET bytes = 1 << 30 WHERE owner LIKE 'key:%'`)
	if a := keyed(t, s, "POST", "/tenant/user", token, "new", `{"email": "new@example.org"}`); a.Status != 429 || code(a) != "idempotency_full" || a.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if a := keyed(t, s, "POST", "/tenant/user", token, "old", `{"email": "old@example.org"}`); a.Status != 201 {
		t.Errorf("what is kept already: %d %s", a.Status, a.Body)
	}
	s.SQL(`UPDATE idempotency_keys SET created_at = now() - interval '25 hours'`)
	if a := keyed(t, s, "POST", "/tenant/user", token, "old", `{"email": "another@example.org"}`); a.Status != 201 || a.Header.Get("Idempotency-Replayed") != "" {
		t.Errorf("an old key: %d %s", a.Status, a.Body)
	}
}
