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
	"strings"
	"testing"

	"canopy/e2e/platform"
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
}`, "main.go", []string{"run"}},
	{"js", "node", "verify.mjs", `import { createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
const [secret, signature] = process.argv.slice(2), body = readFileSync(0), req = { headers: { "x-service-signature": signature } };
` + here + `
console.log(ok);`, "main.mjs", nil},
	{"python", "python3", "verify.py", `import hashlib, hmac, sys
secret, headers, body = sys.argv[1], {"x-service-signature": sys.argv[2]}, sys.stdin.buffer.read()
` + here + `
print(str(ok).lower())`, "main.py", nil},
	{"sh", "sh", "", `WEBHOOK_SECRET=$1; cat > body.json
[ "sha256=$(` + here + ` | sed 's/.*= //')" = "$2" ] && echo true || echo false`, "main.sh", nil},
}

// here stands for the page's lines in a program.
const here = "HERE"

func (l language) program(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath(l.interpreter)
	if err != nil {
		t.Skipf("%s is not installed: what the page shows of it is not tested", l.interpreter)
	}
	return program
}

// shown gives the first block of a language in docs/webhooks.md.
func (l language) shown(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "\n```"+l.name+"\n")
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
			program, dir := l.program(t), t.TempDir()
			source := strings.Replace(l.around, here, l.shown(t), 1)
			if err := os.WriteFile(filepath.Join(dir, l.file), []byte(source), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, c := range []struct{ name, secret, signature, body, want string }{
				{"as it came", secret, signature, string(x.Body), "true"},
				{"another body", secret, signature, string(x.Body) + " ", "false"},
				{"another secret", "another", signature, string(x.Body), "false"},
				{"no signature", secret, "", string(x.Body), "false"},
			} {
				cmd := exec.CommandContext(t.Context(), program, append(l.run, l.file, c.secret, c.signature)...)
				cmd.Dir, cmd.Stdin = dir, strings.NewReader(c.body)
				if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != c.want {
					t.Errorf("%s: %v %s, want %s", c.name, err, out, c.want)
				}
			}
		})
	}
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
