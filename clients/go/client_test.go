package canopy

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// platform answers as the platform does; life is that of its tokens, in seconds.
func platform(t *testing.T, life int) (c *Client, exchanges *int) {
	t.Helper()
	exchanges = new(int)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /connect/token", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("client_id") != "me" || r.FormValue("client_secret") != "secret" || r.FormValue("target_app") != "builder" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		*exchanges++
		_, _ = fmt.Fprintf(w, `{"access_token":"t%d","expires_in":%d}`, *exchanges, life)
	})
	mux.HandleFunc("GET /whoami", func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, `{"as":%q}`, r.Header.Get("Authorization"))
	})
	mux.HandleFunc("GET /gone", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"detail":"there is no such thing","region":"us-east"}`))
	})
	mux.HandleFunc("POST /graphql", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"data":{"x":null},"errors":[{"message":"x is out of reach","extensions":{"region":"us-east"}}]}`))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return &Client{URL: server.URL, App: "builder", Key: Key{"me", "secret"}}, exchanges
}

func TestTokenIsKeptWhileItLasts(t *testing.T) {
	for life, want := range map[int]int{900: 1, 60: 3} {
		c, exchanges := platform(t, life)
		var who struct{ As string }
		for range 3 {
			if err := c.Call(t.Context(), "GET", "/whoami", nil, &who); err != nil {
				t.Fatal(err)
			}
		}
		if *exchanges != want || who.As != fmt.Sprintf("Bearer t%d", want) {
			t.Errorf("tokens of %d s: %d exchanges, the last call with %s", life, *exchanges, who.As)
		}
	}
}

func TestRefusals(t *testing.T) {
	c, _ := platform(t, 900)
	var refusal *Refusal
	err := c.Call(t.Context(), "GET", "/gone", nil, nil)
	if !errors.As(err, &refusal) || refusal.Status != 404 || refusal.Detail != "there is no such thing" || refusal.Region != "us-east" {
		t.Errorf("got %v", err)
	}
	var all Errors
	if err := c.GraphQL(t.Context(), `{ x }`, nil, nil); !errors.As(err, &all) || !strings.Contains(err.Error(), "out of reach") || all[0].Extensions.Region != "us-east" {
		t.Errorf("an error of GraphQL: %v", err)
	}
	stranger := &Client{URL: c.URL, App: c.App, Key: Key{"me", "wrong"}}
	if err := stranger.Call(t.Context(), "GET", "/whoami", nil, nil); !errors.As(err, &refusal) || refusal.Status != 401 {
		t.Errorf("with a wrong secret: %v", err)
	}
}

// tripper answers requests.
type tripper func(*http.Request) (*http.Response, error)

func (do tripper) RoundTrip(r *http.Request) (*http.Response, error) { return do(r) }

// TestNobodyAnswers: where nobody can be asked a request ends within seconds, with the address in what it tells, and what is waited for is told, too.
func TestNobodyAnswers(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	for name, c := range map[string]struct {
		err      error
		attempts int
		most     time.Duration
	}{
		"nothing listens": {refused, 5, 4 * time.Second},
		"no such name":    {&net.DNSError{Err: "no such host", Name: "api.example", IsNotFound: true}, 1, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			attempts, begun := 0, time.Now()
			var told []string
			client := &Client{
				URL: "http://api.example", Retries: 4, Waits: func(why error, _ time.Duration) { told = append(told, why.Error()) },
				HTTP: &http.Client{Transport: tripper(func(*http.Request) (*http.Response, error) { attempts++; return nil, c.err })},
			}
			err := client.Call(t.Context(), "GET", "/whoami", nil, nil)
			if !Unreached(err) || !strings.HasPrefix(err.Error(), "no platform answers at http://api.example: ") || !errors.Is(err, c.err) {
				t.Errorf("%s: %v", name, err)
			}
			if took := time.Since(begun); attempts != c.attempts || took > c.most || len(told) != c.attempts-1 {
				t.Errorf("%s: %d attempts in %v, of which was told %q", name, attempts, took, told)
			}
		})
	}
}

// TestProxies: what a proxy says in place of a platform that is started anew is waited for.
func TestProxies(t *testing.T) {
	for _, status := range []int{502, 503, 504} {
		synctest.Test(t, func(t *testing.T) {
			var told []string
			answers := []int{status, status, 200}
			client := &Client{
				URL: "http://api.example", Retries: 4, Waits: func(why error, _ time.Duration) { told = append(told, why.Error()) },
				HTTP: &http.Client{Transport: tripper(func(*http.Request) (*http.Response, error) {
					w := httptest.NewRecorder()
					w.WriteHeader(answers[0])
					answers = answers[1:]
					_, _ = w.WriteString("{}")
					return w.Result(), nil
				})},
			}
			if _, _, err := client.nextToken(t.Context()); err != nil || len(told) != 2 || !strings.Contains(told[0], fmt.Sprint(status)) {
				t.Errorf("%d: %v, of which was told %q", status, err, told)
			}
		})
	}
}

func TestKeys(t *testing.T) {
	if k := PrintedKey("company        1\nclient_id      me\nclient_secret  s s\n"); k != (Key{"me", "s s"}) {
		t.Errorf("printed: %+v", k)
	}
	file := filepath.Join(t.TempDir(), "dev.json")
	if err := os.WriteFile(file, []byte(`{"url":"http://x","clientId":"me","clientSecret":"s"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if url, k, err := ReadKeyFile(file); err != nil || url != "http://x" || k != (Key{"me", "s"}) {
		t.Errorf("%s %+v %v", url, k, err)
	}
}
