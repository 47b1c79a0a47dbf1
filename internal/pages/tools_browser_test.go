package pages_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"canopy/internal/devstack/browsertest"
)

func testdata(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// graphql is a stand-in for the endpoint: an introspection, a query that tells the caller's
// token, and a subscription by server-sent events that goes on until the client is gone.
func graphql(t *testing.T, ended chan<- struct{}) http.HandlerFunc {
	introspection := testdata(t, "introspection.json")
	return func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Query string }
		_ = json.NewDecoder(r.Body).Decode(&in)
		switch {
		case strings.Contains(in.Query, "__schema"):
			sendJSON(w, http.StatusOK, "application/graphql-response+json", introspection)
		case strings.Contains(in.Query, "ticks"):
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, ": hello\n\nevent: next\ndata: {\"data\":{\"ticks\":\n")
			w.(http.Flusher).Flush()
			_, _ = fmt.Fprintf(w, "data: 4711}}\n\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			ended <- struct{}{}
		default:
			sendJSON(w, http.StatusOK, "application/graphql-response+json",
				fmt.Sprintf(`{"data":{"hello":%q}}`, r.Header.Get("Authorization")))
		}
	}
}

// tokens is a stand-in for /connect/token that knows one key.
func tokens(w http.ResponseWriter, r *http.Request) {
	if r.FormValue("client_secret") != "secret" || r.FormValue("client_id") != "id" || r.FormValue("grant_type") != "client_credentials" {
		sendJSON(w, http.StatusUnauthorized, "application/json", `{"error":"invalid_client","error_description":"The client is not known."}`)
		return
	}
	sendJSON(w, http.StatusOK, "application/json", `{"access_token":"token-for-`+r.FormValue("target_app")+`","token_type":"Bearer","expires_in":900}`)
}

// logins is a stand-in for /auth/token with a user who has two-factor.
func logins(w http.ResponseWriter, r *http.Request) {
	var in struct{ Email, Password, OTP string }
	_ = json.NewDecoder(r.Body).Decode(&in)
	if in.OTP != "123456" {
		sendJSON(w, http.StatusUnauthorized, "application/problem+json", `{"code":"otp_required","detail":"A code is needed."}`)
		return
	}
	claims := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"exp":%d}`, time.Now().Add(time.Hour).Unix()))
	sendJSON(w, http.StatusOK, "application/json", `{"token":"head.`+claims+`.sign","customerOptions":[]}`)
}

func signIn(secret string) chromedp.Action[chromedp.Void] {
	return chromedp.Steps(
		chromedp.Evaluate[chromedp.Void](`document.getElementById('signin').open = true`),
		chromedp.SetValue("#client-id", "id"), chromedp.SetValue("#client-secret", secret),
		chromedp.Click("#signin-form button[type=submit]"),
	)
}

func TestGraphiQLInBrowser(t *testing.T) {
	ended := make(chan struct{}, 1)
	origin := platform(t, map[string]http.HandlerFunc{
		"POST /graphql": graphql(t, ended), "POST /connect/token": tokens, "POST /auth/token": logins,
	})
	b := browsertest.Open(t)
	b.Run(t, chromedp.Navigate(origin+"/graphiql"), chromedp.WaitVisible(".graphiql-query-editor .CodeMirror"))

	query := func(text string) chromedp.Action[chromedp.Void] {
		return chromedp.Steps(
			chromedp.Evaluate[chromedp.Void](`document.querySelector('.graphiql-query-editor .CodeMirror').CodeMirror.setValue(`+"`"+text+"`"+`)`),
			chromedp.Click(".graphiql-execute-button"),
		)
	}
	const shown = `document.querySelector('.result-window .CodeMirror').CodeMirror.getValue()`

	b.Run(t, query("{ hello }"))
	b.WaitFor(t, shown+`.includes('"hello": ""')`)
	b.Clean(t, origin)

	b.Run(t, signIn("secret"))
	b.WaitFor(t, `document.getElementById('signin-state').textContent.startsWith('Signed in until')`)
	b.WaitFor(t, `[...document.querySelectorAll('.graphiql-editor .CodeMirror')].some((e) => e.CodeMirror.getValue().includes('Bearer token-for-tenant'))`)
	b.Run(t, query("{ hello }"))
	b.WaitFor(t, shown+`.includes('Bearer token-for-tenant')`)
	b.Shoot(t, "graphiql")

	b.Run(t, query("subscription { ticks }"))
	b.WaitFor(t, shown+`.includes('4711')`)
	b.Run(t, chromedp.Click(".graphiql-execute-button"))
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the subscription goes on after it was stopped")
	}
	b.Clean(t, origin)

	kept := browsertest.Get(t, b, chromedp.Evaluate[string](`JSON.stringify([localStorage, sessionStorage])`))
	if local, _, _ := strings.Cut(kept, "canopy.session"); strings.Contains(local, "token-for") || strings.Contains(kept, `"secret`) {
		t.Errorf("a credential is kept: %s", kept)
	}
}

func TestSignInWithPasswordInBrowser(t *testing.T) {
	origin := platform(t, map[string]http.HandlerFunc{
		"POST /graphql": graphql(t, nil), "POST /connect/token": tokens, "POST /auth/token": logins,
	})
	b := browsertest.Open(t)
	b.Run(t, chromedp.Navigate(origin+"/graphiql"), chromedp.WaitVisible(".graphiql-query-editor .CodeMirror"))
	b.Run(t, signIn("wrong"))
	if got := b.Text(t, "#signin-error"); got != "The client is not known." {
		t.Errorf("the box says %q", got)
	}
	b.Shoot(t, "signin")
	b.Run(t, chromedp.Click("input[value=login]"),
		chromedp.SetValue("#email", "ann@example.com"), chromedp.SetValue("#password", "correct horse"),
		chromedp.Click("#signin-form button[type=submit]"),
		chromedp.WaitVisible("#otp"), chromedp.SendKeys("#otp", "123456"), chromedp.Click("#signin-form button[type=submit]"))
	b.WaitFor(t, `document.getElementById('signin-state').textContent.startsWith('Signed in until')`)
	b.Run(t, chromedp.Evaluate[chromedp.Void](`document.getElementById('signin').open = true`), chromedp.Click("#signout"))
	b.WaitFor(t, `document.getElementById('signin-state').textContent === 'Sign in' && !sessionStorage.length`)
}

func TestDocsInBrowser(t *testing.T) {
	openapi := testdata(t, "openapi.json")
	origin := platform(t, map[string]http.HandlerFunc{
		"POST /connect/token": tokens,
		"GET /openapi.json": func(w http.ResponseWriter, _ *http.Request) {
			sendJSON(w, http.StatusOK, "application/json", openapi)
		},
		"GET /tenant": func(w http.ResponseWriter, r *http.Request) {
			sendJSON(w, http.StatusOK, "application/json", fmt.Sprintf(`{"email":%q}`, r.Header.Get("Authorization")))
		},
	})
	b := browsertest.Open(t)
	b.Run(t, chromedp.Navigate(origin+"/docs"))
	if got := b.Text(t, "#operations-Companies-getIdentity .opblock-summary-description"); got != "Get the current identity" {
		t.Errorf("the operation is shown as %q", got)
	}
	b.Run(t, signIn("secret"))
	b.WaitFor(t, `document.getElementById('signin-state').textContent.startsWith('Signed in until')`)
	b.Shoot(t, "docs")
	b.Run(t,
		chromedp.Click("#operations-Companies-getIdentity .opblock-summary-control"),
		chromedp.WaitVisible("#operations-Companies-getIdentity .execute"),
		chromedp.Click("#operations-Companies-getIdentity .execute"))
	b.WaitFor(t, `[...document.querySelectorAll('.live-responses-table .microlight')].some((e) => e.textContent.includes('Bearer token-for-tenant'))`)
	b.Shoot(t, "docs-operation")
	b.Clean(t, origin)
}
