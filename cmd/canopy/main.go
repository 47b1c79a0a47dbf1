// Command canopy is the whole platform in one binary: the API, the workers, and the operator's
// tools. `canopy help` lists its commands.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"canopy/internal/extract"
	"canopy/internal/redisconn"
)

func main() {
	extract.MainIfChild()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	m := &Main{Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv}
	redisconn.LogTo(m.logger())
	code := m.Run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}
