package platform

import (
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"canopy/internal/config"
)

// ModelServer speaks OpenAI's interface and embeds a text by the letters in it.
type ModelServer struct {
	*httptest.Server
	mu sync.Mutex
	// texts counts the texts that were embedded.
	Texts int
	// fail gives the status of the next requests, 0 for none.
	Fail func() int
	// dimensions of the vectors.
	Dimensions int
	// pause is what each request takes.
	Pause time.Duration
}

func NewModelServer(t *testing.T) *ModelServer {
	t.Helper()
	m := &ModelServer{Dimensions: 26, Fail: func() int { return 0 }}
	m.Server = httptest.NewServer(http.HandlerFunc(m.embed))
	t.Cleanup(m.Close)
	return m
}

func (m *ModelServer) embed(w http.ResponseWriter, r *http.Request) {
	time.Sleep(m.Pause)
	m.mu.Lock()
	defer m.mu.Unlock()
	if status := m.Fail(); status != 0 {
		http.Error(w, `{"error":{"message":"not now"}}`, status)
		return
	}
	var in struct {
		Model string
		Input []string
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.URL.Path != "/v1/embeddings" || r.Header.Get("Authorization") != "Bearer secret" {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	var out struct {
		Data []map[string]any `json:"data"`
	}
	for i, text := range in.Input {
		m.Texts++
		out.Data = append(out.Data, map[string]any{"index": i, "embedding": m.Vector(text)})
	}
	_ = json.NewEncoder(w).Encode(out)
}

// Vector counts letters.
func (m *ModelServer) Vector(text string) []float32 {
	v := make([]float32, m.Dimensions)
	for _, c := range strings.ToLower(text) {
		if c >= 'a' && c <= 'z' && int(c-'a') < len(v) {
			v[c-'a']++
		}
	}
	return v
}

// Embedded counts the texts that were embedded, each as often as it was.
func (m *ModelServer) Embedded() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.Texts
}

// Failing makes the next n requests fail with the status; n below 0 is all of them.
func (m *ModelServer) Failing(status, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Fail = func() int {
		if n == 0 {
			return 0
		}
		n--
		return status
	}
}

// Resize has vectors of another length from now on.
func (m *ModelServer) Resize(dimensions int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Dimensions = dimensions
}

// Use has a platform embed with the server.
func (m *ModelServer) Use(c *config.Config) {
	c.Embeddings = config.Provider{URL: m.URL, APIKey: "secret", Model: "letters-1"}
}

// Cosine of two vectors, as the definition says.
func Cosine(a, b []float32) float64 {
	var dot, x, y float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		x += float64(a[i]) * float64(a[i])
		y += float64(b[i]) * float64(b[i])
	}
	return dot / math.Sqrt(x*y)
}
