package outbox

import (
	"context"
	"strconv"

	"canopy/internal/bus"
)

// AuditTopic is where the ids of new audit events are told.
const AuditTopic = "audit"

// SigningKeysTopic is where it is told that the set of signing keys has changed.
const SigningKeysTopic = "signing keys"

// CallerTopic is where it is told that a user may have lost something. It has no payload: whoever serves the user looks it
// up again.
func CallerTopic(userID int64) string { return "caller:" + strconv.FormatInt(userID, 10) }

// TreeTopic is where the ids of companies are told whose status has changed, or whose place: it concerns whoever acts for
// one of them, or for one below.
const TreeTopic = "tree"

// TellTree tells of a company with all below it, once the change is committed.
func TellTree(ctx context.Context, b *bus.Bus, customerID int64) {
	b.Publish(ctx, TreeTopic, strconv.AppendInt(nil, customerID, 10))
}

// TellTreeHere is TellTree for this process alone.
func TellTreeHere(b *bus.Bus, customerID int64) {
	b.PublishHere(TreeTopic, strconv.AppendInt(nil, customerID, 10))
}

// DocumentTopic is where the ids of a context's documents are told as they change.
func DocumentTopic(contextID int64) string { return "documents:" + strconv.FormatInt(contextID, 10) }

// RunTopic is where it is told that a run has moved on.
func RunTopic(jobKey string) string { return "run:" + jobKey }

// DeliveriesTopic is where the ids of a destination's deliveries are told that have moved on,
// separated by commas.
func DeliveriesTopic(destinationID int64) string {
	return "deliveries:" + strconv.FormatInt(destinationID, 10)
}

// TellAudit tells of a new audit event, once it is committed.
func TellAudit(ctx context.Context, b *bus.Bus, id int64) {
	b.Publish(ctx, AuditTopic, strconv.AppendInt(nil, id, 10))
}

// TellSigningKeys tells every process to read the signing keys at once, rather than in its time.
func TellSigningKeys(ctx context.Context, b *bus.Bus) { b.Publish(ctx, SigningKeysTopic, nil) }

// TellDocument tells those who follow a context that one of its documents has changed.
func TellDocument(ctx context.Context, b *bus.Bus, contextID, id int64) {
	b.Publish(ctx, DocumentTopic(contextID), strconv.AppendInt(nil, id, 10))
}
