package tenancy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"canopy/db"
	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
)

// volatile are columns that tell when something was used.
const volatile = "{last_used_at,last_access,used_at}"

// contents are the rows of all tables, as text; of counts, what they come to, without those of a day.
func contents(t *testing.T, s *platform.Platform) map[string][]string {
	t.Helper()
	var tables []string
	if err := s.DB.Select(&tables, `SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('goose_db_version', 'usage_counts')`); err != nil {
		t.Fatal(err)
	}
	if len(tables) < 30 {
		t.Fatalf("%d tables", len(tables))
	}
	all := map[string][]string{}
	for _, table := range tables {
		var rows []string
		if err := s.DB.Select(&rows, fmt.Sprintf(`SELECT (to_jsonb(r) - $1::text[])::text FROM %q r`, table), volatile); err != nil {
			t.Fatal(err)
		}
		all[table] = rows
	}
	var counts []string
	if err := s.DB.Select(&counts, `SELECT concat_ws(' ', customer_id, name, sum(n)) FROM usage_counts WHERE day IS NULL GROUP BY customer_id, name HAVING sum(n) <> 0`); err != nil {
		t.Fatal(err)
	}
	all["usage_counts"] = counts
	return all
}

// left are the rows that are there and were not before, by table.
func left(before, now map[string][]string) map[string][]string {
	more := map[string][]string{}
	for table, rows := range now {
		for _, row := range rows {
			if !slices.Contains(before[table], row) {
				more[table] = append(more[table], row)
			}
		}
	}
	return more
}

// estate makes companies below Alpine Energy, each below the one before, with something of everything, and gives the first.
func estate(t *testing.T, s *platform.Platform) (top int64) {
	t.Helper()
	root, parent := s.Root(), s.Customer("Alpine Energy")
	stop := s.Work(nil) // mails wait, so that their links are found
	defer stop()
	for i := range 3 {
		email := fmt.Sprintf("owner%d@quill.example", i)
		customer := s.Must(http.StatusOK, "POST", "/tenant/customer", root, map[string]any{
			"parentId": parent, "name": fmt.Sprintf("Quill %d", i), "regionId": 1, "email": email, "canAddCustomers": true, "descendantsCanAdd": true,
		}).ID(t, "id")
		if parent = customer; top == 0 {
			top = customer
		}
		s.SetUp(email)
		furnishEstate(t, s, customer, email)
	}
	return top
}

// furnishEstate gives a company something of everything, also of what was deleted before.
func furnishEstate(t *testing.T, s *platform.Platform, customer int64, email string) {
	t.Helper()
	owner := s.OpenSession(t, email, platform.NewPassword).Token
	tenant, assistant, builder := s.TokenOf(customer, email, "tenant"), s.TokenOf(customer, email, "assistant"), s.TokenOf(customer, email, "builder")
	s.Must(http.StatusCreated, "POST", "/tenant/user", owner, map[string]any{"email": "member" + email})
	s.Must(http.StatusCreated, "POST", "/tenant/user", owner, map[string]any{"email": "everywhere@quill.example"})
	s.Must(http.StatusCreated, "POST", "/tenant/user", owner, map[string]any{"email": "greta@alpine.example"}) // who stays in Alpine Energy
	s.SQL(`INSERT INTO former_members (customer_id, user_id, email, first_name, last_name) SELECT $1, id, email, '', '' FROM users WHERE email = 'wei@coral.example'`, customer)
	s.Must(http.StatusNoContent, "POST", "/tenant/billing", owner, map[string]any{"billingName": "Quill"})
	s.Must(http.StatusOK, "PUT", fmt.Sprintf("/tenant/limits/%d", customer), s.Root(), map[string]any{"limits": map[string]any{"users": 20, "deliveriesPerDay": 0}})
	s.Mutate(owner, "createRole", "role { name }", map[string]any{"applicationId": 1, "name": "Quill role", "features": []string{"user.read"}})
	s.Must(http.StatusOK, "POST", "/permission", owner, map[string]any{
		"appAccountId": s.Account(customer, "tenant"), "appRoleId": s.RoleID(customer, "tenant", "Quill role"), "email": "everywhere@quill.example",
	})
	s.Must(http.StatusCreated, "POST", "/v1/secrets", builder, map[string]any{"name": "QUILL", "value": "quill"})
	again := s.Must(http.StatusCreated, "POST", "/v1/secrets", builder, map[string]any{"name": "OLD_QUILL", "value": "quill"}).ID(t, "id")
	s.Must(http.StatusNoContent, "DELETE", fmt.Sprintf("/v1/secrets/%d?restorable=true", again), builder, nil)
	provider := s.Must(http.StatusCreated, "POST", "/v1/identity-providers", owner, map[string]any{
		"name": "Quill", "issuer": "https://93.184.216.34/quill", "clientId": "quill", "clientSecret": "quill", "domains": []string{"quill.example"},
	}).ID(t, "id")
	s.SQL(`INSERT INTO user_identities (user_id, provider_id, subject, email) SELECT id, $1, 'quill', email FROM users WHERE email = $2`, provider, email)
	s.SQL(`INSERT INTO provider_sessions (session_id, provider_id, subject, sid, id_token, signed_in_at) SELECT max(id), $1, 'quill', '', '', now() FROM sessions`, provider)
	directory := s.Must(http.StatusCreated, "POST", "/v1/scim-tokens", owner, map[string]any{}).JSON(t).(map[string]any)["token"].(string)
	s.Must(http.StatusCreated, "POST", "/scim/v2/Users", directory, map[string]any{"userName": "directory" + email, "externalId": "1"})
	id, _ := s.Subscribe(tenant, platform.PublicURL, "run.completed")
	s.Subscribe(tenant, platform.PublicURL, "audit.*")
	s.Must(http.StatusNoContent, "DELETE", platform.Hooks+"/destinations/"+platform.Decimal(id), tenant, nil)
	searched := s.NewContext(assistant, "Quills")
	for i := range 3 {
		s.Upload(assistant, searched, fmt.Sprint("quill", i, ".txt"), []byte("Quill. "+platform.Sentences(i, 20)))
	}
	s.Settle(assistant, searched)
	s.SQL(`INSERT INTO context_queries (context_id, user_id, text, mode, hits, relevance) SELECT id, user_id, 'quill', 'LEXICAL', 3, .5 FROM contexts WHERE id = $1`, searched)
	s.SQL(`INSERT INTO context_reprocessings (context_id, until_id, documents, status) VALUES ($1, 0, 0, 'DONE')`, searched)
	removed := s.NewContext(assistant, "Quills of before")
	s.Upload(assistant, removed, "quill.txt", []byte("Quill."))
	s.Settle(assistant, removed)
	s.Must(http.StatusOK, "DELETE", fmt.Sprintf("/context/%d?restorable=true", removed), assistant, nil)
	s.Must(http.StatusOK, "DELETE", fmt.Sprintf("/context/documents/%d/%.0f?restorable=true", searched, s.Documents(assistant, searched)[0]["id"]), assistant, nil)
	agent := s.Publish(builder, platform.Greeter)
	s.Poll(builder, s.Start(builder, agent, map[string]any{"name": "Quill"}))
	s.Mutate(builder, "deleteAgent", "deletedId", map[string]any{"id": s.Publish(builder, platform.Greeter)})
	s.Start(builder, agent, map[string]any{"name": "Quill"})
	s.Must(http.StatusNoContent, "POST", "/auth/reset", "", map[string]any{"email": email})
	s.Must(http.StatusUnauthorized, "POST", "/auth/token", "", map[string]any{"email": email, "password": "wrong"})
	s.Must(http.StatusAccepted, "POST", fmt.Sprintf("/tenant/customer/%d/export", customer), owner, nil)
	s.SQL(`INSERT INTO customer_imports (customer_id, parent_id, archive, space, active_then, report)
		SELECT id, parent_id, sha256(name::bytea), gen_random_uuid(), true, '{}' FROM customers WHERE id = $1`, customer)
	s.SQL(`INSERT INTO import_requests (parent_id, client_id, file, archive, size, dry_run)
		SELECT id, '', gen_random_uuid(), sha256(name::bytea), 1, false FROM customers WHERE id = $1`, customer)
	resp := s.Send(platform.Keyed(t, "POST", s.URL+"/v1/keys", owner, "quill", `{"name": "Quill"}`))
	if resp.Status != http.StatusCreated {
		t.Fatalf("%d %s", resp.Status, resp.Body)
	}
}

// TestCompaniesAreErased deletes companies that have something of everything, and erases them by workers that are ended again and
// again: what is in all tables then is what was there before, and so it is in the document store.
func TestCompaniesAreErased(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.SetUp("greta@alpine.example")
	s.NoDemoMails()
	root := s.Root()
	blobs, before := s.Blobs(), contents(t, s)
	top := estate(t, s)
	full := left(before, contents(t, s))
	for table := range before {
		if len(full[table]) == 0 && notFurnished[table] == "" {
			t.Errorf("nothing is in %s that could be erased", table)
		}
	}
	s.Must(http.StatusAccepted, "DELETE", fmt.Sprintf("/tenant/customer/%d", top), root, nil)
	s.SQL(`UPDATE customers SET erase_at = now() WHERE id = $1`, top)
	var running sync.WaitGroup
	for worker := range 2 {
		running.Go(func() {
			for n := 1; s.Number(`SELECT count(*) FROM customers WHERE id = $1`, top) > 0; n++ {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n*(worker+1))*time.Millisecond)
				err := s.App.Worker(nil).EraseDue(ctx)
				cancel()
				if refused, ok := errors.AsType[*db.Conflict](err); ok { // and would be so for ever
					t.Errorf("a table that refers to what is erased has neither ON DELETE CASCADE nor a step before that in eraseSteps: %v", refused)
					return
				}
			}
		})
	}
	if running.Wait(); s.Number(`SELECT count(*) FROM customers WHERE id = $1`, top) > 0 {
		t.FailNow()
	}
	s.Work(nil)
	devtest.Eventually(t, "the originals are gone, and what is counted of requests", func() bool {
		return s.Blobs() == blobs && s.Number(`SELECT (SELECT count(*) FROM blob_deletions) + (SELECT count(*) FROM idempotency_bytes)`) == 0
	})
	after := contents(t, s)
	for table, rows := range left(after, before) {
		t.Errorf("%s has lost what belongs to others: %s", table, rows)
	}
	more := left(before, after)
	for _, row := range more["users"] { // numbers, as of everybody who was erased
		if !strings.Contains(row, `"email": "erased:`) || !strings.Contains(row, `"last_name": ""`) {
			t.Error(row)
		}
	}
	if n := len(more["users"]); n != 10 {
		t.Errorf("%d people were erased, of three owners, six members, and one who is everywhere", n)
	}
	var told []string
	for _, row := range more["audit_events"] {
		var event struct {
			Action     string `json:"action"`
			CustomerID int64  `json:"customer_id"`
			ObjectID   int64  `json:"object_id"`
		}
		if err := json.Unmarshal([]byte(row), &event); err != nil || event.CustomerID != s.Customer("Alpine Energy") || event.ObjectID != top {
			t.Errorf("%v: %s", err, row)
		}
		told = append(told, event.Action)
	}
	if slices.Sort(told); !slices.Equal(told, []string{"customer.deleted", "customer.erased"}) {
		t.Errorf("the company above is told %s", told)
	}
	delete(more, "users")
	delete(more, "audit_events")
	for table, rows := range more {
		t.Errorf("%s still has %s", table, rows)
	}
	platform.Scenario{Status: http.StatusNotFound}.Judge(t, s.Do("GET", fmt.Sprintf("/tenant/%d", top), root, nil))
	platform.Scenario{Status: http.StatusNotFound}.Judge(t, customerAction(s, root, top, "restore"))
}

// notFurnished are the tables that an estate has no rows in, with the reason.
var notFurnished = map[string]string{
	"app_instances": "the platform's own", "applications": "the platform's own", "default_limits": "the platform's own", "regions": "the platform's own",
	"sealing_keys": "the platform's own", "signing_keys": "the platform's own", "blob_deletions": "what is deleted",
	"used_states":       "of a few minutes",
	"delivery_holds":    "only while a worker finds a day full",
	"context_deferrals": "only while a worker sees to many documents",
	"delivery_look":     "the platform's own",
	"cell":              "a cell's: TestErasureInCells", "cells": "the platform's own", "cell_erasures": "of a cell: TestErasureInCells", "erased_people": "of a cell: TestErasureInCells", "counts_elsewhere": "of cells: TestLimitsOverCells", "spanning_customers": "of cells: TestLimitsOverCells",
	"events_for_cells": "of cells: TestHandOverEvents", "heard_events": "a cell's: TestHandOverEvents",
	"splits": "the platform's own", "moved_ids": "ranges of ids, of which none tells of whom it is", "moved_runs": "keys that the platform has made, of runs that a cell has", "minutes_told": "forgotten after two minutes: TestExchangeMinutes",
	"pulse": "the platform's own", "use_marks": "of a cell, until the home is told",
	"email_changes": "a person's: TestEraseUser", "recovery_codes": "a person's: TestEraseUser", "passkeys": "a person's: TestPasskeysOfWhoIsGone",
}
