package isolation

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/audit"
	"canopy/rest"
)

// auditedElsewhere are the mutations whose events another test reads.
var auditedElsewhere = map[string]string{
	"enableTotp": "TestTwoFactor", "confirmTotp": "TestTwoFactor", "disableTotp": "TestTwoFactor",
	"regenerateRecoveryCodes": "TestTwoFactor",
	"beginPasskey":            "nothing is changed", "createPasskey": "TestPasskeys", "updatePasskey": "TestPasskeys", "deletePasskey": "TestPasskeys",
	"requestEmailChange": "TestEmailChange",
	"acceptInvitation":   "TestInvitations", "declineInvitation": "TestInvitations",
	"leaveCustomer": "TestLeaveCustomer", "changePassword": "TestChangePassword", "revokeSession": "TestSessionsAreListedAndRevoked", "revokeOtherSessions": "TestSessionsAreListedAndRevoked",
	"uploadDocument": "here, by REST", "importCustomer": "as uploadDocument",
}

// leftAlone are the operations of REST that change nothing that the log tells of.
var leftAlone = map[string]string{
	"relevantDocs": "a search", "exchangeToken": "TestTokenExchange",
	"settleEmail": "TestEmailChange",
	"openSession": "TestSessionsChangeTheCompany", "refreshSession": "TestSessionsChangeTheCompany", "endSession": "TestSessions",
	"askForPasskey": "nothing is changed", "openPasskeySession": "TestPasskeys", "beginPasskey": "nothing is changed",
	"createPasskey": "TestPasskeys", "updatePasskey": "TestPasskeys", "deletePasskey": "TestPasskeys",
	"signOut": "TestSignOn", "signedOutElsewhere": "TestWhoMaySignOn",
	"revokeSession": "TestSessionsAreListedAndRevoked", "revokeOtherSessions": "TestSessionsAreListedAndRevoked",
	"logIn": "TestSignInsAreAudited", "requestReset": "TestSignInsAreAudited", "setPassword": "TestSignInsAreAudited",
	"showLink": "nothing is changed",
}

// beforehand is what makes a good input a change of something: without it the object would be as asked for
// already.
var beforehand = map[string]string{
	"updateCustomer":     `UPDATE customers SET name = name || ' of old'`,
	"setLimits":          `DELETE FROM customer_limits`,
	"saveBilling":        `DELETE FROM billing`,
	"setAccountDisabled": `UPDATE accounts a SET disabled = true FROM app_instances i WHERE i.id = a.app_instance_id AND i.application_id = 1 AND a.customer_id > 1`,
	"reprocessDocument":  `UPDATE documents SET status = 'failed'`,
	"enableAgent":        `UPDATE agents SET enabled = false WHERE id = (SELECT max(id) FROM agents)`,
}

// TestEveryMutationIsAudited makes every mutation, and every operation of REST that changes something, and reads
// what the log has of it.
func TestEveryMutationIsAudited(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	tenants := newWorld(t)
	l := &auditLog{seen: map[string]bool{}}
	for _, f := range declared().Mutation.Fields {
		if auditedElsewhere[f.Name] != "" {
			continue
		}
		w, rows := tenants, mutationRows(f.Name)
		if agentFields()["Mutation."+f.Name] {
			w, rows = y.world, nil
			for _, row := range y.graphRows() {
				if name, is := strings.CutPrefix(row.fields, "Mutation."); is && plain(name) == f.Name {
					rows = append(rows, row)
				}
			}
		}
		if len(rows) == 0 {
			t.Errorf("%s has no good input to start from", f.Name)
		}
		for _, row := range rows {
			t.Run("GraphQL/"+row.fields, func(t *testing.T) {
				w.T = t
				a := asker(w, row.assistant)
				variables := row.variables(a)
				l.made(t, w, f.Name, len(rows) > 1, func() platform.Answer {
					return a.Do("POST", "/graphql", a.token(row.assistant), object{"query": row.query, "variables": variables})
				})
			})
		}
	}
	_, registry := rest.New(tenants.App.Resolver, rest.Options{})
	for _, e := range rest.Endpoints(registry) {
		if e.Method == http.MethodGet || leftAlone[e.OperationID] != "" || e.Rule != nil && !strings.HasPrefix(e.Rule.Field, "Mutation.") {
			continue
		}
		w, rows := tenants, restRows()
		if agentOperations()[e.OperationID] {
			w, rows = y.world, y.restRows()
		}
		rows = slices.DeleteFunc(rows, func(row restRow) bool { return plain(row.op) != e.OperationID })
		if len(rows) == 0 {
			t.Errorf("%s has no good request to start from", e.OperationID)
		}
		for _, row := range rows {
			t.Run("REST/"+row.op, func(t *testing.T) {
				w.T = t
				l.made(t, w, mutationOf(e), len(rows) > 1, row.sender(e)(asker(w, row.assistant)))
			})
		}
	}
	l.whole(t)
	y.quiet(t)
	tenants.quiet(t)
}

// auditLog reads the log, and remembers which actions it has seen.
type auditLog struct{ seen map[string]bool }

// secrets are what a caller is shown once.
var secrets = regexp.MustCompile(`cnpy_\w+|whsec_[\w+/=]+|"(?:secret|clientSecret|token)":"([^"]+)"`)

func mutationOf(e rest.Endpoint) string {
	if e.Rule == nil {
		return ""
	}
	return strings.TrimPrefix(e.Rule.Field, "Mutation.")
}

// made makes a change by a mutation, and reads the events that it wrote. Of several inputs some may be for the
// target company alone, where the caller stands elsewhere.
func (l *auditLog) made(t *testing.T, w *world, mutation string, several bool, send func() platform.Answer) {
	t.Helper()
	if sql := beforehand[mutation]; sql != "" {
		w.SQL(sql)
	}
	before := w.Number(`SELECT COALESCE(max(id), 0) FROM audit_events`)
	got := send()
	switch c := classOf(got); {
	case several && c == getsBad:
		return
	case c != getsOK:
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	var list []struct {
		Action     string          `json:"action"`
		ObjectType string          `json:"object_type"`
		ObjectID   int64           `json:"object_id"`
		Details    json.RawMessage `json:"details"`
	}
	var raw []byte
	w.Look(&raw, `SELECT COALESCE(json_agg(e ORDER BY e.id), '[]') FROM audit_events e WHERE id > $1`, before)
	w.ok(json.Unmarshal(raw, &list))
	if len(list) == 0 {
		t.Error("no event tells of it")
	}
	for _, e := range list {
		l.seen[e.Action] = true
		if declared().Types[e.ObjectType] == nil || e.ObjectID == 0 {
			t.Errorf("%s: it was done to %q %d", e.Action, e.ObjectType, e.ObjectID)
		}
		tellsChanges(t, e.Action, e.Details)
	}
	for _, shown := range secrets.FindAllSubmatch(got.Body, -1) {
		if s := slices.MaxFunc(shown, func(a, b []byte) int { return len(b) - len(a) }); len(s) > 0 && bytes.Contains(raw, s) {
			t.Errorf("the log has the secret %s", s)
		}
	}
}

// tellsChanges judges the details of an event.
func tellsChanges(t *testing.T, action string, raw json.RawMessage) {
	t.Helper()
	var fields map[string]map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil || len(fields) == 0 {
		t.Errorf("%s: the details %s tell of no field (%v)", action, raw, err)
	}
	_, verb, _ := strings.Cut(action, ".")
	for name, change := range fields {
		_, old := change["old"]
		_, now := change["new"]
		if (!old && !now) || len(change) > 2 || (old && now && bytes.Equal(change["old"], change["new"]) && string(change["old"]) != `"changed"`) {
			t.Errorf("%s: %s is no change of %s", action, raw, name)
		}
		switch verb {
		case "created", "uploaded", "started":
			if old {
				t.Errorf("%s: there was no old %s: %s", action, name, raw)
			}
		case "deleted":
			if now && action != string(audit.CustomerDeleted) { // which is there until it is erased
				t.Errorf("%s: there is no new %s: %s", action, name, raw)
			}
		case "updated", "toggled", "revoked", "shared", "cancelled", "enabled", "disabled", "published", "unpublished":
			if !old || !now {
				t.Errorf("%s: %s has not both values: %s", action, name, raw)
			}
		}
	}
}

// byThePlatform are the actions of no caller, and those of auditedElsewhere.
var byThePlatform = []audit.Action{
	audit.DestinationDisabled, audit.CustomerErased, audit.CustomerImported, audit.ImportFailed, audit.UserTotpStarted, audit.UserTotpEnabled, audit.UserTotpDisabled,
	audit.PasskeyCreated, audit.PasskeyUpdated, audit.PasskeyDeleted,
	audit.UserTotpReset, audit.UserCodesRegenerated, audit.UserIdentityLinked, audit.UserProvisioned, audit.CustomerDomainLost, audit.IdentityProviderSignInFailed,
	audit.InvitationAccepted, audit.InvitationDeclined, audit.UserEmailRequested, audit.UserEmailConfirmed, audit.UserEmailChanged, audit.UserEmailStopped, audit.SessionEnded, audit.UserPasswordChanged, audit.UserSessionsEnded,
	audit.UserSignedIn, audit.UserSignInFailed, audit.UserSetUp, audit.UserResetRequested, audit.UserPasswordReset,
}

// whole compares the actions that were seen with those that are declared.
func (l *auditLog) whole(t *testing.T) {
	for _, a := range audit.Actions() {
		if !l.seen[string(a.Action)] && !slices.Contains(byThePlatform, a.Action) {
			t.Errorf("nothing has done %s, which is declared", a.Action)
		}
		delete(l.seen, string(a.Action))
	}
	for action := range l.seen {
		t.Errorf("%s is not declared in internal/audit", action)
	}
}
