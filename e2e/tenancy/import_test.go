package tenancy

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"canopy/db"
	"canopy/e2e/platform"
	"canopy/resolvers"
)

// TestImport takes a furnished company with others below it from one platform to another, and to another place of the same one: an
// export of what came about has what the archive had, under other ids.
func TestImport(t *testing.T) {
	t.Parallel()
	s, other := platform.Start(t), platform.Start(t)
	path, want := archiveOf(t, s, furnished(t, s))
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
	for kind, n := range map[string]int64{"apiKeys": 3, "secrets": 1, "invitations": 4} {
		if !slices.ContainsFunc(report.LeftOut, func(l db.LeftOut) bool { return l.Kind == kind && l.Count == n }) {
			t.Errorf("left out are %v", report.LeftOut)
		}
	}
	for _, note := range []string{"4 memberships wait", "1 webhook destinations are disabled", "2 steps of diagrams search contexts that are not in the archive"} {
		if !strings.Contains(strings.Join(report.Notes, "\n"), note) {
			t.Errorf("%q is not in %q", note, report.Notes)
		}
	}
	stop := s.Work(&platform.Letterbox{})
	_, got := archiveOf(t, s, report.CustomerID)
	sameRows(t, got, want)
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

// sameRows compares what two archives have of everything that is imported, whatever the ids.
func sameRows(t *testing.T, got, want archived) {
	t.Helper()
	for _, kind := range []string{"customers", "billing", "users", "roles", "accounts", "permissions", "contexts", "documents", "agents", "agentRevisions", "webhookDestinations"} {
		g, w := labelled(t, got, kind), labelled(t, want, kind)
		if len(w) == 0 || !slices.Equal(g, w) {
			t.Errorf("of %s there are\n%s\nand were\n%s", kind, strings.Join(g, "\n"), strings.Join(w, "\n"))
		}
	}
}

// labelled are the rows of a kind as text, with labels in the place of ids, and without what an import makes otherwise.
func labelled(t *testing.T, a archived, kind string) (list []string) {
	t.Helper()
	labels := labelsOf(a)
	for _, row := range copied(a).rows[kind] {
		if name, ok := row["fileName"]; ok {
			row["content"] = string(a.originals[name.(string)])
		}
		for _, name := range otherwise[kind] {
			delete(row, name)
		}
		for name, of := range references {
			if id, ok := row[name].(float64); ok {
				row[name] = labels[fmt.Sprint(of, id)]
			}
		}
		if role, ok := row["role"].(map[string]any); ok {
			row["role"] = fmt.Sprint(role["name"], role["system"])
		}
		if diagram, ok := row["diagram"].(map[string]any); ok {
			for _, step := range diagram["steps"].([]any) {
				step := step.(map[string]any)
				step["contextId"] = labels[fmt.Sprint("contexts", step["contextId"])]
			}
		}
		if text, ok := row["toolsJson"].(string); ok {
			var tools []map[string]any
			if err := json.Unmarshal([]byte(text), &tools); err != nil {
				t.Fatal(err)
			}
			for _, tool := range tools {
				tool["agentId"] = labels[fmt.Sprint("agents", tool["agentId"])]
			}
			row["toolsJson"] = tools
		}
		text, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(text))
	}
	slices.Sort(list)
	return list
}

// otherwise are the members of rows that an import makes otherwise.
var otherwise = map[string][]string{
	"customers": {"id", "regionId"}, "users": {"id", "accepted", "createdAt"}, "roles": {"id", "applicationId"}, "accounts": {"id"},
	"permissions": {"id", "lastAccess"}, "contexts": {"id"}, "documents": {"id", "fileName", "status"}, "agents": {"id"}, "agentRevisions": {"id"},
	"webhookDestinations": {"id", "enabled"},
}

// references are the members of rows that lead to others.
var references = map[string]string{
	"customerId": "customers", "parentId": "customers", "accountId": "accounts", "userId": "users", "createdBy": "users", "contextId": "contexts",
	"agentId": "agents", "publishedId": "agentRevisions",
}

// labelsOf gives names for the ids of an archive.
func labelsOf(a archived) map[string]string {
	labels := map[string]string{}
	for _, kind := range []string{"customers", "users", "accounts", "contexts", "agents", "agentRevisions"} {
		for _, row := range a.rows[kind] {
			labels[fmt.Sprint(kind, row["id"])] = fmt.Sprint(labels[fmt.Sprint("customers", row["customerId"])], row["application"], row["name"], row["email"], row["number"])
		}
	}
	return labels
}
