package agents

import (
	"strings"
	"testing"

	"canopy/e2e/platform"
)

// TestRunsAreFoundByTheBeginningOfTheirKeys: by six digits or more, with the key's dashes or without, and by nobody out of reach.
func TestRunsAreFoundByTheBeginningOfTheirKeys(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	builder := s.RootAs("builder")
	agent := s.Publish(builder, platform.Greeter)
	key := s.Mutate(builder, "startRun", "jobKey", map[string]any{"agentId": agent, "input": map[string]any{"name": "Ada"}})["jobKey"].(string)
	other := s.Mutate(builder, "startRun", "jobKey", map[string]any{"agentId": agent, "input": map[string]any{"name": "Ada"}})["jobKey"].(string)
	const search = `query($text: String!) { search(text: $text, types: [RUN]) { ... on Run { jobKey } } }`
	finds := func(token, text string) (keys []string) {
		t.Helper()
		for _, r := range s.MustGQL(token, search, map[string]any{"text": text})["search"].([]any) {
			keys = append(keys, r.(map[string]any)["jobKey"].(string))
		}
		return keys
	}
	for _, text := range []string{key[:6], key[:8], key[:11], strings.ToUpper(key[:20]), strings.ReplaceAll(key, "-", "")[:15], key} {
		if got := finds(builder, text); len(got) != 1 || got[0] != key {
			t.Errorf("%q finds %v, want %s and not %s", text, got, key, other)
		}
	}
	for _, text := range []string{key[:5], key[1:9], "x" + key[:8], key + "0"} {
		if got := finds(builder, text); len(got) != 0 {
			t.Errorf("%q finds %v", text, got)
		}
	}
	greta := s.TokenOf(s.Customer("Alpine Energy"), "greta@alpine.example", "builder")
	for _, text := range []string{key[:8], key} {
		if got := finds(greta, text); len(got) != 0 {
			t.Errorf("out of reach %q finds %v", text, got)
		}
	}
}
