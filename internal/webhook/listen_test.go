package webhook

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"canopy/internal/devstack/devtest"
)

// listening starts a listener that stops with the test.
func listening(t *testing.T, o ListenOptions) (url string, client *http.Client, out *devtest.Log) {
	t.Helper()
	out = &devtest.Log{}
	o.Out = out
	ready := make(chan Listening, 1)
	o.Ready = func(l Listening) { ready <- l }
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Listen(ctx, o) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Listen: %v", err)
		}
	})
	select {
	case l := <-ready:
		return l.URL, trusting(t, l.CertificatePEM), out
	case err := <-done:
		done <- nil
		t.Fatalf("Listen: %v", err)
		return "", nil, nil
	}
}

func signed(secret string, body []byte) map[string]string {
	return map[string]string{HeaderEvent: "agent.deleted", HeaderSignature: Sign(secret, body)}
}

func TestListen(t *testing.T) {
	secret := newSecret()
	url, client, out := listening(t, ListenOptions{Secrets: []string{secret}})
	event, err := New(time.Now(), AgentCreated{9, "café \u009b31m"})
	if err != nil {
		t.Fatal(err)
	}
	nothing := []byte(`{"no":"id"}`)
	for _, tc := range []struct {
		name   string
		body   []byte
		header map[string]string
		status int
		line   string
	}{
		{"good", event.Payload, signed(secret, event.Payload), 204, "  204  verified  agent.created  " + event.ID + `  {"agentId":9,"name":"café ` + "\uFFFD" + `31m"}`},
		{"again", event.Payload, signed(secret, event.Payload), 204, "  duplicate"},
		{"a test", event.Payload, map[string]string{HeaderSignature: Sign(secret, event.Payload), HeaderTest: "true"}, 204, "  test"},
		{"bad signature", event.Payload, signed(newSecret(), event.Payload), 401, "  401  bad signature"},
		{"unsigned", event.Payload, nil, 401, "  401  bad signature"},
		{"malformed", nothing, signed(secret, nothing), 400, "  400  malformed"},
		{"new secret in the next header", event.Payload, map[string]string{HeaderSignatureNext: Sign(secret, event.Payload)}, 204, "  204  verified"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := post(t, client, url, tc.body, tc.header); got != tc.status {
				t.Errorf("status %d", got)
			}
			line := out.Take()
			if !strings.Contains(line, tc.line) || strings.Count(line, "\n") != 1 {
				t.Errorf("printed %q, want %q", line, tc.line)
			}
			if tc.status == 401 && strings.Contains(line, event.ID) {
				t.Errorf("what is not verified was read: %q", line)
			}
		})
	}
	t.Run("not a POST", func(t *testing.T) {
		resp, err := client.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != 405 || resp.Header.Get("Allow") != "POST" {
			t.Errorf("status %d", resp.StatusCode)
		}
	})
	t.Run("too long", func(t *testing.T) {
		if got := post(t, client, url, bytes.Repeat([]byte("a"), maxDelivery+1), nil); got != 413 {
			t.Errorf("status %d", got)
		}
	})
}

// TestStatuses: what a retry needs to be tried out.
func TestStatuses(t *testing.T) {
	url, client, out := listening(t, ListenOptions{Statuses: []int{503, 302, 200}, Pretty: true})
	body := []byte(`{"id":"evt_1","type":"run.started","data":{}}`)
	for _, want := range []int{503, 302, 200, 200} {
		if got := post(t, client, url, body, nil); got != want {
			t.Errorf("status %d, want %d", got, want)
		}
		if text := out.Take(); !strings.Contains(text, fmt.Sprintf("  %d  unverified  run.started  evt_1", want)) || !strings.Contains(text, "\n  \"id\": \"evt_1\",\n") {
			t.Errorf("printed %q", text)
		}
	}
}

func TestDuplicateMemoryIsBounded(t *testing.T) {
	rc, err := newReceiver(ListenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range rememberedID + 10 {
		if rc.remember(fmt.Sprint(i)) {
			t.Fatalf("%d was never seen", i)
		}
	}
	if !rc.remember(fmt.Sprint(rememberedID)) || rc.remember("0") || len(rc.seen) != rememberedID || len(rc.order) != rememberedID {
		t.Errorf("%d ids, %d in order", len(rc.seen), len(rc.order))
	}
}

func TestListenRefuses(t *testing.T) {
	for _, tc := range []struct {
		name string
		o    ListenOptions
		want string
	}{
		{"status", ListenOptions{Statuses: []int{100}}, "100 is not a status"},
		{"secret", ListenOptions{Secrets: []string{""}}, "empty"},
		{"address", ListenOptions{Addr: "127.0.0.1:nope"}, "nope"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := Listen(t.Context(), tc.o); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestListenKeepsCertificate: the sender that trusts a listener's file trusts it after a restart,
// and a file that is something else is left alone.
func TestListenKeepsCertificate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "listener.pem")
	start := func(hosts ...string) *x509.Certificate {
		t.Helper()
		ready := make(chan Listening, 1)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- Listen(ctx, ListenOptions{Certificate: file, Hosts: hosts, Ready: func(l Listening) { ready <- l }})
		}()
		var l Listening
		select {
		case l = <-ready:
		case err := <-done:
			t.Fatalf("Listen: %v", err)
		}
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		block, _ := pem.Decode(l.CertificatePEM)
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		return cert
	}
	first := start()
	if second := start(); !second.Equal(first) {
		t.Error("the second start has another certificate")
	}
	if other := start("receiver.test"); other.Equal(first) || other.VerifyHostname("receiver.test") != nil {
		t.Error("the certificate is not for the host that was added")
	}
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := keptCertificate(file, []string{"localhost"}, time.Now().Add(certificateLife)); err != nil {
		t.Fatal(err)
	}
	if renewed, err := os.ReadFile(file); err != nil || bytes.Equal(renewed, kept) {
		t.Errorf("a certificate that ends is kept: %v", err)
	}
	if err := os.WriteFile(file, []byte("a diary"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Listen(t.Context(), ListenOptions{Certificate: file}); err == nil {
		t.Error("a file that holds no certificate was taken")
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "a diary" {
		t.Errorf("the file holds %q now: %v", text, err)
	}
}
