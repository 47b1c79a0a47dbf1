package graph

import (
	"strconv"
	"testing"
	"time"
)

// TestListenersAreCounted opens one subscription more than a caller may, and sees that there is room
// again when one has ended, and when the connection is closed.
func TestListenersAreCounted(t *testing.T) {
	d := newTestDoor(t, nil)
	const watch = "subscription { auditEvent { id } }"
	// room waits for it: subscriptions end beside the requests for it. One that was let in lives until
	// its token ends.
	room := func() {
		t.Helper()
		for range 100 {
			conn := agreed(t, d.as(owner(200*time.Millisecond)))
			send(t, conn, query("try", watch))
			switch code := codeIn(receive(t, conn)); code {
			case "UNAUTHENTICATED":
				return
			case "RATE_LIMITED":
				time.Sleep(20 * time.Millisecond)
			default:
				t.Fatalf("it ended with %q", code)
			}
		}
		t.Error("there is no room")
	}

	conn := agreed(t, d.as(owner(time.Minute)))
	for i := range maxListeners + 1 {
		send(t, conn, query(strconv.Itoa(i), watch))
	}
	refused := receive(t, conn)
	if refused.Type != "error" || codeIn(refused) != "RATE_LIMITED" {
		t.Fatalf("got %+v", refused)
	}
	for i := range 2 { // one of them is open
		send(t, conn, frame{ID: strconv.Itoa(i), Type: "complete"})
	}
	room()
	for i := range 2 {
		send(t, conn, query("again"+strconv.Itoa(i), watch))
	}
	_ = conn.Close()
	room()
}
