package isolation

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/resolvers"
)

// TestPrivateContexts: a person sees no private context of another, unless it owns the account; a key
// sees all.
func TestPrivateContexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.grant(w.target, w.shared, "assistant", resolvers.MemberRole)
	w.SQL(`UPDATE users SET password_hash = (SELECT password_hash FROM users WHERE email = $1) WHERE email IN ($2, $3, $4)`,
		platform.DemoAdmin, "minh"+targetMail, "vera"+targetMail, "shared@elsewhere.example")
	login := func(email string) string {
		a := w.Must(200, "POST", "/auth/token", "", map[string]any{"email": email, "password": w.Demo.AdminPassword, "customerId": w.target})
		return platform.Member(t, a.JSON(t), "token").(string)
	}
	owner, viewer, author := login("minh"+targetMail), login("vera"+targetMail), login("shared@elsewhere.example")
	id := w.NewContext(author, "Diary")
	path := fmt.Sprintf("/context/%d", id)
	sees := func(token string) bool {
		a := w.Do("GET", path, token, nil)
		listed := strings.Contains(string(w.Must(200, "GET", "/context", token, nil).Body), `"Diary"`)
		found := w.Do("POST", fmt.Sprintf("/context/relevant-docs/%d", id), token, map[string]any{"prompt": "x"}).Status == 200
		if listed != (a.Status == 200) || listed != found || !listed && a.Status != 404 {
			t.Errorf("listed %v, found %v, read %d", listed, found, a.Status)
		}
		return listed
	}
	for name, c := range map[string]struct {
		token           string
		private, shared bool
	}{
		"its author": {author, true, true}, "the account's owner": {owner, true, true}, "another person": {viewer, false, true},
		"another person's key": {w.desk[asViewer], true, true},
	} {
		w.Must(204, "PUT", fmt.Sprintf("/context/share/%d", id), author, map[string]any{"shareState": 0})
		if got := sees(c.token); got != c.private {
			t.Errorf("%s sees the private context: %v", name, got)
		}
		w.Must(204, "PUT", fmt.Sprintf("/context/share/%d", id), author, map[string]any{"shareState": 1})
		if got := sees(c.token); got != c.shared {
			t.Errorf("%s sees the shared context: %v", name, got)
		}
	}
	// What only reads is asked anew under a key, and does not tell what is private by now.
	t.Run("under a key", func(t *testing.T) {
		share := fmt.Sprintf("/context/share/%d", id)
		defer w.Must(204, "PUT", share, author, map[string]any{"shareState": 1})
		for path, body := range map[string]string{
			fmt.Sprintf("/context/relevant-docs/%d", id): `{"prompt": "bees"}`,
			fmt.Sprintf("/context/answer/%d", id):        `{"prompt": "bees"}`,
			"/v1/contexts/search":                        fmt.Sprintf(`{"contextIds": [%d], "prompt": "bees"}`, id),
		} {
			for state, want := range []int{404, 200, 404} {
				w.Must(204, "PUT", share, author, map[string]any{"shareState": state % 2})
				a := w.Send(platform.Keyed(t, "POST", w.URL+path, viewer, "the-same", body))
				if a.Status != want || a.Header.Get("Idempotency-Replayed") != "" {
					t.Errorf("%s, shared %d: %d %v", path, state%2, a.Status, a.Header)
				}
			}
		}
		if n := w.Number(`SELECT count(*) FROM idempotency_keys WHERE id LIKE '%the-same'`); n != 0 {
			t.Errorf("%d answers are kept", n)
		}
	})
	t.Run("edges", func(t *testing.T) {
		const query = `{ customer { contexts { nodes { name } } children { nodes { contexts { totalCount } } }
			accounts { nodes { application { code } contexts { nodes { name } } } } } }`
		data, codes := w.GQL(viewer, query, nil)
		if !platform.SameJSON(platform.Member(t, data, "customer.contexts.nodes"), []any{map[string]any{"name": "Diary"}}) {
			t.Errorf("%v", data)
		}
		// What the token does not serve is not there, and says so: one company below, two other accounts.
		if platform.Member(t, data, "customer.children.nodes.0.contexts") != nil || !slices.Equal(codes, []string{"FORBIDDEN", "FORBIDDEN", "FORBIDDEN"}) {
			t.Errorf("%v: %v", codes, data)
		}
		for _, a := range platform.Member(t, data, "customer.accounts.nodes").([]any) {
			if contexts := platform.Member(t, a, "contexts"); (contexts != nil) != (platform.Member(t, a, "application.code") == "assistant") {
				t.Errorf("%v", a)
			}
		}
	})
}
