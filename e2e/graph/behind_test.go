package graph

import (
	"strconv"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/outbox"
)

// TestWhoIsTooSlowIsTold: what comes faster than it is taken is told as far as there is room, and then that there was more.
func TestWhoIsTooSlowIsTold(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	frames, conn := listen(t, s, s.Root(), `subscription { auditEvent { action } }`)
	defer func() { _ = conn.Close() }()
	event := s.Number(`SELECT max(id) FROM audit_events WHERE customer_id = 1`)
	tell := func() { s.App.Bus.Publish(t.Context(), outbox.AuditTopic, strconv.AppendInt(nil, event, 10)) }
	first(t, frames, "an event", tell, func(f frame) bool { return f.Type == "next" })
	const room = 4096
	made, told := 0, 0
	burst := func() {
		for range 2 * room {
			tell()
		}
		made += 2 * room
	}
	burst()
	end := first(t, frames, "the end", burst, func(f frame) bool {
		if f.Type == "next" {
			told++
		}
		return f.Type != "next"
	})
	if end.Type != "error" || end.errorCode() != "UNAVAILABLE" || !strings.Contains(string(end.Payload), `"reader_behind"`) {
		t.Errorf("it ended with %s %s", end.Type, end.Payload)
	}
	if told < room || told >= made {
		t.Errorf("%d events of %d were told", told, made)
	}
}
