package graph

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"canopy/e2e/platform"
	"canopy/outbox"
	"canopy/resolvers"
)

// frame is what a WebSocket brings; the last one is of the type "closed".
type frame struct {
	ID, Type string
	Payload  json.RawMessage
	code     int
}

// errorCode is extensions.code of the first error, in a result or an error.
func (f frame) errorCode() string {
	var errs []struct{ Extensions struct{ Code string } }
	if json.Unmarshal(f.Payload, &errs) != nil {
		var result struct{ Errors json.RawMessage }
		_ = json.Unmarshal(f.Payload, &result)
		_ = json.Unmarshal(result.Errors, &errs)
	}
	if len(errs) == 0 {
		return ""
	}
	return errs[0].Extensions.Code
}

// TestLooksOfOneCallerAreShared: however many subscriptions somebody has open, they are looked after together, and each tells what there is.
func TestLooksOfOneCallerAreShared(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	token, user := s.Root(), s.UserID(s.Demo.AdminEmail)
	const open = 300
	frames, conn := listen(t, s, token, slices.Repeat([]string{`subscription { meUpdated { user { firstName customers(first: 1) { nodes { name } } } } }`}, open)...)
	defer func() { _ = conn.Close() }()
	told := func(name string) {
		t.Helper()
		for range open {
			if f := <-frames; f.Type != "next" || !strings.Contains(string(f.Payload), fmt.Sprintf(`"firstName":%q`, name)) {
				t.Fatalf("%s %s", f.Type, f.Payload)
			}
		}
	}
	var name string
	s.Look(&name, `SELECT first_name FROM memberships WHERE user_id = $1 AND customer_id = 1`, user)
	told(name)
	// The look of every ten seconds would count besides: it is over, and the next one is some time off.
	for left := time.Duration(0); left < 4*time.Second || left > 7*time.Second; left = resolvers.UntilRecheck(time.Now(), user) {
		time.Sleep(100 * time.Millisecond)
	}
	before := s.App.Store.Executed()
	s.SQL(`UPDATE users SET first_name = 'Nova' WHERE id = $1`, user)
	s.SQL(`UPDATE memberships SET first_name = 'Nova' WHERE user_id = $1`, user)
	s.App.Bus.Publish(t.Context(), outbox.CallerTopic(user), nil)
	told("Nova")
	// Of what a look reads the caller, the company and the user are read for many at once, and each subscription reads what it asks for besides.
	if n := s.App.Store.Executed() - before; n > open*3/2 {
		t.Errorf("%d subscriptions were looked after by %d statements", open, n)
	}
}

// listen opens subscriptions on one WebSocket, whose ids are their numbers from 0.
func listen(t *testing.T, s *platform.Platform, token string, queries ...string) (<-chan frame, *websocket.Conn) {
	t.Helper()
	conn := s.Dial(t, queries[0], object{"authorization": "Bearer " + token}, nil)
	for i, q := range queries[1:] {
		if err := conn.WriteJSON(object{"type": "subscribe", "id": strconv.Itoa(i + 2), "payload": object{"query": q}}); err != nil {
			t.Fatal(err)
		}
	}
	out := make(chan frame, 1000)
	go func() {
		for {
			var f frame
			err := conn.ReadJSON(&f)
			var end *websocket.CloseError
			if errors.As(err, &end) {
				f = frame{Type: "closed", code: end.Code}
			} else if err != nil {
				f = frame{Type: "closed"}
			}
			if f.Type != "connection_ack" {
				out <- f
			}
			if err != nil {
				return
			}
		}
	}()
	return out, conn
}

// first waits for a frame that meets a condition, and makes changes until it comes: a subscription
// takes a moment to begin.
func first(t *testing.T, from <-chan frame, what string, change func(), is func(frame) bool) frame {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(platform.Patience); ; {
		select {
		case f := <-from:
			if is(f) {
				return f
			}
			if f.Type == "closed" {
				t.Fatalf("%s: closed with %d", what, f.code)
			}
		case <-tick.C:
			change()
		case <-deadline:
			t.Fatalf("%s: nothing is heard", what)
		}
	}
}

func ofType(typ, id string) func(frame) bool {
	return func(f frame) bool { return f.Type == typ && f.ID == id }
}

// listeningRole makes a person with a role of some rights, and gives what changes these, the id of the
// permission and a token.
func listeningRole(s *platform.Platform, features ...string) (change func(features ...string), permission int64, token string) {
	s.T.Helper()
	greta, alpine := s.As("Alpine Energy", "greta@alpine.example"), s.Customer("Alpine Energy")
	role := s.Mutate(greta, "createRole", "role { databaseId }", object{"applicationId": 1, "name": "Listener", "features": features})["role"].(object)["databaseId"]
	permission = s.Must(200, "POST", "/permission", greta, object{
		"appAccountId": s.Account(alpine, "tenant"), "appRoleId": role, "email": "listener@alpine.example",
	}).ID(s.T, "id")
	return func(features ...string) {
		s.Mutate(greta, "updateRole", "role { name }", object{"id": role, "features": features})
	}, permission, s.TokenOf(alpine, "listener@alpine.example", "tenant")
}

// rename changes a company that everyone here hears of.
func rename(s *platform.Platform) func() {
	root, hydro, n := s.Root(), s.Customer("Alpine Hydro"), 0
	return func() {
		n++
		s.Must(204, "PUT", "/tenant", root, object{"customerId": hydro, "name": fmt.Sprint("Renamed ", n)})
	}
}

// TestSubscriptionSaysWhyItEnds takes from a listener one thing after the other.
func TestSubscriptionSaysWhyItEnds(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	change, permission, token := listeningRole(s, "audit.read", "company.read", "webhook.read")
	rename := rename(s)
	alpine := s.Customer("Alpine Energy")
	t.Run("the right to one of two", func(t *testing.T) {
		frames, conn := listen(t, s, token, platform.AuditSubscription, `subscription { runUpdated(jobKey: "5b0ab0a8-6f0c-4a9e-9c52-2f5f1d1d6a11") { status } }`)
		if f := first(t, frames, "a refusal", rename, ofType("error", "2")); f.errorCode() != "FORBIDDEN" {
			t.Errorf("got %s", f.Payload)
		}
		first(t, frames, "an event", rename, ofType("next", "1"))
		change("company.read")
		if f := first(t, frames, "the end", rename, ofType("error", "1")); f.errorCode() != "FORBIDDEN" || !strings.Contains(string(f.Payload), "audit.read") {
			t.Errorf("got %s", f.Payload)
		}
		// The connection is good for what else its caller may.
		if err := conn.WriteJSON(object{"type": "subscribe", "id": "3", "payload": object{"query": "{ customer { name } }"}}); err != nil {
			t.Fatal(err)
		}
		if f := first(t, frames, "an answer", rename, ofType("next", "3")); f.errorCode() != "" {
			t.Errorf("got %s", f.Payload)
		}
		change("audit.read", "company.read")
	})
	t.Run("the right, by events", func(t *testing.T) {
		stream := s.Stream(t, platform.AuditSubscription, token)
		for len(stream) == 0 {
			rename()
		}
		change("company.read")
		rename()
		last := ""
		for line := range stream {
			last = line
		}
		if !strings.Contains(last, `"FORBIDDEN"`) {
			t.Errorf("at last %s", last)
		}
		change("audit.read", "company.read")
	})
	t.Run("every right", func(t *testing.T) {
		frames, _ := listen(t, s, token, platform.AuditSubscription)
		first(t, frames, "an event", rename, ofType("next", "1"))
		s.Must(204, "PATCH", fmt.Sprint("/permission/", permission), s.Root(), nil)
		if f := first(t, frames, "the end", rename, ofType("error", "1")); f.errorCode() != "FORBIDDEN" {
			t.Errorf("got %s", f.Payload)
		}
		if f := first(t, frames, "the close", rename, func(f frame) bool { return f.Type == "closed" }); f.code != 4403 {
			t.Errorf("closed with %d", f.code)
		}
		s.Must(204, "PATCH", fmt.Sprint("/permission/", permission), s.Root(), nil)
	})
	t.Run("the key", func(t *testing.T) {
		key, plain, err := s.App.Resolver.OperatorCreateKey(t.Context(), alpine, "listener@alpine.example", "")
		if err != nil {
			t.Fatal(err)
		}
		frames, _ := listen(t, s, s.Token(key.ClientID, plain, "tenant"), platform.AuditSubscription, platform.AuditSubscription)
		for _, id := range []string{"1", "2"} {
			first(t, frames, "an event", rename, ofType("next", id))
		}
		if err := s.App.Resolver.OperatorRevokeKey(t.Context(), key.ClientID); err != nil {
			t.Fatal(err)
		}
		rename()
		ended := map[string]bool{}
		closed := first(t, frames, "the close", func() {}, func(f frame) bool {
			if f.Type == "error" && f.errorCode() == "UNAUTHENTICATED" {
				ended[f.ID] = true
			}
			return f.Type == "closed"
		})
		if closed.code != 4401 || !ended["1"] || !ended["2"] {
			t.Errorf("closed with %d after the ends of %v", closed.code, ended)
		}
	})
	t.Run("what is listened to", func(t *testing.T) {
		assistant := s.Assistant()
		id := s.NewContext(assistant, "Short-lived")
		frames, _ := listen(t, s, assistant, fmt.Sprintf(`subscription { documentUpdated(contextId: %d) { status } }`, id))
		s.Must(200, "DELETE", fmt.Sprint("/context/", id), assistant, nil)
		if f := first(t, frames, "the end", func() {}, ofType("error", "1")); f.errorCode() != "NOT_FOUND" {
			t.Errorf("got %s", f.Payload)
		}
	})
}

// TestEventsAreResolvedWithTheRightsOfTheirMoment takes a right away between two events: what it is
// needed for below the event is refused, and nothing else.
func TestEventsAreResolvedWithTheRightsOfTheirMoment(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	const deep = `subscription { e: auditEvent { objectId customer { name billing { city } } } }`
	rename := rename(s)
	s.Must(204, "POST", fmt.Sprint("/tenant/billing/", s.Customer("Alpine Hydro")), s.Root(), object{"city": "Graz"})
	for name, listen := range map[string]func(t *testing.T, token string) <-chan frame{
		"socket": func(t *testing.T, token string) <-chan frame {
			frames, _ := listen(t, s, token, deep)
			return frames
		},
		"events": func(t *testing.T, token string) <-chan frame {
			out := make(chan frame, 1000)
			go func(lines <-chan string) {
				for line := range lines {
					out <- frame{ID: "1", Type: "next", Payload: json.RawMessage(line)}
				}
			}(s.Stream(t, deep, token))
			return out
		},
	} {
		t.Run(name, func(t *testing.T) {
			change, permission, token := listeningRole(s, "audit.read", "company.read", "billing.read")
			defer func() {
				s.Must(204, "DELETE", fmt.Sprint("/permission/", permission), s.Root(), nil)
				s.SQL(`DELETE FROM roles WHERE name = 'Listener'`)
			}()
			frames := listen(t, token)
			city := func(f frame) bool { return strings.Contains(string(f.Payload), `"city":"Graz"`) }
			first(t, frames, "an event with billing", rename, city)
			change("audit.read", "company.read")
			f := first(t, frames, "an event without", rename, func(f frame) bool {
				return strings.Contains(string(f.Payload), `"name":"Renamed `) && !city(f)
			})
			if f.errorCode() != "FORBIDDEN" || !strings.Contains(string(f.Payload), `"path":["e","customer","billing"]`) {
				t.Errorf("got %s", f.Payload)
			}
			change("audit.read", "company.read", "billing.read")
			first(t, frames, "an event with billing again", rename, city)
		})
	}
}

// TestFaultsAreTold: an event that can't be read is told as an error, and the next one is sent.
func TestFaultsAreTold(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	frames, _ := listen(t, s, s.Root(), platform.AuditSubscription)
	rename := rename(s)
	first(t, frames, "an event", rename, ofType("next", "1"))
	id := s.Number(`SELECT max(id) FROM audit_events`)
	s.SQL(`ALTER TABLE audit_events RENAME TO hidden`)
	fault := first(t, frames, "a fault", func() { outbox.TellAudit(t.Context(), s.App.Bus, id) }, func(f frame) bool { return f.errorCode() != "" })
	s.SQL(`ALTER TABLE hidden RENAME TO audit_events`)
	if fault.Type != "next" || fault.errorCode() != "INTERNAL" || !strings.Contains(string(fault.Payload), `"data":null`) || strings.Contains(string(fault.Payload), "relation") {
		t.Errorf("got %s %s", fault.Type, fault.Payload)
	}
	if !strings.Contains(s.Log.String(), "internal error") {
		t.Error("the log says nothing")
	}
	first(t, frames, "an event", rename, func(f frame) bool { return f.Type == "next" && f.errorCode() == "" })
}

// TestRunsAreNotRepeated follows a run of many steps by what these don't change.
func TestRunsAreNotRepeated(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.NoDemoMails()
	token := s.RootAs("builder")
	key := s.Start(token, s.Publish(token, platform.CountingSteps), object{})
	resp := s.OverEvents(t.Context(), t, `subscription { runUpdated(jobKey: "`+key+`") { status } }`, token)
	s.Work(nil)
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var states []string
	for line := range strings.Lines(string(body)) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			states = append(states, platform.DataOf(t, data)["runUpdated"].(object)["status"].(string))
		}
	}
	// Whether it is seen running depends on when the subscription begins; no state comes twice.
	if !slices.Equal(states, []string{"running", "finished"}) && !slices.Equal(states, []string{"finished"}) {
		t.Errorf("told %v", states)
	}
}
