package contexts

import (
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/config"
	"canopy/internal/devstack/devtest"
)

func TestAdvSilent(t *testing.T) {
	silent := devtest.Must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	t.Cleanup(func() { _ = silent.Close() })
	model := platform.NewModelServer(t)
	s := platform.Start(t, model.Use, func(c *config.Config) {
		c.VectorURL, c.VectorChunks = "postgres://nobody:hunter2@"+silent.Addr().String()+"/none?sslmode=disable", 50000
	})
	stop := s.Work(nil)
	token := s.Assistant()
	id := s.NewContext(token, "Silent")
	s.Upload(token, id, "a.txt", []byte("a bridge over the river"))
	s.Settle(token, id)
	begun, n, late := time.Now(), 0, 0
	var worst time.Duration
	var mu sync.Mutex
	for time.Since(begun) < 20*time.Second {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				at := time.Now()
				s.Search(token, id, "bridge")
				took := time.Since(at)
				mu.Lock()
				defer mu.Unlock()
				if n++; took > time.Second {
					late++
				}
				worst = max(worst, took)
			})
		}
		all.Wait()
		time.Sleep(200 * time.Millisecond)
	}
	fmt.Println("ADV silent:", n, "searches of a small context,", late, "took more than a second, worst", worst)
	at := time.Now()
	stop()
	fmt.Println("ADV the worker has stopped after", time.Since(at))
	log := s.Log.String()
	for _, w := range []string{"hunter2"} {
		if i := indexOf(log, w); i >= 0 {
			fmt.Println("ADV LOGGED", log[max(0, i-200):i+50])
		}
	}
}

func indexOf(s, w string) int {
	for i := 0; i+len(w) <= len(s); i++ {
		if s[i:i+len(w)] == w {
			return i
		}
	}
	return -1
}
