package db

import (
	"context"
	"fmt"
	"strings"

	"github.com/lib/pq"

	"canopy/internal/pgconn"
)

// What was staged is written in slices: triggers count each of them once, and a statement takes about a second. A connection waits 45 s
// for an answer, so that a server with a tenth of the speed writes them too.

// sliceRows is how many rows are written at one go. Slices of 20,000 are no faster: 10.7 and 13.1 s for TestImportOfMany, 10.5 and 12.1 with these.
const sliceRows = 3_000

// sliceOf is stagedOf for the slice that is the first argument.
func sliceOf(kind, fields string) string {
	return strings.Replace(stagedOf(kind, fields), "WHERE", "WHERE t.slice = $1 AND", 1)
}

// GiveIDs gives each row an id of its own here, in the order of those in the archive, and what belongs to another the id of that.
func (g *Staging) GiveIDs(ctx context.Context) error {
	for _, k := range stagedKinds {
		if k.table == "" {
			continue
		}
		err := g.run(ctx, `
			UPDATE staged s SET new_id = n.new_id
			FROM (SELECT o.id, nextval(pg_get_serial_sequence($2, 'id')) AS new_id FROM (SELECT id FROM staged WHERE kind = $1 ORDER BY id) o) n
			WHERE s.kind = $1 AND s.id = n.id`, k.name, k.table)
		if err != nil {
			return err
		}
	}
	for _, k := range stagedKinds {
		owner := k.owner
		if owner == "" {
			owner = k.name // a company lies below one
		}
		err := g.run(ctx, `
			UPDATE staged s SET new_owner = o.new_id FROM staged o
			WHERE s.kind = $1 AND o.kind = $2 AND o.id = s.owner AND s.level IS DISTINCT FROM 0`, k.name, owner)
		if err != nil {
			return err
		}
	}
	return g.runAll(ctx, fmt.Sprintf(`
		UPDATE staged s SET slice = n.slice
		FROM (SELECT ctid, (row_number() OVER (PARTITION BY kind ORDER BY new_owner, id) - 1) / %d AS slice FROM staged) n WHERE s.ctid = n.ctid`, sliceRows),
		`CREATE INDEX staged_slice ON staged (kind, slice)`,
		`ANALYZE staged`)
}

// Placed says where what was staged goes.
type Placed struct {
	// ParentID is the company below which it is made.
	ParentID int64
	// Models are the embedding models that there are; contexts with another one get DefaultModel.
	Models       []string
	DefaultModel string
}

// The statements, in their order. Moments that lie ahead become this one.
const (
	writeCompanies = `
		INSERT INTO customers (id, parent_id, name, region_id, can_add_customers, descendants_can_add, max_key_days, suspended, created_at)
		SELECT s.new_id, COALESCE(s.new_owner, $2), s.name, g.id, s."canAddCustomers", s."descendantsCanAdd", s."maxKeyDays",
			s.level = 0 OR s.status <> 'ACTIVE', LEAST(s."createdAt", now())
		FROM ` + stagedCompany + ` JOIN regions g ON g.code = s.region ORDER BY s.new_id`
	stagedCompany = `(SELECT t.id, t.new_id, t.new_owner, t.level, r.* FROM staged t CROSS JOIN LATERAL json_to_record(t.row) r(name text, region text, status text,
		"canAddCustomers" boolean, "descendantsCanAdd" boolean, "maxKeyDays" integer, "createdAt" timestamptz)
		WHERE t.slice = $1 AND t.level = $3 AND t.kind = 'customers') s`
	// Limits come last: a company may have had more than it has been limited to since, and keeps that.
	writeLimits = `
		INSERT INTO customer_limits (customer_id, name, most)
		SELECT s.new_id, l.key, l.value::bigint FROM staged s CROSS JOIN LATERAL json_each_text(s.row -> 'limits') l WHERE s.kind = 'customers' AND s.slice = $1`

	writePeople = `
		INSERT INTO users (email, first_name, last_name)
		SELECT email, "firstName", "lastName" FROM (
			SELECT DISTINCT ON (lower(s.email)) s.* FROM ` + stagedPerson + ` ORDER BY lower(s.email), s.new_owner) s
		WHERE NOT EXISTS (SELECT FROM users u WHERE lower(u.email) = lower(s.email)) ON CONFLICT (lower(email)) DO NOTHING`
	stagedPerson = `(SELECT t.id, t.owner, t.new_id, t.new_owner, r.* FROM staged t CROSS JOIN LATERAL json_to_record(t.row) r(email text, "firstName" text, "lastName" text,
		added boolean) WHERE t.kind = 'users' AND t.slice = $1) s`
	// They are held, so that nobody of them is erased meanwhile.
	findPeople = `
		WITH held AS (
			SELECT u.id, lower(u.email) AS email FROM users u
			WHERE lower(u.email) IN (SELECT lower(t.row ->> 'email') FROM staged t WHERE t.kind = 'users' AND t.slice = $1) AND u.erased_at IS NULL ORDER BY u.id FOR KEY SHARE)
		UPDATE staged s SET new_id = h.id FROM held h WHERE s.kind = 'users' AND s.slice = $1 AND h.email = lower(s.row ->> 'email')`
	// Who is new in a subtree is noted at once for all: the trigger of each membership then finds it noted.
	notePeople = `
		INSERT INTO subtree_users (customer_id, user_id, email, name, created_at, accepted, has_password)
		SELECT DISTINCT ON (above.id, s.new_id) above.id, s.new_id, s.email, btrim(s."firstName" || ' ' || s."lastName"), now(), false, false
		FROM ` + stagedPerson + ` JOIN customers c ON c.id = s.new_owner CROSS JOIN LATERAL unnest(c.lineage) above(id)
		ORDER BY above.id, s.new_id, s.new_owner, s.id ON CONFLICT DO NOTHING`
	// A person is known who has a password, or belongs to a company outside of this one's subtree.
	writeMembers = `
		INSERT INTO memberships (customer_id, user_id, added, email, first_name, last_name, known)
		SELECT s.new_owner, s.new_id, s.added, s.email, s."firstName", s."lastName",
			u.password_hash IS NOT NULL OR EXISTS (
				SELECT FROM memberships m WHERE m.user_id = u.id AND m.lineage[c.level + 1] IS DISTINCT FROM c.id) OR EXISTS (
				SELECT FROM staged o JOIN customers oc ON oc.id = o.new_owner
				WHERE o.kind = 'users' AND o.new_id = u.id AND oc.lineage[c.level + 1] IS DISTINCT FROM c.id)
		FROM ` + stagedPerson + ` JOIN customers c ON c.id = s.new_owner JOIN users u ON u.id = s.new_id
		ORDER BY s.new_owner, s.new_id, s.id ON CONFLICT (customer_id, user_id) DO NOTHING`
)

// creator joins, as by, the person of an id in the archive: as the company of the account a has it, or else another.
func creator(id string) string {
	return ` LEFT JOIN LATERAL (
		SELECT u.new_id AS id FROM staged u WHERE u.kind = 'users' AND u.id = ` + id + ` ORDER BY u.owner <> a.owner, u.owner LIMIT 1) by ON true `
}

// stagedWrite writes something of a kind of rows; what it touches is told under the name counted, if it has one.
type stagedWrite struct{ kind, counted, text string }

var stagedWrites = []stagedWrite{
	{"users", "people", writePeople},
	{"users", "", findPeople},
	{"users", "", notePeople},
	{"users", "users", writeMembers},
	{"billing", "billing", `
		INSERT INTO billing (customer_id, billing_name, business_id, tax_id, address_line1, address_line2, city, state, zip_code, country_code, created_at)
		SELECT s.new_owner, s."billingName", s."businessId", s."taxId", s."addressLine1", s."addressLine2", s.city, s.state, s."zipCode", s."countryCode", LEAST(s."createdAt", now())
		FROM ` + sliceOf("billing", `"billingName" text, "businessId" text, "taxId" text, "addressLine1" text, "addressLine2" text, city text, state text,
			"zipCode" text, "countryCode" text, "createdAt" timestamptz`)},
	{"roles", "roles", `
		INSERT INTO roles (id, application_id, customer_id, name, description, is_owner, features, created_at)
		SELECT s.new_id, p.id, s.new_owner, s.name, s.description, s."isOwner", s.features, LEAST(s."createdAt", now())
		FROM ` + sliceOf("roles", `application text, name text, description text, "isOwner" boolean, features text[], "createdAt" timestamptz`) + `
		JOIN applications p ON p.code = s.application ORDER BY s.new_id`},
	{"accounts", "accounts", `
		INSERT INTO accounts (id, customer_id, app_instance_id, name, disabled, created_at)
		SELECT s.new_id, s.new_owner, i.id, s.name, s.disabled, LEAST(s."createdAt", now())
		FROM ` + sliceOf("accounts", `application text, region text, name text, disabled boolean, "createdAt" timestamptz`) + `
		JOIN applications p ON p.code = s.application JOIN regions g ON g.code = s.region
		JOIN app_instances i ON i.application_id = p.id AND i.region_id = g.id ORDER BY s.new_id`},
	{"permissions", "permissions", `
		INSERT INTO permissions (id, account_id, user_id, role_id, disabled, created_at)
		SELECT s.new_id, s.new_owner, u.new_id, COALESCE(own.new_id, wide.id), s.disabled, LEAST(s."createdAt", now())
		FROM ` + sliceOf("permissions", `"userId" bigint, role json, disabled boolean, "createdAt" timestamptz`) + ` ` + stagedAccount + roleOf + `
		JOIN staged u ON u.kind = 'users' AND u.id = s."userId" AND u.owner = a.owner
		LEFT JOIN staged own ON NOT o.system AND own.kind = 'roles' AND own.id = o.id
		LEFT JOIN (SELECT r.id, p.code, lower(r.name) AS name FROM roles r JOIN applications p ON p.id = r.application_id WHERE r.customer_id IS NULL) wide
			ON o.system AND wide.code = a.application AND wide.name = lower(o.name)
		ORDER BY s.new_id ON CONFLICT (user_id, account_id) DO NOTHING`},
	{"contexts", "contexts", `
		INSERT INTO contexts (id, account_id, user_id, name, description, caption, tools_json, starter_prompts, share_state, icon, embedding_model, max_size, top_n,
			score_threshold, search_mode, dense_weight, chunk_size, overlap, logs_queries, created_at)
		SELECT s.new_id, s.new_owner, by.id, s.name, s.description, s.caption, s."toolsJson", s."starterPrompts", 1, s.icon,
			CASE WHEN s."embeddingModel" = ANY ($2::text[]) THEN s."embeddingModel" ELSE $3 END,
			s."maxSize", s."topN", s."scoreThreshold", COALESCE(s."searchMode", 'SEMANTIC'), COALESCE(s."denseWeight", 0.5), s."chunkSize", s.overlap, COALESCE(s."logsQueries", false), LEAST(s."createdAt", now())
		FROM ` + sliceOf("contexts", `"userId" bigint, name text, description text, caption text, "toolsJson" text, "starterPrompts" text[], icon text, "embeddingModel" text,
			"maxSize" bigint, "topN" integer, "scoreThreshold" float8, "searchMode" text, "denseWeight" float8, "chunkSize" integer, overlap float8, "logsQueries" boolean, "createdAt" timestamptz`) + ` ` + stagedAccount +
		creator(`s."userId"`) + `ORDER BY s.new_id`},
	{"documents", "documents", `
		INSERT INTO documents (id, context_id, file_name, original_name, display_name, name_index, format, content_type, content_hash, size, attributes, created_by, created_at,
			model, chunk_size, overlap)
		SELECT s.new_id, s.new_owner, s."newName", s."originalName", s."displayName", s."nameIndex", s.format, s."contentType", s."contentHash", s.size, COALESCE(s.attributes, '{}'), by.id,
			LEAST(s."createdAt", now()), x.embedding_model, x.chunk_size, x.overlap
		FROM ` + sliceOf("documents", `"newName" uuid, "originalName" text, "displayName" text, "nameIndex" integer, format text, "contentType" text, "contentHash" text,
			size bigint, attributes jsonb, "createdBy" bigint, "createdAt" timestamptz`) + ` JOIN contexts x ON x.id = s.new_owner
		JOIN staged sx ON sx.kind = 'contexts' AND sx.id = s.owner JOIN staged a ON a.kind = 'accounts' AND a.id = sx.owner` +
		creator(`s."createdBy"`) + `ORDER BY s.new_id`},
	{"agents", "agents", `
		INSERT INTO agents (id, account_id, name, draft, enabled, created_at, updated_at)
		SELECT s.new_id, s.new_owner, s.name, s.diagram, s.enabled, LEAST(s."createdAt", now()), LEAST(s."updatedAt", now())
		FROM ` + sliceOf("agents", `name text, diagram json, enabled boolean, "createdAt" timestamptz, "updatedAt" timestamptz`) + ` ORDER BY s.new_id`},
	{"agentRevisions", "agentRevisions", `
		INSERT INTO agent_revisions (id, agent_id, number, diagram, created_at)
		SELECT s.new_id, s.new_owner, s.number, s.diagram, LEAST(s."createdAt", now())
		FROM ` + sliceOf("agentRevisions", `number integer, diagram json, "createdAt" timestamptz`) + ` ORDER BY s.new_id`},
	{"agents", "", `
		UPDATE agents g SET published_id = v.new_id FROM ` + sliceOf("agents", `"publishedId" bigint`) + `
		JOIN staged v ON v.kind = 'agentRevisions' AND v.id = s."publishedId" WHERE g.id = s.new_id`},
	// Their secrets are sealed to their ids afterwards.
	{"webhookDestinations", "webhookDestinations", `
		INSERT INTO webhook_destinations (id, customer_id, url, name, events, enabled, signing, secret, created_at)
		SELECT s.new_id, s.new_owner, s.url, s.name, s.events, false, s.signing, '', LEAST(s."createdAt", now())
		FROM ` + sliceOf("webhookDestinations", `url text, name text, events text[], signing text, "createdAt" timestamptz`) + ` ORDER BY s.new_id`},
	{"customers", "", writeLimits},
}

// Write makes all that was staged, and tells how much of each kind that is; of people, under "people", those who are new to the
// platform. What holds for all, such as limits, is looked at before it returns.
func (g *Staging) Write(ctx context.Context, to Placed) (made map[string]int64, err error) {
	made = map[string]int64{}
	for level, n := 0, int64(1); n > 0; level++ {
		if n, err = g.inSlices(ctx, "customers", writeCompanies, to.ParentID, level); err != nil {
			return nil, err
		}
		made["customers"] += n
	}
	for _, w := range stagedWrites {
		var args []any
		if w.counted == "contexts" {
			args = []any{pq.StringArray(to.Models), to.DefaultModel}
		}
		n, err := g.inSlices(ctx, w.kind, w.text, args...)
		if err != nil {
			return nil, err
		}
		if w.counted != "" {
			made[w.counted] = n
		}
	}
	return made, g.run(ctx, `SET CONSTRAINTS ALL IMMEDIATE`)
}

// inSlices runs a statement for each slice of a kind, and tells how many rows it touched.
func (g *Staging) inSlices(ctx context.Context, kind, text string, args ...any) (all int64, err error) {
	var slices int
	err = getInto(pgconn.Composed(ctx), g.s.run(), &slices, `SELECT COALESCE(max(slice) + 1, 0) FROM staged WHERE kind = $1`, kind)
	if err != nil {
		return 0, translate(ctx, err)
	}
	for slice := range slices {
		n, err := g.exec(ctx, text, append([]any{slice}, args...)...)
		if err != nil {
			return 0, err
		}
		all += n
	}
	return all, nil
}

// Otherwise counts what is made otherwise than an archive has it.
type Otherwise struct {
	// Models are contexts whose embedding model is none of those that there are, Deleted companies that were deleted, Twice what a
	// person would have been given a second time.
	Models  int64 `db:"models"`
	Deleted int64 `db:"deleted"`
	Twice   int64 `db:"twice"`
}

// Otherwise tells what Write has made otherwise.
func (g *Staging) Otherwise(ctx context.Context, models []string, made map[string]int64) (o Otherwise, err error) {
	err = getInto(pgconn.Composed(ctx), g.s.run(), &o, `
		SELECT count(*) FILTER (WHERE kind = 'contexts' AND row ->> 'embeddingModel' <> ALL ($1::text[])) AS models,
			count(*) FILTER (WHERE kind = 'customers' AND row ->> 'status' = 'DELETED') AS deleted,
			count(*) FILTER (WHERE kind IN ('users', 'permissions')) AS twice FROM staged`, pq.StringArray(models))
	o.Twice -= made["users"] + made["permissions"]
	return o, translate(ctx, err)
}

// Active tells whether a company is active by the archive.
func (g *Staging) Active(ctx context.Context, id int64) (active bool, err error) {
	err = getInto(pgconn.Composed(ctx), g.s.run(), &active, `SELECT row ->> 'status' = 'ACTIVE' FROM staged WHERE kind = 'customers' AND id = $1`, id)
	return active, translate(ctx, err)
}
