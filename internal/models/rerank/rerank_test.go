package rerank

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"canopy/internal/models/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newClient(t *testing.T, path, model string, handler http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	client, err := New(openai.Config{URL: server.URL + path, Timeout: 200 * time.Millisecond}, model)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	t.Cleanup(client.Close)
	return client
}

// TestForms: what each kind of server is sent, and where.
func TestForms(t *testing.T) {
	for name, test := range map[string]struct{ path, model, at, sent, answer string }{
		"Cohere": {
			"/v2", "rerank-v3.5", "/v2/rerank", `{"model":"rerank-v3.5","query":"q","documents":["a","b","c"],"top_n":3}`,
			`{"id":"1","results":[{"index":2,"relevance_score":0.9},{"index":0,"relevance_score":-1.5}],"meta":{}}`,
		},
		"Jina": {
			"", "jina-reranker-v2", "/v1/rerank", `{"model":"jina-reranker-v2","query":"q","documents":["a","b","c"],"top_n":3}`,
			`{"results":[{"index":0,"relevance_score":0.1,"document":{"text":"a"}},{"index":2,"relevance_score":0.2}]}`,
		},
		"text-embeddings-inference": {"", "", "/rerank", `{"query":"q","texts":["a","b","c"],"truncate":true}`, ` [{"index":2,"score":3},{"index":0,"score":2}]`},
	} {
		t.Run(name, func(t *testing.T) {
			var at, sent string
			client := newClient(t, test.path, test.model, func(w http.ResponseWriter, r *http.Request) {
				content, _ := io.ReadAll(r.Body)
				at, sent = r.URL.Path, string(content)
				fmt.Fprint(w, test.answer)
			})
			order, err := client.Order(t.Context(), "q", []string{"a", "b", "c"})
			if err != nil || !slices.Equal(order, []int{2, 0, 1}) {
				t.Errorf("order %v, %v", order, err)
			}
			if at != test.at || sent != test.sent {
				t.Errorf("sent %s %s", at, sent)
			}
		})
	}
}

// TestUnusableAnswers: nothing is believed that is not about the texts.
func TestUnusableAnswers(t *testing.T) {
	for name, answer := range map[string]string{
		"none": `{"results":[]}`, "another text": `[{"index":3,"score":1}]`, "below": `[{"index":-1,"score":1}]`, "twice": `[{"index":0,"score":1},{"index":0,"score":2}]`,
		"no score": `[{"index":0}]`, "no index": `[{"score":1}]`, "a text": `"x"`, "nothing": ``, "null": `null`, "endless": `[` + strings.Repeat(" ", maxAnswer+1),
	} {
		t.Run(name, func(t *testing.T) {
			client := newClient(t, "", "", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) })
			if order, err := client.Order(t.Context(), "q", []string{"a", "b"}); !errors.Is(err, openai.ErrAnswer) {
				t.Errorf("order %v, %v", order, err)
			}
		})
	}
}

// TestSlowServers: a search does not wait longer than it must, nor twice.
func TestSlowServers(t *testing.T) {
	asked := 0
	client := newClient(t, "", "m", func(_ http.ResponseWriter, r *http.Request) {
		asked++
		_, _ = io.Copy(io.Discard, r.Body) // without which the server does not hear that nobody waits
		<-r.Context().Done()
	})
	if _, err := client.Order(t.Context(), "q", []string{"a"}); err == nil || asked != 1 {
		t.Errorf("asked %d times, %v", asked, err)
	}
}
