package tenancy

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/resolvers"
)

// TestImport takes a furnished company with others below it from one platform to another, and to another place of the same one: an
// export of what came about has what the archive had, under other ids.
func TestImport(t *testing.T) {
	t.Parallel()
	s, other := platform.Start(t), platform.Start(t)
	top := furnished(t, s)
	varied(t, s)
	path, want := archiveOf(t, s, top)
	tells(t, want, remade(t, imported(t, other, path, resolvers.Import{DryRun: true}), want))
	other.SQL(`SELECT setval('contexts_id_seq', 500), setval('agents_id_seq', 700), setval('customers_id_seq', 900)`)
	t.Run("another platform", func(t *testing.T) { importInto(t, other, path, want) })
	t.Run("the same platform", func(t *testing.T) { importInto(t, s, path, want) })
}

// importInto imports an archive, first without writing anything, and then a second time.
func importInto(t *testing.T, s *platform.Platform, path string, want archived) {
	parent := s.Customer("Coral Logistics")
	before := contents(t, s)
	checked := imported(t, s, path, resolvers.Import{Parent: parent, DryRun: true})
	if more := left(before, contents(t, s)); len(more) > 0 || checked.Status != resolvers.ImportChecked {
		t.Errorf("a dry run is %s, and writes %v", checked.Status, more)
	}
	report := imported(t, s, path, resolvers.Import{Parent: parent})
	if report.Status != resolvers.ImportDone || fmt.Sprint(report.Made, report.LeftOut, report.Notes) != fmt.Sprint(checked.Made, checked.LeftOut, checked.Notes) {
		t.Errorf("a dry run tells %+v, and then it is %+v", checked, report)
	}
	s.TrueTree()
	after := contents(t, s)
	for table, rows := range left(after, before) {
		if table != "usage_counts" {
			t.Errorf("%s has lost %v", table, rows)
		}
	}
	for _, note := range []string{"6 memberships wait", "2 webhook destinations are disabled", "2 steps of diagrams search contexts that are not in the archive"} {
		if !strings.Contains(strings.Join(report.Notes, "\n"), note) {
			t.Errorf("%q is not in %q", note, report.Notes)
		}
	}
	stop := s.Work(&platform.Letterbox{})
	_, got := archiveOf(t, s, report.CustomerID)
	sameRows(t, got, want, remade(t, report, want))
	shared := s.Number(`SELECT x.id FROM contexts x JOIN accounts a ON a.id = x.account_id WHERE a.customer_id = $1`, report.CustomerID)
	desk := deskOfRoot(t, s, report.CustomerID)
	for _, d := range s.Settle(desk, shared) {
		if d["status"] != "ready" {
			t.Errorf("%v", d)
		}
	}
	if hits := s.Search(desk, shared, "Which color does the crusher have?"); len(hits) == 0 || hits[0]["content"] != "The crusher is yellow." {
		t.Errorf("found are %v", hits)
	}
	stop()
	again := imported(t, s, path, resolvers.Import{Parent: parent})
	if again.Status != resolvers.ImportThere || again.CustomerID != report.CustomerID {
		t.Errorf("a second time it is %+v", again)
	}
	s.TrueTree()
}

// imported imports an archive.
func imported(t *testing.T, s *platform.Platform, path string, in resolvers.Import) *resolvers.ImportReport {
	t.Helper()
	report, err := tryImport(t.Context(), s, path, in)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func tryImport(ctx context.Context, s *platform.Platform, path string, in resolvers.Import) (*resolvers.ImportReport, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	in.Archive, in.Watch = file, func(string) io.Writer { return io.Discard }
	return s.App.Resolver.OperatorImport(ctx, in)
}

// archiveOf exports a company, and gives the archive as a file and what it holds. A worker has to run.
func archiveOf(t *testing.T, s *platform.Platform, customer int64) (path string, content archived) {
	t.Helper()
	link := exported(t, s, s.Root(), customer)["url"].(string)
	path = filepath.Join(t.TempDir(), "archive.tar.gz")
	body := s.Must(200, "GET", strings.TrimPrefix(link, s.App.Config.PublicURL.String()), "", nil).Body
	if err := os.WriteFile(path, body, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, fetch(t, s, link)
}

// deskOfRoot gives a token of the root's owner for the assistant account of a company.
func deskOfRoot(t *testing.T, s *platform.Platform, customer int64) string {
	t.Helper()
	account := s.Account(customer, "assistant")
	s.Must(http.StatusOK, "POST", "/permission", s.Root(), map[string]any{
		"appAccountId": account, "appRoleId": s.RoleID(customer, "assistant", "Owner"), "userIdentityId": s.UserID(s.Demo.AdminEmail),
	})
	a := s.Exchange(s.GrantForm(map[string]string{"target_app": "assistant", "account_id": platform.Decimal(account)}))
	return platform.Member(t, a.JSON(t), "access_token").(string)
}

// furnished makes a company below Alpine Energy with one below it and one that is suspended below that, and with something of everything
// that is imported. A worker has run when it is done.
func furnished(t *testing.T, s *platform.Platform) (top int64) {
	t.Helper()
	root, parent := s.Root(), s.Customer("Alpine Energy")
	var ids []int64
	for i, name := range []string{"Quarry", "Quarry Pit", "Quarry Sand"} {
		parent = s.Must(200, "POST", "/tenant/customer", root, map[string]any{
			"parentId": parent, "name": name, "regionId": s.RegionID([]string{"eu-central", "us-east", "eu-central"}[i]), "email": "rosa@quarry.example",
			"firstName": "Rosa", "lastName": "Stone", "canAddCustomers": true, "descendantsCanAdd": i < 2, "builder": i < 2,
		}).ID(t, "id")
		ids = append(ids, parent)
	}
	top = ids[0]
	s.SetUp("rosa@quarry.example")
	s.Must(200, "POST", fmt.Sprintf("/tenant/customer/%d/suspend", ids[2]), root, nil)
	limitsOf(s, root, top, map[string]any{"users": 77})
	rosa := s.TokenOf(top, "rosa@quarry.example", "tenant")
	s.Must(204, "POST", "/tenant/billing", rosa, map[string]any{"billingName": "Quarry & Sons <Ltd>", "countryCode": "AT"})
	s.Mutate(rosa, "createRole", "role { name }", map[string]any{"applicationId": 1, "name": "Clerk", "description": "Writes.", "features": []string{"user.read", "billing.read"}})
	s.Must(200, "POST", "/permission", rosa, map[string]any{
		"appAccountId": s.Account(top, "tenant"), "appRoleId": s.RoleID(top, "tenant", "Clerk"), "email": "Karl@Quarry.example", "name": "Karl Kies", "disabled": true,
	})
	builder, desk := s.TokenOf(top, "rosa@quarry.example", "builder"), s.TokenOf(top, "rosa@quarry.example", "assistant")
	shared, hidden := s.NewContext(desk, "Manuals"), s.NewContext(desk, "Diary")
	s.Must(204, "PUT", fmt.Sprintf("/context/share/%d", shared), desk, map[string]any{"shareState": 1, "icon": "🪨"})
	for _, text := range []string{"The crusher is yellow.", "The belt is grey."} {
		s.Upload(desk, shared, "machine.txt", []byte(text))
	}
	s.Upload(desk, hidden, "diary.txt", []byte("Dear diary."))
	agent := s.Publish(builder, fmt.Sprintf(`{"steps":[{"id":"a","type":"search","contextId": %d ,"prompt":"{{ input.q }} <b>"},
		{"id":"b","type":"search","contextId":%d,"prompt":"x"},{"id":"c","type":"set","values":{"contextId":%[1]d}}],"output":{"n":1.50}}`, shared, hidden))
	s.Mutate(builder, "updateAgent", "agent { name }", map[string]any{"id": agent, "name": "Digger"})
	s.Must(200, "PUT", fmt.Sprintf("/context/%d", shared), desk, map[string]any{
		"name": "Manuals", "description": "Answer.", "caption": "Help", "toolsJson": platform.OneTool(agent), "starterPrompts": []string{"Why?"},
	})
	s.Must(201, "POST", "/v1/secrets", builder, map[string]any{"name": "QUARRY", "value": "hush"})
	s.Subscribe(rosa, platform.PublicURL, "run.completed", "agent.created")
	stop := s.Work(&platform.Letterbox{})
	s.Settle(desk, shared)
	t.Cleanup(stop)
	return top
}

// varied gives furnished companies what tells has to find: a second row of each kind that is imported, with other values than the first one
// has, and one of each that is not.
func varied(t *testing.T, s *platform.Platform) {
	t.Helper()
	root, pit, sand := s.Root(), s.Customer("Quarry Pit"), s.Customer("Quarry Sand")
	rosa, desk, builder := s.TokenOf(pit, "rosa@quarry.example", "tenant"), s.TokenOf(pit, "rosa@quarry.example", "assistant"), s.TokenOf(pit, "rosa@quarry.example", "builder")
	s.Mutate(root, "updateCustomer", "customer { name }", map[string]any{"customerId": sand, "canAddCustomers": false, "maxKeyDays": 90})
	s.Mutate(root, "setAccountDisabled", "account { disabled }", map[string]any{"id": s.Account(sand, "tenant"), "disabled": true})
	s.Must(204, "POST", "/tenant/billing", rosa, map[string]any{
		"billingName": "Pit", "businessId": "FN 1 x", "taxId": "ATU1", "addressLine1": "Bahnhofstraße 1", "addressLine2": "Tür 2", "city": "Wörgl", "state": "Tirol", "zipCode": "6300", "countryCode": "NO",
	})
	s.Must(201, "POST", "/tenant/user", rosa, map[string]any{"email": "ida@quarry.example", "firstName": "Ida", "lastName": "Lehm"})
	s.Must(200, "POST", "/permission", root, map[string]any{ // by which alone he belongs to it
		"appAccountId": s.Account(pit, "tenant"), "appRoleId": s.RoleID(0, "tenant", "Viewer"), "userIdentityId": s.UserID("karl@quarry.example"),
	})
	s.Mutate(root, "createRole", "role { name }", map[string]any{"applicationId": 2, "customerId": pit, "name": "Foreman", "isOwner": true, "features": []string{"context.read"}})

	s.Must(201, "POST", "/v1/identity-providers", rosa, map[string]any{"name": "Pit", "issuer": "https://93.184.216.34/pit", "clientId": "pit", "clientSecret": "hush"})

	notes := s.NewContext(desk, "Notes")
	s.Mutate(desk, "updateContext", "context { name }", map[string]any{
		"id": notes, "caption": "Notes of the pit", "topN": 3, "scoreThreshold": .25, "searchMode": "HYBRID", "denseWeight": .75, "logsQueries": true, "chunkSize": 50, "overlap": .5, "embeddingModel": "canopy-lexical-1",
	})
	s.Must(204, "PUT", fmt.Sprintf("/context/share/%d", notes), desk, map[string]any{"shareState": 1})
	s.Upload(desk, notes, "notes.md", []byte("# Notes\n\nThe pit is deep."))
	document := s.Settle(desk, notes)[0]["id"]
	s.Mutate(desk, "updateDocument", "document { displayName }", map[string]any{"id": document, "displayName": "Notes of the pit", "attributes": map[string]any{"year": 2024}})
	s.SQL(`UPDATE contexts SET max_size = 1000000, user_id = NULL WHERE id = $1`, notes) // as of somebody who is gone
	s.SQL(`UPDATE documents SET created_by = NULL WHERE id = $1`, document)

	agent := s.Publish(builder, platform.Greeter)
	s.Poll(builder, s.Start(builder, agent, map[string]any{"name": "Pit"}))
	s.Mutate(builder, "updateAgent", "agent { name }", map[string]any{"id": agent, "diagram": json.RawMessage(platform.CountingSteps)})
	s.Mutate(builder, "publishAgent", "agent { runnable }", map[string]any{"id": agent})
	s.Mutate(builder, "disableAgent", "agent { enabled }", map[string]any{"id": agent})
	made := s.Mutate(rosa, "createWebhookDestination", "destination { databaseId }", map[string]any{"url": platform.PublicURL + "/pit", "name": "Pit", "events": []string{"run.started"}, "signing": "STANDARD"})
	s.SQL(`INSERT INTO webhook_deliveries (customer_id, destination_id, event_id, type, payload, status, completed_at) VALUES ($1, $2, 'evt_pit', 'run.started', '{}', 'delivered', now())`,
		pit, made["destination"].(map[string]any)["databaseId"])
}

// TestImportOfMany: each statement of an import takes as long as there are rows, and not their square: of thousands of people and documents none would end before
// the connection has given it up.
func TestImportOfMany(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	_, a := archiveOf(t, s, furnished(t, s))
	const many = 12_000
	for kind, change := range map[string]func(row map[string]any, i int){
		"users": func(row map[string]any, i int) { row["email"] = fmt.Sprintf("person%d@quarry.example", i) },
		"documents": func(row map[string]any, i int) {
			name := fmt.Sprintf("00000000-0000-4000-8000-%012d", i)
			a.originals[name] = a.originals[row["fileName"].(string)]
			row["fileName"], row["displayName"], row["nameIndex"] = name, fmt.Sprintf("machine %d.txt", i), i
		},
	} {
		for i := range many {
			row := maps.Clone(a.rows[kind][0])
			row["id"] = 1_000_000 + i
			change(row, 1000+i)
			a.rows[kind] = append(a.rows[kind], row)
		}
	}
	a.rows["customers"][0]["limits"], a.rows["contexts"][0]["maxSize"] = map[string]any{}, 10_000_000
	report := imported(t, s, written(t, a), resolvers.Import{DryRun: true})
	if report.Made["people"] < many || report.Made["documents"] < many {
		t.Errorf("it would make %v", report.Made)
	}
}
