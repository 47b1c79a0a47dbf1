package jobs

import (
	"context"

	"github.com/hibiken/asynq"

	"canopy/internal/telemetry"
)

// traceTasks tells of the tasks whose rows lead to no request: of others their handlers tell, by the row that they take up.
func (w *Worker) traceTasks(next asynq.Handler) asynq.Handler {
	if !w.Trace.Traces() {
		return next
	}
	return asynq.HandlerFunc(func(ctx context.Context, t *asynq.Task) error {
		if t.Type() != typeBlob && t.Type() != typeExport && t.Type() != typeImport {
			return next.ProcessTask(ctx, t)
		}
		ctx, span := w.Trace.Root(ctx, "", "task "+t.Type(), telemetry.Consumer)
		err := next.ProcessTask(ctx, t)
		span.End(err)
		return err
	})
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
