package identity

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/config"
)

// TestLoginsKeepNobodyWaiting: beside a crowd of logins that are no good, from many networks and for many
// accounts, a good one gets in, and what is too much of the crowd is refused at once.
func TestLoginsKeepNobodyWaiting(t *testing.T) {
	t.Parallel()
	const many = 200
	s := platform.Start(t, func(c *config.Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	login := func(email, password, address string) (status int, body string, err error) {
		raw := fmt.Appendf(nil, `{"email":%q,"password":%q}`, email, password)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/auth/token", bytes.NewReader(raw))
		if err != nil {
			return 0, "", err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-Forwarded-For", address)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0, "", err
		}
		defer func() { _ = resp.Body.Close() }()
		answer, err := io.ReadAll(resp.Body)
		return resp.StatusCode, string(answer), err
	}
	refused := make(chan struct{}, many)
	counts := map[int]int{}
	var mu sync.Mutex
	var crowd sync.WaitGroup
	for i := range many {
		crowd.Go(func() {
			status, body, err := login(fmt.Sprintf("nobody%d@x.example", i), "no password", fmt.Sprintf("198.51.%d.%d", i%20, i+1))
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if counts[status]++; status == http.StatusTooManyRequests && strings.Contains(body, "too many people sign in") {
				refused <- struct{}{}
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		crowd.Wait()
		close(ended)
	}()
	select {
	case <-refused:
	case <-ended:
		t.Fatalf("nobody is refused: %v", counts)
	}
	if status, body, err := login(s.Demo.AdminEmail, s.Demo.AdminPassword, "203.0.113.9"); err != nil || status != http.StatusOK {
		t.Errorf("%d %s, %v", status, body, err)
	}
	<-ended
}
