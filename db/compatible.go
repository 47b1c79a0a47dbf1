package db

import (
	"context"
	"fmt"
	"strings"
)

// Programs of one version back run on a newer schema while they are replaced, as long as all migrations in between let them: those that say so in
// their first line. The last row of goose_db_version names the oldest version that the schema still serves, and the highest version in it the
// schema itself. Where the two differ the last row is one that this file writes, whose id is the last that there is, so that it stays the last one
// while others are added: programs from before look at nothing but the last row.

// compatible is the first line of a migration that programs of the version before don't notice: it adds what they don't name, and
// takes nothing away.
const compatible = "-- +canopy compatible\n"

// lastRow is the highest id of goose_db_version.
const lastRow = 1<<31 - 1

const (
	qServed = `
		SELECT COALESCE((SELECT version_id FROM goose_db_version WHERE is_applied ORDER BY id DESC LIMIT 1), 0) AS serves,
			COALESCE((SELECT max(version_id) FROM goose_db_version WHERE is_applied), 0) AS version`
	qUnmark = `DELETE FROM goose_db_version WHERE id = $1`
	qMark   = `
		INSERT INTO goose_db_version (id, version_id, is_applied) VALUES ($1, $2, true)
		ON CONFLICT (id) DO UPDATE SET version_id = excluded.version_id`
)

// servedFrom is the oldest version that a schema of a version serves.
func servedFrom(version int64) int64 {
	for version > 0 {
		text, err := migrationText(version)
		if err != nil || !strings.HasPrefix(text, compatible) {
			return version
		}
		version--
	}
	return 0
}

// migrationText is a migration of this program.
func migrationText(version int64) (string, error) {
	entries, err := migrationFiles.ReadDir("migrations")
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), fmt.Sprintf("%05d_", version)) {
			text, err := migrationFiles.ReadFile("migrations/" + e.Name())
			return string(text), err
		}
	}
	return "", fmt.Errorf("there is no migration %d", version)
}

// mark has the last row name the oldest version that a schema of a version serves. It is written before what comes is applied, so that there is no moment at which
// programs that may go on are told otherwise.
func (m *Migrator) mark(ctx context.Context, version int64) error {
	from := servedFrom(version)
	if from == version {
		return m.unmark(ctx)
	}
	_, err := m.pool.ExecContext(ctx, qMark, lastRow, from)
	return err
}

// unmark takes that row away: goose takes it for the migration that was applied last.
func (m *Migrator) unmark(ctx context.Context) error {
	_, err := m.pool.ExecContext(ctx, qUnmark, lastRow)
	return err
}
