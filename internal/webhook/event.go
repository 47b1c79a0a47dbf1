// Package webhook is the format of outbound webhooks: the event envelope and its catalog, the
// signature over the exact bytes sent, the signing secrets, and a receiver for trying it all out.
// docs/webhooks.md tells receivers of it. How deliveries are queued, sent and retried is not its
// concern.
package webhook

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Version is the envelope's version.
const Version = "v1"

// timeFormat is ISO 8601 in UTC with milliseconds.
const timeFormat = "2006-01-02T15:04:05.000Z"

// IDPrefix begins every event id; a UUIDv7 follows.
const IDPrefix = "evt_"

// Event is one event with its exact bytes. The bytes are made once, kept with the event, and sent
// as they are by every delivery and re-delivery, so that each carries the same id and timestamp.
type Event struct {
	ID       string
	Type     string
	Category string
	// Time is when the event was recorded, in UTC, to the millisecond.
	Time time.Time
	// Payload is the request body.
	Payload []byte
}

// Envelope is the body of a delivery, in the order of its fields (docs/webhooks.md).
type Envelope struct {
	ID        string          `json:"id"`
	Version   string          `json:"version"`
	Type      string          `json:"type"`
	Category  string          `json:"event_category"`
	Timestamp string          `json:"timestamp"`
	Data      json.RawMessage `json:"data"`
}

// New records an event that happened at a time.
func New(at time.Time, data Data) (*Event, error) {
	raw, err := json.Marshal(data)
	if err != nil {
		return nil, fmt.Errorf("event %s: %w", data.EventType(), err)
	}
	return build(at, data.EventType(), raw)
}

// Example is an event with the catalog's example data, for testing a destination. It has an id and
// a time of its own. An unknown type is ErrUnknownType.
func Example(at time.Time, eventType string) (*Event, error) {
	entry, ok := Lookup(eventType)
	if !ok {
		return nil, fmt.Errorf("%w: %q", ErrUnknownType, eventType)
	}
	return build(at, eventType, entry.Example)
}

func build(at time.Time, eventType string, data json.RawMessage) (*Event, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("event id: %w", err)
	}
	e := &Event{
		ID:       IDPrefix + id.String(),
		Type:     eventType,
		Category: Category(eventType),
		Time:     at.UTC().Truncate(time.Millisecond),
	}
	e.Payload, err = json.Marshal(Envelope{
		ID:        e.ID,
		Version:   Version,
		Type:      e.Type,
		Category:  e.Category,
		Timestamp: e.Time.Format(timeFormat),
		Data:      data,
	})
	return e, err
}

// Category is the prefix of an event type, such as "run" or "agent".
func Category(eventType string) string {
	category, _, _ := strings.Cut(eventType, ".")
	return category
}
