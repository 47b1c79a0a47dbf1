package isolation

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/access"
	"canopy/internal/config"
	"canopy/internal/globalid"
	"canopy/internal/rule"
	"canopy/outbox"
	"canopy/resolvers"
	"canopy/rest"
)

// yard is a world whose callers build agents.
type yard struct {
	*world
	owner context.Context // of the target company's owner
	agent *resolvers.PublishAgentPayload
	// ofTenants are the tokens for tenant management.
	ofTenants map[who]string
}

func newYard(t *testing.T, change ...func(*config.Config)) *yard {
	return yardIn(newWorld(t, change...))
}

func yardIn(w *world) *yard {
	y := &yard{world: w}
	y.ofTenants, y.otherApp = y.tokens, access.Tenant
	y.tokens, y.owner = y.serve("builder")
	y.tokens[asOtherApp] = y.ofTenants[asOwner]
	made, err := y.d.CreateAgent(y.owner, resolvers.CreateAgentInput{Name: secretMark, Diagram: json.RawMessage(platform.Greeter)})
	y.ok(err)
	y.agent, err = y.d.PublishAgent(y.owner, resolvers.PublishAgentInput{ID: made.Agent.GlobalID()})
	y.ok(err)
	return y
}

// within: the company itself and those above, as far as the role has the right; for all others,
// and of what is not there, there is nothing.
func within(n needs) answers {
	return shape(shared).found().there(gets404, asDescendant, asSibling, asStranger)(n)
}

func (y *yard) freshAgent(a *ask) int64 {
	return a.or(func() int64 {
		made, err := a.d.CreateAgent(y.owner, resolvers.CreateAgentInput{Name: a.unique(), Diagram: json.RawMessage(platform.Greeter)})
		a.ok(err)
		_, err = a.d.PublishAgent(y.owner, resolvers.PublishAgentInput{ID: made.Agent.GlobalID()})
		a.ok(err)
		return made.Agent.ID
	})
}

func (y *yard) freshRun(a *ask) *resolvers.StartRunPayload {
	made, err := a.d.StartRun(y.owner, resolvers.StartRunInput{AgentID: y.agent.Agent.GlobalID(), Input: json.RawMessage(`{"mark":"` + secretMark + `"}`)})
	a.ok(err)
	return made
}

func (y *yard) jobKey(a *ask) string {
	if a.absent {
		return "00000000-0000-4000-8000-000000000000"
	}
	return y.freshRun(a).JobKey
}

func (y *yard) builderAccount(a *ask) int64 {
	return a.or(func() int64 { return y.agent.Agent.AccountID })
}

func (y *yard) freshDestination(a *ask) int64 {
	return a.or(func() int64 {
		name := a.unique()
		made, err := a.d.CreateWebhookDestination(y.owner, resolvers.CreateWebhookDestinationInput{URL: platform.PublicURL, Name: &name})
		a.ok(err)
		return made.Destination.ID
	})
}

func (y *yard) aDeletedAgent(a *ask) int64 {
	id := y.freshAgent(a)
	a.data.SQL(`UPDATE agents SET deleted_at = now() WHERE id = $1`, id)
	return id
}

func (y *yard) aDeletedDestination(a *ask) int64 {
	id := y.freshDestination(a)
	a.data.SQL(`UPDATE webhook_destinations SET deleted_at = now() WHERE id = $1`, id)
	return id
}

func (y *yard) freshDelivery(a *ask) int64 {
	return a.or(func() int64 {
		made, err := a.d.TestWebhookDestination(y.owner, resolvers.TestWebhookDestinationInput{ID: globalid.ID{Int: y.freshDestination(a)}, Type: "run.started"})
		a.ok(err)
		return made.Delivery.ID
	})
}

func (y *yard) freshSecret(a *ask) int64 {
	return a.or(func() int64 {
		made, err := a.d.CreateSecret(y.owner, resolvers.CreateSecretInput{Name: a.secretName(), Value: secretMark})
		a.ok(err)
		return made.Secret.ID
	})
}

func (y *yard) aDeletedSecret(a *ask) int64 {
	id, restorable := y.freshSecret(a), true
	return a.or(func() int64 {
		_, err := a.d.DeleteSecret(y.owner, resolvers.DeleteSecretInput{ID: globalid.ID{Int: id}, Restorable: &restorable})
		a.ok(err)
		return id
	})
}

// secretName is a name that no secret has, and that nobody outside may read.
func (a *ask) secretName() string { return strings.ReplaceAll(a.unique(), "-", "_") }

func (y *yard) restRows() []restRow {
	onDestination := func(a *ask) []any { return []any{y.freshDestination(a)} }
	onDelivery := func(a *ask) []any { return []any{y.freshDelivery(a)} }
	onSecret := func(a *ask) []any { return []any{y.freshSecret(a)} }
	onAgent := func(a *ask) []any { return []any{y.freshAgent(a)} }
	onRun := func(a *ask) []any { return []any{y.jobKey(a)} }
	ofAccount := func(a *ask) string { return "accountId=" + platform.Decimal(y.builderAccount(a)) }
	return []restRow{
		{op: "listAgents", want: shared},
		{op: "listAgents/account", query: ofAccount, want: reach},
		{op: "createAgent", body: func(*ask) any { return object{"name": "Own"} }, want: shared},
		{op: "createAgent/account", body: func(a *ask) any { return object{"name": a.unique(), "accountId": y.builderAccount(a)} }, want: reach},
		{op: "checkDiagram", body: func(*ask) any { return object{"diagram": json.RawMessage(platform.Greeter)} }, want: shared},
		{op: "getAgent", path: onAgent, want: within},
		{op: "updateAgent", path: onAgent, body: func(a *ask) any { return object{"name": a.unique()} }, want: within},
		{op: "deleteAgent", path: onAgent, want: within},
		{op: "restoreAgent", path: func(a *ask) []any { return []any{y.aDeletedAgent(a)} }, want: within},
		{op: "publishAgent", path: onAgent, want: within},
		{op: "unpublishAgent", path: onAgent, want: within},
		{op: "enableAgent", path: onAgent, want: within},
		{op: "disableAgent", path: onAgent, want: within},
		{op: "listRevisions", path: onAgent, want: within},
		{op: "listRevisions/filter", path: onAgent, query: func(*ask) string { return "createdSince=2020-01-01T00:00:00Z&orderBy=number" }, want: within},
		{op: "listAgentRuns", path: onAgent, want: within},
		{op: "startRun", path: onAgent, body: func(*ask) any { return object{} }, want: within},
		{op: "getRun", path: onRun, want: within},
		{op: "listRunSteps", path: onRun, want: within},
		{op: "cancelRun", path: onRun, want: within},
		{op: "executeAgentAsJob", path: func(a *ask) []any { return []any{y.freshAgent(a)} }, body: func(*ask) any { return object{} }, want: within},
		{op: "getJob", path: func(a *ask) []any { return []any{y.jobKey(a)} }, want: within},
		{op: "listSecrets", query: func(a *ask) string { return "customerId=" + platform.Decimal(a.theCustomer()) }, want: reach},
		{op: "listSecrets/own", want: shared},
		{op: "createSecret", body: func(a *ask) any {
			return object{"customerId": a.theCustomer(), "name": a.secretName(), "value": secretMark}
		}, want: reach},
		{op: "getSecret", path: onSecret, want: reach},
		{op: "updateSecret", path: onSecret, body: func(a *ask) any { return object{"name": a.secretName(), "value": a.unique()} }, want: reach},
		{op: "deleteSecret", path: onSecret, want: reach},
		{op: "restoreSecret", path: func(a *ask) []any { return []any{y.aDeletedSecret(a)} }, want: reach},
		{op: "listDeletedSecrets", query: func(a *ask) string { y.aDeletedSecret(a); return "customerId=" + platform.Decimal(a.theCustomer()) }, want: reach},
		{op: "listDeletedSecrets/own", want: shared},
		{op: "listDeletedAgents", query: func(a *ask) string { y.aDeletedAgent(a); return "customerId=" + platform.Decimal(a.theCustomer()) }, want: reach},
		{op: "listDeletedAgents/own", want: shared},
		{op: "listDeletedWebhookDestinations", query: func(a *ask) string {
			y.aDeletedDestination(a)
			return "customerId=" + platform.Decimal(a.theCustomer())
		}, want: reach},
		{op: "listDeletedWebhookDestinations/own", want: shared},
		{op: "listRuns", want: shared},
		{op: "listRuns/company", query: func(a *ask) string { return "customerId=" + platform.Decimal(a.theCustomer()) }, want: reach},
		{op: "getWebhookCatalog", want: shared},
		{op: "listWebhookDestinations", want: shared},
		{op: "listWebhookDestinations/filter", query: func(*ask) string { return "enabled=true&orderBy=-name" }, want: shared},
		{op: "createWebhookDestination", body: func(a *ask) any { return object{"url": platform.PublicURL} }, want: shared},
		{op: "getWebhookDestination", path: onDestination, want: within},
		{op: "updateWebhookDestination", path: onDestination, body: func(a *ask) any { return object{"name": a.unique()} }, want: within},
		{op: "deleteWebhookDestination", path: onDestination, want: within},
		{op: "restoreWebhookDestination", path: func(a *ask) []any { return []any{y.aDeletedDestination(a)} }, want: within},
		{op: "rotateWebhookSecret", path: onDestination, body: func(*ask) any { return object{} }, want: within},
		{op: "testWebhookDestination", path: onDestination, body: func(*ask) any { return object{"type": "run.failed"} }, want: within},
		{op: "recoverWebhookDeliveries", path: onDestination, body: func(*ask) any { return object{"since": "2026-01-01T00:00:00Z"} }, want: within},
		{op: "listWebhookDeliveries", want: shared},
		{op: "listWebhookDeliveries/company", query: func(a *ask) string { return "subtree=true&customerId=" + platform.Decimal(a.theCustomer()) }, want: reach},
		{op: "listWebhookDeliveries/destination", query: func(a *ask) string { return "destinationId=" + platform.Decimal(y.freshDestination(a)) }, want: within},
		{op: "getWebhookDelivery", path: onDelivery, want: within},
		{op: "resendWebhookDelivery", path: onDelivery, want: within},
	}
}

func (y *yard) graphRows() []graphRow {
	anAgent := one(y.freshAgent)
	aRun := func(a *ask) object { return object{"key": y.jobKey(a)} }
	aDestination := one(y.freshDestination)
	byAgent := func(a *ask) object { return object{"id": y.freshAgent(a)} }
	byDestination := func(a *ask) object { return object{"id": y.freshDestination(a)} }
	rows := []graphRow{
		{fields: "Query.agents", query: `{ agents { nodes { name draft } totalCount } }`, want: shared},
		{
			fields: "Query.agents/account", query: `query($id: ID){ agents(accountId: $id) { nodes { name } totalCount } }`,
			variables: one(y.builderAccount), want: reach,
		},
		{fields: "Query.agent", query: `query($id: ID!){ agent(id: $id) { name draft } }`, variables: anAgent, want: within},
		{
			fields:    "Agent.account Agent.published Agent.revisions Agent.runs AgentRevision.agent",
			query:     `query($id: ID!){ agent(id: $id) { account { name } published { diagram } revisions { nodes { number agent { name } } totalCount } runs { nodes { jobKey } totalCount } } }`,
			variables: anAgent, want: within,
		},
		{
			fields: "Query.diagramCheck DiagramCheck.faults DiagramCheck.steps DiagramCheck.output", want: shared,
			query:     `query($d: JSON!){ diagramCheck(diagram: $d) { faults { location message } steps { input } output { steps } } }`,
			variables: func(*ask) object { return object{"d": json.RawMessage(platform.Greeter)} },
		},
		{
			fields: "Query.run Run.agent Run.revision Run.steps Run.currentStep", variables: aRun, want: within,
			query: `query($key: String!){ run(jobKey: $key) { input agent { name } revision { diagram } steps { stepId } currentStep { input } } }`,
		},
		found("runs", `jobKey input`), foundIn("runs", `jobKey input`),
		{
			fields: "Query.runs/agent", query: `query($id: ID!){ runs(filter: {agentId: $id}) { nodes { jobKey } totalCount } }`, want: shared,
			variables: func(a *ask) object { return object{"id": y.agent.Agent.ID} },
		},
		foundIn("webhookDeliveries", `payload`),
		{fields: "Query.webhookCatalog WebhookCatalog.events", query: `{ webhookCatalog { events { type } } }`, want: shared},
		{fields: "Query.webhookDestinations", query: `{ webhookDestinations { nodes { name } totalCount } }`, want: shared},
		{
			fields: "Query.webhookDestinations/company", variables: anyCustomer, want: reach,
			query: `query($id: ID){ webhookDestinations(customerId: $id) { nodes { name } totalCount } }`,
		},
		{
			fields: "Query.webhookDestinations/filter", variables: anyCustomer, want: reach,
			query: `query($id: ID){ webhookDestinations(customerId: $id, filter: {enabled: true}, orderBy: [{field: NAME}]) { nodes { name } totalCount } }`,
		},
		{
			fields: "Query.webhookDestination WebhookDestination.customer WebhookDestination.deliveries", variables: aDestination, want: within,
			query: `query($id: ID!){ webhookDestination(id: $id) { name customer { name } deliveries { nodes { payload } totalCount } } }`,
		},
		{fields: "Query.webhookDeliveries", query: `{ webhookDeliveries { nodes { payload } totalCount } }`, want: shared},
		{
			fields: "Query.webhookDeliveries/destination", variables: aDestination, want: within,
			query: `query($id: ID){ webhookDeliveries(destinationId: $id) { nodes { payload } totalCount } }`,
		},
		{
			fields: "Query.webhookDelivery WebhookDelivery.destination WebhookDelivery.attemptLog", variables: one(y.freshDelivery), want: within,
			query: `query($id: ID!){ webhookDelivery(id: $id) { payload destination { name } attemptLog { error } } }`,
		},
		node("Agent", rule.Agent, y.freshAgent, within),
		node("AgentRevision", rule.Agent, func(a *ask) int64 { return a.or(func() int64 { return y.agent.Revision.ID }) }, within),
		node("Run", rule.Run, func(a *ask) int64 { return a.or(func() int64 { return y.freshRun(a).Run.ID }) }, within),
		node("WebhookDestination", rule.WebhookDestination, y.freshDestination, within),
		node("Secret", rule.CustomerSecrets, y.freshSecret, reach),
		node("WebhookDelivery", rule.WebhookDelivery, y.freshDelivery, within),
		mutate("createAgent", `agent { name }`, func(*ask) object { return object{"name": "Own"} }, shared),
		mutate("createAgent/account", `agent { name }`, func(a *ask) object {
			return object{"name": a.unique(), "accountId": y.builderAccount(a)}
		}, reach),
		mutate("updateAgent", `agent { name }`, func(a *ask) object { return object{"id": y.freshAgent(a), "name": a.unique()} }, within),
		mutate("publishAgent", `agent { name }`, byAgent, within),
		mutate("unpublishAgent", `agent { name }`, byAgent, within),
		mutate("enableAgent", `agent { name }`, byAgent, within),
		mutate("disableAgent", `agent { name }`, byAgent, within),
		mutate("deleteAgent", `deletedId`, byAgent, within),
		mutate("restoreAgent", `agent { name }`, func(a *ask) object { return object{"id": y.aDeletedAgent(a)} }, within),
		mutate("startRun", `jobKey`, func(a *ask) object { return object{"agentId": y.freshAgent(a)} }, within),
		mutate("cancelRun", `run { status }`, func(a *ask) object { return object{"jobKey": y.jobKey(a)} }, within),
		mutate("createSecret", `secret { name }`, func(a *ask) object {
			return object{"customerId": a.theCustomer(), "name": a.secretName(), "value": secretMark}
		}, reach),
		mutate("updateSecret", `secret { name customer { name } }`, func(a *ask) object {
			return object{"id": y.freshSecret(a), "name": a.secretName(), "value": a.unique()}
		}, reach),
		mutate("deleteSecret", `deletedId`, func(a *ask) object { return object{"id": y.freshSecret(a)} }, reach),
		mutate("restoreSecret", `secret { name }`, func(a *ask) object { return object{"id": y.aDeletedSecret(a)} }, reach),
		mutate("createWebhookDestination", `destination { name }`, func(a *ask) object { return object{"url": platform.PublicURL} }, shared),
		mutate("createWebhookDestination/company", `destination { name }`, func(a *ask) object {
			return object{"url": platform.PublicURL, "customerId": a.theCustomer()}
		}, reach),
		mutate("updateWebhookDestination", `destination { name }`, func(a *ask) object {
			return object{"id": y.freshDestination(a), "name": a.unique()}
		}, within),
		mutate("deleteWebhookDestination", `deletedId`, byDestination, within),
		mutate("restoreWebhookDestination", `destination { name }`, func(a *ask) object { return object{"id": y.aDeletedDestination(a)} }, within),
		mutate("rotateWebhookSecret", `secret`, byDestination, within),
		mutate("testWebhookDestination", `delivery { payload }`, func(a *ask) object {
			return object{"id": y.freshDestination(a), "type": "run.started"}
		}, within),
		mutate("resendWebhookDelivery", `delivery { payload }`, func(a *ask) object { return object{"id": y.freshDelivery(a)} }, within),
		mutate("recoverWebhookDeliveries", `count`, func(a *ask) object {
			return object{"id": y.freshDestination(a), "since": "2026-01-01T00:00:00Z"}
		}, within),
	}
	return append(rows,
		graphRow{fields: "Customer.agents", variables: anyCustomer, want: between, query: `query($id: ID){ customer(id: $id) { agents { nodes { name } } } }`},
		graphRow{
			fields: "Customer.webhookDestinations", variables: anyCustomer, want: shape(between).there(getsOK, asOtherApp), // whose token is for tenant management
			query: `query($id: ID){ customer(id: $id) { webhookDestinations { nodes { name } } } }`,
		},
		graphRow{
			fields: "Customer.deletedAgents", want: between, variables: func(a *ask) object {
				y.aDeletedAgent(a)
				return anyCustomer(a)
			},
			query: `query($id: ID){ customer(id: $id) { deletedAgents { name } } }`,
		},
		graphRow{
			fields: "Customer.deletedWebhookDestinations", want: shape(between).there(getsOK, asOtherApp), variables: func(a *ask) object {
				y.aDeletedDestination(a)
				return anyCustomer(a)
			},
			query: `query($id: ID){ customer(id: $id) { deletedWebhookDestinations { name } } }`,
		},
		graphRow{fields: "Account.agents", query: `query($id: ID!){ account(id: $id) { agents { nodes { name } } } }`, variables: one(y.builderAccount), want: between})
}

// agentOperations are the documented operations that this matrix has rows for.
func agentOperations() map[string]bool {
	set := map[string]bool{}
	for _, row := range (&yard{}).restRows() {
		name, _, _ := strings.Cut(row.op, "/")
		set[name] = true
	}
	return set
}

// agentFields are the fields of the graph that this matrix has rows for.
func agentFields() map[string]bool {
	set := map[string]bool{"Subscription.runUpdated": true, "Subscription.webhookDeliveryUpdated": true}
	for _, row := range (&yard{}).graphRows() {
		for name := range strings.FieldsSeq(row.fields) {
			name, _, _ = strings.Cut(name, "/")
			set[name] = true
		}
	}
	return set
}

func TestAgentIsolationREST(t *testing.T) {
	t.Parallel()
	agentRESTIsolation(t, newYard(t))
}

func agentRESTIsolation(t *testing.T, y *yard) {
	t.Helper()
	m := newMatrix(t, y.world)
	_, registry := rest.New(y.App.Resolver, rest.Options{})
	endpoints := map[string]rest.Endpoint{}
	for _, e := range rest.Endpoints(registry) {
		endpoints[e.OperationID] = e
	}
	for _, row := range y.restRows() {
		name, _, _ := strings.Cut(row.op, "/")
		e := endpoints[name]
		t.Run(row.op, func(t *testing.T) {
			m.row(t, y.answers(row.want, row.rules(e), false), row.sender(e), e.Method != http.MethodGet)
		})
	}
	y.quiet(t)
}

func TestAgentIsolationGraph(t *testing.T) {
	t.Parallel()
	agentGraphIsolation(t, newYard(t))
}

func agentGraphIsolation(t *testing.T, y *yard) {
	t.Helper()
	m := newMatrix(t, y.world)
	for _, row := range y.graphRows() {
		t.Run(row.fields, func(t *testing.T) { m.row(t, y.answers(row.want, row.rules(), false), row.sender(), row.writes()) })
	}
	y.quiet(t)
}

// TestAgentEdges asks for the edges from a company and its accounts with a login's token, which
// has every application.
func TestAgentEdges(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.freshDestination(&ask{world: y.world})
	const query = `query($id: ID){ customer(id: $id) { agents { nodes { name } totalCount } webhookDestinations { totalCount }
		accounts { nodes { agents { nodes { name } totalCount } } } } }`
	login := y.Login(platform.DemoAdmin, y.Demo.AdminPassword)
	data, codes := y.GQL(login, query, object{"id": platform.Decimal(y.target)})
	if len(codes) > 0 {
		t.Fatal(codes)
	}
	customer := data["customer"].(object)
	if customer["agents"].(object)["totalCount"] != 1.0 || customer["webhookDestinations"].(object)["totalCount"] != 1.0 {
		t.Errorf("%v", customer)
	}
	found := 0.0
	for _, a := range customer["accounts"].(object)["nodes"].([]any) {
		found += a.(object)["agents"].(object)["totalCount"].(float64)
	}
	if found != 1 {
		t.Errorf("agents of the accounts: %v", found)
	}
	if _, codes := y.GQL(y.ofTenants[asOwner], query, object{"id": platform.Decimal(y.target)}); !slices.Contains(codes, "FORBIDDEN") {
		t.Errorf("with a token for tenant management: %v", codes)
	}
}

// subscription is one that leads to the target company, what has it tell something, and what each caller
// must get.
type subscription struct {
	name, query string
	tell        func()
	want        shape
}

func (y *yard) subscriptions() []subscription {
	key, delivery := y.jobKey(&ask{world: y.world}), y.freshDelivery(&ask{world: y.world})
	var destination int64
	y.Look(&destination, `SELECT destination_id FROM webhook_deliveries WHERE id = $1`, delivery)
	return []subscription{
		{"runUpdated", `subscription { runUpdated(jobKey: "` + key + `") { jobKey status } }`, func() {}, within},
		{"webhookDeliveryUpdated", `subscription { webhookDeliveryUpdated(destinationId: ` + platform.Decimal(destination) + `) { eventId status } }`, func() {
			y.App.Bus.Publish(y.T.Context(), outbox.DeliveriesTopic(destination), []byte("x,"+strconv.FormatInt(delivery, 10)))
		}, within},
	}
}

func TestAgentSubscriptionIsolation(t *testing.T) {
	t.Parallel()
	agentSubscriptionIsolation(t, newYard(t))
}

func agentSubscriptionIsolation(t *testing.T, y *yard) {
	t.Helper()
	for _, s := range y.subscriptions() {
		for _, as := range everybody {
			t.Run(s.name+"/"+string(as), func(t *testing.T) {
				y.T = t
				if want := y.answers(s.want, rulesOf(s.query), false).wants(as, false); want != getsOK {
					y.isRefused(t, s.query, y.tokens[as], want.quoted())
					return
				}
				y.hears(t, s, as)
			})
		}
	}
	y.quiet(t)
}

// hears waits until a caller is told something, by a subscription that takes a moment to begin.
func (w *world) hears(t *testing.T, s subscription, as who) {
	t.Helper()
	lines := w.Stream(t, s.query, w.tokens[as])
	deadline := time.After(platform.Patience)
	for {
		s.tell()
		select {
		case line := <-lines:
			if !strings.Contains(line, `"data":{"`+s.name) {
				t.Errorf("%s", line)
			}
			return
		case <-time.After(50 * time.Millisecond):
		case <-deadline:
			t.Fatal("nothing is heard")
		}
	}
}
