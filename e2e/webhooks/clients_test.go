package webhooks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/devstack/npmtest"
	"canopy/internal/secret"
)

// TestClientsOfStandardWebhooks has the library of Standard Webhooks verify what came: as it is, and
// during a rotation, with the old secret and with the new one.
func TestClientsOfStandardWebhooks(t *testing.T) {
	t.Parallel()
	project := npmtest.New(t, os.DirFS("testdata/clients"))
	s := &signer{Platform: platform.StartDelivering(t), r: platform.NewReceiver(t, nil)}
	s.token = s.RootAs("builder")
	made := s.Must(201, "POST", platform.Hooks+"/destinations", s.token, map[string]any{"url": s.r.URL, "events": []string{"agent.created"}, "signing": "standard"})
	old, stranger := platform.Member(t, made.JSON(t), "secret").(string), secret.NewSigningSecret()
	first := s.next(t)
	rotated := s.Must(200, "POST", platform.Hooks+"/destinations/"+platform.Decimal(made.ID(t, "id"))+"/rotate-secret", s.token, map[string]any{"overlap": true})
	next := platform.Member(t, rotated.JSON(t), "secret").(string)
	second := s.next(t)

	type delivery struct {
		Name    string            `json:"name"`
		Headers map[string]string `json:"headers"`
		Body    string            `json:"body"`
		Good    []string          `json:"good"`
		Bad     []string          `json:"bad"`
	}
	of := func(name string, x platform.Received, good, bad []string) delivery {
		d := delivery{name, map[string]string{}, string(x.Body), good, bad}
		for h := range x.Header {
			d.Headers[strings.ToLower(h)] = x.Header.Get(h)
		}
		return d
	}
	file := filepath.Join(t.TempDir(), "deliveries.json")
	if err := os.WriteFile(file, platform.MustJSON(t, []delivery{
		of("before a rotation", first, []string{old}, []string{next, stranger}),
		of("during a rotation", second, []string{old, next}, []string{stranger}),
	}), 0o600); err != nil {
		t.Fatal(err)
	}
	out := project.Run("node", "standard.mjs", file)
	if n := strings.Count(out, "ok "); n != 6 {
		t.Fatalf("%d of 6 verdicts:\n%s", n, out)
	}
}
