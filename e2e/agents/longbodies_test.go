package agents

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"canopy/e2e/platform"
)

// TestLongBodiesAreTaken: with a token a body may have a megabyte at both doors, under an idempotency key or not. One that is longer is refused
// alike, for its length.
func TestLongBodiesAreTaken(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	token := s.RootAs("builder")
	agent := s.Publish(token, platform.Greeter)
	rest := fmt.Sprintf("/CognitiveDiagram/%d/ExecuteAsJob", agent)
	for _, size := range []int{100 << 10, 900 << 10, 1100 << 10} {
		status, name := 202, strings.Repeat("x", size)
		if size > 1<<20 {
			status = 413
		}
		input := `{"name":"` + name + `"}`
		graph := fmt.Sprintf(`{"query":"mutation($i: JSON!) { startRun(input: {agentId: %d, input: $i}) { run { jobKey } } }","variables":{"i":%s}}`, agent, input)
		for _, key := range []string{"", fmt.Sprint("long", size)} {
			send := func(path, body, key string) platform.Answer {
				req := platform.Keyed(t, "POST", s.URL+path, token, key, body)
				if key == "" {
					req.Header.Del("Idempotency-Key")
				}
				return s.Send(req)
			}
			if a := send(rest, input, key); a.Status != status {
				t.Errorf("REST, %d bytes, key %q: %d %.300s", size, key, a.Status, a.Body)
			}
			if key != "" {
				key += "graph"
			}
			a := send("/graphql", graph, key)
			if refused := bytes.Contains(a.Body, []byte("PAYLOAD_TOO_LARGE")); refused != (status == 413) || !refused && bytes.Contains(a.Body, []byte("errors")) {
				t.Errorf("GraphQL, %d bytes, key %q: %d %.300s", size, key, a.Status, a.Body)
			}
		}
	}
}
