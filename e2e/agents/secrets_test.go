package agents

import (
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/config"
	"canopy/internal/devstack/devtest"
	"canopy/internal/diagram"
)

// parrot is a remote that says what it was told, in every form that it knows: as an API over HTTPS, and
// as a chat model.
type parrot struct {
	api, model *httptest.Server

	mu   sync.Mutex
	told []string
}

func newParrot(t *testing.T) *parrot {
	t.Helper()
	p := &parrot{}
	p.api = httptest.NewTLSServer(http.HandlerFunc(p.repeat))
	p.model = httptest.NewServer(http.HandlerFunc(p.answer))
	t.Cleanup(p.api.Close)
	t.Cleanup(p.model.Close)
	return p
}

// use has a platform talk with it.
func (p *parrot) use(c *config.Config) {
	c.Chat = config.Provider{URL: p.model.URL, APIKey: "key", Model: "parrot-1"}
}

func (p *parrot) hear(text string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told = append(p.told, text)
	return slices.Clone(p.told)
}

func (p *parrot) repeat(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	told := p.hear(token + string(body))
	w.Header().Set("X-Token", token)
	w.Header().Set("Content-Type", r.Header.Get("Accept"))
	if r.URL.Query().Has("fails") {
		w.WriteHeader(http.StatusForbidden)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"plain": told, "url": url.QueryEscape(token), "base64": base64.StdEncoding.EncodeToString([]byte("user:" + token)), token: "a name", "asked": r.URL.String(),
	})
}

func (p *parrot) answer(w http.ResponseWriter, r *http.Request) {
	var in struct{ Messages []struct{ Content string } }
	_ = json.NewDecoder(r.Body).Decode(&in)
	said := strings.Join(p.hear(in.Messages[0].Content), ", ")
	_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": map[string]any{"role": "assistant", "content": said}}}})
}

// token is a secret that is written otherwise in URLs and in JSON.
const token = `s3cr3t/"K+y" of Ada`

// TestSecrets: what is kept as a secret is sent, and stands nowhere in the open: not in the tables, not in
// the log, not in what callers and receivers are told.
func TestSecrets(t *testing.T) {
	t.Parallel()
	p, r := newParrot(t), platform.NewReceiver(t, nil)
	s := platform.Start(t, platform.DeliverLocally(t), p.use)
	s.NoDemoMails()
	s.Work(nil)
	builder := s.RootAs("builder")
	s.Subscribe(builder, r.URL)
	id := s.Must(201, "POST", "/v1/secrets", builder, object{"name": "CRM", "value": "another"}).ID(t, "id")
	s.Mutate(builder, "updateSecret", "secret { name updatedAt }", object{"id": id, "value": token})
	s.Mutate(builder, "createSecret", "secret { name }", object{"name": "OTHER", "value": "second-" + token})

	steps := fmt.Sprintf(`
		{"id":"a","type":"http","method":"POST","url":"%[1]s/?q={{ urlEncode(secrets.OTHER) }}","headers":{"Authorization":"Bearer {{ secrets.CRM }}","Accept":"application/json"},"body":{"t":"{{ secrets.OTHER }}"}},
		{"id":"b","type":"http","url":"%[1]s/","headers":{"Authorization":"Bearer {{ secrets.CRM }}","Accept":"text/plain"}},
		{"id":"c","type":"chat","prompt":"Use {{ secrets.CRM }}"},
		{"id":"d","type":"http","url":"%[1]s/","headers":{"Accept":"application/json"}}`, p.api.URL)
	agent := s.Publish(builder, `{"steps":[`+steps+`],"output":{"a":"{{ steps.a.body }}","b":"{{ steps.b.body }}","c":"{{ steps.c.content }}","d":"{{ steps.d }}"}}`)
	key := s.Start(builder, agent, object{"name": "Ada"})
	a := s.Poll(builder, key)
	if a.Status != http.StatusOK {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	if told := p.hear(""); !strings.HasPrefix(told[0], token+`{"t":`) || told[1] != token || told[2] != "Use "+token {
		t.Errorf("the remote was told %q", told)
	}
	if got := platform.Member(t, a.JSON(t), "outputData.c"); !strings.HasSuffix(got.(string), "Use [secret CRM]") {
		t.Errorf("the model's answer is kept as %v", got)
	}
	failing := s.Publish(builder, fmt.Sprintf(`{"steps":[{"id":"a","type":"http","url":"%s/?fails&q={{ urlEncode(secrets.CRM) }}"}],"output":{}}`, p.api.URL))
	blocked := s.Publish(builder, `{"steps":[{"id":"a","type":"http","url":"https://{{ secrets.CRM }}.example/"}],"output":{}}`)
	wrong := s.Publish(builder, fmt.Sprintf(`{"steps":[{"id":"a","type":"http","url":"%s/{{ int(secrets.CRM) }}"}],"output":{}}`, p.api.URL))
	for agent, url := range map[int64]any{failing: p.api.URL + "/?fails&q=[secret CRM]", blocked: "https://[secret CRM].example/", wrong: nil} {
		key := s.Start(builder, agent, object{})
		a := s.Poll(builder, key)
		if a.Status != http.StatusBadRequest || platform.Member(t, a.JSON(t), "errorData.step") != "a" {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		hides(t, "an error", string(a.Body))
		var given object
		if url != nil {
			given = object{"method": "GET", "url": url, "headers": object{}}
		}
		if step := s.Must(200, "GET", "/v1/runs/"+key+"/steps", builder, nil).JSON(t); !platform.SameJSON(platform.Member(t, step, "0.input"), given) {
			t.Errorf("its step: %v, want %v", step, given)
		}
	}
	hides(t, "the output", string(a.Body))
	hides(t, "the run", fmt.Sprint(s.MustGQL(builder, `query($k: String!) { run(jobKey: $k) { input output error steps { input result error } } }`, object{"k": key})))
	inputsNameSecrets(t, s, builder, key, p.api.URL)
	hides(t, "the list", string(s.Must(200, "GET", "/v1/secrets", builder, nil).Body))
	for _, x := range r.Wait(t, 8) {
		hides(t, "a delivery", string(x.Body))
	}
	hides(t, "the log", s.Log.String())
	var tables []string
	if err := s.DB.Select(&tables, `SELECT tablename FROM pg_tables WHERE schemaname = current_schema()`); err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		var rows []string
		if err := s.DB.Select(&rows, fmt.Sprintf(`SELECT x::text FROM %q x`, table)); err != nil {
			t.Fatal(err)
		}
		hides(t, "the table "+table, strings.Join(rows, "\n"))
	}
}

// inputsNameSecrets checks that what the steps of TestSecrets were given is shown with the names of secrets in the places of their values, at both doors.
func inputsNameSecrets(t *testing.T, s *platform.Platform, token, key, url string) {
	t.Helper()
	text := s.Must(200, "GET", "/v1/runs/"+key+"/steps", token, nil)
	hides(t, "the steps", string(text.Body))
	steps := s.MustGQL(token, `query($k: String!) { run(jobKey: $k) { steps { input } } }`, object{"k": key})
	bearer := "Bearer [secret CRM]"
	for i, want := range []object{
		{
			"method": "POST", "url": url + "/?q=[secret OTHER]", "body": object{"t": "[secret OTHER]"},
			"headers": object{"Authorization": bearer, "Accept": "application/json", "Content-Type": "application/json"},
		},
		{"method": "GET", "url": url + "/", "headers": object{"Authorization": bearer, "Accept": "text/plain"}},
		{"messages": []any{object{"role": "user", "content": "Use [secret CRM]"}}},
		{"method": "GET", "url": url + "/", "headers": object{"Accept": "application/json"}},
	} {
		for door, got := range map[string]any{
			"REST": platform.Member(t, text.JSON(t), fmt.Sprintf("%d.input", i)), "the graph": platform.Member(t, steps, fmt.Sprintf("run.steps.%d.input", i)),
		} {
			if !platform.SameJSON(got, want) {
				t.Errorf("step %d was given, by %s: %v", i, door, got)
			}
		}
	}
}

// hides checks that a text holds nothing of the secrets, in any form that the remote knows.
func hides(t *testing.T, where, text string) {
	t.Helper()
	for _, part := range []string{"s3cr3t", "of Ada", "of+Ada", "of%20Ada", "K+y", "K%2By", "czNjcjN0", "MzY3IzdC", "733363723374"} {
		if strings.Contains(text, part) {
			t.Errorf("%s holds %q: %.2000s", where, part, text)
		}
	}
}

// TestSecretsOfACompany: a secret is for the agents of its own company, by the name that it has at that
// moment, and a step that uses another says so.
func TestSecretsOfACompany(t *testing.T) {
	t.Parallel()
	p := newParrot(t)
	s := platform.Start(t, platform.DeliverLocally(t), p.use)
	s.NoDemoMails()
	s.Work(nil)
	builder := s.RootAs("builder")
	alpine := s.Customer("Alpine Energy")
	below := s.TokenOf(alpine, "greta@alpine.example", "builder")
	const asks = `{"steps":[{"id":"a","type":"chat","prompt":"{{ secrets.CRM }}"}],"output":{"said":"{{ steps.a.content }}"}}`
	agent := s.Publish(below, asks)
	fails := func(says string) {
		t.Helper()
		a := s.Poll(below, s.Start(below, agent, object{}))
		want := object{"code": diagram.CodeSecret, "message": says, "step": "a"}
		if got := a.JSON(t).(object)["errorData"]; a.Status != http.StatusBadRequest || !platform.SameJSON(got, want) {
			t.Errorf("%d %s, want %v", a.Status, a.Body, want)
		}
	}
	works := func(value string) {
		t.Helper()
		before := len(p.hear(""))
		if a := s.Poll(below, s.Start(below, agent, object{})); a.Status != http.StatusOK {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		if told := p.hear(""); told[before] != value {
			t.Errorf("the model was told %q, want %q", told[before], value)
		}
	}
	s.Must(201, "POST", "/v1/secrets", builder, object{"name": "CRM", "value": "of the root"})
	fails("there is no secret CRM")
	made := s.Must(201, "POST", "/v1/secrets", builder, object{"customerId": alpine, "name": "CRM", "value": "of Alpine"})
	at := "/v1/secrets/" + platform.Decimal(made.ID(t, "id"))
	works("of Alpine")
	s.Must(200, "PUT", at, below, object{"value": "renewed"})
	works("renewed")
	s.Must(200, "PUT", at, below, object{"name": "NEW"})
	fails("there is no secret CRM")
	s.Must(200, "PUT", at, below, object{"name": "CRM"})
	works("renewed")
	s.SQL(`UPDATE secrets SET value = (SELECT value FROM secrets WHERE customer_id <> $1) WHERE customer_id = $1`, alpine)
	fails("the secrets can't be read") // a value is sealed to its row
	s.Must(204, "DELETE", at, below, nil)
	fails("there is no secret CRM")
}

func TestSecretsAreManaged(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	builder := s.RootAs("builder")
	post := func(name string, status int, body object, code, says string) {
		t.Helper()
		s.Play(t, []platform.Scenario{{Name: name, Token: builder, Method: "POST", Path: "/v1/secrets", Body: body, Status: status, Code: code, Says: says, Not: []string{"hush-hush"}}})
	}
	post("a good one", 201, object{"name": "A_1", "value": "hush-hush"}, "", "")
	post("the longest", 201, object{"name": strings.Repeat("n", 64), "value": strings.Repeat("v", 8<<10)}, "", "")
	post("a taken name", 400, object{"name": "A_1", "value": "hush-hush"}, "", "name")
	post("too long a name", 400, object{"name": strings.Repeat("n", 65), "value": "hush-hush"}, "", "name")
	post("no name", 400, object{"name": "", "value": "hush-hush"}, "", "name")
	post("a name with a dot", 400, object{"name": "a.b", "value": "hush-hush"}, "", "name")
	post("too long a value", 400, object{"name": "B", "value": strings.Repeat("v", 8<<10+1)}, "", "value")
	post("no value", 400, object{"name": "B", "value": ""}, "", "value")
	data := s.MustGQL(s.Root(), `{ customer { secrets { name updatedAt } } }`, nil)
	if n := platform.Member(t, data, "customer.secrets.#"); n != 2 || platform.Member(t, data, "customer.secrets.0.name") != "A_1" {
		t.Errorf("%v", data)
	}
	names, pages := s.Follow(t, "/v1/secrets?limit=1", builder, func(t *testing.T, a platform.Answer) []string {
		return []string{platform.Member(t, a.JSON(t), "0.name").(string)}
	})
	if len(names) != 2 || pages != 2 {
		t.Errorf("%v on %d pages", names, pages)
	}
	var audited string
	s.Look(&audited, `SELECT string_agg(details::text, '') FROM audit_events WHERE object_type = 'Secret'`)
	if !strings.Contains(audited, `"value": {"new": "changed"}`) || strings.Contains(audited, "hush") || strings.Contains(audited, "vvv") {
		t.Errorf("the log tells %s", audited)
	}
	s.SQL(`INSERT INTO secrets (customer_id, name, value) SELECT 1, 'N' || n, '' FROM generate_series(3, 200) n`)
	post("the 201st", 400, object{"name": "B", "value": "hush-hush"}, "too_many_secrets", "200")
	t.Run("a diagram that would keep one", func(t *testing.T) {
		draft := json.RawMessage(`{"steps":[{"id":"keep","type":"set","values":{"x":"{{ secrets.A_1 }}"}}],"output":{}}`)
		agent := s.Mutate(builder, "createAgent", "agent { id }", object{"name": "Leaky", "diagram": draft})
		says := s.Refused(t, "BAD_REQUEST", builder, `mutation($id: ID!) { publishAgent(input: {id: $id}) { agent { name } } }`, object{"id": platform.Member(t, agent, "agent.id")})
		if !strings.Contains(says, "steps[0].values.x") || !strings.Contains(says, "secrets") {
			t.Errorf("%q", says)
		}
	})
}

// TestDeletedSecretsAreCountedOnceAtATime: one that is deleted while another is does not make more than are kept.
func TestDeletedSecretsAreCountedOnceAtATime(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	builder := s.RootAs("builder")
	id := s.Must(201, "POST", "/v1/secrets", builder, object{"name": "A", "value": "hush-hush"}).ID(t, "id")
	s.SQL(`INSERT INTO removed_secrets (id, customer_id, name, value, created_at, updated_at, row_version, erase_at)
		SELECT 1000 + n, 1, 'R' || n, '', now(), now(), 1, now() + interval '1 day' FROM generate_series(1, 199) n`)
	other := devtest.Must[*sql.Tx](t)(s.DB.BeginTx(t.Context(), nil))
	defer func() { _ = other.Rollback() }()
	for _, statement := range []string{`SELECT FROM customers WHERE id = 1 FOR NO KEY UPDATE`, `INSERT INTO removed_secrets (id, customer_id, name, value, created_at, updated_at, row_version, erase_at)
		VALUES (2000, 1, 'R', '', now(), now(), 1, now() + interval '1 day')`} {
		devtest.Must[sql.Result](t)(other.ExecContext(t.Context(), statement))
	}
	answers := make(chan platform.Answer, 1)
	go func() { answers <- s.Do("DELETE", fmt.Sprintf("/v1/secrets/%d?restorable=true", id), builder, nil) }()
	devtest.Eventually(t, "the deletion waits, or is done", func() bool {
		return len(answers) > 0 || s.Number(`SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`) == 1
	})
	devtest.Check(t, other.Commit())
	platform.Scenario{Status: 400, Code: "too_many_secrets"}.Judge(t, <-answers)
	if n := s.Number(`SELECT count(*) FROM removed_secrets`); n != 200 {
		t.Errorf("%d are kept", n)
	}
}
