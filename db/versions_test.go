package db_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/lib/pq"

	"canopy/db"
	"canopy/internal/devstack/devtest"
)

var (
	update = regexp.MustCompile(`\bUPDATE (\w+)(?: (?:AS )?\w+)? SET `)
	set    = regexp.MustCompile(`^(?:SET|,)\s+(\w+) = `)
	// setEnds is what stands behind the columns that are set.
	setEnds = regexp.MustCompile(`^(?:WHERE|FROM|RETURNING)\b|^\)`)
)

// columnsSet are the columns that a statement sets, by table, as table.column.
func columnsSet(text string) (columns []string) {
	for _, at := range update.FindAllStringSubmatchIndex(text, -1) {
		table, rest, deep := text[at[2]:at[3]], text[at[1]-len("SET "):], 0
		for ; rest != "" && (deep > 0 || !setEnds.MatchString(rest)); rest = rest[1:] {
			switch rest[0] {
			case '(':
				deep++
			case ')':
				deep--
			}
			if m := set.FindStringSubmatch(rest); m != nil && deep == 0 {
				columns = append(columns, table+"."+m[1])
			}
		}
	}
	return columns
}

// TestVersionsCountChanges: what an update changes of a row with a version counts it up, or merely notes something, or happens by itself.
func TestVersionsCountChanges(t *testing.T) {
	pool, err := db.Connect(devtest.Database(t, db.Fingerprint(), db.Migrate), db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	var rows []struct {
		Table   string         `db:"relname"`
		Columns pq.StringArray `db:"columns"`
	}
	if err := pool.Select(&rows, `
		SELECT k.relname, ARRAY(SELECT a.attname FROM pg_attribute a WHERE a.attrelid = k.oid AND (a.attnum = ANY (g.tgattr) OR cardinality(g.tgattr::int2[]) = 0)) AS columns
		FROM pg_class k JOIN pg_attribute v ON v.attrelid = k.oid AND v.attname = 'row_version' LEFT JOIN pg_trigger g ON g.tgrelid = k.oid AND g.tgname = 'row_updated'
		WHERE k.relnamespace = 'public'::regnamespace AND k.relkind = 'r'`); err != nil {
		t.Fatal(err)
	}
	versioned, counted, needed := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, r := range rows {
		versioned[r.Table] = true
		for _, column := range r.Columns {
			counted[r.Table+"."+column] = true
		}
	}
	for _, text := range db.Statements {
		for _, column := range columnsSet(text) {
			if table, _, _ := strings.Cut(column, "."); versioned[table] && !counted[column] {
				if needed[column] = true; notCounted[column] == "" {
					t.Errorf("%s is changed, and the trigger row_updated does not name it: the row keeps its version", column)
				}
			}
		}
	}
	for column := range notCounted {
		if !needed[column] {
			t.Errorf("notCounted has %s, which is counted, or is not changed", column)
		}
	}
}

// notCounted are the columns that do not change the version of their row, and why.
var notCounted = map[string]string{
	"agents.updated_at": "beside what is counted", "secrets.value": "beside updated_at, which is counted", "removed_secrets.value": "sealed anew alone", "documents.context_id": "of a removal, and back", "documents.name_index": "beside display_name, which is counted", "identity_providers.client_secret": "beside updated_at, which is counted", "identity_providers.features": "the same",
	"api_keys.last_used_at": "a use", "permissions.last_access": "a use", "users.otp_last_step": "a use",
	"passkeys.sign_count": "a use", "passkeys.backed_up": "a use", "passkeys.last_used_at": "a use",
	"contexts.dimensions": "of the model", "contexts.version": "counts what a search may find", "contexts.removed_at": "nobody sees it then", "contexts.erase_at": "nobody sees it then", "contexts.erase_rows": "nobody sees it then", "contexts.erased_rows": "nobody sees it then",
	"users.erased_at": "beside the address, which is counted", "users.otp_secret": "a person's own", "users.password_changed_at": "a person's own", "users.password_hash": "a person's own",
	"webhook_destinations.secret": "of a rotation", "webhook_destinations.next_secret": "of a rotation", "webhook_destinations.next_at": "of a rotation",
	"webhook_destinations.auto_disabled_at": "beside enabled, which is counted",
	"webhook_destinations.failing_since":    "of deliveries", "webhook_destinations.failures": "of deliveries",
	"documents.attempts": "progress", "documents.chunks": "progress", "documents.completed_at": "progress", "documents.error": "progress", "documents.faults": "progress",
	"documents.handed_out": "progress", "documents.next_attempt_at": "progress", "documents.packed": "progress", "documents.progress": "progress", "documents.reader": "progress",
	"documents.started_at": "progress", "documents.status": "progress", "documents.warnings": "progress",
	"documents.chunk_size": "beside revision, which is counted", "documents.model": "beside revision, which is counted", "documents.overlap": "beside revision, which is counted",
}
