package graph

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// TestListenersAreCounted opens one subscription more than a caller may, and sees that there is room
// again when one has ended, and when the connection is closed.
func TestListenersAreCounted(t *testing.T) {
	d := newTestDoor(t, nil).as(owner(time.Minute))
	payload := map[string]any{"query": "subscription { auditEvent { id } }"}
	connect := func() *websocket.Conn {
		conn, _ := dial(t, d, nil)
		send(t, conn, frame{Type: "connection_init"})
		receive(t, conn)
		return conn
	}
	// ended reads on until a subscription has ended, and tells whether it had been refused.
	ended := func(conn *websocket.Conn, id func(string) bool) (refused bool) {
		for {
			switch f := receive(t, conn); {
			case !id(f.ID):
			case f.Type == "complete":
				return refused
			case !strings.Contains(toText(f.Payload), "RATE_LIMITED"):
				t.Fatalf("%+v", f)
			default:
				refused = true
			}
		}
	}
	room := func(conn *websocket.Conn) {
		t.Helper()
		for i := range 100 { // subscriptions end beside the requests for it
			id := "try" + strconv.Itoa(i)
			send(t, conn, frame{ID: id, Type: "subscribe", Payload: payload})
			send(t, conn, frame{ID: id, Type: "complete"})
			if !ended(conn, func(got string) bool { return got == id }) {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		t.Error("there is no room")
	}

	conn := connect()
	open := map[string]bool{}
	for i := range maxListeners + 1 {
		id := strconv.Itoa(i)
		open[id] = true
		send(t, conn, frame{ID: id, Type: "subscribe", Payload: payload})
	}
	if !ended(conn, func(id string) bool { delete(open, id); return true }) {
		t.Fatal("all are open")
	}
	for id := range open {
		send(t, conn, frame{ID: id, Type: "complete"})
		break
	}
	room(conn)
	send(t, conn, frame{ID: "last", Type: "subscribe", Payload: payload})
	_ = conn.Close()
	room(connect())
}
