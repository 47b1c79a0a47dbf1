package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"

	"canopy/internal/config"
	"canopy/internal/web"
)

// Serve answers requests until ctx ends, and then finishes what is under way.
func Serve(ctx context.Context, cfg *config.Config, o Options) (err error) {
	defer forgive(ctx, &err)
	o.Service = "canopy-serve"
	warn(ctx, cfg, o.Log)
	p, err := Open(ctx, cfg, o)
	if err != nil {
		return err
	}
	defer p.Close()
	l, err := p.listen(ctx)
	if err != nil {
		return err
	}
	defer p.tellStop(ctx)()
	return p.serve(ctx, l, false)
}

// forgive takes no offence where a process could not begin as it was told to stop.
func forgive(ctx context.Context, err *error) {
	if ctx.Err() != nil && errors.Is(*err, context.Canceled) {
		*err = nil
	}
}

// tellStop has the log tell when the process was told to stop, which ends later: what is under way is finished first.
func (p *Platform) tellStop(ctx context.Context) (off func() bool) {
	return context.AfterFunc(ctx, func() {
		p.Log.InfoContext(ctx, "stopping: what is under way is finished first")
	})
}

// warn tells of settings that are a risk, or are missed.
func warn(ctx context.Context, cfg *config.Config, log *slog.Logger) {
	for _, w := range cfg.Warnings() {
		log.WarnContext(ctx, w)
	}
}

func (p *Platform) listen(ctx context.Context) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", p.Config.Listen)
	if err != nil {
		return nil, fmt.Errorf("CANOPY_LISTEN: %w", err)
	}
	return l, nil
}

// serve serves the Handler. open leaves the operator's pages without a password, for dev.
func (p *Platform) serve(ctx context.Context, l net.Listener, open bool) error {
	h, err := p.Handler(open)
	if err != nil {
		return err
	}
	if p.Store.Cell() == nil { // a cell has the home's
		if err := p.Store.PutAddress(ctx, p.Resolver.Issuer()); err != nil {
			return err
		}
	}
	debug.FreeOSMemory() // wiring leaves as much behind as the process then needs
	unmapProgram()
	p.Log.InfoContext(ctx, "serving", "address", l.Addr().String(), "url", p.Config.PublicURL.String())
	return web.Serve(ctx, l, h, web.ServeOptions{Drain: p.Config.Drain, Log: p.Log})
}

// serveOperators serves a worker's metrics and health.
func (p *Platform) serveOperators(ctx context.Context, l net.Listener, own *prometheus.Registry) error {
	mux := http.NewServeMux()
	p.operators(mux, p.guard(), own)
	return web.Serve(ctx, l, mux, web.ServeOptions{Log: p.Log})
}
