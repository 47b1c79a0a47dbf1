package main

import (
	"encoding/json"
	"flag"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/config"
	"canopy/internal/devstack"
	"canopy/internal/devstack/devtest"
)

// deployments are the files that tell others how to start the program, by their paths.
func deployments(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, root := range []string{"../../deploy", "../../compose.yaml"} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			files[strings.TrimPrefix(path, "../../")] = string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// TestDeploymentsNameSettings: what they name like a setting is one.
func TestDeploymentsNameSettings(t *testing.T) {
	name, found := regexp.MustCompile(`\b(?:CANOPY_[A-Z_]+|DATABASE_[A-Z_]+|REDIS_[A-Z_]+)\b`), 0
	known := map[string]bool{}
	for _, v := range config.Variables() {
		known[v.Name] = true
	}
	for path, text := range deployments(t) {
		for _, n := range name.FindAllString(text, -1) {
			if found++; !known[n] {
				t.Errorf("%s names %s, which there is not", path, n)
			}
		}
	}
	if found < 100 {
		t.Errorf("only %d names were found", found)
	}
}

// foreign are the programs of other images that deployments call.
var foreign = []string{"server", "/etc/canopy/pgbouncer.ini"}

// TestDeploymentsCallCommands: each call is one that the program understands.
func TestDeploymentsCallCommands(t *testing.T) {
	listed, typed, found := regexp.MustCompile(`\b(?:args|command): \[([^\]]+)\]`), regexp.MustCompile(`(?m)(?:/canopy|run --rm \w+) ([a-z][^"\n]*)`), 0
	understood := func(path string, args []string) {
		if !slices.Contains(foreign, args[0]) {
			found++
			understands(t, path, args)
		}
	}
	for path, text := range deployments(t) {
		for _, m := range listed.FindAllStringSubmatch(text, -1) {
			var args []string
			if err := json.Unmarshal([]byte("["+m[1]+"]"), &args); err != nil {
				t.Fatal(path, m[0], err)
			}
			understood(path, args)
		}
		for _, m := range typed.FindAllStringSubmatch(text, -1) {
			understood(path, append(strings.Fields(m[1]), "a word"))
		}
	}
	if found < 9 {
		t.Errorf("only %d calls were found", found)
	}
}

// understands tells whether a call has a command, its flags, and arguments where it takes them.
func understands(t *testing.T, path string, args []string) {
	t.Helper()
	cmd, rest := find(args)
	if cmd == nil {
		t.Errorf("%s calls canopy %q, which there is not", path, args)
		return
	}
	flags := flag.NewFlagSet(cmd.name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	cmd.setup(&Main{}, flags)
	left, err := parse(flags, rest)
	if err != nil || !takes(cmd.args, left) {
		t.Errorf("%s calls canopy %q: %v, %q is left", path, args, err, left)
	}
}

// takes tells whether a command takes such arguments: words in capitals stand for one each, others are those to choose from.
func takes(args string, left []string) bool {
	if args == strings.ToUpper(args) {
		return len(left) == len(strings.Fields(args))
	}
	return len(left) == 0 || slices.Contains(strings.Split(args, "|"), left[0])
}

// TestDeploymentsAskForWhatIsThere: what balancers, probes and Prometheus ask for is answered by both kinds of process.
func TestDeploymentsAskForWhatIsThere(t *testing.T) {
	asked := map[string]string{}
	for path, text := range deployments(t) {
		for _, m := range regexp.MustCompile(`(?m)(?:\bpath: |\buri )(/\w+)`).FindAllStringSubmatch(text, -1) {
			asked[m[1]] = path
		}
	}
	if asked["/healthz"] == "" || asked["/readyz"] == "" || asked["/metrics"] == "" {
		t.Errorf("asked for is %v", asked)
	}
	s := platform.Start(t)
	address := devtest.Must[string](t)(devstack.FreeAddress())
	worker := s.StartProgram(t, "", argumentsVariable+"=worker -metrics "+address)
	defer worker.Kill()
	devtest.Eventually(t, "the worker answers", func() bool { return status("http://"+address+"/readyz") == 200 })
	for path, by := range asked {
		for _, base := range []string{s.URL, "http://" + address} {
			// Without its password /metrics is closed, and so it is there.
			if code := status(base + path); code != 200 && (path != "/metrics" || code != 401 && code != 403) {
				t.Errorf("%s asks %s for %s: %d", by, base, path, code)
			}
		}
	}
}

// status is what an address answers with; 0 where it does not.
func status(at string) int {
	resp, err := http.Get(at)
	if err != nil {
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// TestChartTakesEverySetting: the chart's schema has each setting once, those with passwords and keys for the Secret alone.
func TestChartTakesEverySetting(t *testing.T) {
	var schema struct {
		Definitions struct {
			Plain, Secret struct{ Enum []string }
		}
	}
	if err := json.Unmarshal([]byte(deployments(t)["deploy/helm/values.schema.json"]), &schema); err != nil {
		t.Fatal(err)
	}
	confidential := regexp.MustCompile(`^(CANOPY_)?(DATABASE|HOME|VECTOR|REDIS|SMTP).*_URL$|_KEY$|PASSWORD$|MONITOR_USER$|HEADERS$`)
	var plain, secret []string
	for _, v := range config.Variables() {
		if confidential.MatchString(v.Name) {
			secret = append(secret, v.Name)
		} else {
			plain = append(plain, v.Name)
		}
	}
	if d := schema.Definitions; !slices.Equal(d.Plain.Enum, plain) || !slices.Equal(d.Secret.Enum, secret) {
		t.Errorf("the schema has\n%v\n%v\nthe settings are\n%v\n%v", d.Plain.Enum, d.Secret.Enum, plain, secret)
	}
}

// TestChartIsOfTheRelease: the chart installs what was released last, and is counted with it.
func TestChartIsOfTheRelease(t *testing.T) {
	changes, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	last := regexp.MustCompile(`(?m)^## \[(\d[^\]]*)\]`).FindSubmatch(changes)[1]
	chart := deployments(t)["deploy/helm/Chart.yaml"]
	for _, line := range []string{"\nversion: ", "\nappVersion: "} {
		if !strings.Contains(chart, line+string(last)+"\n") {
			t.Errorf("%s%s is not in %s", line, last, chart)
		}
	}
}
