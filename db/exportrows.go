package db

import (
	"context"
	"encoding/json"
	"time"

	"canopy/internal/access"
)

// What an export holds, kind by kind. What is secret is in no statement: passwords, keys' secrets, signing secrets, the values
// of agents' secrets. Private contexts are their creators', and no export has them.

// ExportKind is a kind of rows that are exported.
type ExportKind struct {
	Name string
	// Right is what who has asked may read of it in tenant management.
	Right access.Features
	// Below are the kinds of what belongs to each row.
	Below []ExportKind
	// Originals: each row has an original beside it.
	Originals bool

	query query
	// timed: rows are in the order of their time, and otherwise in that of their ids.
	timed bool
}

// Exported is one row of an export.
type Exported struct {
	ID  int64           `db:"id"`
	At  time.Time       `db:"at"`
	Row json.RawMessage `db:"row"`
}

// exportPage is how many rows are read at one go.
const exportPage = 200

// exportBy gives the statement of a kind: the rows of a table whose column names what they belong to, behind an id.
func exportBy(table, owner, id, also, row string) query {
	return prepare(`
		SELECT t.` + id + ` AS id, now() AS at, json_build_object(` + row + `) AS row
		FROM (SELECT * FROM ` + table + ` WHERE ` + owner + ` = $1 AND ` + id + ` > $2` + also + ` ORDER BY ` + id + ` LIMIT $3) t ORDER BY t.` + id)
}

// exportFew is exportBy for what a company has few of: all of them are found by the company, whatever the planner believes.
func exportFew(table, row string) query {
	return exportBy("(SELECT * FROM "+table+" WHERE customer_id = $1 OFFSET 0) o", "customer_id", "id", "", row)
}

// exportByTime is exportBy for what has an index in the order of its time.
func exportByTime(table, owner, row string) query {
	return prepare(`
		SELECT t.id, t.created_at AS at, json_build_object(` + row + `) AS row
		FROM (SELECT * FROM ` + table + ` WHERE ` + owner + ` = $1 AND (created_at, id) > ($2, $3) ORDER BY created_at, id LIMIT $4) t ORDER BY t.created_at, t.id`)
}

var (
	qExportCustomer = exportBy("customers", "id", "id", "", `'id', t.id, 'parentId', t.parent_id, 'name', t.name, 'regionId', t.region_id,
		'region', (SELECT r.code FROM regions r WHERE r.id = t.region_id), 'status', t.status,
		'canAddCustomers', t.can_add_customers, 'descendantsCanAdd', t.descendants_can_add, 'maxKeyDays', t.max_key_days, 'createdAt', t.created_at,
		'limits', (SELECT COALESCE(json_object_agg(l.name, l.most), '{}') FROM customer_limits l WHERE l.customer_id = t.id)`)
	qExportBilling = exportBy("billing", "customer_id", "customer_id", "", `'customerId', t.customer_id, 'billingName', t.billing_name, 'businessId', t.business_id,
		'taxId', t.tax_id, 'addressLine1', t.address_line1, 'addressLine2', t.address_line2, 'city', t.city, 'state', t.state, 'zipCode', t.zip_code,
		'countryCode', t.country_code, 'createdAt', t.created_at`)
	// A person is told as the company sees it.
	qExportUsers = prepare(`
		SELECT m.user_id AS id, now() AS at, json_build_object('id', m.user_id, 'customerId', m.customer_id, 'accepted', m.accepted_at IS NOT NULL, 'added', m.added,
			'email', CASE WHEN m.accepted_at IS NULL THEN m.email ELSE u.email END,
			'firstName', CASE WHEN m.accepted_at IS NULL THEN m.first_name ELSE u.first_name END,
			'lastName', CASE WHEN m.accepted_at IS NULL THEN m.last_name ELSE u.last_name END, 'createdAt', m.created_at) AS row
		FROM (SELECT * FROM memberships WHERE customer_id = $1 AND user_id > $2 ORDER BY user_id LIMIT $3) m
		CROSS JOIN LATERAL (SELECT * FROM users WHERE id = m.user_id OFFSET 0) u ORDER BY m.user_id`)
	qExportInvitations = exportBy("invitations", "customer_id", "id", "", `'id', t.id, 'customerId', t.customer_id, 'email', t.email, 'status', t.status,
		'createdAt', t.created_at, 'expiresAt', t.expires_at`)
	qExportRoles = exportFew("roles", `'id', t.id, 'customerId', t.customer_id, 'applicationId', t.application_id,
		'application', (SELECT a.code FROM applications a WHERE a.id = t.application_id), 'name', t.name, 'description', t.description, 'isOwner', t.is_owner, 'features', t.features, 'createdAt', t.created_at`)
	qExportAccounts = prepare(`
		SELECT t.id, now() AS at, json_build_object('id', t.id, 'customerId', t.customer_id, 'application', (
				SELECT a.code FROM app_instances i JOIN applications a ON a.id = i.application_id WHERE i.id = t.app_instance_id),
			'region', (SELECT r.code FROM app_instances i JOIN regions r ON r.id = i.region_id WHERE i.id = t.app_instance_id),
			'name', t.name, 'disabled', t.disabled, 'createdAt', t.created_at) AS row
		FROM (SELECT * FROM accounts WHERE customer_id = $1 AND id > $2 ORDER BY id LIMIT $3) t ORDER BY t.id`)
	qExportPermissions = exportBy("permissions", "account_id", "id", "", `'id', t.id, 'accountId', t.account_id, 'userId', t.user_id,
		'role', (SELECT json_build_object('id', r.id, 'name', r.name, 'system', r.customer_id IS NULL) FROM roles r WHERE r.id = t.role_id),
		'disabled', t.disabled, 'lastAccess', t.last_access, 'createdAt', t.created_at`)
	qExportAPIKeys = exportBy("api_keys", "customer_id", "id", "", `'id', t.id, 'customerId', t.customer_id, 'userId', t.user_id, 'clientId', t.client_id, 'name', t.name,
		'features', t.features, 'allowedAddresses', t.allowed_addresses, 'expiresAt', t.expires_at, 'revokedAt', t.revoked_at, 'lastUsedAt', t.last_used_at, 'createdAt', t.created_at`)
	qExportSecrets = exportFew("secrets", `'id', t.id, 'customerId', t.customer_id, 'name', t.name, 'createdAt', t.created_at, 'updatedAt', t.updated_at`)

	qExportProviders = exportFew("identity_providers", `'id', t.id, 'customerId', t.customer_id, 'name', t.name, 'issuer', t.issuer, 'clientId', t.client_id,
		'domains', t.domains, 'defaultRoleId', t.default_role_id, 'required', t.required, 'enabled', t.enabled, 'features', t.features, 'createdAt', t.created_at, 'updatedAt', t.updated_at`)
	qExportDestinations = exportBy("webhook_destinations", "customer_id", "id", " AND deleted_at IS NULL", `'id', t.id, 'customerId', t.customer_id, 'url', t.url, 'name', t.name,
		'events', t.events, 'enabled', t.enabled, 'signing', t.signing, 'createdAt', t.created_at`)
	// What a delivery of the audit log carried stands among its events, for who may read them.
	qExportDeliveries = exportByTime("webhook_deliveries", "customer_id", `'id', t.id, 'customerId', t.customer_id, 'destinationId', t.destination_id, 'eventId', t.event_id,
		'type', t.type, 'status', t.status, 'attempts', t.attempts, 'payload', CASE WHEN NOT `+ofAudit("t.type")+` THEN convert_from(t.payload, 'UTF8') END, 'error', t.error, 'createdAt', t.created_at, 'completedAt', t.completed_at`)
	qExportAuditEvents = exportByTime("audit_events", "customer_id", `'id', t.id, 'customerId', t.customer_id, 'actorKind', `+actorKind("t.actor_user_id", "t.client_id", "t.action")+`, 'clientId', t.client_id, 'action', t.action,
		'objectType', t.object_type, 'objectId', t.object_id, 'details', t.details, 'createdAt', t.created_at`)
	qExportContexts = exportBy("contexts", "account_id", "id", " AND share_state = 1 AND removed_at IS NULL", `'id', t.id, 'accountId', t.account_id, 'userId', t.user_id, 'name', t.name, 'description', t.description,
		'caption', t.caption, 'toolsJson', t.tools_json, 'starterPrompts', t.starter_prompts, 'icon', t.icon, 'embeddingModel', t.embedding_model, 'maxSize', t.max_size,
		'topN', t.top_n, 'scoreThreshold', t.score_threshold, 'searchMode', t.search_mode, 'denseWeight', t.dense_weight, 'chunkSize', t.chunk_size, 'overlap', t.overlap, 'logsQueries', t.logs_queries, 'createdAt', t.created_at`)
	// A context may have been made private since it was read.
	qExportDocuments = exportBy("documents", "context_id", "id", " AND EXISTS (SELECT FROM contexts WHERE id = $1 AND share_state = 1 AND removed_at IS NULL)", `'id', t.id, 'contextId', t.context_id, 'fileName', t.file_name, 'originalName', t.original_name,
		'displayName', t.display_name, 'nameIndex', t.name_index, 'format', t.format, 'contentType', t.content_type, 'contentHash', t.content_hash, 'size', t.size,
		'status', t.status, 'attributes', t.attributes, 'createdBy', t.created_by, 'createdAt', t.created_at`)
	qExportAgents = exportBy("agents", "account_id", "id", " AND deleted_at IS NULL", `'id', t.id, 'accountId', t.account_id, 'name', t.name, 'diagram', t.draft,
		'publishedId', t.published_id, 'enabled', t.enabled, 'createdAt', t.created_at, 'updatedAt', t.updated_at`)
	qExportRevisions = exportBy("agent_revisions", "agent_id", "number", "", `'id', t.id, 'agentId', t.agent_id, 'number', t.number, 'diagram', t.diagram, 'createdAt', t.created_at`)
	qExportRuns      = exportByTime("runs", "account_id", `'id', t.id, 'jobKey', t.job_key, 'agentId', t.agent_id, 'revisionId', t.revision_id, 'accountId', t.account_id, 'userId', t.user_id,
		'status', t.status, 'input', t.input, 'output', t.output, 'error', t.error, 'createdAt', t.created_at, 'finishedAt', t.finished_at,
		'steps', (SELECT COALESCE(json_agg(json_build_object('stepId', s.step_id, 'type', s.type, 'input', s.input, 'result', s.result, 'error', s.error, 'startedAt', s.started_at,
			'durationMs', s.duration_ms) ORDER BY s.position), '[]') FROM run_steps s WHERE s.run_id = t.id)`)
	qHiddenContexts = prepare(`
		SELECT count(*) FROM (SELECT $1::bigint) k(id)` + accountsOf("k.id") + ` CROSS JOIN LATERAL (SELECT FROM contexts WHERE account_id = a.id AND share_state = 0 AND removed_at IS NULL OFFSET 0) x`)
)

// ExportKinds are what there is of each company, what others refer to before these.
var ExportKinds = []ExportKind{
	{Name: "customers", Right: access.CompanyRead, query: qExportCustomer},
	{Name: "billing", Right: access.BillingRead, query: qExportBilling},
	{Name: "users", Right: access.UserRead, query: qExportUsers},
	{Name: "invitations", Right: access.UserRead, query: qExportInvitations},
	{Name: "roles", Right: access.PermissionRead, query: qExportRoles},
	{Name: "accounts", Right: access.PermissionRead, query: qExportAccounts, Below: []ExportKind{
		{Name: "permissions", Right: access.PermissionRead, query: qExportPermissions},
		{Name: "contexts", Right: access.ContextRead, query: qExportContexts, Below: []ExportKind{
			{Name: "documents", Right: access.ContextRead, query: qExportDocuments, Originals: true},
		}},
		{Name: "agents", Right: access.AgentRead, query: qExportAgents, Below: []ExportKind{
			{Name: "agentRevisions", Right: access.AgentRead, query: qExportRevisions},
		}},
		{Name: "runs", Right: access.AgentRead, query: qExportRuns, timed: true},
	}},
	{Name: "apiKeys", Right: access.KeyRead, query: qExportAPIKeys},
	{Name: "secrets", Right: access.AgentRead, query: qExportSecrets},
	{Name: "identityProviders", Right: access.CompanyRead, query: qExportProviders},
	{Name: "webhookDestinations", Right: access.WebhookRead, query: qExportDestinations},
	{Name: "webhookDeliveries", Right: access.WebhookRead, query: qExportDeliveries, timed: true},
	{Name: "auditEvents", Right: access.AuditRead, query: qExportAuditEvents, timed: true},
}

// EachExported gives the rows of a kind that belong to something, page by page. The error of each ends it.
func (s *Store) EachExported(ctx context.Context, k ExportKind, owner int64, each func(*Exported) error) error {
	for last := (Exported{}); ; {
		args := []any{owner, last.ID, exportPage}
		if k.timed {
			args = []any{owner, last.At, last.ID, exportPage}
		}
		var rows []Exported
		if err := s.list(ctx, &rows, k.query, args...); err != nil {
			return err
		}
		for i := range rows {
			if err := each(&rows[i]); err != nil {
				return err
			}
		}
		if len(rows) < exportPage {
			return nil
		}
		last = rows[len(rows)-1]
	}
}

// Lacks tells whether a kind is what only the home has, and this is a cell.
func (s *Store) Lacks(k ExportKind) bool { return s.here(k.query) != nil }

// HiddenContexts counts the private contexts of a company.
func (s *Store) HiddenContexts(ctx context.Context, customerID int64) (n int64, err error) {
	err = s.get(ctx, &n, qHiddenContexts, customerID)
	return n, err
}

// IsBelow tells whether a company is another one, or below it, as the primary has it now.
func (s *Store) IsBelow(ctx context.Context, customerID, top int64) (is bool, err error) {
	err = s.get(Alone(ctx), &is, qIsBelow, customerID, top)
	return is, err
}

// Below streams a company and all below it in preorder, and gives how many these are; in a cell about as many, as others tell it.
func (s *Store) Below(ctx context.Context, customerID int64, each func(c *Customer, of int64) error) error {
	top := &Customer{}
	if err := s.get(ctx, top, qExportTop, customerID); err != nil {
		return err
	}
	var of int64
	if err := s.get(ctx, &of, qCountBelow, customerID); err != nil {
		return err
	}
	return s.StreamSubtree(ctx, top.Lineage.Subtree(), nil, 0, func(c *Customer) error { return each(c, of+1) })
}

var (
	qIsBelow    = prepare(`SELECT COALESCE((SELECT $2 = ANY (lineage) FROM customers WHERE id = $1), false)`)
	qExportTop  = prepare(`SELECT ` + customerColumns + ` FROM customers c WHERE c.id = $1`)
	qCountBelow = prepare(`SELECT COALESCE(sum(n), 0)::bigint FROM (
		SELECT n FROM usage_counts WHERE customer_id = $1 AND name = 'customers' UNION ALL SELECT n FROM counts_elsewhere WHERE customer_id = $1 AND name = 'customers') t`)
)
