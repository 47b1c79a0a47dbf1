package isolation

import (
	"fmt"
	"strings"
	"testing"
)

// TestDocumentSubscription follows a document through its processing, as every kind of caller, and by
// both transports.
func TestDocumentSubscription(t *testing.T) {
	t.Parallel()
	documentSubscription(t, newWorld(t))
}

func documentSubscription(t *testing.T, w *world) {
	t.Helper()
	w.T = t // whose end is the worker's
	a := &ask{world: w, as: asOwner}
	contextID := a.freshContext()
	query := fmt.Sprintf(`subscription { documentUpdated(contextId: %d) { originalName status progress error } }`, contextID)
	want := w.answers(onDesk, rulesOf(query), true)
	for _, as := range everybody {
		if c := want.wants(as, false); c != getsOK {
			t.Run("refused/"+string(as), func(t *testing.T) { w.isRefused(t, query, w.desk[as], c.quoted()) })
		}
	}
	w.Work(nil)
	for _, as := range []who{asOwner, asViewer} {
		t.Run("heard/"+string(as), func(t *testing.T) {
			lines := w.Stream(t, query, w.desk[as])
			w.hearsReady(t, contextID, func() string { return <-lines })
		})
	}
	t.Run("heard over a WebSocket", func(t *testing.T) {
		conn := w.Dial(t, query, object{"Authorization": "Bearer " + w.desk[asOwner]}, nil)
		w.hearsReady(t, contextID, func() string {
			_, raw, err := conn.ReadMessage()
			if err != nil {
				t.Fatal(err)
			}
			return string(raw)
		})
	})
}

// TestAnswerSubscription asks a context as every kind of caller.
func TestAnswerSubscription(t *testing.T) {
	t.Parallel()
	answerSubscription(t, newWorld(t))
}

func answerSubscription(t *testing.T, w *world) {
	t.Helper()
	w.T = t
	contextID := (&ask{world: w, as: asOwner}).aSearchedContext()
	query := fmt.Sprintf(`subscription { askContext(contextId: %d, prompt: "a word") { text warnings { code } citations { quote hit { document { displayName } } } } }`, contextID)
	want := w.answers(onDesk, rulesOf(query), true)
	for _, as := range everybody {
		t.Run(string(as), func(t *testing.T) {
			if c := want.wants(as, false); c != getsOK {
				w.isRefused(t, query, w.desk[as], c.quoted())
			} else if line := <-w.Stream(t, query, w.desk[as]); !strings.Contains(line, `"data":{"askContext":{"text":"`) {
				t.Errorf("%s", line)
			}
		})
	}
	w.quiet(t)
}

// hearsReady uploads documents until the listener, whose subscription takes a moment to begin, has
// heard of one that it is ready.
func (w *world) hearsReady(t *testing.T, contextID int64, next func() string) {
	t.Helper()
	heard := make(chan bool)
	go func() {
		for line := next(); line != "" && !strings.Contains(line, `"status":"ready","progress":1,"error":null`); line = next() {
		}
		close(heard)
	}()
	for i := range 100 {
		w.Upload(w.desk[asOwner], contextID, fmt.Sprintf("%d.txt", i), fmt.Appendf(nil, "text %d", i))
		w.Settle(w.desk[asOwner], contextID)
		select {
		case <-heard:
			return
		default:
		}
	}
	t.Fatal("nothing is heard of a ready document")
}
