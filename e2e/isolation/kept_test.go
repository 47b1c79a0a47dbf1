package isolation

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"canopy/e2e/platform"
	"canopy/internal/globalid"
	"canopy/rest"
)

// used are the mutations whose input is used and not kept, with what for.
var used = map[string]string{
	"rotateApiKeySecret": "a new secret", "rotateWebhookSecret": "a new secret",
	"enableTotp": "the name in a link", "confirmTotp": "a code", "disableTotp": "a code", "regenerateRecoveryCodes": "a password",
	"beginPasskey": "a password", "createPasskey": "a person's: TestPasskeys", "updatePasskey": "a person's: TestPasskeys", "deletePasskey": "a password",
	"requestEmailChange": "a link", "changePassword": "a password", "revokeOtherSessions": "which sessions end",
	"createUsers": "each as createUser: TestBulk", "createPermissions": "each as createPermission: TestBulk", "removeUsers": "who leaves",
	"verifyIdentityDomain": "what to ask the DNS for",
	"deleteContext":        "how it goes: TestDeletedContextsComeBack",
	"deleteSecret":         "how it goes: TestDeletedSecretsComeBack",
	"deleteDocument":       "how it goes: TestDeletedDocumentsComeBack", "restoreSecret": "a deleted secret's name: TestDeletedSecretsComeBack",
	"uploadDocument": "a file", "startRun": "a run's input", "cancelRun": "the key of a run",
	"testWebhookDestination": "the type of a delivery", "recoverWebhookDeliveries": "which deliveries",
}

// TestWhatIsGivenIsKept makes and changes an object of each kind by either door, with a value for each
// field: the object shows it then, and the audit log tells of it where the object was changed.
func TestWhatIsGivenIsKept(t *testing.T) {
	t.Parallel()
	y := newYard(t, platform.NewModelServer(t).Use) // so that a context has another model than the embedded one
	rows := y.writeRows()
	for _, m := range declared().Mutation.Fields {
		wholeRows(t, rows, m)
	}
	for _, row := range rows {
		t.Run("GraphQL/"+row.mutation, func(t *testing.T) { y.byGraph(t, row) })
	}
	_, registry := rest.New(y.App.Resolver, rest.Options{})
	for _, row := range y.writeRows() {
		for _, e := range rest.Endpoints(registry) {
			if e.Rule == nil || e.Rule.Field != "Mutation."+row.mutation {
				continue
			}
			if members := bodyMembers(registry.OpenAPI(), e); row.namedBy(e, members) {
				t.Run("REST/"+row.mutation, func(t *testing.T) { y.byREST(t, row, e, members) })
			}
		}
	}
	y.quiet(t)
}

// wholeRows asks for a value of each field of a mutation's input, where that holds more than ids, and a version.
func wholeRows(t *testing.T, rows []writeRow, m *ast.FieldDefinition) {
	have := map[string]bool{}
	for _, row := range rows {
		if row.mutation == m.Name {
			maps.Copy(have, row.fields())
		}
	}
	input := declared().Types[m.Arguments[0].Type.Name()].Fields
	if len(have) == 0 && (used[m.Name] != "" || !slices.ContainsFunc(input, func(f *ast.FieldDefinition) bool { return f.Type.Name() != "ID" && f.Name != "ifVersion" })) {
		return
	}
	for _, f := range input {
		if !have[f.Name] && f.Name != "ifVersion" { // which TestVersions and TestETags try
			t.Errorf("writeRows has no value for the field %s of %s", f.Name, m.Name)
		}
	}
}

func (row writeRow) fields() map[string]bool {
	names := map[string]bool{}
	for name := range row.input() {
		names[name] = true
	}
	return names
}

func (row writeRow) input() object {
	in := maps.Clone(row.gives)
	maps.Copy(in, row.names)
	return in
}

// creates tells a mutation that makes an object from one that changes it.
func (row writeRow) creates() bool { return row.names == nil }

// namedBy tells whether a REST operation says which object is changed: saveBilling is for the caller's
// own company alone, saveBillingOf is not.
func (row writeRow) namedBy(e rest.Endpoint, members []inputMember) bool {
	for name := range row.names {
		if !place.MatchString(e.Path) && !takes(members, e.NameOf(name)) {
			return false
		}
	}
	return true
}

func takes(members []inputMember, name string) bool {
	return slices.ContainsFunc(members, func(m inputMember) bool { return m.name == name })
}

// writer is the token of a caller who may write in the target company.
func (y *yard) writer(app string) string {
	switch app {
	case "assistant":
		return y.desk[asOwner]
	case "builder":
		return y.tokens[asOwner]
	}
	return y.ofTenants[asRoot]
}

// payloadOf is the field of a mutation's payload that has the object.
func payloadOf(t *testing.T, mutation string) *ast.FieldDefinition {
	t.Helper()
	s := declared()
	for _, f := range s.Types[s.Mutation.Fields.ForName(mutation).Type.Name()].Fields {
		if slices.Contains(s.Types[f.Type.Name()].Interfaces, "Node") {
			return f
		}
	}
	t.Fatalf("%s gives no object", mutation)
	return nil
}

func (y *yard) byGraph(t *testing.T, row writeRow) {
	y.T = t
	if !row.creates() {
		y.differs(t, row)
	}
	object := payloadOf(t, row.mutation).Name
	payload := y.Mutate(y.writer(row.app), row.mutation, object+" { databaseId }", row.input())
	id := int64(platform.Member(t, payload, object+".databaseId").(float64))
	y.shows(t, row, id, row.gives)
	y.tells(t, row, id, row.gives)
}

// byREST gives the members that the operation has.
func (y *yard) byREST(t *testing.T, row writeRow, e rest.Endpoint, members []inputMember) {
	y.T = t
	body, gives := object{}, object{}
	for name, value := range row.input() {
		if as := e.NameOf(name); takes(members, as) {
			body[as] = value
			if other := row.byREST[name]; other != nil {
				body[as] = other
			}
			if row.names[name] == nil {
				gives[name] = value
			}
		}
	}
	got := y.Do(e.Method, place.ReplaceAllString(e.Path, platform.Decimal(row.id())), y.writer(row.app), body)
	if got.Status >= 300 {
		t.Fatalf("%s %s: %d %s", e.Method, e.Path, got.Status, got.Body)
	}
	id := row.id()
	if row.creates() {
		id = got.ID(t, "id")
	}
	y.shows(t, row, id, gives)
	y.tells(t, row, id, gives)
}

// id is that of the object that is changed; 0 where it is made.
func (row writeRow) id() (id int64) {
	for _, value := range row.names {
		id = value.(int64)
	}
	return id
}

// differs asks for values that the object does not have yet: else nobody sees whether they are kept.
func (y *yard) differs(t *testing.T, row writeRow) {
	for name, value := range row.gives {
		if got, shown := y.value(t, row, row.id(), name); shown && reflect.DeepEqual(got, plainJSON(t, value)) {
			t.Errorf("%s: the object has %v for %s already: writeRows needs another value", row.mutation, got, name)
		}
	}
}

// shows looks for what was given in the object.
func (y *yard) shows(t *testing.T, row writeRow, id int64, gives object) {
	for name, value := range gives {
		if got, shown := y.value(t, row, id, name); shown && !reflect.DeepEqual(got, plainJSON(t, value)) {
			t.Errorf("%s: the object shows %v for %s, given was %v", row.mutation, got, name, value)
		}
	}
}

// value is what the object shows for a field of the input.
func (y *yard) value(t *testing.T, row writeRow, id int64, name string) (value any, shown bool) {
	selection, renamed := row.shown[name]
	if !renamed {
		selection = name
	}
	if selection == "" {
		return nil, false
	}
	typ := payloadOf(t, row.mutation).Type.Name()
	got, _ := y.GQL(y.writer(row.app), `query($id: ID!) { node(id: $id) { ... on `+typ+` { v: `+selection+` } } }`,
		object{"id": globalid.ID{Type: typ, Int: id}.Global()})
	if got["node"] == nil {
		return nil, true // saveBilling makes it
	}
	value = platform.Member(t, got, "node.v")
	if edge, is := value.(object); is && len(edge) == 1 && edge["databaseId"] != nil {
		value = edge["databaseId"]
	}
	return value, true
}

// tells looks for what was given in the audit log: beside what was there before, where it was changed.
func (y *yard) tells(t *testing.T, row writeRow, id int64, gives object) {
	var raw []byte
	y.Look(&raw, `SELECT COALESCE(details, '{}') FROM audit_events WHERE object_type = $1 AND object_id = $2 ORDER BY id DESC LIMIT 1`,
		payloadOf(t, row.mutation).Type.Name(), id)
	var told object
	y.ok(json.Unmarshal(raw, &told))
	for name, value := range gives {
		if name = row.told(name); name == "" {
			continue
		}
		change, _ := told[name].(object)
		old, has := change["old"]
		if makes := row.creates() || row.mutation == "saveBilling"; has == makes || has && reflect.DeepEqual(old, change["new"]) || !reflect.DeepEqual(change["new"], plainJSON(t, value)) {
			t.Errorf("%s: the details of the audit event have %v for %s, given was %v", row.mutation, told[name], name, value)
		}
	}
}

// told is what the log calls a field of the input: as the object does, and an id as what it leads to.
func (row writeRow) told(name string) string {
	if as, renamed := toldAs[row.mutation+"."+name]; renamed {
		return as
	}
	if as, renamed := row.shown[name]; renamed {
		edge, _, _ := strings.Cut(as, " ")
		return edge
	}
	return name
}

// plainJSON is a value as it comes back from JSON.
func plainJSON(t *testing.T, v any) (plain any) {
	t.Helper()
	raw, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(raw, &plain)
	}
	if err != nil {
		t.Fatal(err)
	}
	return plain
}
