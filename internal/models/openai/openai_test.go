package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "sk-very-secret"

// serve starts a server whose nth request, from 1, is answered by answer.
func serve(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, n int)) (*Client, *atomic.Int64) {
	t.Helper()
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer(w, r, int(requests.Add(1)))
	}))
	client, err := New(Config{URL: server.URL, Key: key, Attempts: 3, Backoff: time.Millisecond, MaxRetryAfter: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	t.Cleanup(client.CloseIdle)
	return client, &requests
}

type answer struct {
	OK bool `json:"ok"`
}

func post(t *testing.T, c *Client) (answer, error) {
	t.Helper()
	var a answer
	err := c.Post(t.Context(), "/test", []byte(`{}`), &a, 100)
	return a, err
}

func TestURL(t *testing.T) {
	tests := []struct{ url, want string }{
		{"http://h:1", "http://h:1/v1"},
		{"http://h/", "http://h/v1"},
		{"https://h/v1", "https://h/v1"},
		{"https://h/v1/", "https://h/v1"},
		{" https://h/api/v1beta ", "https://h/api/v1beta"},
		{"https://h/openai", "https://h/openai/v1"},
	}
	for _, tt := range tests {
		t.Run(tt.url, func(t *testing.T) {
			c, err := New(Config{URL: tt.url})
			if err != nil || c.base != tt.want {
				t.Errorf("base %q, %v; want %q", c.base, err, tt.want)
			}
		})
	}
	for _, bad := range []string{"", "h:1", "ftp://h", "http://", "http://u:p@h", "http://h?x=1", "http://h#x"} {
		t.Run("refuses "+bad, func(t *testing.T) {
			if _, err := New(Config{URL: bad}); !errors.Is(err, ErrConfig) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestRequest(t *testing.T) {
	client, _ := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		if r.Method != http.MethodPost || r.URL.Path != "/v1/test" || r.Header.Get("Authorization") != "Bearer "+key || r.Header.Get("Content-Type") != "application/json" {
			http.Error(w, "wrong request", http.StatusTeapot)
			return
		}
		fmt.Fprint(w, `{"ok":true}`)
	})
	if a, err := post(t, client); err != nil || !a.OK {
		t.Errorf("answer %v, %v", a, err)
	}
}

func TestRetries(t *testing.T) {
	tests := []struct {
		name     string
		first    http.HandlerFunc
		requests int64 // until success or the end
		ok       bool
	}{
		{"429", status(429, ""), 2, true},
		{"500", status(500, ""), 2, true},
		{"503", status(503, ""), 2, true},
		{"529", status(529, ""), 2, true},
		{"400", status(400, ""), 1, false},
		{"401", status(401, ""), 1, false},
		{"404", status(404, ""), 1, false},
		{"501", status(501, ""), 1, false},
		{"redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/v1/other", http.StatusFound) }, 1, false},
		{"asked to wait too long", status(429, "3600"), 1, false},
		{"connection dropped", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 2, true},
		{"answer broken off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "50")
			fmt.Fprint(w, `{"ok":`)
		}, 2, true},
		{"not JSON", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, 1, false},
		{"too long", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat(" ", 200)) }, 1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			client, requests := serve(t, func(w http.ResponseWriter, r *http.Request, n int) {
				if n == 1 {
					tt.first(w, r)
					return
				}
				fmt.Fprint(w, `{"ok":true}`)
			})
			a, err := post(t, client)
			if (err == nil) != tt.ok || a.OK != tt.ok {
				t.Errorf("answer %v, error %v", a, err)
			}
			if n := requests.Load(); n != tt.requests {
				t.Errorf("%d requests, want %d", n, tt.requests)
			}
		})
	}
}

func status(code int, retryAfter string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		w.WriteHeader(code)
	}
}

func TestGivesUpAfterItsAttempts(t *testing.T) {
	client, requests := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(502) })
	_, err := post(t, client)
	var status *StatusError
	if !errors.As(err, &status) || status.Status != 502 || requests.Load() != 3 {
		t.Errorf("error %v after %d requests", err, requests.Load())
	}
}

func TestWaitsAsLongAsAsked(t *testing.T) {
	client, _ := serve(t, func(w http.ResponseWriter, r *http.Request, n int) {
		if n == 1 {
			status(503, "1")(w, r)
			return
		}
		fmt.Fprint(w, `{"ok":true}`)
	})
	began := time.Now()
	if _, err := post(t, client); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < time.Second {
		t.Errorf("came back after %v", took)
	}
}

func TestContextEndsAWait(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	client, _ := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		status(503, "3")(w, r)
		cancel()
	})
	began := time.Now()
	if err := client.Post(ctx, "/test", nil, nil, 100); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("the wait went on for %v", took)
	}
}

func TestAttemptTimesOut(t *testing.T) {
	release := make(chan struct{})
	client, requests := serve(t, func(w http.ResponseWriter, r *http.Request, n int) {
		if n == 1 {
			<-release
			return
		}
		fmt.Fprint(w, `{"ok":true}`)
	})
	t.Cleanup(func() { close(release) })
	client.config.Timeout = 2 * time.Second // enough for an answer, however busy the machine is
	if a, err := post(t, client); err != nil || !a.OK || requests.Load() != 2 {
		t.Errorf("answer %v, %v, after %d requests", a, err, requests.Load())
	}
}

func TestMessages(t *testing.T) {
	tests := []struct{ name, body, want string }{
		{"OpenAI", `{"error":{"message":"no such model","type":"x"}}`, "no such model"},
		{"error text", `{"error":"input too long"}`, "input too long"},
		{"message", `{"message":"busy"}`, "busy"},
		{"detail", `{"detail":"Not Found"}`, "Not Found"},
		{"plain", "upstream\n failed", "upstream failed"},
		{"key repeated", `{"error":{"message":"Incorrect API key: ` + key + `."}}`, "Incorrect API key: [key]."},
		{"empty", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			client, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
				w.WriteHeader(401)
				fmt.Fprint(w, tt.body)
			})
			_, err := post(t, client)
			var status *StatusError
			if !errors.As(err, &status) || status.Message != tt.want || strings.Contains(err.Error(), key) {
				t.Errorf("error %v, want the message %q", err, tt.want)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	tests := []struct {
		value string
		want  time.Duration
	}{
		{"", 0},
		{"7", 7 * time.Second},
		{"-7", 0},
		{"soon", 0},
		{"Fri, 02 Jan 2026 03:04:35 GMT", 30 * time.Second},
		{"Fri, 02 Jan 2026 03:04:00 GMT", 0},
	}
	for _, tt := range tests {
		t.Run(tt.value, func(t *testing.T) {
			if got := retryAfter(tt.value, now); got != tt.want {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}
