package docs

import (
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/devstack/npmtest"
)

// TestExampleTour runs the tour of examples against a platform with a worker.
func TestExampleTour(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.NoDemoMails()
	s.Work(nil)
	cmd := exec.CommandContext(t.Context(), "../../examples/tour/tour.sh")
	cmd.Env = append(os.Environ(), "CANOPY_URL="+s.URL, "CANOPY_CLIENT_ID="+s.Demo.ClientID, "CANOPY_CLIENT_SECRET="+s.Demo.ClientSecret)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	for _, want := range []string{
		`{"company":"Northwind Group","email":"` + platform.DemoAdmin + `"}`, "11 companies", "Northwind Group/Alpine Energy/Alpine Hydro",
		`{"name":"Tour Ltd",`, "vera@tour.example", `{"status":400,"detail":"the user has a permission on this account already"}`,
		`"status":"ready"`, "finished\nSN-009,Vibration sensor", `"run.completed"`, `{"action":"agent.published"`, `{"deleted":true}`,
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the tour does not show %s", want)
		}
	}
	if t.Failed() {
		t.Logf("%s", out)
	}
	for app, list := range map[string]string{"assistant": "contexts", "builder": "agents"} {
		data, codes := s.GQL(s.RootAs(app), "{ "+list+" { totalCount } }", nil)
		if len(codes) > 0 || platform.Member(t, data, list+".totalCount") != 0.0 {
			t.Errorf("the tour leaves something behind: %v %v", data, codes)
		}
	}
}

// TestExampleReceiverAsksForResults has the receiver in Go hear of a run, and ask what came of it.
func TestExampleReceiverAsksForResults(t *testing.T) {
	s := platform.StartDelivering(t)
	token := s.RootAs("builder")
	t.Setenv("CANOPY_URL", s.URL)
	t.Setenv("CANOPY_CLIENT_ID", s.Demo.ClientID)
	t.Setenv("CANOPY_CLIENT_SECRET", s.Demo.ClientSecret)
	id, secret := s.Subscribe(token, platform.PublicURL, "run.completed", "run.failed")
	url, lines := languages[0].receive(t, secret)
	s.Must(http.StatusOK, "PATCH", platform.Hooks+"/destinations/"+platform.Decimal(id), token, object{"url": url})
	says := func(prefix, part string) {
		t.Helper()
		if !lines.Scan() || !strings.HasPrefix(lines.Text(), prefix) || !strings.Contains(lines.Text(), part) {
			t.Errorf("the receiver says %q, not %s … %s", lines.Text(), prefix, part)
		}
	}
	key := s.Start(token, s.Publish(token, platform.Greeter), object{"name": "Ada"})
	says("event run.completed ", key)
	says("result "+key+" 200 ", `"outputData":{"text":"Hello Ada"}`)
	failing := s.Publish(token, `{"steps":[{"id":"no","type":"fail","message":"not today"}],"output":{}}`)
	key = s.Start(token, failing, object{})
	says("event run.failed ", key)
	says("result "+key+" 400 ", `not today`)
}

// TestExamplePageClients builds the page in TypeScript, and uses it as a person would.
func TestExamplePageClients(t *testing.T) {
	t.Parallel()
	project := npmtest.Client(t, "../..", "examples/page").Folder("examples/page")
	project.Install()
	project.Run("npm", "run", "build")
	s := platform.Start(t)
	at := platform.Localhost(s.URL)
	s.Browse("clients/example.test.js", "CANOPY_URL="+at, "CANOPY_PAGE="+platform.Serve(t, project.Folder("dist").Files(), "http://localhost:8080", at))
}
