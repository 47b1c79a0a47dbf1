package docs

import (
	"bufio"
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/secret"
	"canopy/internal/webhook"
)

// language is one that docs/webhooks.md shows receivers in.
type language struct {
	name, interpreter string
	// sample is the complete receiver in examples/receiver, if there is one; "." is the folder itself.
	sample string
	// around wraps the page's few lines into a program, and file is where that is put. It is started with
	// the secret and the signature, and with the body as its input.
	around, file string
	// timed is what around is, for the lines about Standard Webhooks. It is started with the secret and the
	// three headers.
	timed string
	// run are the interpreter's arguments before the file.
	run []string
}

var languages = []language{
	{"go", "go", ".", `package main
import ("crypto/hmac"; "crypto/sha256"; "encoding/hex"; "fmt"; "io"; "net/http"; "os"; "strings")
func main() {
	secret, r := os.Args[1], &http.Request{Header: http.Header{}}
	r.Header.Set("x-service-signature", os.Args[2])
	body, _ := io.ReadAll(os.Stdin)
	` + here + `
	fmt.Println(ok)
}`, "main.go", `package main
import ("crypto/hmac"; "crypto/sha256"; "encoding/base64"; "fmt"; "io"; "net/http"; "os"; "strconv"; "strings"; "time")
func main() {
	secret, r := os.Args[1], &http.Request{Header: http.Header{}}
	for i, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
		r.Header.Set(name, os.Args[2+i])
	}
	body, _ := io.ReadAll(os.Stdin)
	` + here + `
	fmt.Println(ok)
}`, []string{"run"}},
	{"js", "node", "verify.mjs", `import { createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
const [secret, signature] = process.argv.slice(2), body = readFileSync(0), req = { headers: { "x-service-signature": signature } };
` + here + `
console.log(ok);`, "main.mjs", `import { createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
const [secret, ...h] = process.argv.slice(2), body = readFileSync(0);
const req = { headers: { "webhook-id": h[0], "webhook-timestamp": h[1], "webhook-signature": h[2] } };
` + here + `
console.log(ok);`, nil},
	{"python", "python3", "verify.py", `import hashlib, hmac, sys
secret, headers, body = sys.argv[1], {"x-service-signature": sys.argv[2]}, sys.stdin.buffer.read()
` + here + `
print(str(ok).lower())`, "main.py", `import base64, hashlib, hmac, sys, time
secret, body = sys.argv[1], sys.stdin.buffer.read()
headers = dict(zip(["webhook-id", "webhook-timestamp", "webhook-signature"], sys.argv[2:]))
` + here + `
print(str(ok).lower())`, nil},
	{"sh", "sh", "", `WEBHOOK_SECRET=$1; cat > body.json
[ "sha256=$(` + here + ` | sed 's/.*= //')" = "$2" ] && echo true || echo false`, "main.sh", "", nil},
}

// here stands for the page's lines in a program.
const here = "HERE"

func (l language) program(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath(l.interpreter)
	if err != nil {
		t.Fatalf("%s is not installed: scripts/bootstrap.sh tests does that", l.interpreter)
	}
	return program
}

// shown gives the first block of a language below a heading of docs/webhooks.md.
func (l language) shown(t *testing.T, heading string) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n"+heading+"\n")
	_, rest, found := strings.Cut(section, "\n```"+l.name+"\n")
	block, _, closed := strings.Cut(rest, "\n```\n")
	if !found || !closed {
		t.Fatalf("the page shows no %s", l.name)
	}
	return block
}

// TestShownVerification runs the lines of docs/webhooks.md on a delivery that has come, and on one that
// was changed on its way.
func TestShownVerification(t *testing.T) {
	t.Parallel()
	r := platform.NewReceiver(t, nil)
	s := platform.StartDelivering(t)
	_, secret := s.Subscribe(s.RootAs("builder"), r.URL, "agent.created")
	s.Mutate(s.RootAs("builder"), "createAgent", "agent { name }", object{"name": "Ünïcode \u2028 & <tags>"})
	x := r.Wait(t, 1)[0]
	signature := x.Header.Get(webhook.HeaderSignature)
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) {
			says := l.written(t, l.around, "## Verify the signature")
			for _, c := range []struct{ name, secret, signature, body, want string }{
				{"as it came", secret, signature, string(x.Body), "true"},
				{"another body", secret, signature, string(x.Body) + " ", "false"},
				{"another secret", "another", signature, string(x.Body), "false"},
				{"no signature", secret, "", string(x.Body), "false"},
			} {
				if got := says(c.body, c.secret, c.signature); got != c.want {
					t.Errorf("%s: %s, want %s", c.name, got, c.want)
				}
			}
		})
	}
}

// written writes a program around the lines of docs/webhooks.md below a heading, and gives what runs it
// with an input and arguments.
func (l language) written(t *testing.T, around, heading string) func(input string, args ...string) (said string) {
	t.Helper()
	program, dir := l.program(t), t.TempDir()
	source := strings.Replace(around, here, l.shown(t, heading), 1)
	if err := os.WriteFile(filepath.Join(dir, l.file), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(input string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, slices.Concat(l.run, []string{l.file}, args)...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(input)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%v", err)
		}
		return strings.TrimSpace(string(out))
	}
}

// TestShownVerificationWithTime runs the lines about Standard Webhooks on a delivery that has come, on one
// that was changed, and on one that is sent again when it is old.
func TestShownVerificationWithTime(t *testing.T) {
	t.Parallel()
	r := platform.NewReceiver(t, nil)
	s := platform.StartDelivering(t)
	made := s.Must(http.StatusCreated, "POST", platform.Hooks+"/destinations", s.RootAs("builder"), object{"url": r.URL, "events": []string{"agent.created"}, "signing": "standard"})
	key := platform.Member(t, made.JSON(t), "secret").(string)
	s.Mutate(s.RootAs("builder"), "createAgent", "agent { name }", object{"name": "Ünïcode \u2028 & <tags>"})
	x := r.Wait(t, 1)[0]
	body, came := string(x.Body), headers(x.Header)
	old, foreign := http.Header{}, http.Header{}
	webhook.SetStandardHeaders(old, x.ID, time.Now().Add(-time.Hour), x.Body, key)
	another := secret.NewSigningSecret()
	webhook.SetStandardHeaders(foreign, x.ID, time.Now(), x.Body, another, key)
	for _, l := range languages {
		if l.timed == "" {
			continue
		}
		t.Run(l.name, func(t *testing.T) {
			says := l.written(t, l.timed, "### With the time")
			for _, c := range []struct {
				name, secret string
				headers      [3]string
				body, want   string
			}{
				{"as it came", key, came, body, "true"},
				{"the second of two signatures", key, headers(foreign), body, "true"},
				{"another body", key, came, body + " ", "false"},
				{"another id", key, [3]string{"evt_1", came[1], came[2]}, body, "false"},
				{"another time", key, [3]string{came[0], "1" + came[1], came[2]}, body, "false"},
				{"an old delivery", key, headers(old), body, "false"},
				{"another secret", another, came, body, "false"},
				{"no signature", key, [3]string{}, body, "false"},
			} {
				if got := says(c.body, append([]string{c.secret}, c.headers[:]...)...); got != c.want {
					t.Errorf("%s: %s, want %s", c.name, got, c.want)
				}
			}
		})
	}
}

func headers(h http.Header) [3]string {
	return [3]string{h.Get(webhook.HeaderStandardID), h.Get(webhook.HeaderStandardTimestamp), h.Get(webhook.HeaderStandardSignature)}
}

// TestSampleReceivers has the platform deliver to the receivers in examples.
func TestSampleReceivers(t *testing.T) {
	t.Parallel()
	s := platform.StartDelivering(t)
	token := s.RootAs("tenant")
	for _, l := range languages {
		if l.sample == "" {
			continue
		}
		t.Run(l.name, func(t *testing.T) {
			id, secret := s.Subscribe(token, platform.PublicURL)
			url, lines := l.receive(t, secret)
			at := platform.Hooks + "/destinations/" + platform.Decimal(id)
			s.Must(http.StatusOK, "PATCH", at, token, object{"url": url})
			sent := s.Must(http.StatusAccepted, "POST", at+"/test", token, object{"type": "agent.published"}).ID(t, "deliveryId")
			d := s.Ended(token, sent)
			again := s.Must(http.StatusAccepted, "POST", platform.Hooks+"/deliveries/"+platform.Decimal(sent)+"/resend", token, nil).ID(t, "deliveryId")
			if d["status"] != "delivered" || d["attempts"] != 1.0 || s.Ended(token, again)["status"] != "delivered" {
				t.Errorf("%v", d)
			}
			for _, want := range []string{"event agent.published " + d["eventId"].(string), "duplicate " + d["eventId"].(string)} {
				if !lines.Scan() || !strings.HasPrefix(lines.Text(), want) {
					t.Errorf("the receiver says %q, not %q", lines.Text(), want)
				}
			}
		})
	}
}

// receive starts a sample. It gives its URL, and what it prints.
func (l language) receive(t *testing.T, secret string) (url string, lines *bufio.Scanner) {
	t.Helper()
	program, args := l.program(t), []string{filepath.Join("../../examples/receiver", l.sample)}
	if l.name == "go" { // built, for a program of `go run` would outlive its end
		binary := filepath.Join(t.TempDir(), "verify")
		if out, err := exec.CommandContext(t.Context(), program, "build", "-o", binary, args[0]).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		program, args = binary, nil
	}
	certificate := platform.CertificateFile(t)
	key, err := x509.MarshalPKCS8PrivateKey(platform.Loopback().TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(filepath.Dir(certificate), "key.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}), 0o600); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env, cmd.Stderr = append(os.Environ(), "WEBHOOK_SECRET="+secret, "TLS_CERT="+certificate, "TLS_KEY="+file, "PORT=0", "INBOX="+t.TempDir()), &stderr
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // the test's context, which has ended by then, has killed it
	lines = bufio.NewScanner(stdout)
	lines.Scan()
	url, ok := strings.CutPrefix(lines.Text(), "listening on ")
	if !ok {
		t.Fatalf("the receiver says %q: %s", lines.Text(), stderr.String())
	}
	return url, lines
}
