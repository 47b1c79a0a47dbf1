// Package hop has a cell of a platform answered by another for what that has: by one request, which is signed, and has the caller's own token.
package hop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"canopy/internal/problem"
	"canopy/internal/share"
	"canopy/internal/telemetry"
	"canopy/internal/web"
)

// Home is how the home of the platform is called among its cells.
const Home = "home"

// RegionHeader names the region whose cell has answered in place of the one that was asked.
const RegionHeader = "Canopy-Region"

// mostHops is how often anything is passed on: so often that no two cells can send a request to and fro.
const mostHops = 2

const (
	dialTimeout = 3 * time.Second
	// answerTimeout is how long another cell may take until its answer begins, once it has been sent all of the request.
	answerTimeout = time.Minute
	idleTimeout   = 90 * time.Second
	idleConns     = 64
	// places is how many requests of this process one other cell answers at the same time, and placeTimeout how long one waits for a place: a cell that hangs must not have
	// all requests hang that are none of its own.
	places       = 512
	placeTimeout = 5 * time.Second
)

// Options are the settings of Cells.
type Options struct {
	// Region is the cell's own; "" at the home.
	Region string
	// Home is where the home is reached.
	Home *url.URL
	// Keys sign what is passed on, and tell what was passed on from what was not; the first one signs.
	Keys [][]byte
	// Follow waits until this cell knows what the home has done by now; nil at the home.
	Follow func(context.Context)
	// Metrics takes how long other cells take; nil takes nothing.
	Metrics prometheus.Registerer
	Log     *slog.Logger
}

// Cells are the other cells of the platform. A nil one passes nothing on, and takes nothing that was.
type Cells struct {
	Options
	transport http.RoundTripper
	took      *prometheus.HistogramVec

	mu     sync.Mutex
	gates  map[string]*share.Gate[int64]
	pulses map[string]*pulse
}

// New makes the way to the other cells; nil where there are no keys.
func New(o Options) (*Cells, error) {
	if len(o.Keys) == 0 {
		return nil, nil
	}
	c := &Cells{
		Options: o, gates: map[string]*share.Gate[int64]{}, pulses: map[string]*pulse{},
		transport: &http.Transport{
			DialContext: dial, TLSHandshakeTimeout: dialTimeout, ResponseHeaderTimeout: answerTimeout,
			IdleConnTimeout: idleTimeout, MaxIdleConnsPerHost: idleConns, DisableCompression: true,
		},
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "canopy_hop_seconds", Help: "How long other cells take until they begin to answer what was passed on to them.",
			Buckets: []float64{0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30},
		}, []string{"to", "outcome"}),
	}
	if o.Metrics != nil {
		if err := o.Metrics.Register(c.took); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// dial connects to a cell, which has to take what is sent to it: net/http bounds the wait for an answer alone, which begins when all is sent.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return web.PaceTo(conn), nil
}

// self is how the others call this cell.
func (c *Cells) self() string { return cmp.Or(c.Region, Home) }

// name is how a place is called.
func name(to problem.Place) string { return cmp.Or(to.Region, Home) }

// Passes tells whether a request, or a part of one, is passed on where another cell has to answer it: also one that has come from a cell. What one cell has changed may be shown with what another one
// has, and the cell of a caller's company may know by an id that another one has what is asked for.
func (c *Cells) Passes(ctx context.Context) bool { return c != nil && hopsOf(ctx) < mostHops }

// Done is called when another cell has changed something for a caller of this one: what is asked for next is as it is then.
func (c *Cells) Done(ctx context.Context, to problem.Place) {
	if to.Region == "" && c.Follow != nil {
		c.Follow(ctx)
	}
}

// base is where a cell is reached.
func (c *Cells) base(to problem.Place) (*url.URL, error) {
	if to.Region == "" {
		return c.Home, nil
	}
	return url.Parse(to.Address)
}

// Away is what a caller hears of a cell that does not answer.
func Away(to problem.Place, cause error) *problem.Error {
	what := "the home of the platform"
	if to.Region != "" {
		what = "the cell of the region " + to.Region
	}
	p := problem.Away(what, cause)
	p.Region = to.Region
	return p
}

// enter waits for a place among the requests to a cell, which leave gives back.
func (c *Cells) enter(ctx context.Context, to problem.Place, branch int64) (leave func(), err error) {
	c.mu.Lock()
	gate := c.gates[name(to)]
	if gate == nil {
		gate = share.NewGate[int64](places)
		c.gates[name(to)] = gate
	}
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, placeTimeout)
	defer cancel()
	if err := gate.Enter(ctx, branch); err != nil {
		return nil, errors.Join(errors.New("too many requests to it are under way"), err)
	}
	return func() { gate.Leave(branch) }, nil
}

// pulse is that of a cell at an address.
func (c *Cells) pulse(at *url.URL) *pulse {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.pulses[at.String()]
	if p == nil {
		p = newPulse(at)
		c.pulses[at.String()] = p
	}
	return p
}

// tripper sends requests of a branch to one cell, and tells how long it took.
type tripper struct {
	*Cells
	to problem.Place
	// at is where the cell is reached.
	at     *url.URL
	branch int64
}

// way is that of requests of a branch to a cell.
func (c *Cells) way(to problem.Place, branch int64) (t tripper, err error) {
	t = tripper{Cells: c, to: to, branch: branch}
	t.at, err = c.base(to)
	return t, err
}

// address has a request go to the cell, signed. Its path and query stay as they are.
func (t tripper) address(r *http.Request) {
	ctx := r.Context()
	r.Header.Del(header)
	r.Header.Set(header, t.sign(r, t.to, web.ClientAddress(ctx), time.Now()))
	r.Header.Set("X-Request-Id", web.RequestID(ctx))
	r.Header.Del("Expect")
	telemetry.Inject(ctx, r.Header)
	query := r.URL.RawQuery
	if prefix := t.at.EscapedPath(); prefix != "" && prefix != "/" {
		r.URL = t.at.JoinPath(r.URL.EscapedPath())
	}
	r.URL.Scheme, r.URL.Host, r.URL.RawQuery, r.Host = t.at.Scheme, t.at.Host, query, ""
}

// closeBody tells whoever writes the body of a request that nobody reads it.
func closeBody(r *http.Request) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
}

// RoundTrip implements http.RoundTripper. The place is given back when the answer begins.
func (t tripper) RoundTrip(r *http.Request) (*http.Response, error) {
	leave, err := t.enter(r.Context(), t.to, t.branch)
	if err != nil {
		closeBody(r)
		return nil, err
	}
	defer leave()
	begun := time.Now()
	res, err := t.ask(r)
	outcome := "answered"
	switch {
	case err != nil && errors.Is(r.Context().Err(), context.Canceled):
		outcome = "left" // whoever asked has gone, or heard elsewhere that there is no answer
	case err != nil:
		outcome = "away"
	case res.Header.Get(header) != "":
		outcome, err = "refused", errRefused
		_ = res.Body.Close()
	case byProxy(res):
		outcome, err = "away", fmt.Errorf("a proxy before it answers %d", res.StatusCode)
		_ = res.Body.Close()
	}
	t.took.WithLabelValues(name(t.to), outcome).Observe(time.Since(begun).Seconds())
	if err != nil {
		return nil, err
	}
	return res, nil
}

// ask sends a request, and waits for the answer as long as the cell answers anything.
func (t tripper) ask(r *http.Request) (*http.Response, error) {
	ctx, over, err := t.pulse(t.at).begin(r.Context())
	if err != nil {
		closeBody(r)
		return nil, err
	}
	res, err := t.transport.RoundTrip(r.WithContext(ctx))
	over(err == nil && !byProxy(res))
	if err != nil && errors.Is(context.Cause(ctx), errSilent) {
		err = errSilent
	}
	return res, err
}

// byProxy tells whether a proxy before a cell has answered by itself, as where it finds none of the cell's processes: what these say has the request's id.
func byProxy(res *http.Response) bool {
	switch res.StatusCode {
	case http.StatusRequestTimeout, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return res.Header.Get("X-Request-Id") == ""
	}
	return false
}

// errRefused: the keys or the clocks of the two differ.
var errRefused = errors.New("it does not take what this cell has signed: CANOPY_CELL_KEY or the clock differs, or its address is another cell's")
