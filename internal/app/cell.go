package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"canopy/db"
	"canopy/internal/problem"
	"canopy/resolvers"
)

// How often a cell asks its home how far that is, how long it waits for an answer, how soon after one the home counts as away, and how often it asks at its start.
const (
	askEvery   = time.Second
	askWait    = 2 * time.Second
	homeAway   = 5 * time.Second
	beginEvery = 50 * time.Millisecond
	// switchEvery is how often a cell that waits for what moves into it looks whether that is there: nobody is answered from then until it begins.
	switchEvery = 100 * time.Millisecond
	// followEvery is how often it is looked whether something that was done at the home has come.
	followEvery = 5 * time.Millisecond
	// clocksApart is how far the clocks of a cell and of the home may be apart.
	clocksApart = time.Minute
)

// checkRegion holds the database to the setting: that of a cell is used as that alone.
func (p *Platform) checkRegion() error {
	cell, region := p.Store.Cell(), p.Config.Region
	switch {
	case cell == nil && region != "":
		return fmt.Errorf("CANOPY_REGION: the database is no cell: `canopy region join` makes it that of %s", region)
	case cell != nil && cell.Region != region:
		return fmt.Errorf("CANOPY_REGION: the database is the cell of %s, and the setting is %q", cell.Region, region)
	}
	return nil
}

// awaitRegion waits, in a cell, until what companies of the region have had at the home is there: until then the home has it, and works on it.
func (p *Platform) awaitRegion(ctx context.Context) error {
	for told := false; !p.Store.Opened(); told = true {
		if !told {
			p.Log.WarnContext(ctx, "what companies of the region have is at the home yet: this begins once `canopy region split` there has brought it")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(switchEvery):
		}
		if err := p.Store.LookForCells(ctx); err != nil && ctx.Err() == nil {
			p.Log.WarnContext(ctx, "it was not read which regions have a cell", "error", err)
		}
	}
	return nil
}

// homeWatch knows how late a cell's replica of the directory is, by one clock: its own. What the home has counted when it was asked has arrived, or has not.
type homeWatch struct {
	store *db.Store
	home  *db.Home
	// most is how late the replica may be; strict counts a home that does not answer as late.
	most   time.Duration
	strict bool

	mu sync.Mutex
	// asked are answers of the home that have not arrived, in order; fresh is when the last one that has was asked for, heard when the home answered last.
	asked        []asked
	fresh, heard time.Time
	begun        time.Time
	// seen is how far the replica was last. back is that of a replica which was ahead of what the home had counted, as after that was restored from a backup: until it changes, nothing of what the home
	// counts is known to have arrived.
	seen, back int64
	// lost: the cell can't go on from where it is, as the home said last.
	lost bool
	// notes keep owed, which the replica lacks while it is late, for processes that begin then; nil keeps nothing.
	notes redis.UniversalClient
	owed  int64
}

// asked is what the home had counted when it was asked.
type asked struct {
	pulse int64
	at    time.Time
}

// begin looks until the replica is seen to be as far as the home was, so that a process does not begin with refusals; not for long, and not while the home is away.
func (w *homeWatch) begin(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	for w.look(ctx) == nil {
		if late, _, known := w.lag(time.Now()); known && late == 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(beginEvery):
		}
	}
}

// watchHome keeps a homeWatch up to date until ctx ends.
func (p *Platform) watchHome(ctx context.Context, w *homeWatch) {
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	away, lost := false, false
	for {
		err := w.look(ctx)
		if ctx.Err() != nil {
			return
		}
		if was := away; err != nil {
			if away = true; !was {
				p.Log.WarnContext(ctx, "the home does not answer; the cell goes on with what it knows", "error", err)
			}
		} else if away = false; was {
			p.Log.InfoContext(ctx, "the home answers again")
		}
		if was := lost; w.isLost() && !was {
			p.Log.ErrorContext(ctx, joinAnew)
		}
		lost = w.isLost()
		_ = w.note(ctx) // where Redis is away, whoever begins knows nothing of it, as after the loss of Redis
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// look asks the home, and then the replica.
func (w *homeWatch) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	at := time.Now()
	schema, err := w.store.SchemaVersion(ctx)
	if err != nil {
		return nil // it is the cell's own database that is away
	}
	if there, failed := w.store.Pulse(ctx); failed == nil {
		w.arrived(there)
	}
	answer, err := w.home.Ask(ctx, schema)
	if err == nil {
		w.answered(answer, at)
	}
	if there, failed := w.store.Pulse(context.WithoutCancel(ctx)); failed == nil {
		w.arrived(there)
	}
	return err
}

// follow waits until the replica has what the home has done by now, as far as askWait lets it.
func (w *homeWatch) follow(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	done, err := w.home.Count(ctx)
	for err == nil {
		there, failed := w.store.Pulse(ctx)
		if err = failed; err != nil || there >= done {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(followEvery):
		}
	}
}

// ahead is how much further than the home a replica may seem to be: what was committed there a moment ago may be replicated before others see it.
const ahead = 10

// answered notes what the home has said.
func (w *homeWatch) answered(a db.Answer, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if a.Pulse < w.seen-ahead {
		w.back, w.fresh, w.asked = w.seen, time.Time{}, nil
	}
	w.heard, w.lost = at, !a.Kept || w.back > 0
	w.asked = append(w.asked, asked{a.Pulse, at})
}

// arrived notes how far the replica is.
func (w *homeWatch) arrived(pulse int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen = pulse; pulse == w.back {
		return
	}
	w.back = 0
	for len(w.asked) > 0 && w.asked[0].pulse <= pulse {
		w.fresh, w.asked = w.asked[0].at, w.asked[1:]
	}
}

// lag is how late the replica is, by what the home has said; away is for how long that has said nothing, 0 while it answers. How late it is does not grow while the home is
// away, and is not forgotten either. It is not known until something that the
// home has counted has arrived, but where the home has never answered, that is allowed, and another process has not noted that the replica was late already.
func (w *homeWatch) lag(now time.Time) (late, away time.Duration, known bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	until := now
	if last := later(w.heard, w.begun); now.Sub(last) > homeAway {
		away, until = now.Sub(last), w.heard
	}
	if len(w.asked) > 0 {
		late = until.Sub(w.asked[0].at)
	}
	return late, away, !w.fresh.IsZero() || w.heard.IsZero() && !w.strict && w.seen >= w.owed
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// refuses tells why callers are not let in: there may be revocations that the cell does not know.
func (w *homeWatch) refuses() error {
	late, away, known := w.lag(time.Now())
	if known && late <= w.most && (!w.strict || away <= w.most) {
		return nil
	}
	e := problem.Away("the directory", errors.New("the replica is late")).With(resolvers.ReasonLate)
	e.Detail = fmt.Sprintf("this cell has not heard from the home for %s what may have been revoked", max(late, away).Round(time.Second))
	return e
}

// lacks tells whether the replica may not have what was made at the home at a moment of the home's clock.
func (w *homeWatch) lacks(made time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fresh.Sub(made) < clocksApart
}

// joinAnew is what there is to do where the cell can't go on.
const joinAnew = "the home has lost the cell's slot, or has gone back to what it was earlier: run `canopy region join … --anew` here"

func (w *homeWatch) isLost() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lost
}

// says is what readiness tells, and whether it is well.
func (w *homeWatch) says() (text string, well bool) {
	late, away, known := w.lag(time.Now())
	switch {
	case !known && w.isLost():
		return joinAnew, false
	case !known:
		return "how late the replica is, is not known yet", false
	case away > 0:
		return fmt.Sprintf("the home has not answered for %s", away.Round(time.Second)), false
	case late > w.most && w.isLost():
		return fmt.Sprintf("late by %s, and %s", late.Round(time.Second), joinAnew), false
	case late > w.most:
		return fmt.Sprintf("late by %s", late.Round(time.Second)), false
	}
	return "ok", true
}

var (
	cellLag      = prometheus.NewDesc("canopy_directory_lag_seconds", "How late the cell's replica of the directory is.", nil, nil)
	cellHomeAway = prometheus.NewDesc("canopy_home_away_seconds", "For how long the home has not answered the cell; 0 while it answers.", nil, nil)
)

// Describe implements prometheus.Collector.
func (*homeWatch) Describe(to chan<- *prometheus.Desc) {
	to <- cellLag
	to <- cellHomeAway
}

// Collect implements prometheus.Collector. The home of a platform has no such metrics.
func (w *homeWatch) Collect(to chan<- prometheus.Metric) {
	if w == nil {
		return
	}
	late, away, _ := w.lag(time.Now())
	to <- prometheus.MustNewConstMetric(cellLag, prometheus.GaugeValue, late.Seconds())
	to <- prometheus.MustNewConstMetric(cellHomeAway, prometheus.GaugeValue, away.Seconds())
}
