package tenancy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/config"
	"canopy/internal/devstack/devtest"
	"canopy/internal/quota"
)

// limitsOf sets limits of a company.
func limitsOf(s *platform.Platform, token string, customer int64, limits map[string]any) {
	s.T.Helper()
	s.Must(200, "PUT", "/tenant/limits/"+platform.Decimal(customer), token, map[string]any{"limits": limits})
}

// usageOf gives what a company uses of something, as REST tells it.
func usageOf(t *testing.T, s *platform.Platform, token string, customer int64, name string) map[string]any {
	t.Helper()
	for _, u := range s.Must(200, "GET", "/tenant/usage/"+platform.Decimal(customer), token, nil).JSON(t).([]any) {
		if u := u.(map[string]any); u["name"] == name {
			return u
		}
	}
	t.Fatalf("there is no usage of %s", name)
	return nil
}

// TestLimitsBindEverythingBelow: a limit counts the company with all below it, the tightest of a company's own
// and those above binds, and a person counts once.
func TestLimitsBindEverythingBelow(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root := s.Root()
	alpine, hydro := s.Customer("Alpine Energy"), s.Customer("Alpine Hydro")
	greta := s.As("Alpine Energy", "greta@alpine.example")
	before := int64(usageOf(t, s, root, alpine, "users")["used"].(float64))
	if n := s.Number(`SELECT count(DISTINCT m.user_id) FROM memberships m JOIN customers c ON c.id = m.customer_id WHERE $1 = ANY (c.lineage)`, alpine); n != before {
		t.Fatalf("%d users are used, there are %d", before, n)
	}
	limitsOf(s, root, alpine, map[string]any{"users": before + 1})
	limitsOf(s, greta, hydro, map[string]any{"users": 1000})

	seen := usageOf(t, s, greta, hydro, "users")
	if seen["limit"] != float64(before+1) || platform.Member(t, seen, "limitedBy.name") != "Alpine Energy" {
		t.Errorf("the tightest limit is %v", seen)
	}
	lukas := s.As("Alpine Hydro", "lukas@alpine-hydro.example")
	if seen := usageOf(t, s, lukas, hydro, "users"); seen["limit"] != float64(before+1) || seen["limitedBy"] != nil {
		t.Errorf("from below: %v", seen)
	}
	invite := func(token, email string) platform.Answer {
		return s.Do("POST", "/tenant/user", token, map[string]any{"email": email})
	}
	if a := invite(lukas, "one@limits.example"); a.Status != 201 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	for name, token := range map[string]string{"below": lukas, "above": greta} {
		a := invite(token, "two@limits.example")
		p, _ := a.JSON(t).(map[string]any)
		if a.Status != 403 || p["code"] != "limit_reached" || p["limit"] != "users" || p["used"] != float64(before+1) || p["max"] != float64(before+1) {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	if n := s.Number(`SELECT count(*) FROM users WHERE email = 'two@limits.example'`); n != 0 {
		t.Error("what was refused has left a user behind")
	}
	// One who is in the subtree already is no other person.
	s.Must(201, "POST", "/tenant/user", greta, map[string]any{"email": "one@limits.example"})
	if used := usageOf(t, s, root, alpine, "users")["used"]; used != float64(before+1) {
		t.Errorf("%v users are used", used)
	}
	data, codes := s.GQL(lukas, `mutation { createUser(input: {email: "two@limits.example"}) { user { id } } }`, nil)
	if len(codes) != 1 || codes[0] != "FORBIDDEN" {
		t.Errorf("%v %v", codes, data)
	}
	raw := s.Do("POST", "/graphql", lukas, map[string]any{"query": `mutation { createUser(input: {email: "two@limits.example"}) { user { id } } }`}).JSON(t)
	extensions := platform.Member(t, raw, "errors.0.extensions")
	for member, want := range map[string]any{"reason": "limit_reached", "limit": "users", "used": before + 1, "max": before + 1} {
		if got := platform.Member(t, extensions, member); !platform.SameJSON(got, want) {
			t.Errorf("extensions.%s is %v, want %v", member, got, want)
		}
	}
	// Taken away, it binds nothing.
	limitsOf(s, root, alpine, map[string]any{"users": nil})
	s.Must(201, "POST", "/tenant/user", lukas, map[string]any{"email": "two@limits.example"})
}

// TestLimitsAreTold: the log has old and new values, by the limits' names; what is not changed is left out.
func TestLimitsAreTold(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, hydro := s.Root(), s.Customer("Alpine Hydro")
	limitsOf(s, root, hydro, map[string]any{"users": 10, "contexts": 5})
	limitsOf(s, root, hydro, map[string]any{"users": 11, "contexts": nil, "agents": nil})
	var details string
	s.Look(&details, `SELECT json_agg(details ORDER BY id)::text FROM audit_events WHERE action = 'customer.limited' AND object_id = $1`, hydro)
	var told []any
	if err := json.Unmarshal([]byte(details), &told); err != nil {
		t.Fatal(err)
	}
	change := func(old, now any) map[string]any { return map[string]any{"old": old, "new": now} }
	if want := []any{
		map[string]any{"users": change(nil, 10), "contexts": change(nil, 5)},
		map[string]any{"users": change(10, 11), "contexts": change(5, nil)},
	}; !platform.SameJSON(told, want) {
		t.Errorf("the log has %s", details)
	}
}

// TestLimitsComeFromAbove: a company does not set its own, whatever its role; root does.
func TestLimitsComeFromAbove(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, alpine, hydro := s.Root(), s.Customer("Alpine Energy"), s.Customer("Alpine Hydro")
	greta, lukas := s.As("Alpine Energy", "greta@alpine.example"), s.As("Alpine Hydro", "lukas@alpine-hydro.example")
	put := func(token string, customer int64, limits any) platform.Answer {
		return s.Do("PUT", "/tenant/limits/"+platform.Decimal(customer), token, map[string]any{"limits": limits})
	}
	top := s.Number(`SELECT id FROM customers WHERE parent_id IS NULL`)
	for name, c := range map[string]struct {
		token    string
		customer int64
		limits   any
		want     int
		says     string
	}{
		"its own":         {greta, alpine, map[string]any{"users": 5}, 403, "only by a company above"},
		"one above":       {lukas, alpine, map[string]any{"users": 5}, 403, "within reach"},
		"one below":       {greta, hydro, map[string]any{"users": 500}, 200, `"limit":500`},
		"root's own":      {root, top, map[string]any{"users": 500}, 200, `"limit":500`},
		"zero":            {greta, hydro, map[string]any{"secrets": 0}, 200, `"limit":0`},
		"none named":      {greta, hydro, map[string]any{}, 400, "body.limits"},
		"below zero":      {greta, hydro, map[string]any{"users": -1}, 400, "body.limits.users"},
		"a fraction":      {greta, hydro, map[string]any{"users": 1.5}, 400, "body.limits.users"},
		"too many":        {greta, hydro, map[string]any{"users": 1 << 60}, 400, "body.limits.users"},
		"no such limit":   {greta, hydro, map[string]any{"userz": 1}, 400, "body.limits.userz"},
		"in another case": {greta, hydro, map[string]any{"Users": 1}, 400, "body.limits.Users"},
	} {
		if a := put(c.token, c.customer, c.limits); a.Status != c.want || !strings.Contains(string(a.Body), c.says) {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	s.Refused(t, "BAD_REQUEST", greta, `mutation($id: ID!) { setLimits(input: {customerId: $id, limits: [{name: USERS, limit: 1}, {name: USERS}]}) { customer { id } } }`, map[string]any{"id": hydro})
}

// TestDefaultLimits: companies right below root have the defaults that are set, as long as they have none of their own.
func TestDefaultLimits(t *testing.T) {
	t.Parallel()
	s := platform.Start(t, func(c *config.Config) { c.Limits = map[quota.Name]int64{quota.Secrets: 1} })
	root := s.RootAs("builder")
	tenant, alpine := s.Root(), s.Customer("Alpine Energy")
	make := func(n int) platform.Answer {
		return s.Do("POST", "/v1/secrets", root, map[string]any{"customerId": alpine, "name": fmt.Sprint("S", n), "value": "v"})
	}
	if a := make(1); a.Status != 201 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	if a := make(2); a.Status != 403 || !strings.Contains(string(a.Body), "limit_reached") {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if a := s.Do("POST", "/v1/secrets", root, map[string]any{"name": "ROOT", "value": "v"}); a.Status != 201 {
		t.Errorf("root: %d %s", a.Status, a.Body)
	}
	limitsOf(s, tenant, alpine, map[string]any{"secrets": 2})
	if a := make(2); a.Status != 201 {
		t.Errorf("with a limit of its own: %d %s", a.Status, a.Body)
	}
	limitsOf(s, tenant, alpine, map[string]any{"secrets": nil})
	if u := usageOf(t, s, tenant, alpine, "secrets"); u["limit"] != 1.0 || u["used"] != 2.0 {
		t.Errorf("%v", u)
	}
}

// TestLimitsAtOnce: a crowd gets exactly what there is room for, whatever it makes.
func TestLimitsAtOnce(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, alpine := s.Root(), s.Customer("Alpine Energy")
	eu := s.RegionID("eu-central")
	const room = 7
	for name, call := range map[string]func(i int) platform.Answer{
		"users": func(i int) platform.Answer {
			return s.Do("POST", "/tenant/user", root, map[string]any{"customerId": alpine, "email": fmt.Sprintf("limit%d@crowd.example", i)})
		},
		"customers": func(i int) platform.Answer {
			return s.Do("POST", "/tenant/customer", root, map[string]any{"parentId": alpine, "name": fmt.Sprint("Crowd ", i), "regionId": eu, "email": "greta@alpine.example"})
		},
	} {
		used := int64(usageOf(t, s, root, alpine, name)["used"].(float64))
		limitsOf(s, root, alpine, map[string]any{name: used + room})
		count := atOnce(crowd, func(i int) int { return call(i).Status })
		if made := count[200] + count[201]; made != room || count[403] != crowd-room {
			t.Errorf("%s: statuses %v", name, count)
		}
		if u := usageOf(t, s, root, alpine, name); u["used"] != float64(used+room) {
			t.Errorf("%v", u)
		}
	}
}

// TestLimitsOfDocuments: sizes, documents and chunks, each where it is full.
func TestLimitsOfDocuments(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.Work(&platform.Letterbox{})
	token, root := s.Assistant(), s.Root()
	company := s.Number(`SELECT id FROM customers WHERE parent_id IS NULL`)
	into := s.NewContext(token, "limited")
	text := []byte(platform.Sentences(1, 200))
	limitsOf(s, root, company, map[string]any{"storageBytes": usageOf(t, s, root, company, "storageBytes")["used"].(float64) + float64(len(text)) + 10})
	s.Upload(token, into, "a.txt", text)
	blobs := s.Blobs()
	a := s.Upload(token, into, "b.txt", text)
	if a.Status != 403 || !strings.Contains(string(a.Body), `"storageBytes"`) || s.Blobs() != blobs {
		t.Errorf("%d %s, %d originals", a.Status, a.Body, s.Blobs()-blobs)
	}
	limitsOf(s, root, company, map[string]any{"storageBytes": nil, "documents": usageOf(t, s, root, company, "documents")["used"]})
	if a := s.Upload(token, into, "b.txt", text); a.Status != 403 || !strings.Contains(string(a.Body), `"documents"`) || s.Blobs() != blobs {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	s.Settle(token, into)
	limitsOf(s, root, company, map[string]any{"documents": nil, "chunks": usageOf(t, s, root, company, "chunks")["used"]})
	s.Upload(token, into, "c.txt", []byte(platform.Sentences(2, 200)))
	list := s.Settle(token, into)
	if last := list[len(list)-1]; last["status"] != "failed" || !strings.Contains(fmt.Sprint(last["error"]), "more chunks than there is room for") {
		t.Errorf("%v", last)
	}
}

// TestLimitsOfRuns: what can't be started at the moment, or today, is told to come back.
func TestLimitsOfRuns(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, builder := s.Root(), s.RootAs("builder")
	company := s.Number(`SELECT id FROM customers WHERE parent_id IS NULL`)
	agent := s.Publish(builder, platform.CountingSteps)
	limitsOf(s, root, company, map[string]any{"runsPerDay": usageOf(t, s, root, company, "runsPerDay")["used"].(float64) + 1})
	s.Start(builder, agent, map[string]any{})
	a := s.Do("POST", fmt.Sprintf("/CognitiveDiagram/%d/ExecuteAsJob", agent), builder, map[string]any{})
	if a.Status != 429 || !strings.Contains(string(a.Body), `"rate_limited"`) || !strings.Contains(string(a.Body), `"runsPerDay"`) || a.Header.Get("Retry-After") == "" {
		t.Errorf("%d %v %s", a.Status, a.Header, a.Body)
	}
	limitsOf(s, root, company, map[string]any{"runsPerDay": nil, "concurrentRuns": usageOf(t, s, root, company, "concurrentRuns")["used"]})
	if used := usageOf(t, s, root, company, "concurrentRuns")["used"]; used != 1.0 {
		t.Errorf("%v runs are under way", used)
	}
	data := s.Do("POST", "/graphql", builder, map[string]any{"query": fmt.Sprintf(`mutation { startRun(input: {agentId: %d}) { jobKey } }`, agent)}).JSON(t)
	extensions := platform.Member(t, data, "errors.0.extensions")
	for member, want := range map[string]any{"code": "RATE_LIMITED", "reason": "rate_limited", "limit": "concurrentRuns", "max": 1} {
		if got := platform.Member(t, extensions, member); !platform.SameJSON(got, want) {
			t.Errorf("extensions.%s is %v, want %v", member, got, want)
		}
	}
	s.Work(&platform.Letterbox{})
	devtest.Eventually(t, "the run has ended", func() bool { return usageOf(t, s, root, company, "concurrentRuns")["used"] == 0.0 })
	s.Start(builder, agent, map[string]any{})
}

// TestLimitsAreAnnounced: four fifths and the whole are told once a day, by mail to the owners of the company whose limit it is,
// and by events to those destinations alone that named them.
func TestLimitsAreAnnounced(t *testing.T) {
	t.Parallel()
	s := platform.Start(t, platform.DeliverLocally(t))
	s.NoDemoMails()
	named, all := platform.NewReceiver(t, nil), platform.NewReceiver(t, nil)
	greta, root, alpine := s.As("Alpine Energy", "greta@alpine.example"), s.Root(), s.Customer("Alpine Energy")
	hooks := s.TokenOf(alpine, "greta@alpine.example", "builder")
	s.Subscribe(hooks, named.URL, "limit.warning", "limit.reached")
	s.Subscribe(hooks, all.URL)
	used := int64(usageOf(t, s, root, alpine, "users")["used"].(float64))
	limitsOf(s, root, alpine, map[string]any{"users": used + 3})
	for i := range 5 {
		s.Do("POST", "/tenant/user", greta, map[string]any{"email": fmt.Sprintf("told%d@limits.example", i)})
	}
	s.Work(&platform.Letterbox{})
	got := named.Wait(t, 2)
	types := map[string]int{}
	for _, r := range got {
		types[r.Typ]++
		var event any
		if err := json.Unmarshal(r.Body, &event); err != nil {
			t.Fatal(err)
		}
		for member, want := range map[string]any{"limit": "users", "customerId": alpine, "max": used + 3} {
			if got := platform.Member(t, event, "data."+member); !platform.SameJSON(got, want) {
				t.Errorf("%s is %v, want %v", member, got, want)
			}
		}
	}
	if types["limit.warning"] != 1 || types["limit.reached"] != 1 || len(got) != 2 {
		t.Errorf("%v", types)
	}
	devtest.Eventually(t, "the owner has two mails", func() bool {
		return s.Number(`SELECT count(*) FROM mail_outbox WHERE kind = 'limit' AND user_id = $1 AND sent_at IS NOT NULL`, s.UserID("greta@alpine.example")) == 2
	})
	if n := s.Number(`SELECT count(*) FROM webhook_deliveries WHERE type LIKE 'limit.%'`); n != 2 || len(all.All()) != 0 {
		t.Errorf("%d deliveries, %d of them to one that asked for all", n, len(all.All()))
	}
}

// TestRatesOfCompanies: the requests of a company and of those below it share its minute, each answer tells what is
// left, and other companies have theirs.
func TestRatesOfCompanies(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, alpine, hydro := s.Root(), s.Customer("Alpine Energy"), s.Customer("Alpine Hydro")
	greta, lukas := s.As("Alpine Energy", "greta@alpine.example"), s.As("Alpine Hydro", "lukas@alpine-hydro.example")
	limitsOf(s, root, alpine, map[string]any{"requestsPerMinute": 5, "costPerMinute": 100})
	limitsOf(s, root, hydro, map[string]any{"requestsPerMinute": 4})
	if left := time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)); left < 25*time.Second {
		time.Sleep(left)
	}
	policy := func(name string, most int) string { return fmt.Sprintf(`"requestsPerMinute-%s";q=%d;w=60`, name, most) }
	for i, token := range []string{lukas, lukas, greta, lukas} {
		a := s.Must(200, "GET", "/tenant", token, nil)
		if got := a.Header.Values("RateLimit-Policy"); !slices.Contains(got, policy(platform.Decimal(alpine), 5)) || slices.Contains(got, policy(platform.Decimal(hydro), 4)) != (token == lukas) {
			t.Errorf("RateLimit-Policy: %v", got)
		}
		if want := fmt.Sprintf(`"requestsPerMinute-%d";r=%d;t=`, alpine, 4-i); !strings.Contains(strings.Join(a.Header.Values("RateLimit"), ","), want) {
			t.Errorf("RateLimit: %v, want %s", a.Header.Values("RateLimit"), want)
		}
	}
	if u := usageOf(t, s, root, alpine, "requestsPerMinute"); u["used"] != 4.0 || u["limit"] != 5.0 {
		t.Errorf("%v", u)
	}
	s.Must(200, "POST", "/graphql", greta, map[string]any{"query": `{ customer { name } }`})
	for name, a := range map[string]platform.Answer{
		"REST": s.Do("GET", "/tenant", greta, nil), "GraphQL": s.Do("POST", "/graphql", lukas, map[string]any{"query": `{ customer { name } }`}),
	} {
		if a.Status != 429 || a.Header.Get("Retry-After") == "" || !strings.Contains(string(a.Body), `"requestsPerMinute"`) || !strings.Contains(string(a.Body), `"rate_limited"`) {
			t.Errorf("%s: %d %v %s", name, a.Status, a.Header, a.Body)
		}
	}
	s.Must(200, "GET", "/tenant", root, nil)
	if n := s.Number(`SELECT count(*) FROM limit_notices WHERE customer_id = $1 AND name = 'requestsPerMinute'`, alpine); n != 2 {
		t.Errorf("%d notices, one for each level are wanted", n)
	}
	t.Run("what is refused takes nothing from the others", func(t *testing.T) {
		top := s.Number(`SELECT id FROM customers WHERE parent_id IS NULL`)
		limitsOf(s, root, top, map[string]any{"requestsPerMinute": 1000})
		limitsOf(s, root, alpine, map[string]any{"requestsPerMinute": 0}) // in whichever minute
		for range 100 {
			s.Must(429, "GET", "/tenant", greta, nil)
		}
		if u := usageOf(t, s, root, top, "requestsPerMinute"); u["used"].(float64) > 2 { // that request itself, and the one before the hundred
			t.Errorf("of root's limit were used %v", u["used"])
		}
		limitsOf(s, root, top, map[string]any{"requestsPerMinute": nil})
	})
	limitsOf(s, root, alpine, map[string]any{"requestsPerMinute": nil})
	limitsOf(s, root, hydro, map[string]any{"requestsPerMinute": nil})
	a := s.Do("POST", "/graphql", greta, map[string]any{"query": `{ customer { children(first: 200) { nodes { name } } } }`})
	if a.Status != 429 || !strings.Contains(string(a.Body), `"costPerMinute"`) {
		t.Errorf("cost: %d %s", a.Status, a.Body)
	}
}

// TestLimitsOfMails: who asks for more invitations than the day has is told to come back, and nothing is written.
func TestLimitsOfMails(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, alpine := s.Root(), s.Customer("Alpine Energy")
	greta := s.As("Alpine Energy", "greta@alpine.example")
	limitsOf(s, root, alpine, map[string]any{"mailsPerDay": usageOf(t, s, root, alpine, "mailsPerDay")["used"].(float64) + 1})
	s.Must(201, "POST", "/tenant/user", greta, map[string]any{"email": "first@mails.example"})
	a := s.Do("POST", "/tenant/user", greta, map[string]any{"email": "second@mails.example"})
	if a.Status != 429 || !strings.Contains(string(a.Body), `"mailsPerDay"`) || a.Header.Get("Retry-After") == "" {
		t.Errorf("%d %v %s", a.Status, a.Header, a.Body)
	}
	if n := s.Number(`SELECT count(*) FROM users WHERE email = 'second@mails.example'`); n != 0 {
		t.Error("what was refused has left a user behind")
	}
	s.Must(204, "POST", "/auth/reset", "", map[string]any{"email": "greta@alpine.example"})
	s.Must(201, "POST", "/tenant/user", root, map[string]any{"email": "second@mails.example"})
}

// TestLimitsOfEmbeddings: documents wait for tokens, and searches by meaning are refused; both go on when there are more.
func TestLimitsOfEmbeddings(t *testing.T) {
	t.Parallel()
	model := platform.NewModelServer(t)
	s := platform.Start(t, model.Use)
	s.Work(&platform.Letterbox{})
	token, root := s.Assistant(), s.Root()
	company := s.Number(`SELECT id FROM customers WHERE parent_id IS NULL`)
	into := s.NewContext(token, "dense")
	s.Upload(token, into, "a.txt", []byte("The dam opens in spring."))
	s.Settle(token, into)
	used := usageOf(t, s, root, company, "embeddingTokensPerDay")["used"].(float64)
	if used == 0 {
		t.Fatal("nothing was counted")
	}
	limitsOf(s, root, company, map[string]any{"embeddingTokensPerDay": used})
	find := func() platform.Answer {
		return s.Do("POST", fmt.Sprintf("/context/relevant-docs/%d", into), token, map[string]any{"prompt": "dam"})
	}
	if a := find(); a.Status != 429 || !strings.Contains(string(a.Body), `"embeddingTokensPerDay"`) {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	s.Upload(token, into, "b.txt", []byte("The mill stands still in winter."))
	devtest.Eventually(t, "the document waits", func() bool {
		return s.Number(`SELECT count(*) FROM documents WHERE status = 'pending' AND error LIKE '%embeddingTokensPerDay%' AND faults = 0`) == 1
	})
	limitsOf(s, root, company, map[string]any{"embeddingTokensPerDay": nil})
	s.SQL(`UPDATE documents SET next_attempt_at = now() WHERE status = 'pending'`)
	s.Settle(token, into)
	s.Must(200, "POST", fmt.Sprintf("/context/relevant-docs/%d", into), token, map[string]any{"prompt": "mill"})
}
