package tenancy

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"canopy/e2e/platform"
)

// holders names the tables whose rows have a text, in whichever column.
func holders(t *testing.T, s *platform.Platform, text string) (list []string) {
	t.Helper()
	var columns []struct {
		Table  string `db:"table_name"`
		Column string `db:"column_name"`
		Type   string `db:"udt_name"`
	}
	if err := s.DB.Select(&columns, `SELECT c.table_name, c.column_name, c.udt_name FROM information_schema.columns c JOIN pg_tables t ON t.tablename = c.table_name
		WHERE t.schemaname = 'public' AND c.table_schema = 'public' AND c.udt_name IN ('text', '_text', 'varchar', 'json', 'jsonb', 'bytea')`); err != nil {
		t.Fatal(err)
	}
	if len(columns) < 40 {
		t.Fatalf("%d columns", len(columns))
	}
	for _, c := range columns {
		value := fmt.Sprintf("%q::text", c.Column)
		if c.Type == "bytea" {
			value = fmt.Sprintf("encode(%q, 'escape')", c.Column)
		}
		if n := s.Number(fmt.Sprintf(`SELECT count(*) FROM %q WHERE %s ILIKE '%%' || $1 || '%%'`, c.Table, value), text); n > 0 {
			list = append(list, c.Table+"."+c.Column)
		}
	}
	return list
}

func TestEraseUser(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	twin := s.Twin(t)
	root, alpine, coral := s.Root(), s.Customer("Alpine Energy"), s.Customer("Coral Logistics")
	greta := s.As("Alpine Energy", "greta@alpine.example")
	const email, first, last = "adalgisa@lovelock.example", "Adalgisa", "Lovelock"
	s.Must(201, "POST", "/v1/outbound-webhooks/destinations", greta, map[string]any{"url": platform.PublicURL, "events": []string{"audit.*"}})
	s.Must(201, "POST", "/tenant/user", greta, map[string]any{"email": email, "firstName": first, "lastName": last})
	for _, customer := range []int64{alpine, coral} {
		s.Must(200, "POST", "/permission", root, map[string]any{
			"appAccountId": s.Account(customer, "tenant"), "appRoleId": s.RoleID(customer, "tenant", "Admin"), "email": email, "firstName": first, "lastName": last,
		})
	}
	id := s.UserID(email)
	s.SetUp(email)
	own := s.OpenSession(t, email, platform.NewPassword, "customerId", alpine)
	s.Must(401, "POST", "/auth/token", "", map[string]any{"email": email, "password": "wrong"})
	s.Must(200, "PUT", fmt.Sprintf("/tenant/user/%d", id), own.Token, map[string]any{"lastName": last + "-Byron"})
	made := s.Must(201, "POST", "/v1/keys", own.Token, map[string]any{"name": first + "'s key"}).JSON(t)
	key := s.Token(platform.Member(t, made, "clientId").(string), platform.Member(t, made, "clientSecret").(string), "tenant")
	s.MustGQL(own.Token, `mutation($p: String) { enableTotp(input: {password: $p}) { secret } }`, map[string]any{"p": platform.NewPassword})
	s.Must(204, "POST", "/auth/reset", "", map[string]any{"email": email})
	link := s.Link(email)
	context := s.NewContext(s.RootAs("assistant"), "Left behind")
	s.SQL(`UPDATE contexts SET user_id = $1 WHERE id = $2`, id, context)
	s.SQL(`INSERT INTO context_queries (context_id, user_id, text, mode, hits, relevance) VALUES ($1, $2, 'What does ' || $3 || ' earn?', 'LEXICAL', 0, 0)`, context, id, first)
	s.SQL(`UPDATE webhook_deliveries SET log = jsonb_build_array(jsonb_build_object('at', now(), 'response', convert_from(payload, 'UTF8')))`) // a receiver that answers with what it gets
	for _, text := range []string{email, first, last} {
		if list := holders(t, s, text); len(list) < 4 || !slices.Contains(list, "webhook_deliveries.log") {
			t.Fatalf("%s is only in %v", text, holders(t, s, text))
		}
	}
	heard := twin.OverSSE(t, own.Token)
	twin.Until(t, heard, func(n int) {
		s.Must(204, "PUT", "/tenant", root, map[string]any{"customerId": alpine, "name": fmt.Sprint("Alpine ", n)})
	})
	const erase = `mutation($u: ID!) { eraseUser(input: {userId: $u}) { deletedId } }`
	t.Run("by nobody else", func(t *testing.T) {
		s.Refused(t, "FORBIDDEN", greta, erase, map[string]any{"u": id})
		s.Refused(t, "FORBIDDEN", key, erase, map[string]any{"u": id})
		s.Refused(t, "FORBIDDEN", own.Token, erase, map[string]any{"u": s.UserID("greta@alpine.example")})
		s.Refused(t, "NOT_FOUND", root, erase, map[string]any{"u": platform.AbsentID})
		narrow := s.Must(201, "POST", "/v1/keys", root, map[string]any{"name": "reads only", "features": []string{"user.read"}}).JSON(t)
		token := s.Token(platform.Member(t, narrow, "clientId").(string), platform.Member(t, narrow, "clientSecret").(string), "tenant")
		s.Refused(t, "FORBIDDEN", token, erase, map[string]any{"u": s.UserID("greta@alpine.example")})
	})
	s.MustGQL(own.Token, erase, map[string]any{"u": id})
	gone := time.Now()
	for h := platform.Next(t, heard, "the end"); h.Err == nil && !h.Over; h = platform.Next(t, heard, "the end") {
		continue
	}
	if took := time.Since(gone); took > platform.AtOnce {
		t.Errorf("the subscription has ended after %v", took)
	}
	for _, text := range []string{email, first, last, "127.0.0.1"} {
		list := holders(t, s, text)
		if text == "127.0.0.1" { // greta's and others' stay
			list = nil
			if n := s.Number(`SELECT count(*) FROM audit_events WHERE (object_id = $1 AND object_type = 'User' OR actor_user_id = $1) AND details::text LIKE '%127.0.0.1%'`, id); n > 0 {
				list = append(list, "audit_events")
			}
		}
		if len(list) > 0 {
			t.Errorf("%s is still in %v", text, list)
		}
	}
	if works(s, own.Token) || works(twin, key) || s.Refresh(own.Refresh).Status != 401 {
		t.Error("something still works")
	}
	s.Must(401, "POST", "/auth/token", "", map[string]any{"email": email, "password": platform.NewPassword})
	s.Must(400, "POST", "/auth/setup", "", map[string]any{"token": link, "password": platform.NewPassword})
	name := fmt.Sprintf("erased:%d", id)
	t.Run("the log has a pseudonym", func(t *testing.T) {
		data := s.MustGQL(greta, `query($c: ID!) { auditEvents(first: 200, filter: {customerId: $c}) { nodes { action details actor { email name databaseId } } } }`, map[string]any{"c": alpine})
		seen := map[string]bool{}
		for _, e := range platform.Member(t, data, "auditEvents.nodes").([]any) {
			actor, _ := platform.Member(t, e, "actor").(map[string]any)
			if actor != nil && actor["email"] == name && actor["databaseId"] == float64(id) {
				seen[platform.Member(t, e, "action").(string)] = true
			}
			if platform.Member(t, e, "action") == "user.created" && strings.Contains(fmt.Sprint(e), name) {
				seen["told of"] = true
			}
		}
		if !seen["user.updated"] || !seen["user.signedIn"] || !seen["user.erased"] || !seen["told of"] {
			t.Errorf("%v", seen)
		}
		rest := s.Must(200, "GET", fmt.Sprintf("/v1/audit?action=user.erased&customerId=%d", alpine), greta, nil)
		if platform.Member(t, rest.JSON(t), "0.actorId") != float64(id) {
			t.Errorf("%s", rest.Body)
		}
		rest = s.Must(200, "GET", fmt.Sprintf("/v1/audit?actorId=%d&action=user.erased&customerId=%d", id, alpine), greta, nil)
		data = s.MustGQL(greta, `query($u: ID!, $c: ID!) { auditEvents(filter: {actorId: $u, action: "user.erased", customerId: $c}) { totalCount } }`, map[string]any{"u": id, "c": alpine})
		if platform.Member(t, rest.JSON(t), "#") != 1 || platform.Member(t, data, "auditEvents.totalCount") != float64(1) {
			t.Errorf("what the erased has done: %s, %v", rest.Body, data)
		}
	})
	t.Run("the pseudonym is nobody's address", func(t *testing.T) {
		s.Must(204, "POST", "/auth/reset", "", map[string]any{"email": name})
		s.Must(401, "POST", "/auth/token", "", map[string]any{"email": name, "password": platform.NewPassword})
		s.Must(400, "POST", "/tenant/user", greta, map[string]any{"email": name})
		platform.Scenario{Status: 404}.Judge(t, s.Do("PUT", fmt.Sprintf("/tenant/user/%d", id), root, map[string]any{"firstName": "X"}))
		s.Refused(t, "NOT_FOUND", root, erase, map[string]any{"u": id})
		if n := s.Number(`SELECT count(*) FROM link_tokens WHERE user_id = $1`, id); n != 0 {
			t.Errorf("%d links", n)
		}
	})
	t.Run("the address is free", func(t *testing.T) {
		if again := s.Must(201, "POST", "/tenant/user", greta, map[string]any{"email": email}).ID(t, "id"); again == id {
			t.Error("it is the user of before")
		}
	})
	t.Run("an owner of root may, but for the last owner of root", func(t *testing.T) {
		s.MustGQL(root, erase, map[string]any{"u": s.UserID("greta@alpine.example")})
		s.Refused(t, "BAD_REQUEST", root, erase, map[string]any{"u": s.UserID(platform.DemoAdmin)})
	})
}

// TestNobodyJoinsErased: who is granted something while it is erased gets nothing.
func TestNobodyJoinsErased(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, alpine := s.Root(), s.Customer("Alpine Energy")
	for n := range 8 {
		email := fmt.Sprintf("gone%d@alpine.example", n)
		id := s.Must(201, "POST", "/tenant/user", root, map[string]any{"email": email, "customerId": alpine}).ID(t, "id")
		account, role := s.Account(alpine, "tenant"), s.RoleID(alpine, "tenant", "Viewer")
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.Do("POST", "/permission", root, map[string]any{"appAccountId": account, "appRoleId": role, "userIdentityId": id})
		}()
		s.MustGQL(root, `mutation($u: ID!) { eraseUser(input: {userId: $u}) { deletedId } }`, map[string]any{"u": id})
		<-done
		if n := s.Number(`SELECT (SELECT count(*) FROM permissions WHERE user_id = $1) + (SELECT count(*) FROM memberships WHERE user_id = $1)`, id); n != 0 || len(holders(t, s, email)) > 0 {
			t.Errorf("%d rows of %d are there, its address in %v", n, id, holders(t, s, email))
		}
	}
	if log := s.Log.String(); strings.Contains(log, "deadlock") || strings.Contains(log, "status=50") {
		t.Error(log)
	}
}

// TestErasedInThatInstant: who changes something of a person and waits for whoever erases that person hears afterwards that there is none.
func TestErasedInThatInstant(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, wei := s.Root(), s.UserID("wei@coral.example")
	s.SetUp("wei@coral.example")
	session := s.OpenSession(t, "wei@coral.example", platform.NewPassword)
	own := s.Number(`SELECT max(id) FROM sessions WHERE user_id = $1`, wei)
	newcomer := s.UserID("aisha@coral.example")
	tx, err := s.DB.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.Exec(`UPDATE users SET erased_at = now() WHERE id = ANY (ARRAY[$1, $2]::bigint[])`, wei, newcomer); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for want, ask := range map[string]func() platform.Answer{
		"a session: 404":          func() platform.Answer { return s.Do("DELETE", fmt.Sprintf("/v1/sessions/%d", own), session.Token, nil) },
		"the other sessions: 404": func() platform.Answer { return s.Do("DELETE", "/v1/sessions", session.Token, nil) },
		"a renewal: 401":          func() platform.Answer { return s.Refresh(session.Refresh) },
		"an invitation: 404":      func() platform.Answer { return s.Do("POST", "/tenant/user/init", root, map[string]any{"id": newcomer}) },
	} {
		all.Go(func() {
			if a := ask(); !strings.HasSuffix(want, fmt.Sprint(": ", a.Status)) {
				t.Errorf("%s, and not %d %s", want, a.Status, a.Body)
			}
		})
	}
	s.UntilWaiting(t, 4)
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	all.Wait()
}
