package db_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/devstack"
	"canopy/internal/devstack/devtest"
	"canopy/internal/problem"
)

// followed is a store that may read from a standby of its server.
func followed(t testing.TB) (s *db.Store, standby *devstack.Postgres) {
	t.Helper()
	p, standby := servers(t)
	s = open(t, p.URL())
	if err := s.ReadFrom(standby.URL(), db.Options{MaxConns: 4}, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	used(t, s, true)
	return s, standby
}

// servers are a server and its standby.
func servers(t testing.TB) (p, standby *devstack.Postgres) {
	t.Helper()
	// What is acknowledged is written, as it is where people work: it is sent on at once.
	p = devtest.Server(t, devstack.PostgresOptions{Durable: true}, "schema", db.Migrate)
	return p, devtest.Standby(t, p)
}

func used(t testing.TB, s *db.Store, wanted bool) {
	t.Helper()
	devtest.Eventually(t, fmt.Sprintf("the replica is used: %t", wanted), func() bool { return s.Replicas()[0].Used == wanted })
}

// keys counts signing keys by a list.
func keys(ctx context.Context, t *testing.T, s *db.Store) int {
	t.Helper()
	list, err := s.SigningKeys(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// add writes a key.
func add(ctx context.Context, s *db.Store) error {
	return s.InsertSigningKey(ctx, db.SigningKey{KID: rand.Text(), PrivateKey: []byte{1}, ActivatesAt: time.Now()}, time.Now().Add(time.Hour))
}

// seesAll writes, and reads what it has written, so many times.
func seesAll(t *testing.T, s *db.Store, times int) {
	t.Helper()
	for range times {
		before := keys(t.Context(), t, s)
		if err := add(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if n := keys(db.Reading(t.Context()), t, s); n != before+1 {
			t.Fatalf("of %d keys %d are read", before+1, n)
		}
	}
}

func answered(s *db.Store) int64 { return s.Replicas()[0].Statements }

func run(t *testing.T, p *devstack.Postgres, text string) {
	t.Helper()
	pool, err := sql.Open("postgres", p.URL()+"&target_session_attrs=any")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pool.Close() }()
	if _, err := pool.ExecContext(t.Context(), text); err != nil {
		t.Fatal(err)
	}
}

// TestReplicasAnswer: what is read in a context of Reading comes from the replica, and nothing else does.
func TestReplicasAnswer(t *testing.T) {
	t.Parallel()
	s, _ := followed(t)
	before := answered(s)
	keys(t.Context(), t, s)
	_ = s.Tx(db.Reading(t.Context()), func(tx *db.Store) error {
		keys(db.Reading(t.Context()), t, tx)
		return nil
	})
	if n := answered(s) - before; n != 0 {
		t.Errorf("without Reading, and in a transaction, the replica has answered %d statements", n)
	}
	var ctx context.Context
	devtest.Eventually(t, "the replica answers two reads in a row", func() bool { // on a busy machine it may be behind for a moment, and is asked no more in that context
		ctx, before = db.Reading(t.Context()), answered(s)
		keys(ctx, t, s)
		keys(ctx, t, s)
		return answered(s) == before+2
	})
	keys(db.Alone(ctx), t, s)
	if n := answered(s) - before; n != 2 {
		t.Errorf("what is read alone was answered by the replica, too: %d statements", n)
	}
}

// TestEndingLeavesNoReplicaOut: the log warns of a replica that is away, and of none when the process ends.
func TestEndingLeavesNoReplicaOut(t *testing.T) {
	t.Parallel()
	p, standby := servers(t)
	for away, warns := range map[bool]bool{false: false, true: true} {
		s := devtest.Must[*db.Store](t)(db.Open(t.Context(), p.URL(), db.Options{MaxConns: 4}))
		log := &devtest.Log{}
		devtest.Check(t, s.ReadFrom(standby.URL(), db.Options{MaxConns: 4}, slog.New(slog.NewTextHandler(log, nil))))
		used(t, s, true)
		if away {
			standby.Stop(t.Context())
			used(t, s, false)
		}
		devtest.Check(t, s.Close())
		if got := strings.Contains(log.String(), "WARN"); got != warns {
			t.Errorf("away %t: %s", away, log)
		}
		if away {
			devtest.Check(t, standby.Start(t.Context()))
		}
	}
}

// TestReplicasAreNeverStale: whoever has written reads it, whether the replica follows at once, late, or not at all, and many at the same time.
func TestReplicasAreNeverStale(t *testing.T) {
	t.Parallel()
	s, standby := followed(t)
	before := answered(s)
	seesAll(t, s, 50)
	// On a machine that is busy it may take longer than a read waits.
	devtest.Eventually(t, "the replica answers", func() bool { seesAll(t, s, 1); return answered(s) > before })
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				list, err := s.SigningKeys(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				_ = add(t.Context(), s)
				read, err := s.SigningKeys(db.Reading(t.Context()))
				if err != nil || len(read) < len(list)+1 {
					t.Errorf("after one more than %d, %d are read: %v", len(list), len(read), err)
					return
				}
			}
		})
	}
	all.Wait()
	run(t, standby, `SELECT pg_wal_replay_pause()`)
	seesAll(t, s, 10)
	used(t, s, false)
	before = answered(s)
	begun := time.Now()
	seesAll(t, s, 20)
	if n := answered(s) - before; n != 0 {
		t.Errorf("while it stands still the replica has answered %d", n)
	}
	t.Logf("20 reads past it took %v", time.Since(begun))
	run(t, standby, `SELECT pg_wal_replay_resume()`)
	devtest.Eventually(t, "it answers again", func() bool { seesAll(t, s, 1); return answered(s) > before })
}

// TestReplicasMayGo: one that dies, or follows nobody any more, is left out, and nobody's read fails.
func TestReplicasMayGo(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*devstack.Postgres){
		"it dies":        func(p *devstack.Postgres) { p.Kill() },
		"it is promoted": func(p *devstack.Postgres) { _ = p.Promote(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, standby := followed(t)
			seesAll(t, s, 5)
			leave(standby)
			seesAll(t, s, 20)
			used(t, s, false)
			seesAll(t, s, 5)
		})
	}
}

// TestReplicasMayHang: where one of two standbys takes connections and says nothing any more, nobody's read fails and the other one answers; it is left out, and
// used again once it says something. One that says nothing from the beginning is never used, and keeps nobody from ending.
func TestReplicasMayHang(t *testing.T) {
	t.Parallel()
	p, standby := servers(t)
	way, address := devtest.WayTo(t, standby.URL())
	u, v := devtest.Must[*url.URL](t)(url.Parse(address)), devtest.Must[*url.URL](t)(url.Parse(standby.URL()))
	u.Host += "," + v.Host
	s := open(t, p.URL())
	devtest.Check(t, s.ReadFrom(u.String(), db.Options{MaxConns: 4}, slog.New(slog.DiscardHandler)))
	both := func(what string, first bool) {
		t.Helper()
		devtest.Eventually(t, what, func() bool { r := s.Replicas(); return r[0].Used == first && r[1].Used })
	}
	both("both are used", true)
	seesAll(t, s, 10)
	way.Hang()
	var all sync.WaitGroup
	for range 8 { // whose turn it is finds one that is known to answer, on a connection that did
		all.Go(func() {
			if list, err := s.SigningKeys(db.Reading(t.Context())); err != nil || len(list) != 10 {
				t.Errorf("%d keys are read: %v", len(list), err)
			}
		})
	}
	all.Wait()
	both("the one that hangs is left out", false)
	before, other := s.Replicas()[0].Statements, s.Replicas()[1].Statements
	devtest.Eventually(t, "the other one answers", func() bool { seesAll(t, s, 1); return s.Replicas()[1].Statements > other })
	if n := s.Replicas()[0].Statements - before; n != 0 {
		t.Errorf("%d are asked of the one that hangs", n)
	}
	way.Mend()
	both("it is used again", true)
	way.Hang()
	late := open(t, p.URL())
	devtest.Check(t, late.ReadFrom(address, db.Options{MaxConns: 4}, slog.New(slog.DiscardHandler)))
	seesAll(t, late, 5)
	if r := late.Replicas()[0]; r.Used || r.Statements > 0 {
		t.Errorf("it is read from: %+v", r)
	}
}

// TestReplicasMayBreakOff: what is read row by row fails where its standby is lost after the first row, and has no fewer rows; before that the primary answers,
// as it does the next page of a list.
func TestReplicasMayBreakOff(t *testing.T) {
	t.Parallel()
	p, standby := servers(t)
	way, address := devtest.WayTo(t, standby.URL())
	const rows = 20_000
	run(t, p, `SET session_replication_role = replica; INSERT INTO customers (id, name, parent_id, region_id, lineage)
		SELECT n, 'c' || n, NULLIF(1, n), 1, CASE n WHEN 1 THEN '{1}' ELSE ARRAY[1, n] END FROM generate_series(1, 20000) n`)
	run(t, p, `SET session_replication_role = replica; INSERT INTO chunks (document_id, revision, position, content, overlap_bytes, tokens, sparse, dense)
		SELECT 1, 1, n, '', 0, 0, '', convert_to(repeat('x', 300), 'UTF8') FROM generate_series(1, 20000) n`)
	run(t, p, `SET session_replication_role = replica; INSERT INTO users (id, email) SELECT n, 'u' || n || '@tree.example' FROM generate_series(1, 20000) n`)
	run(t, p, `SET session_replication_role = replica; INSERT INTO memberships (user_id, customer_id, email, first_name, last_name, lineage) SELECT n, 1, 'u' || n || '@tree.example', '', '', '{1}' FROM generate_series(1, 20000) n`)
	s := open(t, p.URL())
	devtest.Check(t, s.ReadFrom(address, db.Options{MaxConns: 4}, slog.New(slog.DiscardHandler)))
	vectors := func(ctx context.Context, each func()) error {
		return s.StreamVectors(ctx, true, map[int64]int64{1: 1}, func(db.VectorRow) error { each(); return nil })
	}
	companies := func(ctx context.Context, each func()) error {
		return s.StreamSubtree(ctx, access.Lineage{1}.Subtree(), nil, 0, func(*db.Customer) error { each(); return nil })
	}
	for name, c := range map[string]struct {
		read func(context.Context, func()) error
		// at is the row with which it is lost; 0: before it is asked.
		at   int
		want error
	}{
		"vectors, before the first row": {vectors, 0, nil}, "vectors, after it": {vectors, 1, db.ErrReplica}, "vectors, in their midst": {vectors, rows / 2, db.ErrReplica},
		"companies, before the first row": {companies, 0, nil}, "companies, after it": {companies, 1, nil}, "companies, in their midst": {companies, rows / 2, nil},
	} {
		seen, err := 0, error(nil)
		devtest.Eventually(t, name+": the standby is asked", func() bool { // and not the primary, as where it is behind at that moment
			used(t, s, true)
			before := answered(s)
			if c.at == 0 {
				way.Cut()
			}
			seen = 0
			err = c.read(db.Reading(t.Context()), func() {
				if seen++; seen == c.at {
					way.Cut()
				}
			})
			way.Mend()
			return c.at == 0 || answered(s) > before
		})
		if !errors.Is(err, c.want) || err == nil && seen != rows {
			t.Errorf("%s: %d rows of %d: %v", name, seen, rows, err)
		}
		if err != nil && problem.From(err).Status() != 503 {
			t.Errorf("%s: it is told as %v", name, problem.From(err))
		}
	}
	// Those that are put together of several rows are handed on a page at a time: each comes once, wherever the standby is lost.
	for _, limit := range []int{0, rows} {
		for _, after := range []int{1 << 10, 1 << 16, 1 << 20} {
			devtest.Eventually(t, "the standby is lost among the people", func() bool {
				used(t, s, true)
				seen := 0
				way.CutAfter(after)
				err := s.StreamUsers(db.Reading(t.Context()), access.Lineage{1}.Subtree(), 1, 0, limit, func(u *db.UserLine) error {
					if seen++; u.ID != int64(seen) {
						t.Fatalf("user %d comes as row %d", u.ID, seen)
					}
					return nil
				})
				cut := way.IsCut()
				way.Mend()
				if err != nil || seen != rows {
					t.Errorf("after %d bytes, at most %d: %d rows: %v", after, limit, seen, err)
				}
				return cut
			})
		}
	}
}

// TestReplicasOfAnotherHistory: a standby that has followed the dead primary further than the new one had is not read from, however long its log is.
func TestReplicasOfAnotherHistory(t *testing.T) {
	t.Parallel()
	p := devtest.Server(t, devstack.PostgresOptions{Durable: true}, "schema", db.Migrate)
	next, other := devtest.Standby(t, p), devtest.Standby(t, p)
	run(t, next, `ALTER SYSTEM SET primary_conninfo = ''`)
	run(t, next, `SELECT pg_reload_conf()`)
	run(t, p, `CREATE TABLE filler AS SELECT repeat(md5(i::text), 20) AS x FROM generate_series(1, 50000) i`)
	devtest.Eventually(t, "the other one has all of it", func() bool { return count(t, other, `SELECT count(*) FROM pg_class WHERE relname = 'filler'`) == 1 })
	p.Kill()
	devtest.Check(t, next.Promote(t.Context()))
	s := open(t, next.URL())
	devtest.Check(t, s.ReadFrom(other.URL(), db.Options{MaxConns: 4}, slog.New(slog.DiscardHandler)))
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
		seesAll(t, s, 1)
	}
	if r := s.Replicas()[0]; r.Used || r.Statements > 0 {
		t.Errorf("it is read from: %+v", r)
	}
}

func count(t *testing.T, p *devstack.Postgres, text string) (n int) {
	t.Helper()
	pool := devtest.Must[*sql.DB](t)(sql.Open("postgres", p.URL()+"&target_session_attrs=any"))
	defer func() { _ = pool.Close() }()
	devtest.Check(t, pool.QueryRowContext(t.Context(), text).Scan(&n))
	return n
}

// BenchmarkReplicas is a list that the primary answers, and the same by a standby, alone and beside somebody who writes all the time.
func BenchmarkReplicas(b *testing.B) {
	s, _ := followed(b)
	for range 20 {
		if err := add(b.Context(), s); err != nil {
			b.Fatal(err)
		}
	}
	read := func(b *testing.B, reading func(context.Context) context.Context) {
		b.Helper()
		before := answered(s)
		for b.Loop() {
			if _, err := s.SigningKeys(reading(b.Context())); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(answered(s)-before)/float64(b.N), "replica/op")
	}
	for _, writing := range []bool{false, true} {
		var done sync.WaitGroup
		ctx, stop := context.WithCancel(b.Context())
		name := "alone"
		if writing {
			name = "beside a writer"
			done.Go(func() {
				for ctx.Err() == nil {
					key := db.SigningKey{KID: rand.Text(), PrivateKey: []byte{1}, ActivatesAt: time.Now()}
					_ = s.Tx(ctx, func(tx *db.Store) error {
						_ = tx.InsertSigningKey(ctx, key, time.Now().Add(time.Hour))
						return tx.DropSigningKey(ctx, key.KID)
					})
				}
			})
		}
		b.Run("primary, "+name, func(b *testing.B) { read(b, func(ctx context.Context) context.Context { return ctx }) })
		b.Run("replica, "+name, func(b *testing.B) { read(b, db.Reading) })
		stop()
		done.Wait()
	}
}
