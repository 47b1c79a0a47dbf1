package webhook

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSamples runs each receiver of examples as a person would and posts deliveries to it.
func TestSamples(t *testing.T) {
	cert, certFile, keyFile := certificateFiles(t)
	samples := filepath.Join("..", "..", "examples", "receiver")
	for _, tc := range []struct {
		name, interpreter string
		args              []string
	}{
		{"go", "go", nil},
		{"node", "node", []string{filepath.Join(samples, "verify.mjs")}},
		{"python", "python3", []string{filepath.Join(samples, "verify.py")}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			program, err := exec.LookPath(tc.interpreter)
			if err != nil {
				t.Fatalf("%s is not installed: scripts/bootstrap.sh tests does that", tc.interpreter)
			}
			if tc.name == "go" {
				program = buildSample(t, program, samples)
			}
			secret, next := newSecret(), newSecret()
			cmd := exec.CommandContext(t.Context(), program, tc.args...)
			cmd.Env = append(os.Environ(), "WEBHOOK_SECRET="+secret+","+next, "TLS_CERT="+certFile, "TLS_KEY="+keyFile, "PORT=0", "INBOX="+t.TempDir())
			exerciseSample(t, cmd, trusting(t, cert), secret, next)
		})
	}
}

func buildSample(t *testing.T, goTool, source string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "verify")
	if out, err := exec.CommandContext(t.Context(), goTool, "build", "-o", binary, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return binary
}

// exerciseSample starts the receiver, sends it good and bad deliveries, and reads what it printed.
func exerciseSample(t *testing.T, cmd *exec.Cmd, client *http.Client, secret, next string) {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // the test's context, ended by now, has killed it
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() {
		t.Fatalf("the receiver said nothing: %v %s", lines.Err(), stderr.String())
	}
	url, ok := strings.CutPrefix(lines.Text(), "listening on ")
	if !ok || !strings.HasPrefix(url, "https://") {
		t.Fatalf("the receiver said %q", lines.Text())
	}
	event, err := New(time.Now(), AgentCreated{7, "Ünïcode \u2028 & <tags>"})
	if err != nil {
		t.Fatal(err)
	}
	spaced := append([]byte("  "), bytes.Replace(event.Payload, []byte(event.ID), []byte("evt_spaced"), 1)...)
	for _, d := range []struct {
		name   string
		body   []byte
		header map[string]string
		want   int
	}{
		{"good", event.Payload, map[string]string{HeaderSignature: Sign(secret, event.Payload)}, http.StatusNoContent},
		{"again", event.Payload, map[string]string{HeaderSignature: Sign(secret, event.Payload)}, http.StatusNoContent},
		{"exact bytes", spaced, map[string]string{HeaderSignature: Sign(secret, spaced)}, http.StatusNoContent},
		{"changed", append(bytes.Clone(event.Payload), ' '), map[string]string{HeaderSignature: Sign(secret, event.Payload)}, http.StatusUnauthorized},
		{"another secret", event.Payload, map[string]string{HeaderSignature: Sign(newSecret(), event.Payload)}, http.StatusUnauthorized},
		{"no signature", event.Payload, nil, http.StatusUnauthorized},
		{"signature too short", event.Payload, map[string]string{HeaderSignature: "sha256=00"}, http.StatusUnauthorized},
		{"signature no hex", event.Payload, map[string]string{HeaderSignature: "sha256=" + strings.Repeat("x", 64)}, http.StatusUnauthorized},
		{"signature empty", event.Payload, map[string]string{HeaderSignature: "sha256="}, http.StatusUnauthorized},
		{"malformed", []byte("no JSON"), map[string]string{HeaderSignature: Sign(secret, []byte("no JSON"))}, http.StatusBadRequest},
		{"rotation", event.Payload, map[string]string{HeaderSignature: Sign(newSecret(), event.Payload), HeaderSignatureNext: Sign(next, event.Payload)}, http.StatusNoContent},
	} {
		if got := post(t, client, url, d.body, d.header); got != d.want {
			t.Errorf("%s: status %d, want %d; %s", d.name, got, d.want, stderr.String())
		}
	}
	for _, want := range []string{"event agent.created " + event.ID, "duplicate " + event.ID, "event agent.created evt_spaced"} {
		if !lines.Scan() || !strings.HasPrefix(lines.Text(), want) {
			t.Errorf("the receiver printed %q, want %q", lines.Text(), want)
		}
	}
}

func post(t *testing.T, client *http.Client, url string, body []byte, header map[string]string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// certificateFiles writes a self-signed certificate and its key where a server can read them.
func certificateFiles(t *testing.T) (certPEM []byte, certFile, keyFile string) {
	t.Helper()
	cert, text, err := selfSigned([]string{"127.0.0.1"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for name, content := range map[string][]byte{
		certFile: text,
		keyFile:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}),
	} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return text, certFile, keyFile
}

// trusting is an HTTPS client that trusts one certificate.
func trusting(t *testing.T, certPEM []byte) *http.Client {
	t.Helper()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(certPEM) {
		t.Fatal("no certificate")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 10 * time.Second}
}
