package identity

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// TestLoginsKeepNobodyWaiting: beside a crowd of logins that are no good, from many networks and for many
// accounts, a good one gets in, and what is too much of the crowd is refused at once. No other test runs meanwhile: it would be
// one of the crowd.
func TestLoginsKeepNobodyWaiting(t *testing.T) {
	const many = 200
	s := behindProxy(t)
	refused := make(chan struct{}, many)
	counts := map[int]int{}
	var mu sync.Mutex
	var crowd sync.WaitGroup
	for i := range many {
		crowd.Go(func() {
			got := s.login(fmt.Sprintf("198.51.%d.%d", i%20, i+1), fmt.Sprintf("nobody%d@x.example", i), "no password")
			mu.Lock()
			defer mu.Unlock()
			if counts[got.Status]++; got.Status == http.StatusTooManyRequests && strings.Contains(string(got.Body), "too many people sign in") {
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
	if got := s.login("203.0.113.9", s.Demo.AdminEmail, s.Demo.AdminPassword); got.Status != http.StatusOK {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	<-ended
}
