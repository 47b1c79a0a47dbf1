package tenancy

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"canopy/db"
	"canopy/resolvers"
)

// exportedKinds are the names of kinds, and of those below them.
func exportedKinds(kinds []db.ExportKind) (names []string) {
	for _, k := range kinds {
		names = append(append(names, k.Name), exportedKinds(k.Below)...)
	}
	return names
}

// remade are the kinds of an archive that were made of it, row by row. All others have to be told as left out.
func remade(t *testing.T, report *resolvers.ImportReport, a archived) (kinds []string) {
	t.Helper()
	for _, kind := range exportedKinds(db.ExportKinds) {
		n := int64(len(a.rows[kind]))
		told := slices.ContainsFunc(report.LeftOut, func(l db.LeftOut) bool { return l.Kind == kind && l.Count == n })
		switch {
		case report.Made[kind] == n:
			kinds = append(kinds, kind)
		case !told:
			t.Errorf("of %d %s of the archive %d were made, and left out are %v", n, kind, report.Made[kind], report.LeftOut)
		}
	}
	return kinds
}

// tells asks an archive for rows of each kind, and, where they are made again, for two values of each member: had the import forgotten it,
// it would have one value in all rows, and nobody saw that where the archive has no other.
func tells(t *testing.T, a archived, kinds []string) {
	t.Helper()
	for _, kind := range exportedKinds(db.ExportKinds) {
		if len(a.rows[kind]) == 0 {
			t.Errorf("the archive has no %s: varied has to make some", kind)
		}
	}
	for _, kind := range kinds {
		for name, values := range members(t, labelled(t, a, kind)) {
			if len(slices.Compact(values)) == 1 {
				t.Errorf("the member %s of %s is %s in each row: an import that forgets it is not found out, until varied gives one another value", name, kind, values[0])
			}
		}
	}
}

// sameRows compares what two archives have of kinds, whatever the ids.
func sameRows(t *testing.T, got, want archived, kinds []string) {
	t.Helper()
	for _, kind := range kinds {
		g, w := labelled(t, got, kind), labelled(t, want, kind)
		has, had, named := members(t, g), members(t, w), false
		for _, name := range slices.Sorted(maps.Keys(had)) {
			if len(g) == len(w) && !slices.Equal(has[name], had[name]) {
				t.Errorf("the member %s of %s is %s, and was %s", name, kind, has[name], had[name])
				named = true
			}
		}
		if is, was := texts(t, g), texts(t, w); !named && !slices.Equal(is, was) {
			t.Errorf("of %s there are\n%s\nand were\n%s", kind, strings.Join(is, "\n"), strings.Join(was, "\n"))
		}
	}
}

// texts are rows as text, in its order.
func texts(t *testing.T, rows []map[string]any) (list []string) {
	t.Helper()
	for _, row := range rows {
		list = append(list, text(t, row))
	}
	slices.Sort(list)
	return list
}

func text(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// members are the values that each member has in rows, as text in its order.
func members(t *testing.T, rows []map[string]any) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, row := range rows {
		for name, value := range row {
			all[name] = append(all[name], text(t, value))
		}
	}
	for _, values := range all {
		slices.Sort(values)
	}
	return all
}

// labelled are the rows of a kind with labels in the place of ids, and without what an import makes otherwise.
func labelled(t *testing.T, a archived, kind string) (rows []map[string]any) {
	t.Helper()
	labels := labelsOf(a)
	for _, row := range copied(a).rows[kind] {
		if name, ok := row["fileName"]; ok {
			row["content"] = string(a.originals[name.(string)])
		}
		for name := range row {
			if otherwise["."+name] != "" || otherwise[kind+"."+name] != "" {
				delete(row, name)
			}
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
		rows = append(rows, row)
	}
	return rows
}

// otherwise are the members of a kind, or behind a dot alone of any kind, that an import makes otherwise, and why.
var otherwise = map[string]string{
	".id":                "each row gets one of this platform",
	"customers.regionId": "told by the region's code", "roles.applicationId": "told by the application's code",
	"users.accepted": "nobody has accepted the company here", "users.createdAt": "they belong to it from now on", "permissions.lastAccess": "nobody was here",
	"documents.fileName": "the original has another place; what it holds is compared", "documents.status": "they are read anew",
	"webhookDestinations.enabled": "nobody has their secrets",
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
