package graph

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"canopy/internal/access"
	"canopy/internal/intake"
	"canopy/internal/web"
)

// events reads what was streamed, one line a time.
func (d *testDoor) events(t *testing.T, r *http.Request) (*answer, []string) {
	t.Helper()
	r.Header.Set("Accept", "text/event-stream")
	a := d.do(t, r)
	var list []string
	for line := range strings.Lines(a.Raw) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "event:") || strings.HasPrefix(line, "data: {") {
			list = append(list, line)
		}
	}
	return a, list
}

func TestServerSentEvents(t *testing.T) {
	const watch = `{"query":"subscription { auditEvent { id } }"}`
	t.Run("a query", func(t *testing.T) {
		a, events := newTestDoor(t, nil).events(t, post(t.Context(), strings.NewReader(typename)))
		if a.Status != http.StatusOK || a.Header.Get("Content-Type") != typeEvents || len(events) != 3 ||
			events[0] != "event: next" || !strings.HasPrefix(events[1], `data: {"data":{"__typename":"Query"}`) || events[2] != "event: complete" {
			t.Errorf("status %d: %q", a.Status, a.Raw)
		}
	})
	t.Run("ends when the token does", func(t *testing.T) {
		start := time.Now()
		_, events := newTestDoor(t, nil).as(owner(100*time.Millisecond)).events(t, post(t.Context(), strings.NewReader(watch)))
		if took := time.Since(start); took < 100*time.Millisecond || took > 5*time.Second {
			t.Errorf("ended after %v", took)
		}
		if len(events) != 3 || !strings.Contains(events[1], `"code":"UNAUTHENTICATED"`) || events[2] != "event: complete" {
			t.Errorf("events %q", events)
		}
	})
	t.Run("says when to come back", func(t *testing.T) {
		a, _ := newTestDoor(t, nil).events(t, post(t.Context(), strings.NewReader(typename)))
		var wait int
		if _, err := fmt.Sscanf(a.Raw, "retry: %d\n\n", &wait); err != nil || wait < 1000 || wait > 5000 {
			t.Errorf("after %d ms: %q", wait, a.Raw)
		}
	})
	t.Run("a document that is not valid", func(t *testing.T) {
		a, events := newTestDoor(t, nil).events(t, post(t.Context(), strings.NewReader(`{"query":"{ nothing }"}`)))
		if a.Status != http.StatusOK || len(events) != 3 || !strings.Contains(events[1], `"code":"BAD_REQUEST"`) {
			t.Errorf("status %d: %q", a.Status, events)
		}
	})
	t.Run("without a token", func(t *testing.T) {
		a, _ := newTestDoor(t, nil).events(t, post(t.Context(), strings.NewReader(watch)))
		if !strings.Contains(a.Raw, `"UNAUTHENTICATED"`) {
			t.Errorf("status %d: %q", a.Status, a.Raw)
		}
	})
	for name, body := range map[string]string{
		"cut JSON":                 `{"query":`,
		"a variable twice":         `{"query":"{ __typename }","variables":{"a":1,"a":2}}`,
		"a text that is not UTF-8": "{\"query\":\"{ __typename }\",\"variables\":{\"a\":\"\xff\"}}",
	} {
		t.Run(name, func(t *testing.T) {
			a, _ := newTestDoor(t, nil).events(t, post(t.Context(), strings.NewReader(body)))
			if a.Status != http.StatusBadRequest {
				t.Errorf("status %d: %q", a.Status, a.Raw)
			}
		})
	}
	t.Run("a body that is too large", func(t *testing.T) {
		a, _ := newTestDoor(t, nil).events(t, post(access.WithPrincipal(t.Context(), &access.Principal{}), strings.NewReader(`{"query":"{ __typename }","x":"`+strings.Repeat("x", intake.MaxBody)+`"}`)))
		if a.Status != http.StatusRequestEntityTooLarge {
			t.Errorf("status %d: %.200q", a.Status, a.Raw)
		}
	})
}

// What a scalar of raw JSON brings along must not end the event.
func TestEventsAreOneLine(t *testing.T) {
	w := httptest.NewRecorder()
	s := openEvents(w)
	s.next(&graphql.Response{Data: json.RawMessage("{\"a\":\n[1,\r\n2]}")})
	s.Close()
	var data []string
	for lines := bufio.NewScanner(w.Body); lines.Scan(); {
		if after, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			data = append(data, after)
		}
	}
	if len(data) != 1 || !json.Valid([]byte(data[0])) {
		t.Errorf("data %q", data)
	}
	if s.Send("late", ""); strings.Contains(w.Body.String(), "late") {
		t.Error("it is written to after its end")
	}
}

// TestEventsAtShutdown: a stream that the server cuts off has no end, so that its client comes back.
func TestEventsAtShutdown(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	d := newTestDoor(t, nil).as(owner(time.Minute))
	go func() {
		ended <- web.Serve(ctx, listener, d, web.ServeOptions{Log: slog.New(slog.DiscardHandler)})
	}()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+listener.Addr().String()+"/graphql",
		strings.NewReader(`{"query":"subscription { auditEvent { id } }"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", typeJSON)
	r.Header.Set("Accept", typeEvents)
	resp, err := http.DefaultClient.Do(r) // the head comes with the beginning of the stream
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	stop()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || strings.Contains(string(raw), "event:") || strings.Count(string(raw), "retry: ") != 2 {
		t.Errorf("%v: %q", err, raw)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
