package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// ErrUnknownType is an event type that the catalog does not have.
var ErrUnknownType = errors.New("unknown event type")

// Entry describes one event type. Its JSON is an entry of the catalog's answer.
type Entry struct {
	Type        string `json:"type"`
	Category    string `json:"category"`
	Description string `json:"description"`
	// Example is an example of data.
	Example json.RawMessage `json:"example"`
	// Schema is the JSON Schema (draft 2020-12) of data.
	Schema json.RawMessage `json:"schema"`
}

// The properties that data is made of. Receivers must pass over properties that they don't know,
// so that more can be added; the schemas therefore don't forbid others.
var properties = map[string]string{
	"jobKey":     `{"type":"string","format":"uuid","description":"The run, as returned when it was started."}`,
	"success":    `{"type":"boolean","description":"Whether the run succeeded."}`,
	"agentId":    `{"type":"integer","description":"The agent."}`,
	"revisionId": `{"type":"integer","description":"The revision that was published."}`,
	"name":       `{"type":"string","description":"The agent's name."}`,
	"enabled":    `{"type":"boolean","description":"Whether the agent is enabled."}`,
	"runnable":   `{"type":"boolean","description":"Whether the agent can be run: enabled and published."}`,

	"limit": `{"type":"string","description":"The limit's name."}`,
	"used":  `{"type":"integer","description":"How much the company uses, with everything below it."}`,
	"max":   `{"type":"integer","description":"How much it may use."}`,

	"auditEventId": `{"type":"integer","description":"The audit event."}`,
	"action":       `{"type":"string","description":"What was done, as noun.verbed."}`,
	"objectType":   `{"type":"string","description":"The type of what it was done to, as in the graph."}`,
	"objectId":     `{"type":"integer","description":"What it was done to."}`,
	"customerId":   `{"type":"integer","description":"The company that it is about."}`,
	"actorKind":    `{"type":"string","enum":["user","apiKey","directory","unknown","platform"],"description":"What kind of actor did it, also where actorId is null."}`,
	"actorId":      `{"type":["integer","null"],"description":"The user who did it; null for the platform itself, for who has not shown to be anybody, and for who is above the company."}`,
	"clientId":     `{"type":["string","null"],"description":"The API key that was used; null for a person's login, and for the platform itself."}`,
	"details":      `{"type":"object","description":"The fields that were changed, each with its old and new value.","additionalProperties":{"type":"object","properties":{"old":{},"new":{}}}}`,
	"createdAt":    `{"type":"string","format":"date-time","description":"When it was done."}`,
}

const exampleJob = "01890a5d-ac96-774b-bcce-b302099a8057"

var catalog = []Entry{
	entry(RunStarted{exampleJob}, "A run starts.", "jobKey"),
	entry(NewRunCompleted(exampleJob), "A run finishes.", "jobKey", "success"),
	entry(NewRunFailed(exampleJob), "A run fails or is cancelled.", "jobKey", "success"),
	entry(AgentCreated{42, "Invoice reader"}, "An agent is created.", "agentId", "name"),
	entry(AgentPublished{42, 7}, "A revision of an agent is published.", "agentId", "revisionId"),
	entry(AgentUnpublished{42}, "An agent is unpublished.", "agentId"),
	entry(NewAgentEnabled(42, true), "An agent is enabled.", "agentId", "enabled", "runnable"),
	entry(NewAgentDisabled(42), "An agent is disabled.", "agentId", "enabled", "runnable"),
	entry(AgentDeleted{42}, "An agent is deleted.", "agentId"),
}

// entry builds a catalog entry from example data and the names of its properties. A failure here
// is a fault of the table above, so it panics when the program starts.
func entry(example Data, description string, names ...string) Entry {
	props := make(map[string]json.RawMessage, len(names))
	for _, name := range names {
		props[name] = json.RawMessage(properties[name])
	}
	schema := struct {
		Dialect    string                     `json:"$schema"`
		Type       string                     `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}{Dialect: "https://json-schema.org/draft/2020-12/schema", Type: "object", Properties: props, Required: names}
	return Entry{
		Type:        example.EventType(),
		Category:    Category(example.EventType()),
		Description: description,
		Example:     mustJSON(example),
		Schema:      mustJSON(schema),
	}
}

func mustJSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("webhook catalog: %v", err))
	}
	return raw
}

// Catalog is every event type that a destination gets which asked for all, in the order of a run's and an agent's life.
func Catalog() []Entry { return slices.Clone(catalog) }

// Lookup finds one event type, be it of the catalog or one that has to be named.
func Lookup(eventType string) (Entry, bool) {
	for _, list := range [][]Entry{catalog, extended} {
		if i := slices.IndexFunc(list, func(e Entry) bool { return e.Type == eventType }); i >= 0 {
			return list[i], true
		}
	}
	return Entry{}, false
}

// Types lists the catalog's event types, in its order.
func Types() []string {
	out := make([]string, len(catalog))
	for i, e := range catalog {
		out[i] = e.Type
	}
	return out
}
