package tenancy

import (
	"fmt"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/globalid"
)

// belongings gives a company accounts, API keys and destinations, an agent with revisions, and a document with chunks, whose names and times sort differently from their ids.
func belongings(s *platform.Platform, customer int64) (agent, document int64) {
	s.T.Helper()
	for i, row := range []struct {
		name            string
		off             bool
		ends, used, bad any
	}{
		{"Würfel Ost", false, "2099-01-01", nil, nil},
		{"almond west", true, nil, "2026-01-02", "2026-01-02"},
		{"Birch west", false, "2020-01-01", "2026-01-01", nil},
		{"cedar", false, nil, nil, "2026-01-01"},
	} {
		made := fmt.Sprintf("2026-01-0%d", 9-i)
		s.SQL(`INSERT INTO accounts (customer_id, app_instance_id, name, disabled, created_at)
			SELECT $1, i.id, $2, $3, $4 FROM app_instances i WHERE i.region_id = 1 AND i.application_id = 1 + $5::int % 2 ORDER BY i.id LIMIT 1`, customer, row.name, row.off, made, i)
		s.SQL(`INSERT INTO api_keys (client_id, customer_id, user_id, name, created_at, revoked_at, expires_at, last_used_at) VALUES ('found ' || $2, $1, 1 + $7::int % 2, $2, $3, CASE WHEN $4 THEN now() END, $5, $6)`,
			customer, row.name, made, row.off, row.ends, row.used, i)
		s.SQL(`INSERT INTO webhook_destinations (customer_id, url, name, secret, enabled, created_at, failing_since) VALUES ($1, 'https://' || $2::int || '.almond.example/', CASE WHEN $3 = 'cedar' THEN '' ELSE $3 END, '', NOT $4, $5, $6)`,
			customer, i, row.name, row.off, made, row.bad)
	}
	builder := s.RootAs("builder")
	agent = s.Publish(builder, platform.Greeter)
	s.SQL(`INSERT INTO agent_revisions (agent_id, number, diagram, created_at) SELECT $1, n, '{}', '2020-01-01'::timestamptz + n * interval '1 day' FROM generate_series(2, 4) n`, agent)
	document = s.Number(`INSERT INTO documents (context_id, file_name, original_name, display_name, name_index, format, content_type, content_hash, size, status, model, chunk_size, overlap, packed, chunks)
		VALUES ($1, gen_random_uuid(), 'a.txt', 'a.txt', 0, 'txt', 'text/plain', 'found', 1, 'ready', 'canopy-lexical-2', 1000, 0.2, 1, 4) RETURNING id`, s.NewContext(s.RootAs("assistant"), "Found"))
	s.SQL(`INSERT INTO chunks (document_id, revision, position, content, overlap_bytes, tokens, page, sparse)
		SELECT d.id, d.revision, n - 1, (ARRAY['The Würfel stands.', 'Almond and birch', 'birch alone', 'nothing of these'])[n], 0, 1, 1 + n / 3, '' FROM documents d, generate_series(1, 4) n WHERE d.id = $1`, document)
	return agent, document
}

// TestFindingBelow asks both doors for what fits filters, in orders, in lists that hang from something: they find the same.
func TestFindingBelow(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	top := orchard(s)
	agent, document := belongings(s, top)
	s.SQL(`UPDATE api_keys SET user_id = 1 WHERE user_id = 2 AND name = 'cedar'`)
	s.SQL(`INSERT INTO webhook_destinations (customer_id, url, name, secret, created_at, deleted_at) VALUES ($1, 'https://gone.example/', 'Gone west', '', now(), now())`, top)
	roots := map[string]string{
		"accounts": fmt.Sprintf("customer(id: %d)", top), "apiKeys": fmt.Sprintf("customer(id: %d)", top), "webhookDestinations": fmt.Sprintf("customer(id: %d)", top),
		"revisions": fmt.Sprintf("agent(id: %d)", agent), "chunks": fmt.Sprintf(`node(id: %q)`, globalid.ID{Type: "Document", Int: document}.Global()),
	}
	tokens := map[string]string{"accounts": s.Root(), "apiKeys": s.Root(), "webhookDestinations": s.Root(), "revisions": s.RootAs("builder"), "chunks": s.RootAs("assistant")}
	paths := map[string]string{
		"accounts": fmt.Sprintf("/tenant/accounts/%d", top), "apiKeys": fmt.Sprintf("/v1/keys?customerId=%d", top),
		"revisions": fmt.Sprintf("/v1/agents/%d/revisions", agent), "chunks": fmt.Sprintf("/v1/documents/%d/chunks", document),
	}
	for _, c := range []struct{ list, member, filter, order, want, parameters string }{
		{"accounts", "name", `{}`, `[{field: NAME}]`, "almond west|Birch west|cedar|Würfel Ost", "orderBy=name"},
		{"accounts", "name", `{}`, `[{field: CREATED_AT}]`, "cedar|Birch west|almond west|Würfel Ost", "orderBy=createdAt"},
		{"accounts", "name", `{disabled: false, search: "west"}`, `[]`, "Birch west", "disabled=false&search=west"},
		{"accounts", "name", `{search: "Wurfle"}`, `[]`, "Würfel Ost", "search=Wurfle"},
		{"accounts", "name", `{applicationId: 2, regionId: 1}`, `[{field: ID, direction: DESC}]`, "cedar|almond west", "applicationId=2&regionId=1&orderBy=-id"},
		{"accounts", "name", `{regionId: 77}`, `[]`, "", "regionId=77"},
		{"accounts", "name", `{or: [{search: "cedar"}, {disabled: true}]}`, `[{field: NAME}]`, "almond west|cedar", ""},
		{"apiKeys", "name", `{}`, `[{field: NAME, direction: DESC}]`, "Würfel Ost|cedar|Birch west|almond west", "orderBy=-name"},
		{"apiKeys", "name", `{}`, `[{field: CREATED_AT}]`, "cedar|Birch west|almond west|Würfel Ost", "orderBy=createdAt"},
		{"apiKeys", "name", `{}`, `[{field: EXPIRES_AT}, {field: NAME}]`, "Birch west|Würfel Ost|almond west|cedar", "orderBy=expiresAt,name"},
		{"apiKeys", "name", `{}`, `[{field: LAST_USED_AT, direction: DESC}, {field: NAME}]`, "almond west|Birch west|cedar|Würfel Ost", "orderBy=-lastUsedAt,name"},
		{"apiKeys", "name", `{active: true}`, `[]`, "Würfel Ost|cedar", "active=true"},
		{"apiKeys", "name", `{active: false}`, `[{field: NAME}]`, "almond west|Birch west", "active=false&orderBy=name"},
		{"apiKeys", "name", `{expiresUntil: "2099-01-02T00:00:00Z"}`, `[]`, "Würfel Ost|Birch west", "expiresUntil=2099-01-02T00:00:00Z"},
		{"apiKeys", "name", `{userId: 2}`, `[{field: NAME}]`, "almond west", "userId=2&orderBy=name"},
		{"apiKeys", "name", `{search: "WEST"}`, `[{field: NAME}]`, "almond west|Birch west", "search=WEST&orderBy=name"},
		{"apiKeys", "name", `{createdSince: "2026-01-07T00:00:00Z", createdUntil: "2026-01-09T00:00:00Z"}`, `[]`, "almond west|Birch west", "createdSince=2026-01-07T00:00:00Z&createdUntil=2026-01-09T00:00:00Z"},
		{"webhookDestinations", "name", `{}`, `[{field: NAME}]`, "almond west|Birch west||Würfel Ost", ""},
		{"webhookDestinations", "name", `{enabled: false}`, `[]`, "almond west", ""},
		{"webhookDestinations", "name", `{failing: true}`, `[{field: CREATED_AT, direction: DESC}]`, "almond west|", ""},
		{"webhookDestinations", "name", `{search: "west"}`, `[{field: CREATED_AT}]`, "Birch west|almond west", ""},
		{"webhookDestinations", "url", `{search: "almond"}`, `[{field: NAME, direction: DESC}]`, "https://0.almond.example/|https://3.almond.example/|https://2.almond.example/|https://1.almond.example/", ""},
		{"revisions", "number", `{}`, `[{field: CREATED_AT}]`, "2|3|4|1", "orderBy=createdAt"},
		{"revisions", "number", `{}`, `[{field: NUMBER}]`, "1|2|3|4", "orderBy=number"},
		{"revisions", "number", `{createdUntil: "2020-01-05T00:00:00Z"}`, `[]`, "3|2", "createdUntil=2020-01-05T00:00:00Z"},
		{"chunks", "position", `{}`, `[{field: POSITION, direction: DESC}]`, "3|2|1|0", "orderBy=-position"},
		{"chunks", "position", `{search: "BIRCH"}`, `[{field: ID}]`, "1|2", "search=BIRCH&orderBy=id"},
		{"chunks", "position", `{search: "wurfel"}`, `[]`, "0", "search=wurfel"},
		{"chunks", "position", `{search: "brich"}`, `[]`, "1|2", "search=brich"},
		{"chunks", "position", `{page: 2}`, `[]`, "2|3", "page=2"},
		{"chunks", "position", `{positionFrom: 1, positionUntil: 3}`, `[]`, "1|2", "positionFrom=1&positionUntil=3"},
		{"chunks", "position", `{}`, `[]`, "0|1|2|3", ""},
	} {
		t.Run(c.list+c.filter+c.order, func(t *testing.T) {
			list := fmt.Sprintf(`%s(filter: %s, orderBy: %s) { totalCount nodes { %s } }`, c.list, c.filter, c.order, c.member)
			if c.list == "chunks" {
				list = "... on Document { " + list + " }"
			}
			data := platform.Member(t, s.MustGQL(tokens[c.list], `{ v: `+roots[c.list]+` { `+list+` } }`, nil), "v."+c.list)
			var got []string
			for _, n := range platform.Member(t, data, "nodes").([]any) {
				got = append(got, fmt.Sprint(platform.Member(t, n, c.member)))
			}
			if strings.Join(got, "|") != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if n := platform.Member(t, data, "totalCount"); int(n.(float64)) != len(got) {
				t.Errorf("%v are counted of %d", n, len(got))
			}
			if c.parameters == "" {
				return
			}
			path := paths[c.list] + "?" + c.parameters
			if strings.Contains(paths[c.list], "?") {
				path = paths[c.list] + "&" + c.parameters
			}
			if shown := byREST(t, s, tokens[c.list], path, c.member); strings.Join(shown, "|") != c.want {
				t.Errorf("by REST: %q, want %q", shown, c.want)
			}
		})
	}
}
