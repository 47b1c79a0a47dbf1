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
			conn := agreed(t, d.as(owner(2*time.Second)))
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

// TestListenersOfABranchAreCounted: more keys are not more subscriptions without end, and nothing of it is another
// branch's business.
func TestListenersOfABranchAreCounted(t *testing.T) {
	l := newListeners()
	for i := range maxBranchListeners {
		if most, _ := l.enter(strconv.Itoa(i%20), 7); most > 0 {
			t.Fatalf("the subscription %d is refused: %d", i, most)
		}
	}
	if most, whose := l.enter("another key", 7); most != maxBranchListeners || whose != "this branch of the tree" {
		t.Errorf("one more: %d of %q", most, whose)
	}
	if most, _ := l.enter("another key", 8); most > 0 {
		t.Errorf("of another branch: %d", most)
	}
	l.leave("0", 7)
	if most, _ := l.enter("another key", 7); most > 0 {
		t.Errorf("after the end of one: %d", most)
	}
}
