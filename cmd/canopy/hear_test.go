package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"testing"
	"time"

	"canopy/clients/go/schema"
	"canopy/e2e/platform"
)

// TestWebhookListenFromAfar hears of deliveries that a platform sends to somebody else.
func TestWebhookListenFromAfar(t *testing.T) {
	t.Parallel()
	p := platform.StartDelivering(t)
	token := p.RootAs("tenant")
	id, _ := p.Subscribe(token, platform.NewReceiver(t, nil).URL)
	env := map[string]string{"CANOPY_URL": p.URL, "CANOPY_CLIENT_ID": p.Demo.ClientID, "CANOPY_CLIENT_SECRET": p.Demo.ClientSecret}
	ctx, stop := context.WithCancel(t.Context())
	said, out := io.Pipe()
	m := &Main{Stdout: out, Stderr: io.Discard, Getenv: func(name string) string { return env[name] }}
	ended := make(chan int, 1)
	go func() {
		ended <- m.Run(ctx, []string{"webhook", "listen", "--destination", platform.Decimal(id), "--json"})
		_ = out.Close()
	}()
	go func() { // until the subscription stands, nobody is told
		for ctx.Err() == nil {
			p.Do("POST", platform.Hooks+"/destinations/"+platform.Decimal(id)+"/test", token, map[string]any{"type": "run.started"})
			time.Sleep(50 * time.Millisecond)
		}
	}()
	for lines := bufio.NewScanner(said); lines.Scan(); {
		var d schema.WebhookDelivery
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil || d.Type != "run.started" || !d.Test || d.Payload == "" {
			t.Errorf("%s %v", lines.Text(), err)
		}
		if d.Status == schema.WebhookDeliveryStatusDelivered {
			break
		}
	}
	stop()
	go func() { _, _ = io.Copy(io.Discard, said) }()
	if code := <-ended; code != exitOK {
		t.Errorf("the exit code is %d", code)
	}
}
