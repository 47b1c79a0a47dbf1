package operations

import (
	"fmt"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/config"
	"canopy/internal/devstack/devtest"
)

// TestRedisCluster: everything works on a Redis Cluster, and goes on when a replica takes its master's place.
func TestRedisCluster(t *testing.T) {
	t.Parallel()
	c := devtest.StartRedisCluster(t, true)
	goesOn(t, c.URL, c.Masters[0], c.Replicas[0])
}

// TestRedisSentinels: everything works with the master that sentinels name, and goes on with the one that they name next.
func TestRedisSentinels(t *testing.T) {
	t.Parallel()
	s := devtest.StartSentinels(t)
	goesOn(t, s.URL, s.Master, s.Replica)
}

// goesOn works with a Redis before a master of it is gone, meanwhile, and once the replica has its place: tasks, limits and the queues' page.
func goesOn(t *testing.T, url string, master, replica *devtest.OwnRedis) {
	t.Helper()
	s := platform.Start(t, platform.DeliverLocally(t), func(c *config.Config) { c.RedisURL, c.RateLimit, c.CostLimit = url, 1_000_000, 1_000_000_000 })
	s.NoDemoMails()
	box := &platform.Letterbox{}
	s.Work(box)
	root, post := s.Root(), platform.NewReceiver(t, nil)
	s.Subscribe(root, post.URL, "audit.user.created")
	made := 0
	work := func() {
		made++
		s.Must(201, "POST", "/tenant/user", root, map[string]any{"email": fmt.Sprintf("person%d@x.example", made)})
		devtest.Eventually(t, "the mail and the delivery are out", func() bool { return box.Count() == made && len(post.All()) == made })
		s.Login(platform.DemoAdmin, s.Demo.AdminPassword)
		if a := s.Exchange(s.GrantForm(nil)); a.Status != 200 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	work()
	says := func(part string) func() bool {
		return func() bool { return strings.Contains(string(s.Do("GET", "/readyz", "", nil).Body), part) }
	}
	devtest.Eventually(t, "/readyz is ok", says(`"status":"ok"`))
	if a := s.Do("GET", "/monitoring/api/queues", "", nil); a.Status != 200 || !strings.Contains(string(a.Body), `"mail"`) {
		t.Errorf("the queues: %d %.300s", a.Status, a.Body)
	}
	if a := s.Do("GET", "/tenant/1", root, nil); !strings.Contains(a.Header.Get("RateLimit"), "r=9999") {
		t.Errorf("nothing is counted: %v", a.Header)
	}
	master.Kill()
	devtest.Eventually(t, "/readyz tells of it", says(`"redis":"away"`))
	work()
	devtest.Eventually(t, "the replica is the master", func() bool {
		said, err := replica.Client().Info(t.Context(), "replication").Result()
		return err == nil && strings.Contains(said, "role:master")
	})
	work()
	devtest.Eventually(t, "/readyz is ok again", says(`"status":"ok"`))
}
