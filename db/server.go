package db

import (
	"context"
	"database/sql"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"canopy/internal/pgconn"
)

// Server is what a database server says of itself, for who looks a deployment over.
type Server struct {
	// Version is server_version_num, 160004 for 16.4, and Name what people call it.
	Version int    `db:"version"`
	Name    string `db:"name"`
	// Now is the server's clock.
	Now      time.Time `db:"now"`
	Encoding string    `db:"encoding"`
	// Standby tells a server that replays another's log, ReadOnly one that takes no writes for whichever reason.
	Standby  bool `db:"standby"`
	ReadOnly bool `db:"read_only"`
	// Receives tells a standby that is connected to the server it follows.
	Receives bool `db:"receives"`
	// Connections may be opened by all clients together, those of superusers left out.
	Connections int `db:"connections"`
	// Loose are settings by which what was committed may be lost, as name=value.
	Loose      pq.StringArray `db:"loose"`
	Autovacuum bool           `db:"autovacuum"`
	// Extensions are those that the database has, beside the language that each one has.
	Extensions pq.StringArray `db:"extensions"`
	// Collation tells that the system's order of words is another than when the indexes were made.
	Collation bool `db:"collation"`
	// Standbys are those that are connected, of which a cell that follows the directory is none, and Behind is how far the last one is, in bytes.
	Standbys int   `db:"standbys"`
	Behind   int64 `db:"behind"`
	// Synchronous tells that commits wait for a standby, and Waiting that there is none to wait for.
	Synchronous bool `db:"synchronous"`
	Waiting     bool `db:"waiting"`
	// Slots are the replication slots that nobody reads, and Kept is the log that they keep, in bytes.
	Slots pq.StringArray `db:"slots"`
	Kept  int64          `db:"kept"`
	// Archived tells that the log is archived, ArchiveFails that the last attempt at that has failed.
	Archived     bool `db:"archived"`
	ArchiveFails bool `db:"archive_fails"`
	// Oldest is for how long the oldest transaction has been open, in seconds.
	Oldest float64 `db:"oldest"`

	// Schema is the database's version, Known this program's.
	Schema, Known int64
	// Runs is why this program does not run on that schema; nil where it does.
	Runs error
}

const qServer = `
	SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS name, clock_timestamp() AS now,
		pg_encoding_to_char(d.encoding) AS encoding, pg_is_in_recovery() AS standby, current_setting('transaction_read_only')::boolean AS read_only,
		EXISTS (SELECT FROM pg_stat_wal_receiver) AS receives,
		current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS connections,
		ARRAY(SELECT name || '=' || setting FROM pg_settings WHERE setting = 'off' AND name IN ('fsync', 'full_page_writes', 'synchronous_commit') ORDER BY name) AS loose,
		current_setting('autovacuum')::boolean AS autovacuum,
		ARRAY(SELECT extname::text FROM pg_extension WHERE extname <> 'plpgsql' ORDER BY extname) AS extensions,
		r.standbys, r.behind, current_setting('synchronous_standby_names') <> '' AS synchronous,
		current_setting('synchronous_standby_names') <> '' AND r.waited = 0 AS waiting,
		ARRAY(SELECT slot_name::text FROM pg_replication_slots WHERE NOT active ORDER BY slot_name) AS slots,
		CASE WHEN pg_is_in_recovery() THEN 0 ELSE COALESCE((SELECT max(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn))::bigint
			FROM pg_replication_slots WHERE NOT active), 0) END AS kept,
		current_setting('archive_mode') <> 'off' AS archived,
		COALESCE((SELECT last_failed_time > COALESCE(last_archived_time, '-infinity') FROM pg_stat_archiver), false) AS archive_fails,
		COALESCE((SELECT max(EXTRACT(epoch FROM now() - xact_start)) FROM pg_stat_activity WHERE datname = current_database()
			AND backend_type = 'client backend'), 0)::float8 AS oldest
	FROM pg_database d CROSS JOIN (SELECT count(*) FILTER (WHERE follows)::int AS standbys, count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')) AS waited,
			CASE WHEN pg_is_in_recovery() THEN 0 ELSE COALESCE(max(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)) FILTER (WHERE follows), 0) END::bigint AS behind
		FROM pg_stat_replication p
		CROSS JOIN LATERAL (SELECT NOT EXISTS (SELECT FROM pg_replication_slots s WHERE s.active_pid = p.pid AND s.slot_type = 'logical') AS follows) f) r
	WHERE d.datname = current_database()`

// qCollation is of PostgreSQL 15 and newer.
const qCollation = `
	SELECT COALESCE(datcollversion <> pg_database_collation_actual_version(oid), false) FROM pg_database WHERE datname = current_database()`

// collationsKnown is the version from which on a database knows by which order of words its indexes were made.
const collationsKnown = 150000

// Examine looks a server over. Like Open it refuses a pooler that would mix prepared statements up; whatever schema there is does.
func Examine(ctx context.Context, url string) (*Server, error) {
	pool, err := connectThrough(ctx, url, Options{MaxConns: 2})
	if err != nil {
		return nil, err
	}
	return examine(ctx, pool)
}

// Examined is what came of examining a server of several.
type Examined struct {
	Name string
	*Server
	Err error
}

// ExamineReplicas looks each of the servers over that ReadFrom would have answer reads.
func ExamineReplicas(ctx context.Context, url string) (list []Examined, err error) {
	hosts, err := pgconn.Followers(url, lookWait)
	if err != nil {
		return nil, err
	}
	for _, h := range hosts {
		one := Examined{Name: h.Name}
		pool := sqlx.NewDb(sql.OpenDB(h), "postgres")
		Options{MaxConns: 2}.bound(pool)
		if one.Err = pgconn.CheckPooler(ctx, pool.DB); one.Err != nil {
			_ = pool.Close()
		} else {
			one.Server, one.Err = examine(ctx, pool)
		}
		list = append(list, one)
	}
	return list, nil
}

// examine closes the pool.
func examine(ctx context.Context, pool *sqlx.DB) (*Server, error) {
	defer func() { _ = pool.Close() }()
	s := &Server{Known: schemaVersion()}
	if err := getInto(ctx, pool, s, qServer); err != nil {
		return nil, translate(ctx, err)
	}
	if s.Version >= collationsKnown {
		if err := getInto(ctx, pool, &s.Collation, qCollation); err != nil {
			return nil, translate(ctx, err)
		}
	}
	there, err := currentSchema(ctx, pool)
	if err != nil {
		return nil, err
	}
	s.Schema, s.Runs = there.Version, there.runs(s.Known)
	return s, nil
}
