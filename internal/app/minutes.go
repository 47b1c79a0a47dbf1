package app

import (
	"context"
	"time"

	"canopy/db"
)

const (
	// minutesEvery is how often a process tells what limits by the minute have counted, and hears what they have elsewhere: a limit is passed by no more than what others let in within ten seconds.
	minutesEvery = 4 * time.Second
	minutesWait  = 3 * time.Second
)

// shareMinutes has limits by the minute hold for what the home and its cells have together, until ctx ends. While the home is away, each holds for itself, which is said once.
func (p *Platform) shareMinutes(ctx context.Context) {
	if p.Store.Cell() != nil && p.home == nil { // a command of the shell
		return
	}
	tick := time.NewTicker(minutesEvery)
	defer tick.Stop()
	for failed := false; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !p.Store.Shares() {
			continue
		}
		p.Resolver.Rates.Limiter.Share()
		err := p.exchangeMinutes(ctx)
		if err != nil && !failed && ctx.Err() == nil {
			p.Log.WarnContext(ctx, "what limits have counted in this minute was not told to the other cells", "error", err)
		}
		failed = err != nil
	}
}

func (p *Platform) exchangeMinutes(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, minutesWait)
	defer cancel()
	var own db.Minutes
	if own.Keys, own.N, err = p.Resolver.Rates.Limiter.Spent(ctx); err != nil {
		return err
	}
	var home *db.Home
	if p.home != nil {
		home = p.home.home
	}
	others, err := p.Store.ExchangeMinutes(ctx, home, own)
	if err != nil {
		return err
	}
	return p.Resolver.Rates.Limiter.SpentElsewhere(ctx, others.Keys, others.N)
}
