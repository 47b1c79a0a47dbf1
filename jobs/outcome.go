package jobs

import (
	"fmt"

	"github.com/hibiken/asynq"
)

// missed says, in words for the dashboard of the queues, that a task did not do what it was for. The
// queue counts it as failed and tries nothing by itself: what came of it is in its row, and so is the
// time of the next try. The words name nobody, and quote nothing that came from outside.
type missed string

func missedf(format string, args ...any) error { return missed(fmt.Sprintf(format, args...)) }

func (m missed) Error() string { return string(m) }

// say tells the dashboard what a task has done. A task that was not taken from a queue has nowhere to say it.
func say(t *asynq.Task, words string) {
	if w := t.ResultWriter(); w != nil {
		_, _ = w.Write([]byte(words)) // the queue keeps nothing that is needed
	}
}

// sayNothingToDo is for a task whose row has moved on.
func sayNothingToDo(t *asynq.Task) error {
	say(t, "There was nothing to do: it has ended, or another attempt has it.")
	return nil
}
