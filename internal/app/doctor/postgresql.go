package doctor

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"canopy/db"
	"canopy/internal/pgconn"
)

const (
	// oldestPostgreSQL is the first version that the platform runs on.
	oldestPostgreSQL = 140000
	// processes are as many as a small deployment has: two of serve, two of worker.
	processes = 4
	// muchBehind is how many bytes of log a standby may be behind, or an idle slot may keep.
	muchBehind = 1 << 30
	// longOpen is how long a transaction may be open before it keeps vacuum from its work.
	longOpen = time.Hour
)

func (v *Visit) postgresql(ctx context.Context) {
	if v.lacks("postgresql", "DATABASE_URL", v.cfg.DatabaseURL) {
		return
	}
	begun := time.Now()
	s, err := db.Examine(ctx, v.cfg.DatabaseURL)
	took := time.Since(begun)
	switch {
	case errors.Is(err, pgconn.ErrPooler):
		v.found("pooler", Fault, "use session mode, or PgBouncer 1.21 or newer with max_prepared_statements above 0: docs/operations.md", "%v", err)
		return
	case err != nil:
		v.found("postgresql", Fault, "see that the server runs, takes writes, and lets this machine in: host, port, user, password, sslmode of DATABASE_URL", "%v", err)
		return
	}
	v.server(s)
	v.ok("pooler", "prepared statements reach who prepared them")
	v.extensions(s)
	v.durability(s)
	v.replication(s)
	v.replicas(ctx)
	v.clock("clock of PostgreSQL", s.Now, begun, took)
	v.schema(ctx, s)
}

func (v *Visit) server(s *db.Server) {
	switch {
	case s.Version < oldestPostgreSQL:
		v.found("postgresql", Fault, "upgrade the server", "version %s, and 14 is the oldest that does", s.Name)
	case s.Encoding != "UTF8":
		v.found("postgresql", Fault, "make the database anew: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0", "the database's encoding is %s", s.Encoding)
	case s.Standby:
		v.found("postgresql", Fault, "name the primary in DATABASE_URL, or all servers: host1:5432,host2:5432", "version %s, a standby: it takes no writes", s.Name)
	case s.ReadOnly:
		v.found("postgresql", Fault, "look at default_transaction_read_only of the server, the database and the role", "version %s takes no writes", s.Name)
	default:
		v.ok("postgresql", "version %s takes writes", s.Name)
	}
	each := v.cfg.DBMaxConns
	if each == 0 {
		each = max(16, 8*runtime.GOMAXPROCS(0))
	}
	if each*processes > s.Connections {
		v.found("connections", Warning, "raise max_connections, or lower CANOPY_DB_MAX_CONNS, or put a pooler between",
			"%d for each process are more than the server's %d for %d of them", each, s.Connections, processes)
	} else {
		v.ok("connections", "%d for each process, %d at the server", each, s.Connections)
	}
	if open := time.Duration(s.Oldest * float64(time.Second)); open > longOpen {
		v.found("transactions", Warning, "find it in pg_stat_activity, and end it: idle_in_transaction_session_timeout does so by itself",
			"one has been open for %s: nothing that was deleted since can be cleared away", open.Round(time.Minute))
	}
	if !s.Autovacuum {
		v.found("autovacuum", Fault, "set autovacuum = on", "it is off: tables grow for ever, and plans are made for what was")
	}
	if s.Collation {
		v.found("collation", Warning, "REINDEX DATABASE, then ALTER DATABASE … REFRESH COLLATION VERSION",
			"the system sorts words in another way than when the indexes were made: they may not find what is there")
	}
}

func (v *Visit) extensions(s *db.Server) {
	has := "there are none"
	if len(s.Extensions) > 0 {
		has = "there are " + strings.Join(s.Extensions, ", ")
	}
	v.ok("extensions", "none is needed; %s", has)
}

// durability is what the server keeps of what it has said was committed.
func (v *Visit) durability(s *db.Server) {
	if len(s.Loose) == 0 {
		v.ok("durability", "what was committed stays")
		return
	}
	status := Warning // a moment is lost, and nothing is broken
	if len(s.Loose) > 1 || s.Loose[0] != "synchronous_commit=off" {
		status = Fault
	}
	v.found("durability", status, "turn it on", "%s: what was committed may be lost when the machine goes down", strings.Join(s.Loose, ", "))
}

func (v *Visit) replication(s *db.Server) {
	switch {
	case s.Waiting:
		v.found("replication", Fault, "connect the standby, or empty synchronous_standby_names", "commits wait for a standby, and none is connected")
	case s.Behind > muchBehind:
		v.found("replication", Warning, "see whether the standby keeps up", "a standby is %s behind", bytes(s.Behind))
	case s.Standbys == 0 && !s.Archived:
		v.found("replication", Warning, "have a standby, or an archive of the log: docs/backup.md",
			"no standby is connected, and the log is not archived: of a lost disk comes back what the last dump has")
	default:
		v.ok("replication", "standbys: %d; the log is archived: %t", s.Standbys, s.Archived)
	}
	if s.ArchiveFails {
		v.found("archive", Fault, "look at archive_command and the server's log: until it works the disk fills", "the last piece of the log could not be archived")
	}
	if s.Kept > muchBehind {
		v.found("replication slots", Warning, "connect its reader, or drop it by pg_drop_replication_slot",
			"nobody reads %s, for which %s of the log are kept", strings.Join(s.Slots, ", "), bytes(s.Kept))
	}
}

// replicas looks at those that are to answer reads. None of them is a fault: the primary answers without them.
func (v *Visit) replicas(ctx context.Context) {
	if v.cfg.DatabaseReadURL == "" {
		return
	}
	list, err := db.ExamineReplicas(ctx, v.cfg.DatabaseReadURL)
	if err != nil {
		v.found("replicas", Fault, "", "CANOPY_DATABASE_READ_URL: %v", err)
		return
	}
	following := slices.ContainsFunc(list, func(r db.Examined) bool { return r.Err == nil && r.Standby })
	for _, r := range list {
		switch {
		case r.Err != nil:
			v.found("replicas", Warning, "start it, or leave it out of CANOPY_DATABASE_READ_URL", "%s does not answer: %v", r.Name, r.Err)
		case !r.Standby && following: // all servers are named, so that any of them may become the primary
			v.ok("replicas", "%s follows no server, and is asked once it does", r.Name)
		case !r.Standby:
			v.found("replicas", Warning, "name standbys in CANOPY_DATABASE_READ_URL, and the primary in DATABASE_URL", "%s follows no server: it is never asked", r.Name)
		case !r.Receives:
			v.found("replicas", Warning, "look at its log, and at primary_conninfo", "%s is a standby, and not connected to its primary", r.Name)
		default:
			v.ok("replicas", "%s follows, and answers reads while it keeps up", r.Name)
		}
	}
}

func (v *Visit) schema(ctx context.Context, s *db.Server) {
	if s.Runs != nil {
		advice := "run `canopy migrate up` with this program"
		if s.Schema > s.Known {
			advice = "run a newer canopy"
		}
		v.found("schema", Fault, advice, "%v", s.Runs)
		return
	}
	detail := fmt.Sprintf("version %d is this program's", s.Schema)
	if s.Schema != s.Known {
		detail = fmt.Sprintf("version %d is newer than this program's %d, and serves it", s.Schema, s.Known)
	}
	v.ok("schema", "%s", detail)
	store, err := db.Open(ctx, v.cfg.DatabaseURL, db.Options{MaxConns: 2})
	if err != nil {
		v.found("schema", Fault, "", "%v", err)
		return
	}
	v.store = store
	if logs, err := store.Months().Unattended(ctx); err != nil {
		v.found("months of logs", Fault, "", "%v", err)
	} else if len(logs) > 0 {
		v.found("months of logs", Warning, "have workers connect as the role that owns the tables, or make theirs a member of it", "no months are made or dropped of %s, as the role of DATABASE_URL is not their owner", strings.Join(logs, ", "))
	}
}

// clock compares a server's clock with this machine's: it was read at some time between begun and begun+took.
func (v *Visit) clock(check string, there, begun time.Time, took time.Duration) {
	var off time.Duration
	switch ended := begun.Add(took); {
	case there.Before(begun):
		off = begun.Sub(there)
	case there.After(ended):
		off = there.Sub(ended)
	}
	v.judgeClock(check, off)
}

// The platform's own processes take each other's tokens up to mostOff.
const (
	mostOff = 5 * time.Second
	muchOff = time.Second
)

func (v *Visit) judgeClock(check string, off time.Duration) {
	const advice = "keep the clocks of all machines by NTP: chrony or systemd-timesyncd"
	switch {
	case off > mostOff:
		v.found(check, Fault, advice, "%s away from this machine's: tokens of one are refused by the other", off.Round(time.Millisecond))
	case off > muchOff:
		v.found(check, Warning, advice, "%s away from this machine's", off.Round(time.Millisecond))
	default:
		v.ok(check, "within %s of this machine's", muchOff)
	}
}

func bytes(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	default:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
}
