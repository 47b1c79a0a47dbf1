package db

import (
	"context"

	"canopy/internal/archive"
)

// What is looked at before anything is written: that what the rows of an archive refer to is there, in the archive or on the
// platform, and that the companies are a tree.

// LeftOut is what an import does not make, and why.
type LeftOut struct {
	Kind  string `json:"kind"`
	Count int64  `json:"count"`
	Why   string `json:"why"`
}

// stagedCheck finds rows that are wrong. says has one %s, for the detail that rows gives with the place.
type stagedCheck struct{ says, rows string }

// stagedOf selects the rows of a kind with fields of theirs, as s.
func stagedOf(kind, fields string) string {
	return `(SELECT t.id, t.owner, t.new_id, t.new_owner, t.level, t.member, t.line, r.*
		FROM staged t CROSS JOIN LATERAL json_to_record(t.row) r(` + fields + `) WHERE t.kind = '` + kind + `') s`
}

// absent tells that no row of a kind has an id.
func absent(kind, id string) string {
	return `NOT EXISTS (SELECT FROM staged o WHERE o.kind = '` + kind + `' AND o.id = ` + id + `)`
}

// roleOf is the role that a permission names.
const roleOf = `CROSS JOIN LATERAL json_to_record(s.role) o(id bigint, name text, system boolean)`

// stagedAccount joins the account in the archive that a row belongs to, as a.
const stagedAccount = `JOIN ` + `(SELECT t.id, t.owner, r.* FROM staged t CROSS JOIN LATERAL json_to_record(t.row) r(application text) WHERE t.kind = 'accounts') a ON a.id = s.owner `

var treeChecks = []stagedCheck{
	{"its id is that of another row, too: %s", `
		SELECT member, line, id::text AS detail FROM (
			SELECT *, row_number() OVER (PARTITION BY kind, id, CASE kind WHEN 'users' THEN owner END ORDER BY member, line) AS n FROM staged) s WHERE n > 1`},
	{"the company above it, %s, is not in the archive", `
		SELECT member, line, owner::text AS detail FROM staged s WHERE s.kind = 'customers' AND s.level IS DISTINCT FROM 0 AND ` + absent("customers", "s.owner")},
	{"it lies below itself, by the company %s", `
		SELECT member, line, owner::text AS detail FROM staged s WHERE s.kind = 'customers' AND (s.level IS NULL OR s.level = 0 AND NOT ` + absent("customers", "s.owner") + `)`},
}

var stagedChecks = []stagedCheck{
	{"this platform has no region with the code %q", `
		SELECT s.member, s.line, s.region AS detail FROM ` + stagedOf("customers", "region text") + ` WHERE NOT EXISTS (SELECT FROM regions g WHERE g.code = s.region)`},
	{"the region %q has a cell of its own, and archives are read in at the home alone", `
		SELECT s.member, s.line, s.region AS detail FROM ` + stagedOf("customers", "region text") + ` JOIN regions g ON g.code = s.region JOIN cells z ON z.region_id = g.id`},
	{"on this platform there is no %s", `
		SELECT s.member, s.line, s.application || ' in the region ' || s.region AS detail FROM ` + stagedOf("accounts", "application text, region text") + `
		WHERE NOT EXISTS (SELECT FROM app_instances i JOIN applications p ON p.id = i.application_id JOIN regions g ON g.id = i.region_id
			WHERE p.code = s.application AND g.code = s.region)`},
	{"it is of the region %q, and its company is not", `
		SELECT s.member, s.line, s.region AS detail FROM ` + stagedOf("accounts", "region text") + `
		JOIN staged c ON c.kind = 'customers' AND c.id = s.owner WHERE c.row ->> 'region' <> s.region`},
	{"its company has another role of the name %q", `
		SELECT member, line, name AS detail FROM (
			SELECT s.*, row_number() OVER (PARTITION BY s.owner, s.application, lower(s.name) ORDER BY s.member, s.line) AS n
			FROM ` + stagedOf("roles", "application text, name text") + `) s WHERE n > 1`},
	{"the user %s of the account's company is not in the archive", `
		SELECT s.member, s.line, s."userId"::text AS detail FROM ` + stagedOf("permissions", `"userId" bigint`) + ` ` + stagedAccount + `
		WHERE NOT EXISTS (SELECT FROM staged u WHERE u.kind = 'users' AND u.id = s."userId" AND u.owner = a.owner)`},
	{"this platform has no system role %s", `
		SELECT s.member, s.line, format('%L of the application %s', o.name, a.application) AS detail
		FROM ` + stagedOf("permissions", `role json`) + ` ` + stagedAccount + roleOf + `
		WHERE o.system AND NOT EXISTS (SELECT FROM roles r JOIN applications p ON p.id = r.application_id
			WHERE r.customer_id IS NULL AND p.code = a.application AND lower(r.name) = lower(o.name))`},
	{"the role %s is not in the archive as one of the account's company and application", `
		SELECT s.member, s.line, o.id::text AS detail FROM ` + stagedOf("permissions", `role json`) + ` ` + stagedAccount + roleOf + `
		WHERE NOT o.system AND NOT EXISTS (SELECT FROM staged r WHERE r.kind = 'roles' AND r.id = o.id AND r.owner = a.owner AND r.row ->> 'application' = a.application)`},
	{"contexts belong to accounts of the assistant, not of %s", `
		SELECT s.member, s.line, a.application AS detail FROM ` + stagedOf("contexts", `name text`) + ` ` + stagedAccount + `WHERE a.application <> 'assistant'`},
	{"agents belong to accounts of the builder, not of %s", `
		SELECT s.member, s.line, a.application AS detail FROM ` + stagedOf("agents", `name text`) + ` ` + stagedAccount + `WHERE a.application <> 'builder'`},
	{"the published revision %s is not in the archive as one of the agent", `
		SELECT s.member, s.line, s."publishedId"::text AS detail FROM ` + stagedOf("agents", `"publishedId" bigint`) + `
		WHERE s."publishedId" IS NOT NULL AND NOT EXISTS (SELECT FROM staged v WHERE v.kind = 'agentRevisions' AND v.id = s."publishedId" AND v.owner = s.id)`},
	{"its agent has another revision of the number %s", `
		SELECT member, line, number::text AS detail FROM (
			SELECT s.*, row_number() OVER (PARTITION BY s.owner, s.number ORDER BY s.member, s.line) AS n FROM ` + stagedOf("agentRevisions", `number integer`) + `) s WHERE n > 1`},
	{"the documents of a context are larger than its maxSize together: %s bytes", `
		SELECT x.member, x.line, d.size::text AS detail FROM ` + stagedOf("contexts", `"maxSize" bigint`) + `
		JOIN staged x ON x.kind = 'contexts' AND x.id = s.id
		JOIN (SELECT owner, sum(size) AS size FROM ` + stagedOf("documents", `size bigint`) + ` GROUP BY owner) d ON d.owner = s.id WHERE d.size > s."maxSize"`},
}

var originalChecks = []stagedCheck{
	{"there is another original of the name %s", `
		SELECT member, 0 AS line, name::text AS detail FROM (SELECT *, row_number() OVER (PARTITION BY name) AS n FROM staged_originals) s WHERE n > 1`},
	{"there is another document with the fileName %s", `
		SELECT member, line, "fileName"::text AS detail FROM (
			SELECT s.*, row_number() OVER (PARTITION BY "fileName" ORDER BY member, line) AS n FROM ` + stagedOf("documents", `"fileName" uuid`) + `) s WHERE n > 1`},
	{"is the original of no document: %s", `
		SELECT f.member, 0 AS line, f.name::text AS detail FROM staged_originals f
		WHERE NOT EXISTS (SELECT FROM ` + stagedOf("documents", `"fileName" uuid`) + ` WHERE s."fileName" = f.name)`},
	{"its original %s", `
		SELECT s.member, s.line, format('has %s bytes and the SHA-256 %s, not what the document says', f.size, f.hash) AS detail
		FROM ` + stagedOf("documents", `"fileName" uuid, size bigint, "contentHash" text`) + ` JOIN staged_originals f ON f.name = s."fileName"
		WHERE f.size <> s.size OR f.hash <> s."contentHash"`},
}

// Check ends the adding, and looks at everything that was added: all of it lies in or below the company top, which is to come at a
// level of the tree. It takes out what can't be made, as the archive lacks what it needs, and gives how much that was. Whatever
// is wrong is an *archive.Fault.
func (g *Staging) Check(ctx context.Context, top int64, level int) (without []LeftOut, err error) {
	if err := g.index(ctx); err != nil {
		return nil, err
	}
	// Many rows are compared with many, by what no index has. What is written later goes by keys again: plans of triggers outlive the transaction.
	if err := g.runAll(ctx, `SET LOCAL enable_hashjoin = on`, `SET LOCAL enable_mergejoin = on`); err != nil {
		return nil, err
	}
	if without, err = g.check(ctx, top, level); err != nil {
		return nil, err
	}
	return without, g.runAll(ctx, `SET LOCAL enable_hashjoin = off`, `SET LOCAL enable_mergejoin = off`)
}

func (g *Staging) check(ctx context.Context, top int64, level int) (without []LeftOut, err error) {
	if err := g.levels(ctx, top, level); err != nil {
		return nil, err
	}
	for _, checks := range [][]stagedCheck{treeChecks, originalChecks} {
		if err := g.checkAll(ctx, checks); err != nil {
			return nil, err
		}
	}
	if without, err = g.takeOut(ctx); err != nil {
		return nil, err
	}
	for _, k := range stagedKinds[1:] {
		err := g.fault(ctx, "what it belongs to, %s, is not in the archive", `
			SELECT s.member, s.line, $2 || ' ' || s.owner AS detail FROM staged s WHERE s.kind = $1 AND `+absent(k.owner, "s.owner"), k.name, k.owner)
		if err != nil {
			return nil, err
		}
	}
	return without, g.checkAll(ctx, stagedChecks)
}

func (g *Staging) checkAll(ctx context.Context, checks []stagedCheck) error {
	for _, c := range checks {
		if err := g.fault(ctx, c.says, c.rows); err != nil {
			return err
		}
	}
	return nil
}

// levels notes how deep below the top each company lies; what has no level does not lie below it.
func (g *Staging) levels(ctx context.Context, top int64, level int) error {
	n, err := g.exec(ctx, `UPDATE staged SET level = 0 WHERE kind = 'customers' AND id = $1`, top)
	if err != nil {
		return err
	}
	if n == 0 {
		return archive.Place{Member: "manifest.json"}.Faultf("its company %d is not in the archive", top)
	}
	for deep := 1; n > 0; deep++ {
		if level+deep-1 > MaxLevel {
			return g.fault(ctx, "it would lie too deep in the tree: below level %s", `
				SELECT member, line, $1::text AS detail FROM staged WHERE kind = 'customers' AND level = $2`, MaxLevel, deep-1)
		}
		n, err = g.exec(ctx, `
			UPDATE staged s SET level = $1 FROM staged p
			WHERE s.kind = 'customers' AND s.level IS NULL AND p.kind = 'customers' AND p.id = s.owner AND p.level = $1 - 1`, deep)
		if err != nil {
			return err
		}
	}
	return nil
}

// takeOut takes out what belongs to what the archive has none of, as who has asked for the export may read none.
func (g *Staging) takeOut(ctx context.Context) (without []LeftOut, err error) {
	take := func(kind, why, which string, args ...any) error {
		n, err := g.exec(ctx, `DELETE FROM staged s WHERE s.kind = $1 AND `+which, append([]any{kind}, args...)...)
		if n > 0 {
			without = append(without, LeftOut{kind, n, why})
		}
		return err
	}
	for _, k := range stagedKinds[1:] {
		n, err := g.count(ctx, k.owner)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			if err := take(k.name, "what they belong to is not in the archive: "+k.owner, `true`); err != nil {
				return nil, err
			}
		}
	}
	users, err := g.count(ctx, "users")
	if err != nil {
		return nil, err
	}
	if users == 0 {
		if err := take("permissions", "whom they are given to is not in the archive: users", `true`); err != nil {
			return nil, err
		}
	}
	return without, take("documents", "their originals are not in the archive",
		`NOT EXISTS (SELECT FROM staged_originals f WHERE f.name = (s.row ->> 'fileName')::uuid)`)
}
