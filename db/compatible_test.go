package db

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"canopy/internal/devstack/devtest"
)

// before is what programs of the version 54 ask of a database, to the letter.
const before = `SELECT version_id FROM goose_db_version WHERE is_applied ORDER BY id DESC LIMIT 1`

// TestProgramsOfBeforeGoOn: while a schema moves up and back, those that it serves are never told otherwise.
func TestProgramsOfBeforeGoOn(t *testing.T) {
	t.Parallel()
	url := devtest.Database(t, "nothing yet", func(context.Context, string) error { return nil })
	m := devtest.Must[*Migrator](t)(NewMigrator(t.Context(), url))
	defer func() { _ = m.Close() }()
	oldest := servedFrom(schemaVersion())
	if oldest == schemaVersion() {
		t.Skip("the last migration serves nobody but its own program")
	}
	if _, err := m.UpTo(t.Context(), oldest); err != nil {
		t.Fatal(err)
	}
	told := func() (version int64) {
		devtest.Check(t, m.pool.GetContext(t.Context(), &version, before))
		return version
	}
	if told() != oldest {
		t.Fatalf("it begins at %d", told())
	}
	// Each row that is added tells what programs of before would be told then.
	for _, statement := range []string{
		`CREATE TABLE seen (version bigint)`,
		`CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			INSERT INTO seen ` + before + `; RETURN NULL; END $$`,
		`CREATE TRIGGER see AFTER INSERT OR DELETE ON goose_db_version FOR EACH ROW EXECUTE FUNCTION see()`,
	} {
		if _, err := m.pool.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Up(t.Context()); err != nil { // again, when there is nothing to do
		t.Fatal(err)
	}
	var seen []int64
	devtest.Check(t, m.pool.SelectContext(t.Context(), &seen, `SELECT DISTINCT version FROM seen`))
	if !slices.Equal(seen, []int64{oldest}) || told() != oldest {
		t.Errorf("they were told %v", seen)
	}
	runs(t, m.pool, oldest, schemaVersion())
	for version := schemaVersion() - 1; version >= oldest; version-- {
		if _, err := m.Down(t.Context()); err != nil {
			t.Fatal(err)
		}
		there := devtest.Must[schema](t)(currentSchema(t.Context(), m.pool))
		if there.Version != version || there.Serves != oldest || told() != oldest {
			t.Errorf("taken back to %d: %+v, and they are told %d", version, there, told())
		}
	}
}

// runs tells which programs run on the schema: those from the oldest to the newest.
func runs(t *testing.T, pool *sqlx.DB, oldest, newest int64) {
	t.Helper()
	there := devtest.Must[schema](t)(currentSchema(t.Context(), pool))
	for version := oldest - 1; version <= newest+1; version++ {
		err := there.runs(version)
		switch {
		case version < oldest && (err == nil || !strings.Contains(err.Error(), "run a newer canopy")),
			version > newest && (err == nil || !strings.Contains(err.Error(), "canopy migrate up")),
			version >= oldest && version <= newest && err != nil:
			t.Errorf("a program of %d: %v", version, err)
		}
	}
}

// widened are the constraints in place of which there is one of the same name that lets in all that they did, and more.
var widened = map[int64]string{64: "users_otp_method_check"}

// TestCompatibleMigrationsOnlyAdd: what a program of before could miss is in none of them, on its way up.
func TestCompatibleMigrationsOnlyAdd(t *testing.T) {
	for version := schemaVersion(); version > 0; version-- {
		text, err := migrationText(version)
		if err != nil || !strings.HasPrefix(text, compatible) {
			continue
		}
		up, _, _ := strings.Cut(text, "-- +goose Down")
		if name := widened[version]; name != "" {
			up = strings.Replace(up, "ADD CONSTRAINT "+name, "", 1)
		}
		for _, word := range []string{"DROP TABLE", "DROP COLUMN", "RENAME", "SET NOT NULL", " TYPE ", "ADD CONSTRAINT", "TRUNCATE"} {
			if strings.Contains(up, word) {
				t.Errorf("%d says that it is compatible, and has %s", version, word)
			}
		}
	}
}
