package isolation

import (
	"fmt"
	"testing"

	"github.com/jmoiron/sqlx"

	"canopy/internal/devstack/devtest"
)

// noted are the columns that merely note a use, or what a home and its cells tell each other: requests that are refused write them, too, and so does time.
var noted = map[string]string{
	"pulse": "n,counted_at", "cells": "schema_version,seen_at",
	"use_marks":   "*", // all of it
	"permissions": "last_access,outdone", "subtree_users": "unused", "api_keys": "last_used_at", "sealing_keys": "used_at",
}

// noteWrites has the database itself write down each change of a row that is committed.
const noteWrites = `
	CREATE SCHEMA noted;
	CREATE TABLE noted.writes (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, place text NOT NULL);
	CREATE FUNCTION noted.write() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		IF TG_OP <> 'UPDATE' OR to_jsonb(OLD) - TG_ARGV[0]::text[] IS DISTINCT FROM to_jsonb(NEW) - TG_ARGV[0]::text[] THEN
			INSERT INTO noted.writes (place) VALUES (TG_TABLE_NAME);
		END IF;
		RETURN NULL;
	END $$`

// tables is a look at everything that the database holds.
// What it asks is prepared: PostgreSQL takes far longer to plan either statement than to answer it.
type tables struct {
	// holds asks whether a text stands in any column of texts, or is a person's full name.
	holds *sqlx.Stmt
	// last asks for the last write.
	last *sqlx.Stmt
}

func newTables(t testing.TB, db *sqlx.DB) *tables {
	t.Helper()
	var names []string
	if err := db.Select(&names, `SELECT tablename FROM pg_tables WHERE schemaname = current_schema()`); err != nil {
		t.Fatal(err)
	}
	statements := noteWrites
	for _, name := range names {
		if noted[name] == "*" {
			continue
		}
		statements += fmt.Sprintf(`;
			CREATE TRIGGER noted_write AFTER INSERT OR UPDATE OR DELETE ON %q FOR EACH ROW EXECUTE FUNCTION noted.write('{%s}')`, name, noted[name])
	}
	if _, err := db.Exec(statements); err != nil {
		t.Fatal(err)
	}
	return &tables{
		holds: statement(t, db, textColumns(t, db)),
		last:  statement(t, db, `SELECT COALESCE((SELECT id || ', in ' || place FROM noted.writes ORDER BY id DESC LIMIT 1), 'nothing')`),
	}
}

// statement gives a statement that is planned once for a connection, whatever its arguments are.
func statement(t testing.TB, db *sqlx.DB, text string) *sqlx.Stmt {
	t.Helper()
	st := devtest.Must[*sqlx.Stmt](t)(db.Preparex(text))
	t.Cleanup(func() { _ = st.Close() })
	return st
}

// textColumns makes the statement of tables.holds from what columns there are.
func textColumns(t testing.TB, db *sqlx.DB) string {
	t.Helper()
	var columns []struct {
		Table  string `db:"table_name"`
		Column string `db:"column_name"`
		Type   string `db:"udt_name"`
	}
	err := db.Select(&columns, `SELECT table_name, column_name, udt_name FROM information_schema.columns
		WHERE table_schema = current_schema() AND udt_name IN ('text', '_text')`)
	if err != nil {
		t.Fatal(err)
	}
	text := `SELECT EXISTS (SELECT FROM users WHERE trim(first_name || ' ' || last_name) = $1)`
	for _, c := range columns {
		where := fmt.Sprintf("%q = $1", c.Column)
		if c.Type == "_text" {
			where = fmt.Sprintf("$1 = ANY(%q)", c.Column)
		}
		text += fmt.Sprintf("\n\tOR EXISTS (SELECT FROM %q WHERE %s)", c.Table, where)
	}
	return text
}

// state stands for what all tables hold; two of them differ where anything was written in between.
func (x *tables) state(t testing.TB) string {
	t.Helper()
	var last string
	devtest.Check(t, x.last.Get(&last))
	return last
}
