package devstack

import "testing"

func TestCopy(t *testing.T) {
	p := startTest(t, PostgresOptions{})
	if err := ping(t.Context(), p.URL(), "CREATE TABLE things (n int); INSERT INTO things VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.StartCopy(t.Context(), PostgresOptions{Dir: testFolder(t)}); err == nil {
		t.Error("a server that runs is copied")
	}
	p.Stop(t.Context())
	copied := func(settings map[string]string) *Postgres {
		t.Helper()
		c, err := p.StartCopy(t.Context(), PostgresOptions{Dir: testFolder(t), Settings: settings})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Remove)
		return c
	}
	first, second := copied(map[string]string{"max_connections": "23"}), copied(nil)
	if err := ping(t.Context(), first.URL(), "INSERT INTO things VALUES (10)"); err != nil {
		t.Fatal(err)
	}
	if err := first.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for server, want := range map[*Postgres]int{p: 1, first: 11, second: 1} {
		if n := query[int](t, server.URL(), "SELECT sum(n) FROM things"); n != want {
			t.Errorf("%d, not %d", n, want)
		}
	}
	if n := query[string](t, first.URL(), "SHOW max_connections"); n != "23" {
		t.Errorf("it has room for %s connections", n)
	}
}
