package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"canopy/internal/pgconn"
	"canopy/internal/share"
)

// How often a replica is looked at, and how long it may take to answer that.
const (
	lookEvery = 500 * time.Millisecond
	lookWait  = 2 * time.Second
	// pollEvery is how often it is asked whether it has caught up, for one who waits.
	pollEvery = time.Millisecond
)

// committed is a place in the log of a server, told by the server that takes writes: which one that is changes with a failover, and with a start.
type committed struct {
	At     int64  `db:"at"`
	Server string `db:"server"`
}

// servedBy is which server takes writes.
const servedBy = `substr(pg_walfile_name(pg_current_wal_flush_lsn()), 1, 8) || ' ' || pg_postmaster_start_time()`

// qCommitted is what has been committed: what was acknowledged is before it. A server that acknowledges what it has not written yet tells how far
// it will be.
const qCommitted = `
	SELECT pg_wal_lsn_diff(CASE WHEN current_setting('synchronous_commit') = 'off' THEN pg_current_wal_insert_lsn() ELSE pg_current_wal_flush_lsn() END, '0/0')::bigint AS at,
		` + servedBy + ` AS server`

// qReplayed is how far a server is that follows another. One that follows nobody has its own truth, and is no replica.
const qReplayed = `SELECT CASE WHEN pg_is_in_recovery() THEN COALESCE(pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint, -1) ELSE -1 END`

// A place in the log means the same on two servers only where these have one history: one cluster, and its last timeline. A standby tells its timeline
// some time after a failover, and is left out until then.
const (
	qHistory = `
		SELECT s.system_identifier || ' ' || ('x' || substr(pg_walfile_name(pg_current_wal_flush_lsn()), 1, 8))::bit(32)::int AS history, ` + servedBy + ` AS server
		FROM pg_control_system() s`
	qFollowedHistory = `
		SELECT s.system_identifier || ' ' || GREATEST(r.min_recovery_end_timeline, c.timeline_id) AS history
		FROM pg_control_system() s, pg_control_recovery() r, pg_control_checkpoint() c`
)

// replicaWait is how long a replica may say nothing: it is cut off then, and the primary answers.
const replicaWait = 3 * time.Second

var (
	errBehind  = errors.New("the replica is behind")
	errLeftOut = errors.New("the replica is left out")
)

// replicas are servers that follow the primary.
type replicas struct {
	primary *sqlx.DB
	all     []*replica
	turn    atomic.Uint32
	// positions are asked for together by all who begin to read at the same time.
	positions share.Together[none, committed]
	// places are those of callers, as the primary has them.
	places *share.Gate[int64]
	close  context.CancelFunc
	done   sync.WaitGroup
}

// replica is one of them. It is used while it answers and keeps up.
type replica struct {
	name string
	pool *sqlx.DB
	log  *slog.Logger
	// life is ended when the replica does not answer any more, and with it what is asked of it.
	mu   sync.Mutex
	life context.Context
	end  context.CancelCauseFunc

	used atomic.Bool
	// follows is the server whose history it has, as committed tells of it.
	follows    atomic.Value
	behind     atomic.Int64
	statements atomic.Int64
}

// Replica is what a process knows of a replica.
type Replica struct {
	Name string
	// Used tells that it answers reads, Behind how many bytes of the log it had yet to replay when it was last looked at.
	Used   bool
	Behind int64
	// Statements is how many it has answered.
	Statements int64
}

// ReadFrom has the replicas of a URL, one for each of its hosts, answer what is read in the contexts of Reading. They may be away.
func (s *Store) ReadFrom(url string, o Options, log *slog.Logger) error {
	hosts, err := pgconn.Followers(url, replicaWait, statements...)
	if err != nil {
		return fmt.Errorf("CANOPY_DATABASE_READ_URL: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	all := &replicas{primary: s.pool, close: cancel}
	places := 0
	for _, h := range hosts {
		r := &replica{name: h.Name, pool: sqlx.NewDb(sql.OpenDB(h), "postgres"), log: log}
		o.bound(r.pool)
		places += r.pool.Stats().MaxOpenConnections
		all.all = append(all.all, r)
		all.done.Go(func() { all.watch(ctx, r) })
	}
	all.places = share.NewGate[int64](max(2, places))
	s.replicas = all
	return nil
}

// Replicas tells of each replica.
func (s *Store) Replicas() (list []Replica) {
	if s.replicas == nil {
		return nil
	}
	for _, r := range s.replicas.all {
		list = append(list, Replica{Name: r.name, Used: r.used.Load(), Behind: r.behind.Load(), Statements: r.statements.Load()})
	}
	return list
}

// end closes the pools.
func (all *replicas) end() (err error) {
	if all == nil {
		return nil
	}
	all.close()
	all.done.Wait()
	for _, r := range all.all {
		err = errors.Join(err, r.pool.Close())
	}
	return err
}

// next is a replica that is used, by turns; nil where none is.
func (all *replicas) next() *replica {
	first := int(all.turn.Add(1))
	for i := range all.all {
		if r := all.all[(first+i)%len(all.all)]; r.used.Load() {
			return r
		}
	}
	return nil
}

// committed is what has been committed at some time after it is asked for. Where the primary does not tell, it is the one to answer.
func (all *replicas) committed(ctx context.Context) (now committed, told bool) {
	now, err := all.positions.Ask(ctx, none{}, func(ctx context.Context) (now committed, err error) {
		err = getInto(ctx, all.primary, &now, qCommitted)
		return now, err
	})
	return now, err == nil
}

// watch uses a replica as soon as it answers and has caught up, and leaves it out as long as it doesn't.
func (all *replicas) watch(ctx context.Context, r *replica) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var before int64
	for {
		before = all.look(ctx, r, before)
		select {
		case <-ctx.Done():
			r.leaveOut(nil)
			return
		case <-tick.C:
		}
	}
}

// look is one look. before is what had been committed at the last one, which who follows closely has by now.
func (all *replicas) look(process context.Context, r *replica, before int64) (at int64) {
	ctx, cancel := context.WithTimeout(process, lookWait)
	defer cancel()
	var replayed int64
	err := getInto(ctx, r.pool, &replayed, qReplayed)
	if err == nil && replayed < 0 {
		err = errors.New("it follows no server")
	}
	if err == nil {
		err = all.compare(ctx, r)
	}
	if process.Err() != nil {
		return 0
	}
	if err != nil {
		r.leaveOut(err)
		return 0
	}
	now, told := all.committed(ctx)
	if !told {
		return before // nothing is read without the primary
	}
	r.behind.Store(max(0, now.At-replayed))
	if before > 0 && replayed >= before || replayed >= now.At {
		r.use()
	}
	return now.At
}

// compare notes which server a replica follows. Where the primary does not tell, that stays as it is: it is asked again before each read.
func (all *replicas) compare(ctx context.Context, r *replica) error {
	var own struct{ History, Server string }
	if err := getInto(ctx, all.primary, &own, qHistory); err != nil {
		return nil
	}
	var history string
	if err := getInto(ctx, r.pool, &history, qFollowedHistory); err != nil {
		return err
	}
	if history != own.History {
		return fmt.Errorf("its history is %s, the primary's %s (cluster and timeline)", history, own.History)
	}
	r.follows.Store(own.Server)
	return nil
}

// use has a replica answer reads.
func (r *replica) use() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.life == nil {
		r.life, r.end = context.WithCancelCause(context.Background())
		r.log.Info("a replica answers reads", "replica", r.name)
	}
	r.used.Store(true)
}

// leaveOut has it answer none, and ends those that it is asked for. Without a reason it is the process that ends, which is nothing to be told.
func (r *replica) leaveOut(why error) {
	r.used.Store(false)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.life != nil {
		r.end(errLeftOut)
		r.life = nil
		if why == nil {
			return
		}
		r.log.Warn("a replica is left out", "replica", r.name, "error", why)
	}
}

// lag has it answer none until it has caught up; what it is asked for goes on.
func (r *replica) lag() {
	if r.used.Swap(false) {
		r.log.Info("a replica is left out until it has caught up", "replica", r.name)
	}
}

// bound ends ctx when the replica is left out.
func (r *replica) bound(ctx context.Context) (context.Context, func(), error) {
	r.mu.Lock()
	life := r.life
	r.mu.Unlock()
	if life == nil {
		return nil, nil, errLeftOut
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(life, func() { cancel(errLeftOut) })
	return ctx, func() { stop(); cancel(nil) }, nil
}

// run does something on a connection of the replica that has seen replayed what it has to have replayed.
func (r *replica) run(ctx context.Context, at int64, patience time.Duration, do func(context.Context, runner) error) error {
	ctx, over, err := r.bound(ctx)
	if err != nil {
		return err
	}
	defer over()
	conn, err := r.pool.Connx(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := caughtUp(ctx, conn, at, patience); err != nil {
		return err
	}
	r.statements.Add(1)
	return do(ctx, conn)
}

// caughtUp waits until a connection's server has replayed the log up to a place.
func caughtUp(ctx context.Context, conn *sqlx.Conn, at int64, patience time.Duration) error {
	var seen *int64
	if err := conn.Raw(func(inner any) error { seen = inner.(interface{ Replayed() *int64 }).Replayed(); return nil }); err != nil {
		return err
	}
	for begun := time.Now(); *seen < at; {
		if err := getInto(ctx, conn, seen, qReplayed); err != nil {
			return err
		}
		switch {
		case *seen >= at:
			return nil
		case *seen < 0 || time.Since(begun) > patience:
			return errBehind
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollEvery):
		}
	}
	return nil
}

// read has a replica answer what only reads, where there is one that may, and the primary otherwise.
func (s *Store) read(ctx context.Context, only bool, dst any, do func(context.Context, runner) error) error {
	again := func() bool { // of what was read before it failed nothing is kept
		reflect.ValueOf(dst).Elem().SetZero()
		return true
	}
	if done, err := s.atReplica(ctx, only, again, do); done {
		return err
	}
	leave, err := s.turn(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return translate(ctx, do(ctx, s.run()))
}

// atReplica has a replica answer what only reads; done is false where the primary has to. Where the replica fails, again makes ready for that,
// or says that it is too late.
func (s *Store) atReplica(ctx context.Context, only bool, again func() bool, do func(context.Context, runner) error) (done bool, err error) {
	r, from, at := s.source(ctx)
	if from == nil || !only {
		return false, nil
	}
	err = s.readFrom(ctx, r, from, at, do)
	if err == nil || ctx.Err() != nil || errors.Is(err, errNoRoom) {
		return true, translate(ctx, err)
	}
	r.leave()
	if again() {
		return false, nil
	}
	return true, away(fmt.Errorf("%w: %w", ErrReplica, err))
}

func (s *Store) readFrom(ctx context.Context, r *reading, from *replica, at int64, do func(context.Context, runner) error) error {
	leave, err := enter(ctx, s.replicas.places)
	if err != nil {
		return err
	}
	defer leave()
	if !from.used.Load() { // it was left out meanwhile
		return errLeftOut
	}
	s.executed.Add(1)
	err = from.run(ctx, at, r.patience, do)
	if errors.Is(err, errBehind) {
		from.lag()
	}
	return err
}

// onlyRead tells of each statement whether a replica may answer it.
var onlyRead = sync.OnceValue(func() []bool {
	only := make([]bool, len(statements))
	for q, text := range statements {
		only[q] = strings.HasPrefix(strings.TrimSpace(text), "SELECT") && !writes.MatchString(text)
	}
	return only
})

// writes finds what a statement that begins with SELECT may do nevertheless.
var writes = regexp.MustCompile(`\b(INSERT|UPDATE|DELETE|nextval|set_config|pg_advisory\w*|FOR\s+(NO\s+KEY\s+|KEY\s+)?SHARE)\b`)
