package db

import (
	"context"
	"slices"
	"strconv"
)

// A deleted company is erased when its time is over, with all below it: from the last in the order of the tree on, so that
// nothing is left below what goes. What they have goes before them, some rows at a time, in the order in which it refers to
// each other: so each step is a short transaction, and whoever begins anew goes on from there.

const (
	// eraseCompanies is how many companies are erased at a time, eraseRows how many rows of a table. Of what has parts there are
	// fewer, and of people, whose traces are looked for.
	eraseCompanies = 100
	eraseRows      = 2000
	eraseOwners    = 200
	erasePeople    = 50
)

// accountsToErase are the accounts a of the companies $1, each of which is found by its company, however many there seem to be.
var accountsToErase = `unnest($1::bigint[]) k(id)` + accountsOf("k.id")

// someOfAccounts selects up to $2 rows of a table that belong to accounts of the companies $1.
func someOfAccounts(table string) string {
	return `ARRAY(SELECT x.id FROM ` + accountsToErase + ` CROSS JOIN LATERAL (SELECT id FROM ` + table + ` WHERE account_id = a.id LIMIT $2) x LIMIT $2)`
}

// someOfCustomers selects up to $2 rows of a table that belong to the companies $1.
func someOfCustomers(table string) string {
	return `ARRAY(SELECT x.id FROM unnest($1::bigint[]) k(id) CROSS JOIN LATERAL (SELECT id FROM ` + table + ` WHERE customer_id = k.id LIMIT $2) x LIMIT $2)`
}

// firstOfAccounts selects the first rows of a table, eraseOwners of them, that belong to accounts of the companies $1: what
// they have goes before them.
func firstOfAccounts(table string) string {
	return `(SELECT x.id FROM ` + accountsToErase + ` CROSS JOIN LATERAL (SELECT id FROM ` + table + ` WHERE account_id = a.id ORDER BY account_id, id LIMIT ` + strconv.Itoa(eraseOwners) + `) x
		ORDER BY x.id LIMIT ` + strconv.Itoa(eraseOwners) + `)`
}

// documentsToErase are the first documents of the companies $1, eraseAtOnce of them: what they have goes before them, too.
var documentsToErase = `(SELECT e.* FROM ` + firstOfAccounts("contexts") + ` x
		CROSS JOIN LATERAL (SELECT * FROM documents WHERE context_id = x.id ORDER BY context_id, id LIMIT ` + strconv.Itoa(eraseAtOnce) + `) e
		ORDER BY e.context_id, e.id LIMIT ` + strconv.Itoa(eraseAtOnce) + `)`

var (
	// One that lies below another is erased with that.
	qDueErasures = prepare(`
		SELECT c.id FROM customers c WHERE c.status = 'DELETED' AND c.erase_at <= now() AND NOT EXISTS (
			SELECT FROM customers d WHERE d.id = ANY (c.lineage[1:c.level]) AND d.status = 'DELETED' AND d.erase_at <= now())
		AND ` + notInCells + `
		ORDER BY c.lineage LIMIT $1`)
	// Others who erase it pass it over meanwhile, and nobody restores it.
	qHoldErasure = prepare(`
		SELECT parent_id FROM customers WHERE id = $1 AND ` + unindexed("status = 'DELETED' AND erase_at <= now()") + ` FOR NO KEY UPDATE SKIP LOCKED`)
	qLastCompanies = prepare(`
		SELECT c.id FROM (SELECT id, lineage, level FROM customers WHERE id = $1 OFFSET 0) p CROSS JOIN LATERAL (
			SELECT id FROM customers c WHERE c.lineage >= p.lineage AND c.lineage < p.lineage[1:p.level] || (p.id + 1)
			ORDER BY c.lineage DESC LIMIT $2) c`)

	qEraseRequests = prepare(`DELETE FROM idempotency_keys WHERE id = ANY (` + someOfCustomers("idempotency_keys") + `)`)
	// What is due goes with its delivery, in the order in which workers hold the two. It is found by its place in the table: by what is in its
	// key, all that is due anywhere would be held against it.
	qErasePending = prepare(`
		WITH due AS (
			DELETE FROM webhook_due WHERE ctid = ANY (ARRAY(SELECT x.place FROM webhook_destinations d
				CROSS JOIN LATERAL (SELECT ctid AS place FROM webhook_due WHERE destination_id = d.id LIMIT $2 FOR UPDATE) x
				WHERE d.customer_id = ANY ($1::bigint[]) LIMIT $2))
			RETURNING delivery_id)
		DELETE FROM webhook_deliveries WHERE id = ANY (ARRAY(SELECT delivery_id FROM due))`)
	qEraseDeliveries = prepare(`
		DELETE FROM webhook_deliveries WHERE id = ANY (ARRAY(SELECT x.id FROM unnest($1::bigint[]) k(id)
			CROSS JOIN LATERAL (SELECT id FROM webhook_deliveries WHERE customer_id = k.id AND status <> 'pending' LIMIT $2) x LIMIT $2))`)
	qEraseEvents       = prepare(`DELETE FROM audit_events WHERE id = ANY (` + someOfCustomers("audit_events") + `)`)
	qEraseSessions     = prepare(`DELETE FROM sessions WHERE id = ANY (` + someOfCustomers("sessions") + `)`)
	qEraseKeys         = prepare(`DELETE FROM api_keys WHERE id = ANY (` + someOfCustomers("api_keys") + `)`)
	qEraseInvitations  = prepare(`DELETE FROM invitations WHERE id = ANY (` + someOfCustomers("invitations") + `)`)
	qEraseTreeChanges  = prepare(`DELETE FROM tree_changes WHERE id = ANY (` + someOfCustomers("tree_changes") + `)`)
	qEraseFormer       = prepare(`DELETE FROM former_members WHERE id = ANY (` + someOfCustomers("former_members") + `)`)
	qEraseDestinations = prepare(`DELETE FROM webhook_destinations WHERE id = ANY (` + someOfCustomers("webhook_destinations") + `)`)
	qEraseRuns         = prepare(`DELETE FROM runs WHERE id = ANY (` + someOfAccounts("runs") + `)`)
	qErasePublished    = prepare(`UPDATE agents SET published_id = NULL WHERE id = ANY (ARRAY` + firstOfAccounts("agents") + `) AND $2::bigint > 0`)
	qEraseRevisions    = prepare(`
		DELETE FROM agent_revisions WHERE id = ANY (ARRAY(SELECT x.id FROM ` + firstOfAccounts("agents") + ` g
			CROSS JOIN LATERAL (SELECT id FROM agent_revisions WHERE agent_id = g.id LIMIT $2) x LIMIT $2))`)
	qEraseAgents = prepare(`DELETE FROM agents WHERE id = ANY (ARRAY` + firstOfAccounts("agents") + `) AND $2::bigint > 0`)
	qEraseChunks = prepare(eraseChunksOf(documentsToErase, "$2"))
	qEraseBlocks = prepare(eraseBlocksOf(documentsToErase, "$2"))
	// The originals go by jobs of their own.
	qEraseDocuments = prepare(`
		WITH gone AS MATERIALIZED (SELECT d.id, ` + blobOf + ` AS key FROM ` + documentsToErase + ` d LIMIT $2),
		keys AS (INSERT INTO blob_deletions (key) SELECT key FROM gone ON CONFLICT (key) DO NOTHING)
		DELETE FROM documents WHERE id = ANY (ARRAY(SELECT id FROM gone))`)
	qEraseQueries = prepare(`
		DELETE FROM context_queries WHERE id = ANY (ARRAY(SELECT q.id FROM ` + firstOfAccounts("contexts") + ` x
			CROSS JOIN LATERAL (SELECT id FROM context_queries WHERE context_id = x.id LIMIT $2) q LIMIT $2))`)
	qEraseContexts    = prepare(`DELETE FROM contexts WHERE id = ANY (ARRAY` + firstOfAccounts("contexts") + `) AND $2::bigint > 0`)
	qErasePermissions = prepare(`DELETE FROM permissions WHERE id = ANY (` + someOfAccounts("permissions") + `)`)

	qMembersToErase = prepare(`
		SELECT DISTINCT m.user_id FROM unnest($1::bigint[]) k(id) CROSS JOIN LATERAL (
			SELECT user_id FROM memberships WHERE customer_id = k.id LIMIT $2) m LIMIT $2`)
	qHoldUsers        = prepare(`SELECT id FROM users WHERE id = ANY ($1::bigint[]) ORDER BY id FOR UPDATE`)
	qEraseMemberships = prepare(`DELETE FROM memberships WHERE customer_id = ANY ($1::bigint[]) AND user_id = ANY ($2::bigint[])`)
	qHomeless         = prepare(`
		SELECT u.id FROM users u WHERE u.id = ANY ($1::bigint[]) AND u.erased_at IS NULL AND NOT EXISTS (SELECT FROM memberships m WHERE m.user_id = u.id) ORDER BY u.id`)

	// Nobody puts anything into what is held.
	qHoldCompanies  = prepare(`SELECT id FROM customers WHERE id = ANY ($1::bigint[]) ORDER BY id FOR UPDATE`)
	qEraseReports   = prepare(`UPDATE import_requests SET report = NULL WHERE made_id = ANY ($1::bigint[])`) // which tell its name
	qEraseAccounts  = prepare(`DELETE FROM accounts WHERE customer_id = ANY ($1::bigint[])`)
	qEraseCompanies = prepare(`DELETE FROM customers WHERE id = ANY ($1::bigint[])`)
)

// eraseSteps take away what companies have, in this order, at most so many rows at a time; where there were so many there may
// be more.
var eraseSteps = []struct {
	query query
	rows  int64
	// directory: it is of the directory, which a cell does not write.
	directory bool
}{
	{qEraseRequests, eraseRows, false},
	{qErasePending, eraseRows, false},
	{qEraseDeliveries, eraseRows, false},
	{qEraseDestinations, eraseRows, false},
	{qEraseRuns, eraseRows, false},
	{qErasePublished, eraseRows, false},
	{qEraseRevisions, eraseRows, false},
	{qEraseAgents, eraseOwners, false},
	{qEraseChunks, eraseChunks, false},
	{qEraseBlocks, eraseBlocks, false},
	{qEraseDocuments, eraseAtOnce, false},
	{qEraseQueries, eraseRows, false},
	{qEraseContexts, eraseOwners, false},
	{qErasePermissions, eraseRows, true},
	{qEraseKeys, eraseRows, true},
	{qEraseSessions, eraseRows, true},
	{qEraseInvitations, eraseRows, true},
	{qEraseEvents, eraseRows, false},
	{qEraseTreeChanges, eraseRows, false},
	{qEraseFormer, eraseRows, true}, // also those who leave by the erasure
}

// DueErasures are deleted companies whose time is over, and that no cell has anything of.
func (s *Store) DueErasures(ctx context.Context) (ids []int64, err error) {
	err = s.list(ctx, &ids, qDueErasures, eraseCompanies)
	return ids, err
}

// Erasure is how far the erasure of a company has come.
type Erasure struct {
	// ParentID is the company above the one that is erased.
	ParentID int64
	// Done: it is gone. Otherwise there is more to erase.
	Done bool
}

// EraseSome erases a part of a deleted company whose time is over, from below. told is called in the same transaction with the last
// part. ErrNoRows: there is none such, or somebody else erases it at the moment.
func (s *Store) EraseSome(ctx context.Context, id int64, told func(*Store, Erasure) error) (e Erasure, err error) {
	err = s.withoutTimeout(ctx, func(tx *Store) error {
		if err := tx.get(ctx, &e.ParentID, qHoldErasure, id); err != nil {
			return err
		}
		var companies []int64
		if err := tx.list(ctx, &companies, qLastCompanies, id, eraseCompanies); err != nil {
			return err
		}
		if more, err := tx.eraseBelongings(ctx, companies); err != nil || more {
			return err
		}
		if more, err := tx.eraseCompanies(ctx, id, companies); err != nil || more {
			return err
		}
		if e.Done = slices.Contains(companies, id); !e.Done {
			return nil
		}
		return told(tx, e)
	})
	return e, err
}

// eraseBelongings erases some of what companies have; more tells that there may be more of it.
func (s *Store) eraseBelongings(ctx context.Context, companies []int64) (more bool, err error) {
	for _, step := range eraseSteps {
		if n, err := s.exec(ctx, step.query, companies, step.rows); err != nil || n >= step.rows {
			return true, err
		}
	}
	return s.eraseMembers(ctx, companies)
}

// eraseMembers takes some people out of companies, and erases those who belong to no other.
func (s *Store) eraseMembers(ctx context.Context, companies []int64) (more bool, err error) {
	var users, held, homeless []int64
	if err := s.list(ctx, &users, qMembersToErase, companies, erasePeople); err != nil || len(users) == 0 {
		return false, err
	}
	if err := s.list(ctx, &held, qHoldUsers, users); err != nil {
		return false, err
	}
	if _, err := s.exec(ctx, qEraseMemberships, companies, users); err != nil {
		return false, err
	}
	if err := s.list(ctx, &homeless, qHomeless, users); err != nil {
		return false, err
	}
	for _, user := range homeless {
		if err := s.EraseUser(ctx, user); err != nil {
			return false, err
		}
	}
	return true, nil
}

// eraseCompanies erases the last companies below one, which have nothing left; more tells that somebody has put something into one
// meanwhile, or a company below.
func (s *Store) eraseCompanies(ctx context.Context, top int64, companies []int64) (more bool, err error) {
	var held, last, users []int64
	if err := s.list(ctx, &held, qHoldCompanies, companies); err != nil {
		return false, err
	}
	if err := s.list(ctx, &last, qLastCompanies, top, eraseCompanies); err != nil || !slices.Equal(last, companies) {
		return true, err
	}
	if err := s.list(ctx, &users, qMembersToErase, companies, 1); err != nil || len(users) > 0 {
		return true, err
	}
	for _, q := range []query{qEraseReports, qEraseAccounts, qEraseCompanies} {
		if _, err := s.exec(ctx, q, companies); err != nil {
			return false, err
		}
	}
	return false, nil
}
