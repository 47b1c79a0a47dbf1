package isolation

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"canopy/e2e/platform"
)

// TestGraphBadInputs tries every field of every mutation's input with every hostile value, sent as
// a variable: each is refused with its name and nothing written, or kept as it came.
func TestGraphBadInputs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := &badInput{world: w, tables: newTables(t, w.DB)}
	s := declared()
	for _, f := range s.Mutation.Fields {
		rows := mutationRows(f.Name)
		if agentFields()["Mutation."+f.Name] {
			continue // TestAgentBadInputs
		}
		if len(rows) == 0 {
			t.Errorf("%s has no good input to start from", f.Name)
			continue
		}
		for _, field := range s.Types[f.Arguments[0].Type.Name()].Fields {
			m := inputMember{of: f.Name, name: field.Name, kind: kindOf(field.Type), required: field.Type.NonNull}
			t.Run(f.Name+"/"+m.name, func(t *testing.T) { b.field(t, f.Name, chooseInput(rows, w, m.name), m) })
		}
	}
	w.quiet(t)
}

func mutationRows(name string) []graphRow {
	var list []graphRow
	for _, row := range graphRows() {
		if field, _, _ := strings.Cut(row.fields, "/"); field == "Mutation."+name {
			list = append(list, row)
		}
	}
	return list
}

func (row graphRow) input(a *ask) object { return row.variables(a)["input"].(object) }

// chooseInput gives the row whose input has the field, or else the first.
func chooseInput(rows []graphRow, w *world, name string) graphRow {
	for _, row := range rows {
		if _, has := row.input(asker(w, row.assistant))[name]; has {
			return row
		}
	}
	return rows[0]
}

// kindOf is the kind of values that a type takes.
func kindOf(typ *ast.Type) string {
	switch {
	case typ.Elem != nil:
		return "array"
	case typ.Name() == "Boolean":
		return "boolean"
	case typ.Name() == "ID":
		return "id"
	case typ.Name() == "Int":
		return "integer"
	}
	return "string"
}

// notKept are fields whose value is used, and stands in no table as it came.
var notKept = map[string]bool{"label": true}

// personal tells a mutation that takes the token of a person's login.
func personal(mutation string) bool {
	for _, row := range ownMutations() {
		if plain(row.fields) == "Mutation."+mutation {
			return true
		}
	}
	return false
}

// field tries one field of an input with everything.
func (b *badInput) field(t *testing.T, mutation string, row graphRow, m inputMember) {
	b.T = t
	a := asker(b.world, row.assistant)
	if takesFile(mutation + "(") {
		return // a file does not come as JSON: TestUploadByGraphQL
	}
	var good object
	for _, v := range graphHostiles(m) {
		if good == nil {
			good = row.input(a)
		}
		input := with(t, good, m.name, v.raw)
		body := `{"query":` + strconv.Quote(row.query) + `,"variables":{"input":` + input + `}}`
		before := b.tables.state(t)
		got := b.Do("POST", "/graphql", a.token(row.assistant), body)
		if spends(got) {
			good = nil
		}
		switch {
		case v.must == accepted && mutation == "createPermission" && (m.name == "email" || m.name == "userId"):
			v.must = refused // one of the two is needed
		case v.must == accepted && mutation == "resendInvitation":
			v.must = refused // as there
		case v.must == accepted && (m.name == "userId" || m.name == "customerId"), personal(mutation) && v.must == accepted:
			continue // the caller itself is no user of every company; nor is it a person's login
		case m.name == "userIds" && v.name == "number", // which is a list of one
			m.name == "graceSeconds" && v.name == "0", mutation == "createContext" && m.name == "toolsJson" && v.name == "missing":
			v.must = accepted
		case notKept[m.name]:
			v.text = ""
		}
		b.judge(t, fitting(mutation, m.name, v), m.name, got, before)
	}
}

// graphHostiles are the values for a field; an ID takes integers, and texts that hold one.
func graphHostiles(m inputMember) []hostile {
	if m.kind != "id" {
		return hostiles(m)
	}
	list := []hostile{{name: "empty", raw: `""`, must: refused}, {name: "another type's id", raw: `"Tm90aGluZzox"`, must: refused}}
	number := m
	number.kind = "integer"
	return append(list, hostiles(number)...)
}

// TestGraphBadArguments tries the arguments of the fields of Query and of every connection.
func TestGraphBadArguments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	x := newTables(t, w.DB)
	login := w.Login(w.Demo.AdminEmail, w.Demo.AdminPassword)
	before := x.state(t)
	s := declared()
	for _, typ := range []string{"Query", "Customer", "User", "Account"} {
		for _, f := range s.Types[typ].Fields {
			if agentFields()[typ+"."+f.Name] {
				continue // TestAgentBadArguments
			}
			for _, arg := range f.Arguments {
				if strings.HasPrefix(f.Name, "__") || f.Name == "roles" && arg.Name == "applicationId" { // a filter: nothing is of such an application
					continue
				}
				t.Run(typ+"."+f.Name+"/"+arg.Name, func(t *testing.T) { w.argument(t, login, typ, f, arg) })
			}
		}
	}
	if x.state(t) != before {
		t.Error("a query has written something")
	}
	w.quiet(t)
}

// way leads from the root to an object of a type; ACCOUNT is the one whose contexts the token serves.
var way = map[string]string{
	"Query": `%s`, "Customer": `customer { %s }`, "User": `me { user { %s } }`, "Account": `account(id: ACCOUNT) { %s }`,
}

// argument tries one argument of a field. login serves every application.
func (w *world) argument(t *testing.T, login, typ string, f *ast.FieldDefinition, arg *ast.ArgumentDefinition) {
	w.T = t
	values := []string{`{"a":1}`, `[[1]]`, `-1`, `201`, `9223372036854775808`, `1.5`, `1e400`, `"x"`, `"a\u0000"`, `"🙂"`, `""`, `"` + strings.Repeat("9", 5000) + `"`}
	query := fmt.Sprintf(`query($v: %s) { `+way[typ]+` }`, arg.Type, fmt.Sprintf(`%s(%s: $v) { __typename }`, f.Name, arg.Name))
	query = strings.ReplaceAll(query, "ACCOUNT", platform.Decimal(w.Account(1, "assistant")))
	token := w.tokens[asRoot]
	if strings.Contains(strings.ToLower(f.Name), "context") || f.Name == "documents" {
		token = login
	}
	for _, v := range values {
		if v == `""` && (arg.Name == "after" || arg.Name == "before") { // an empty cursor is the list's beginning, or its end
			continue
		}
		if arg.Name == "text" && (v == `"x"` || v == `"🙂"`) { // they are looked for
			continue
		}
		got := w.Do("POST", "/graphql", token, fmt.Sprintf(`{"query":%q,"variables":{"v":%s}}`, query, v))
		if c := classOf(got); c != getsBad && c != gets404 {
			t.Errorf("%.30s: %s: %d %.300s", v, c, got.Status, got.Body)
		}
	}
}
