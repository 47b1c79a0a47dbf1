package db_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"canopy/db"
	"canopy/internal/devstack/devtest"
)

// notExported are the tables, the columns and, behind a dot alone, the columns of any table that exports leave out, and why.
var notExported = map[string]string{
	"api_key_secrets":       "secrets",
	"applications":          "the platform's",
	"app_instances":         "the platform's",
	"blob_deletions":        "work under way",
	"cell":                  "the platform's",
	"cell_erasures":         "work under way",
	"cells":                 "the platform's",
	"chunks":                "made from the originals",
	"context_changes":       "tell indexes what they lack",
	"context_deferrals":     "work under way",
	"context_queries":       "kept for some days",
	"context_sizes":         "sums",
	"customer_exports":      "an export of exports",
	"context_reprocessings": "work under way",
	"customer_imports":      "work under way",
	"import_requests":       "work under way",
	"default_limits":        "the platform's",
	"customer_words":        "made from names, for the search box",
	"delivery_holds":        "work under way",
	"domain_claims":         "proven anew elsewhere",
	"delivery_look":         "work under way",
	"email_changes":         "a person's own",
	"erased_people":         "work under way",
	"goose_db_version":      "the platform's",
	"idempotency_bytes":     "answers of a day",
	"idempotency_keys":      "answers of a day",
	"limbs":                 "follow from the parents",
	"tree_changes":          "what processes are told",
	"events_for_cells":      "work under way",
	"former_members":        "of who is no longer there",
	"heard_events":          "work under way",
	"limit_notices":         "work under way",
	"link_tokens":           "secrets",
	"login_networks":        "a person's own",
	"mail_outbox":           "work under way",
	"member_names":          "made from names, for the search box",
	"minutes_told":          "work under way",
	"moved_ids":             "the platform's",
	"moved_runs":            "the platform's",
	"passkeys":              "a person's own",
	"provider_sessions":     "a person's own",
	"pulse":                 "the platform's",
	"recovery_codes":        "secrets",
	"removed_secrets":       "what is removed is left out",
	"regions":               "the platform's",
	"scim_tokens":           "secrets",
	"scim_users":            "a directory's, which says it anew",
	"sealing_keys":          "the platform's",
	"sessions":              "a person's own",
	"signing_keys":          "the platform's",
	"splits":                "the platform's",
	"subtree_users":         "counts",
	"usage_counts":          "counts",
	"use_marks":             "work under way",
	"counts_elsewhere":      "counts",
	"spanning_customers":    "follows from regions",
	"used_states":           "work under way",
	"user_identities":       "a person's own",
	"vector_blocks":         "made from the originals",
	"webhook_due":           "work under way",
	".row_version":          "counts changes",
	".created_by":           "may be somebody of a company above",
	".deleted_at":           "what is deleted is left out",
	".removed_at":           "what is removed is left out",
	".lineage":              "follows from the parents",
	".branch_id":            "follows from the parents",
	".limb_id":              "follows from the parents",
	".outdone":              "follows from the uses",
	".claim":                "work under way",
	".interruptions":        "work under way",
	".next_attempt_at":      "work under way",
	".traceparent":          "of requests to this platform",
	"customers.level":       "follows from the parents",
	"customers.moves":       "counts changes",
	"contexts.home_id":      "of a removed document",
	".erase_at":             "of a deletion", "contexts.erase_rows": "of a deletion", "contexts.erased_rows": "of a deletion", "customers.suspended": "told as status",
	"accounts.instance_account_id": "the platform's",
	"permissions.application_id":   "follows from the accounts", "billing.location_id": "the platform's", "invitations.user_id": "told by address", "invitations.ended_at": "told as status",
	"memberships.known": "of the platform's look at a person", "contexts.dimensions": "of the model", "contexts.version": "work under way",
	"contexts.share_state": "only shared ones are exported",
	"users.id":             "told as the membership's", "users.erased_at": "who is erased is left out", "users.otp_last_step": "a person's own",
	"users.otp_method": "a person's own", "users.otp_secret": "a secret", "users.password_changed_at": "a person's own", "users.password_hash": "a secret",
	"documents.attempts": "work under way", "documents.chunk_size": "of the chunks", "documents.chunks": "of the chunks", "documents.completed_at": "work under way",
	"documents.error": "work under way", "documents.warnings": "of the chunks", "documents.faults": "work under way", "documents.handed_out": "work under way", "documents.model": "of the chunks",
	"documents.overlap": "of the chunks", "documents.packed": "of the chunks", "documents.progress": "work under way", "documents.reader": "of the chunks",
	"documents.revision": "work under way", "documents.started_at": "work under way",
	"runs.api_key_id": "of who has begun it, and that is told", "runs.due_at": "work under way", "runs.suspended_at": "work under way", "runs.step": "work under way",
	"secrets.value": "a secret", "identity_providers.client_secret": "a secret",
	"webhook_deliveries.http_status": "of the last attempt", "webhook_deliveries.lost": "told as status",
	"webhook_deliveries.log": "of the attempts", "webhook_deliveries.test": "of the attempts",
	"webhook_destinations.auto_disabled_at": "work under way", "webhook_destinations.failing_since": "work under way", "webhook_destinations.failures": "work under way",
	"webhook_destinations.next_at": "of a rotation", "webhook_destinations.next_secret": "a secret", "webhook_destinations.secret": "a secret",
}

// TestExportsAreWhole: each column is exported, or left out for a reason.
func TestExportsAreWhole(t *testing.T) {
	pool, err := db.Connect(devtest.Database(t, db.Fingerprint(), db.Migrate), db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	var columns []string
	if err := pool.Select(&columns, `SELECT k.relname || '.' || a.attname FROM pg_class k JOIN pg_attribute a ON a.attrelid = k.oid
		WHERE k.relnamespace = 'public'::regnamespace AND k.relkind IN ('r', 'p') AND NOT k.relispartition AND a.attnum > 0 AND NOT a.attisdropped`); err != nil {
		t.Fatal(err)
	}
	texts, needed := db.ExportTexts(), map[string]bool{}
	for _, c := range columns {
		table, column, _ := strings.Cut(c, ".")
		if exported(texts, table, column) {
			continue
		}
		reason := ""
		for _, name := range []string{table, c, "." + column} {
			if reason = notExported[name]; reason != "" {
				needed[name] = true
				break
			}
		}
		if reason == "" {
			t.Errorf("%s is in no export, and notExported does not say why", c)
		}
	}
	for name := range notExported {
		if !needed[name] {
			t.Errorf("notExported has %s, which is exported, or is no more", name)
		}
	}
}

// exported tells whether a statement that reads a table names its column.
func exported(texts []string, table, column string) bool {
	reads, names := regexp.MustCompile(`(FROM|JOIN) `+table+`\b`), regexp.MustCompile(`\w\.`+column+`\b`)
	for _, text := range texts {
		if reads.MatchString(text) && names.MatchString(text) {
			return true
		}
	}
	return false
}

// TestExportedKindsAreDocumented: docs/export.md has each kind of rows with each member, and no other.
func TestExportedKindsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/export.md")
	if err != nil {
		t.Fatal(err)
	}
	documented, word := map[string][]string{}, regexp.MustCompile("`(\\w+)`")
	for _, line := range regexp.MustCompile("(?m)^\\| `(\\w+)/` \\|(.*)\\|$").FindAllStringSubmatch(string(page), -1) {
		for _, member := range word.FindAllStringSubmatch(line[2], -1) {
			documented[line[1]] = append(documented[line[1]], member[1])
		}
	}
	exported := db.ExportedMembers()
	for kind, members := range exported {
		if len(members) < 4 {
			t.Fatalf("%s has %s", kind, members)
		}
		for _, member := range members {
			if !slices.Contains(documented[kind], member) {
				t.Errorf("docs/export.md has no member %s of %s", member, kind)
			}
		}
	}
	for kind, members := range documented {
		for _, member := range members {
			if !slices.Contains(exported[kind], member) {
				t.Errorf("docs/export.md has the member %s of %s, which no export has", member, kind)
			}
		}
	}
}
