package db

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"canopy/internal/devstack/devtest"
)

// personal are the columns of tables of the directory and the home that tell of a person, or may.
var personal = map[string][]string{
	"api_keys":          said("name allowed_addresses"),
	"former_members":    said("email first_name last_name"),
	"invitations":       said("email"),
	"member_names":      said("said named emailed"),
	"memberships":       said("email first_name last_name"),
	"sessions":          said("user_agent address"),
	"subtree_users":     said("email name"),
	"users":             said("email first_name last_name password_hash otp_secret"),
	"billing":           said("billing_name business_id tax_id address_line1 address_line2 city state zip_code country_code"),
	"customer_imports":  said("report"),
	"email_changes":     said("email"),
	"import_requests":   said("report"),
	"login_networks":    said("network"),
	"passkeys":          said("name credential_id public_key"),
	"provider_sessions": said("subject sid id_token"),
	"scim_users":        said("external_id"),
	"user_identities":   said("subject email"),
}

// mayRefer are the kinds that tables of a kind may refer to.
var mayRefer = map[string][]string{
	directory: {directory},
	homeOnly:  {homeOnly, directory},
	data:      {directory, data},
	local:     {directory, local},
}

// withinOwner are references from data to data beside the one that leads to the company, and why both rows are of the same one.
var withinOwner = map[string]string{
	"agents.published_id": "one of the agent's own revisions",
	"runs.agent_id":       "an agent of the run's account",
	"runs.revision_id":    "a revision of the run's agent",
}

// notFollowed are the triggers of the directory that write beside it, by what they write, and what a cell does for it.
var notFollowed = map[string]string{
	"usage_counts":     "a cell counts its own rows, and moves the counts with the company: customer_replicated",
	"tree_changes":     "it is what a cell does: customer_replicated",
	"limit_notices":    "with the counts",
	"contexts":         "a cell erases what the accounts of an erased company have",
	"documents":        "with their contexts",
	"context_sizes":    "with their contexts",
	"secrets":          "a cell erases what an erased company has",
	"erased_people":    "it is what a cell does: user_replicated",
	"counts_elsewhere": "it is what a cell does: customer_gone_at_home",
}

// impersonal are the columns of texts and bytes, of the directory and the home, that tell of no person: of one table, or behind a dot alone of any.
var impersonal = map[string]string{
	".code": "the platform's", ".status": "a state", ".features": "rights", ".hash": "a hash of a secret", ".token": "a secret", ".kid": "a name of a key",
	".client_id": "a generated name", ".issuer": "an address of a provider", ".domain": "a domain", ".domains": "the same", ".archive": "a hash", ".file": "a generated name",
	"accounts.name": "a company's", "app_instances.domain": "the platform's", "applications.name": "the platform's", "applications.description": "the platform's",
	"applications.auth_url": "the platform's", "cells.address": "the platform's", "splits.address": "the platform's", "splits.phase": "a kind", "splits.at": "a table", "minutes_told.key": "ids of companies and keys", "moved_ids.kind": "a table", "moved_runs.job_key": "made by the platform", "customer_imports.space": "a generated name", "customer_limits.name": "a limit", "customer_words.named": "a company's",
	"customer_words.words": "a company's", "customers.name": "a company's", "default_limits.name": "a limit", "email_changes.agree_hash": "a hash",
	"email_changes.confirm_hash": "a hash", "email_changes.stop_hash": "a hash", "identity_providers.client_secret": "a secret", "identity_providers.name": "a company's",
	"import_requests.error": "what went wrong with a file", "link_tokens.kind": "a kind", "passkeys.transports": "kinds", "regions.name": "the platform's",
	"regions.description": "the platform's", "roles.name": "a company's", "roles.description": "the same", "scim_tokens.name": "a company's",
	"sessions.key": "a secret", "signing_keys.private_key": "a secret", "users.otp_method": "a kind",
}

// columnOfTable is a column, and what of it a replica depends on.
type columnOfTable struct {
	Table, Name, Type             string
	Generated, Defaulted, Indexed bool
}

func columnsOfTables(t testing.TB, pool *sqlx.DB) (list []columnOfTable) {
	t.Helper()
	devtest.Check(t, pool.SelectContext(t.Context(), &list, `
		SELECT k.relname AS table, a.attname AS name, format_type(a.atttypid, NULL) AS type, a.attgenerated <> '' AS generated,
			a.atthasdef AND a.attgenerated = '' AS defaulted,
			EXISTS (SELECT FROM pg_index i WHERE i.indrelid = k.oid AND i.indisunique AND a.attnum = ANY (i.indkey)) AS indexed
		FROM pg_class k JOIN pg_attribute a ON a.attrelid = k.oid AND a.attnum > 0 AND NOT a.attisdropped
		WHERE k.relnamespace = 'public'::regnamespace AND k.relkind IN ('r', 'p') AND NOT k.relispartition ORDER BY 1, a.attnum`))
	return list
}

// TestTablesHaveAPlace: it is said of each table where its rows are once regions have cells, and each column that is said to be is there.
func TestTablesHaveAPlace(t *testing.T) {
	t.Parallel()
	there := map[string]map[string]columnOfTable{}
	for _, c := range columnsOfTables(t, ownPool(t, Options{MaxConns: 1})) {
		if there[c.Table] == nil {
			there[c.Table] = map[string]columnOfTable{}
		}
		there[c.Table][c.Name] = c
	}
	for table := range there {
		if _, ok := places[table]; !ok {
			t.Errorf("%s has no place", table)
		}
	}
	for table, p := range places {
		for _, column := range slices.Concat(p.home, personal[table], said(p.by)) {
			if _, ok := there[table][column]; !ok {
				t.Errorf("there is no %s.%s", table, column)
			}
		}
		for _, column := range p.home {
			if c := there[table][column]; c.Indexed || c.Generated {
				t.Errorf("%s.%s can't stay home: rows are found by it, or it is computed", table, column)
			}
		}
		if (p.kind == data) != (p.by != "") || len(p.home) > 0 && p.kind != directory || len(personal[table]) > 0 && p.kind != directory && p.kind != homeOnly {
			t.Errorf("%s: a place in %q has no such columns", table, p.kind)
		}
	}
}

// reference is a foreign key of one column, or the first of one of several.
type reference struct{ Table, Column, To string }

// TestReferencesStayInTheirCell: a row refers to nothing that another cell has, and data to nothing of another company's.
func TestReferencesStayInTheirCell(t *testing.T) {
	t.Parallel()
	var all []reference
	devtest.Check(t, ownPool(t, Options{MaxConns: 1}).SelectContext(t.Context(), &all, `
		SELECT k.conrelid::regclass::text AS table, a.attname AS column, k.confrelid::regclass::text AS to
		FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
		WHERE k.contype = 'f' AND k.connamespace = 'public'::regnamespace`))
	within := map[string]bool{}
	for _, r := range all {
		from, to, name := places[r.Table], places[r.To], r.Table+"."+r.Column
		if !slices.Contains(mayRefer[from.kind], to.kind) {
			t.Errorf("%s, in %q, refers to %s, in %q", name, from.kind, r.To, to.kind)
		}
		if slices.Contains(from.home, r.Column) {
			continue
		}
		if from.kind == data && to.kind == data && r.Column != from.by {
			within[name] = true
			if withinOwner[name] == "" {
				t.Errorf("%s refers to data of %s: of the same company? withinOwner says why", name, r.To)
			}
		}
	}
	for name := range withinOwner {
		if !within[name] {
			t.Errorf("%s refers to no data", name)
		}
	}
}

var (
	targets = regexp.MustCompile(`\b(?:INSERT INTO|UPDATE|DELETE FROM) (\w+)`)
	called  = regexp.MustCompile(`\b(\w+)\(`)
)

// writtenBy are the tables that a function writes, and those it calls, and the triggers of what is written.
func writtenBy(function string, sources map[string]string, triggers map[string][]string) []string {
	seen, tables := map[string]bool{}, map[string]bool{}
	for todo := []string{function}; len(todo) > 0; todo = todo[1:] {
		source, ours := sources[todo[0]]
		if seen[todo[0]] || !ours {
			continue
		}
		seen[todo[0]] = true
		for _, m := range called.FindAllStringSubmatch(source, -1) {
			todo = append(todo, m[1])
		}
		for _, m := range targets.FindAllStringSubmatch(source, -1) {
			if _, known := places[m[1]]; known && !tables[m[1]] {
				tables[m[1]] = true
				todo = append(todo, triggers[m[1]]...)
			}
		}
	}
	var list []string
	for table := range tables {
		list = append(list, table)
	}
	slices.Sort(list)
	return list
}

// TestTriggersOfTheDirectoryAreFollowed: what a trigger of the directory writes arrives in a cell with the directory, or is named with what a cell does for it:
// no trigger runs there.
func TestTriggersOfTheDirectoryAreFollowed(t *testing.T) {
	t.Parallel()
	pool := ownPool(t, Options{MaxConns: 1})
	var functions []struct{ Name, Source string }
	devtest.Check(t, pool.SelectContext(t.Context(), &functions, `SELECT proname AS name, prosrc AS source FROM pg_proc WHERE pronamespace = 'public'::regnamespace`))
	sources, triggers := map[string]string{}, map[string][]string{}
	for _, f := range functions {
		sources[f.Name] = f.Source
	}
	var all []struct{ Table, Name, Function string }
	devtest.Check(t, pool.SelectContext(t.Context(), &all, `
		SELECT tgrelid::regclass::text AS table, tgname AS name, tgfoid::regproc::text AS function FROM pg_trigger WHERE NOT tgisinternal`))
	for _, g := range all {
		triggers[g.Table] = append(triggers[g.Table], g.Function)
	}
	needed := map[string]bool{}
	for _, g := range all {
		if places[g.Table].kind != directory {
			continue
		}
		for _, table := range writtenBy(g.Function, sources, triggers) {
			if k := places[table].kind; k != directory {
				needed[table] = true
				if notFollowed[table] == "" {
					t.Errorf("%s of %s writes %s, in %q: notFollowed says what a cell does for it", g.Name, g.Table, table, k)
				}
			}
		}
	}
	for table := range notFollowed {
		if !needed[table] {
			t.Errorf("no trigger of the directory writes %s", table)
		}
	}
}

var openTypes = []string{"text", "text[]", "bytea", "json", "jsonb", "tsvector", "uuid", "inet", "cidr", "character varying"}

const residencyPaper = "../docs/residency.md"

// TestResidencyIsDocumented: it is said of each column that may tell of a person, in what all cells have or the home alone, whether it does, and the paper lists
// every table by its place and each of these columns.
func TestResidencyIsDocumented(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, c := range columnsOfTables(t, ownPool(t, Options{MaxConns: 1})) {
		p := places[c.Table]
		if p.kind != directory && p.kind != homeOnly || !slices.Contains(openTypes, c.Type) {
			continue
		}
		whole, any := c.Table+"."+c.Name, "."+c.Name
		used[whole], used[any] = true, true
		if tells := slices.Contains(personal[c.Table], c.Name); tells == (impersonal[whole] != "" || impersonal[any] != "") {
			t.Errorf("%s: personal is %v, and impersonal says %q", whole, tells, impersonal[whole]+impersonal[any])
		}
	}
	for name := range impersonal {
		if !used[name] {
			t.Errorf("there is no %s", name)
		}
	}
	paper := string(devtest.Must[[]byte](t)(os.ReadFile(residencyPaper)))
	for what, want := range map[string]string{"people": peopleLines(), "tables": placeLines()} {
		begin, end := fmt.Sprintf("<!-- %s -->\n", what), fmt.Sprintf("<!-- end of %s -->", what)
		_, rest, _ := strings.Cut(paper, begin)
		if got, _, ended := strings.Cut(rest, end); !ended || got != want {
			t.Errorf("%s has not these between %q and %q:\n%s", residencyPaper, begin, end, want)
		}
	}
}

func code(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }

// peopleLines are the rows of the paper on personal data.
func peopleLines() string {
	var b strings.Builder
	b.WriteString("| table | replicated into each cell | at the home alone |\n|---|---|---|\n")
	for _, table := range slices.Concat(tablesIn(directory), tablesIn(homeOnly)) {
		p := places[table]
		var out, stays []string
		for _, c := range personal[table] {
			if p.kind == homeOnly || slices.Contains(p.home, c) {
				stays = append(stays, c)
			} else {
				out = append(out, c)
			}
		}
		cell := func(names []string) string {
			if len(names) == 0 {
				return ""
			}
			return code(names) + " "
		}
		if len(personal[table]) > 0 {
			fmt.Fprintf(&b, "| `%s` | %s| %s|\n", table, cell(out), cell(stays))
		}
	}
	return b.String()
}

// placeLines are the rows of the paper on places.
func placeLines() string {
	var b strings.Builder
	b.WriteString("| place | tables |\n|---|---|\n")
	for _, kind := range []string{directory, homeOnly, data, local} {
		fmt.Fprintf(&b, "| %s | %s |\n", kind, code(tablesIn(kind)))
	}
	return b.String()
}
