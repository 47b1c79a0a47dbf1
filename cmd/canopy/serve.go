package main

import (
	"context"
	"flag"
	"net"
	"os"
	"os/signal"
	"syscall"

	"canopy/internal/app"
	"canopy/internal/cgroup"
	"canopy/internal/config"
)

// version is the program's, set when it is built.
var version = "dev"

func (m *Main) options() app.Options { return app.Options{Version: version, Log: m.gathered()} }

func serveCommand(m *Main, _ *flag.FlagSet) func(context.Context, []string) error {
	return func(ctx context.Context, _ []string) error {
		cfg, err := m.settings(config.Server)
		if err != nil {
			return err
		}
		return app.Serve(ctx, cfg, m.options())
	}
}

func workerCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	metrics := flags.String("metrics", "", "address to serve /metrics, /healthz and /readyz on, such as :9090 (default nowhere)")
	return func(ctx context.Context, _ []string) error {
		cfg, err := m.settings(config.Worker)
		if err != nil {
			return err
		}
		operators, err := listenAt(ctx, *metrics)
		if err != nil {
			return usagef("--metrics: %w", err)
		}
		return app.Work(ctx, cfg, operators, m.options())
	}
}

// listenAt listens at an address; nil where there is none.
func listenAt(ctx context.Context, address string) (net.Listener, error) {
	if address == "" {
		return nil, nil
	}
	var lc net.ListenConfig
	return lc.Listen(ctx, "tcp", address)
}

// settings reads those of a process that stays, and sets its memory by them. It outlives who reads what it says: without them the lines of its log are lost.
func (m *Main) settings(mode config.Mode) (*config.Config, error) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // Ignore would be handed down to its children
	cfg, err := m.load(mode)
	if err == nil {
		app.TuneMemory(mode, cfg.VectorCache, cgroup.MemoryLimit(os.DirFS("/")), m.Getenv)
	}
	return cfg, err
}
