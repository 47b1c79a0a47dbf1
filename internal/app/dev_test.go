package app

import (
	"os"
	"path/filepath"
	"testing"

	"canopy/internal/config"
	"canopy/internal/egress"
)

// TestDevReceives: a development platform sends to the listener of its own machine, and trusts it, where nobody else can ask it to.
func TestDevReceives(t *testing.T) {
	for listen, receives := range map[string]bool{
		"127.0.0.1:8080": true, "127.0.0.1:0": true, "[::1]:8080": true, ":8080": false, "0.0.0.0:8080": false, "192.0.2.1:8080": false, "127.0.0.1:8443": false,
	} {
		t.Run(listen, func(t *testing.T) {
			d := &dev{cfg: &config.Config{Listen: listen}, dir: t.TempDir()}
			if err := d.receive(); err != nil {
				t.Fatal(err)
			}
			if d.cfg.Receiver.IsValid() != receives || (d.cfg.WebhookCA != "") != receives {
				t.Fatalf("%v %q", d.cfg.Receiver, d.cfg.WebhookCA)
			}
			if !receives {
				return
			}
			text, err := os.ReadFile(d.cfg.WebhookCA)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := egress.Roots(text); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("with roots of its own", func(t *testing.T) {
		d := &dev{cfg: &config.Config{Listen: "127.0.0.1:8080", WebhookCA: "roots.pem"}, dir: t.TempDir()}
		if err := d.receive(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(d.dir, "listener.pem")); err == nil || d.cfg.WebhookCA != "roots.pem" {
			t.Error(d.cfg.WebhookCA)
		}
	})
}
