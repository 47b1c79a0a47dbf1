package devstack

import (
	"context"
	"testing"
)

func TestStandby(t *testing.T) {
	p := startTest(t, PostgresOptions{Settings: map[string]string{"max_connections": "23"}})
	if err := ping(t.Context(), p.URL(), "CREATE TABLE things (n int); INSERT INTO things VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	s, err := p.StartStandby(t.Context(), testFolder(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Remove)
	follows := func(n int) bool { return query[int](t, s.URL(), "SELECT sum(n) FROM things") == n }
	if !follows(1) || s.URL() == p.URL() || !query[bool](t, s.URL(), "SELECT pg_is_in_recovery()") {
		t.Error("it is no copy")
	}
	if err := ping(t.Context(), p.URL(), "INSERT INTO things VALUES (10)"); err != nil {
		t.Fatal(err)
	}
	if !poll(t.Context(), func() bool { return follows(11) }) {
		t.Error("it does not follow")
	}
	if err := s.Restart(context.Background()); err != nil {
		t.Fatal(err)
	}
	if !query[bool](t, s.URL(), "SELECT pg_is_in_recovery()") {
		t.Error("after a restart it is a standby no longer")
	}
	p.Kill()
	if err := s.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := ping(t.Context(), s.URL(), "INSERT INTO things VALUES (100)"); err != nil || !follows(111) {
		t.Errorf("promoted: %v", err)
	}
}

func TestPgBouncer(t *testing.T) {
	p := startTest(t, PostgresOptions{})
	b, err := StartPgBouncer(t.Context(), p, map[string]string{"pool_mode": "transaction", "default_pool_size": "1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Remove)
	one := query[int](t, b.URL(), "SELECT pg_backend_pid()")
	if two := query[int](t, b.URL(), "SELECT pg_backend_pid()"); two != one || b.URL() == p.URL() {
		t.Errorf("%d and %d: nothing is pooled", one, two)
	}
}
