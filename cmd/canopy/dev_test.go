package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"canopy/db"
	"canopy/internal/devstack/devtest"
)

// TestDevTellsOfTheConsole: on the terminal, and to programs.
func TestDevTellsOfTheConsole(t *testing.T) {
	env := map[string]string{
		"DATABASE_URL": devtest.Database(t, db.Fingerprint(), db.Migrate), "REDIS_URL": devtest.Redis(t), "CANOPY_LISTEN": "127.0.0.1:0",
	}
	var out, log devtest.Log
	dir, ended := t.TempDir(), make(chan int)
	ctx, stop := context.WithCancel(t.Context())
	m := &Main{Stdout: &out, Stderr: &log, Getenv: func(name string) string { return env[name] }}
	go func() { ended <- m.Run(ctx, []string{"dev", "--data", dir}) }()
	devtest.Eventually(t, "the platform is ready", func() bool { return strings.Contains(out.String(), "Password") })
	// The demo's invitations are out by then: their lines would push it off the screen.
	if said := strings.Count(log.String(), `"msg":"mail"`); said < 10 {
		t.Errorf("%d mails are told before", said)
	}
	stop()
	if code := <-ended; code != exitOK {
		t.Fatalf("%d %s", code, log.String())
	}
	raw, err := os.ReadFile(filepath.Join(dir, "dev.json"))
	if err != nil {
		t.Fatal(err)
	}
	var told map[string]string
	if err := json.Unmarshal(raw, &told); err != nil {
		t.Fatal(err)
	}
	if told["consoleUrl"] != told["url"]+"/console/" || !strings.Contains(out.String(), told["consoleUrl"]) {
		t.Errorf("%s\n%s", raw, out.String())
	}
}
