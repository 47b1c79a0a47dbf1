package platform

import (
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"canopy/internal/config"
	"canopy/internal/webhook"
)

// The matrix of agents, runs and webhooks: the callers of the other one, with tokens for the agent
// builder. The token for another application is one for tenant management.

// PublicURL is a destination that passes every rule; nothing is sent in these tests.
const PublicURL = "https://93.184.216.34/hooks"

// Ended polls a delivery until it has ended.
func (s *Platform) Ended(token string, id int64) map[string]any {
	s.T.Helper()
	for deadline := time.Now().Add(Patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if d := s.Do("GET", Hooks+"/deliveries/"+Decimal(id), token, nil).JSON(s.T).(map[string]any); d["status"] != "pending" {
			return d
		}
	}
	s.T.Fatalf("delivery %d does not end", id)
	return nil
}

// Received is one request that a receiver got.
type Received struct {
	At     time.Time
	Header http.Header
	Body   []byte
	ID     string
	Typ    string
}

// Receiver is an HTTPS endpoint on the loopback address.
type Receiver struct {
	*httptest.Server
	// status answers each request; 204 when nil. n counts the requests for the same event, from 1.
	Status func(r Received, n int) int
	mu     sync.Mutex
	got    []Received
	seen   map[string]int
	more   chan struct{}
}

func NewReceiver(t testing.TB, status func(Received, int) int) *Receiver {
	t.Helper()
	r := &Receiver{Status: status, seen: map[string]int{}, more: make(chan struct{}, 1)}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(r.serve))
	r.Server.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	r.Server.Config.ErrorLog = nil
	r.Server.StartTLS()
	t.Cleanup(r.Server.Close)
	return r
}

func (r *Receiver) serve(w http.ResponseWriter, req *http.Request) {
	x := Received{At: time.Now(), Header: req.Header}
	x.Body, _ = io.ReadAll(req.Body)
	var e webhook.Envelope
	_ = json.Unmarshal(x.Body, &e)
	x.ID, x.Typ = e.ID, e.Type
	r.mu.Lock()
	r.got = append(r.got, x)
	r.seen[x.ID]++
	n := r.seen[x.ID]
	r.mu.Unlock()
	select {
	case r.more <- struct{}{}:
	default:
	}
	status := http.StatusNoContent
	if r.Status != nil {
		status = r.Status(x, n)
	}
	w.WriteHeader(status)
}

// All gives what came so far.
func (r *Receiver) All() []Received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// Wait gives what came once there are n requests.
func (r *Receiver) Wait(t testing.TB, n int) []Received {
	t.Helper()
	deadline := time.After(Patience)
	for {
		if got := r.All(); len(got) >= n {
			return got
		}
		select {
		case <-r.more:
		case <-deadline:
			t.Fatalf("%d of %d requests came: %v", len(r.All()), n, r.Types())
		}
	}
}

func (r *Receiver) Types() (list []string) {
	for _, x := range r.All() {
		list = append(list, x.Typ)
	}
	return list
}

// DeliverLocally lets a platform deliver to receivers on the loopback address.
func DeliverLocally(t testing.TB) func(*config.Config) {
	t.Helper()
	ca := CertificateFile(t)
	return func(c *config.Config) {
		c.WebhookAllow, c.WebhookCA = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, ca
	}
}

// StartDelivering starts a platform with a worker that may deliver to receivers.
func StartDelivering(t *testing.T, change ...func(*config.Config)) *Platform {
	t.Helper()
	s := Start(t, append(change, DeliverLocally(t))...)
	s.NoDemoMails()
	s.Work(nil)
	return s
}

const Hooks = "/v1/outbound-webhooks"

// Subscribe makes a destination and gives its id and secret.
func (s *Platform) Subscribe(token, url string, events ...string) (id int64, secret string) {
	s.T.Helper()
	body := map[string]any{"url": url, "name": "test"}
	if len(events) > 0 {
		body["events"] = events
	}
	a := s.Do("POST", Hooks+"/destinations", token, body)
	if a.Status != http.StatusCreated {
		s.T.Fatalf("%d %s", a.Status, a.Body)
	}
	m := a.JSON(s.T).(map[string]any)
	return int64(m["id"].(float64)), m["secret"].(string)
}
