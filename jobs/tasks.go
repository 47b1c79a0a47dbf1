// Package jobs is the back room: the asynq tasks, the relay that hands the database's outbox rows
// to them, and the periodic upkeep. Nothing in Redis is the only copy of anything: a task names a
// row and an attempt, and a row whose task was lost is handed out again.
package jobs

import (
	"encoding/json"
	"time"

	"github.com/hibiken/asynq"

	"canopy/db"
)

// The queues. Each has workers of its own, so that none waits for another.
const (
	queueMail = "mail"
	// queueBlobs is for originals to delete.
	queueBlobs     = "blobs"
	queueDocuments = "documents"
	queueRuns      = "runs"
	queueWebhooks  = "webhooks"
	queueExports   = "exports"
	queueImports   = "imports"
)

// The task types. Payloads carry ids only, so that the queue's dashboard shows nothing personal.
const (
	typeMail     = "mail:send"
	typeBlob     = "blob:delete"
	typeDocument = "document:process"
	typeRun      = "run:execute"
	typeDeliver  = "webhook:deliver"
	typeExport   = "customer:export"
	typeImport   = "customer:import"
)

// leaseTime is how long a row that was handed to the queue is left alone before it is handed out
// again: the queue, or the worker, has lost it then.
const leaseTime = 30 * time.Second

// uniqueTime is how long a mail's task keeps others of its kind for the same row and attempt out of the
// queue: while workers are slow, leases end before their tasks begin.
const uniqueTime = 2 * time.Minute

func mailTask(due db.DueMail) (*asynq.Task, error) {
	return newTask(typeMail, queueMail, due, asynq.Unique(uniqueTime))
}

func blobTask(due db.DueBlob) (*asynq.Task, error) {
	return newTask(typeBlob, queueBlobs, due)
}

func documentTask(due db.DueDocument) (*asynq.Task, error) {
	// The queue takes what a place goes on with for a part of its first task: there is time for the last one that it takes up, too.
	return newTask(typeDocument, queueDocuments, due, asynq.Timeout(documentTimeout+goOnFor+documentTimeout))
}

func exportTask(due db.DueExport) (*asynq.Task, error) {
	return newTask(typeExport, queueExports, due, asynq.Timeout(archiveTimeout))
}

func importTask(due db.DueImport) (*asynq.Task, error) {
	return newTask(typeImport, queueImports, due, asynq.Timeout(archiveTimeout))
}

func runTask(due db.DueRun) (*asynq.Task, error) {
	return newTask(typeRun, queueRuns, due, asynq.Timeout(runTimeout))
}

// destinationDue is the payload of a task that has a destination's deliveries attempted; Oldest is
// when the first of them was due.
type destinationDue struct {
	DestinationID int64     `json:"destinationId"`
	Oldest        time.Time `json:"oldest"`
	BranchID      int64     `json:"branchId"`
}

func deliverTask(due db.DueDestination) (*asynq.Task, error) {
	return newTask(typeDeliver, queueWebhooks, destinationDue{due.ID, due.Oldest, due.BranchID}, asynq.Retention(time.Minute))
}

// newTask makes a task that is tried once: whether and when to try again is the row's business.
func newTask(typ, queue string, payload any, more ...asynq.Option) (*asynq.Task, error) {
	raw, err := json.Marshal(payload)
	if err != nil {
		return nil, err
	}
	options := append([]asynq.Option{asynq.Queue(queue), asynq.MaxRetry(0), asynq.Retention(time.Hour)}, more...)
	return asynq.NewTask(typ, raw, options...), nil
}
