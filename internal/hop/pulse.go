package hop

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"
)

const (
	// doubtAfter is how long a cell may keep a request waiting before it is asked whether it answers anything; probeTimeout is how long it has for that, and
	// probeEvery how often one that does not is asked again, where somebody wants something of it. Where nobody did for silentFor, nobody knows.
	doubtAfter   = 3 * time.Second
	probeTimeout = 2 * time.Second
	probeEvery   = time.Second
	silentFor    = 10 * time.Second
)

// errSilent: its machine or its processes are frozen or cut off, behind connections that stay open.
var errSilent = errors.New("it takes connections and answers nothing")

// pulse tells whether a cell answers anything. One that is frozen takes requests and never ends them: nobody waits for it longer than it takes
// to find that out, and whoever comes then hears so at once.
type pulse struct {
	// alive asks the cell whether it answers.
	alive func(context.Context) bool

	mu      sync.Mutex
	heard   time.Time
	probed  time.Time
	probing bool
	silent  bool
	waiting map[*waiting]struct{}
}

// waiting is a request that the cell has not answered yet.
type waiting struct {
	end   context.CancelCauseFunc
	doubt *time.Timer
}

// newPulse makes that of a cell, which is asked at /healthz. A proxy before it that says by itself that nobody is there is no answer.
func newPulse(at *url.URL) *pulse {
	client := &http.Client{Timeout: probeTimeout, Transport: &http.Transport{DisableKeepAlives: true}}
	return &pulse{waiting: map[*waiting]struct{}{}, alive: func(ctx context.Context) bool {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, at.JoinPath("healthz").String(), nil)
		if err != nil {
			return false
		}
		res, err := client.Do(r)
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		return !byProxy(res)
	}}
}

// begin takes a request to the cell, or refuses it where the cell is silent. Who comes long after it was found so waits until it is known again. The context ends
// with errSilent where it is, or comes to be, silent; over is called when the cell has begun to answer, or failed to.
func (p *pulse) begin(ctx context.Context) (asked context.Context, over func(answered bool), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.silent {
		known := time.Since(p.probed)
		if known >= probeEvery {
			p.probe()
		}
		if known < silentFor {
			return nil, nil, errSilent
		}
	}
	asked, end := context.WithCancelCause(ctx)
	w := &waiting{end: end}
	p.waiting[w] = struct{}{}
	w.doubt = time.AfterFunc(doubtAfter, func() { p.doubt(w) })
	return asked, func(answered bool) {
		p.mu.Lock()
		defer p.mu.Unlock()
		w.doubt.Stop()
		delete(p.waiting, w)
		if answered {
			p.heard, p.silent = time.Now(), false
		} else {
			end(nil)
		}
	}, nil
}

// doubt asks the cell whether it answers, unless it has answered anything lately, and so on as long as a request waits.
func (p *pulse) doubt(w *waiting) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, waits := p.waiting[w]; !waits {
		return
	}
	if time.Since(p.heard) >= doubtAfter {
		p.probe()
	}
	w.doubt.Reset(doubtAfter)
}

// probe asks the cell, once at a time. The caller holds mu.
func (p *pulse) probe() {
	if p.probing {
		return
	}
	p.probing = true
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
		defer cancel()
		alive := p.alive(ctx)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.probing, p.probed, p.silent = false, time.Now(), !alive
		if alive {
			p.heard = p.probed
			return
		}
		for w := range p.waiting {
			w.end(errSilent)
		}
	}()
}
