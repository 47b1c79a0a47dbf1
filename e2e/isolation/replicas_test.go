package isolation

import (
	"net/url"
	"testing"

	"github.com/jmoiron/sqlx"

	"canopy/e2e/platform"
	"canopy/internal/config"
	"canopy/internal/devstack/devtest"
)

// TestReplicasIsolate asks platforms whose lists a standby answers for what TestGraphIsolation, TestRESTIsolation and those of agents ask for.
func TestReplicasIsolate(t *testing.T) {
	t.Parallel()
	primary := platform.OwnPostgres(t)
	standby := devtest.Standby(t, primary)
	database := func(server, name string) string {
		u := devtest.Must[*url.URL](t)(url.Parse(server))
		u.Path = "/" + name
		return u.String()
	}
	for name, isolation := range map[string]func(*testing.T, func(*config.Config)) *platform.Platform{
		"graph": func(t *testing.T, on func(*config.Config)) *platform.Platform {
			w := anotherWorld(t, on)
			graphIsolation(t, w)
			return w.Platform
		},
		"rest": func(t *testing.T, on func(*config.Config)) *platform.Platform {
			w := anotherWorld(t, on)
			restIsolation(t, w)
			return w.Platform
		},
		"agents": func(t *testing.T, on func(*config.Config)) *platform.Platform {
			y := yardIn(anotherWorld(t, on))
			agentGraphIsolation(t, y)
			return y.Platform
		},
	} {
		own := devtest.Must[*sqlx.DB](t)(sqlx.Open("postgres", database(primary.URL(), "template1")))
		template := devtest.Must[*url.URL](t)(url.Parse(primary.URL())).Path[1:]
		_, err := own.ExecContext(t.Context(), `CREATE DATABASE `+name+` TEMPLATE `+template)
		_ = own.Close()
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			s := isolation(t, func(c *config.Config) {
				c.DatabaseURL, c.DatabaseReadURL = database(primary.URL(), name), database(standby.URL(), name)
			})
			if n := s.App.Store.Replicas()[0].Statements; n < 100 {
				t.Errorf("the standby has answered %d statements", n)
			}
		})
	}
}
