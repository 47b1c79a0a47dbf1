package rest

import (
	"encoding/json"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"canopy/internal/webhook"
)

// described gives the documents with what destinations are sent: one webhook for each type of the catalog, and for each of those
// that have to be named.
func described(doc *huma.OpenAPI) *huma.OpenAPI {
	whole := *doc
	whole.Webhooks = map[string]*huma.PathItem{}
	for _, e := range webhook.Extended() {
		whole.Webhooks[e.Type] = &huma.PathItem{Post: hookOf(e)}
	}
	return &whole
}

// hookOf is the request that tells of one type of event.
func hookOf(e webhook.Entry) *huma.Operation {
	text := func(what string) *huma.Schema { return &huma.Schema{Type: huma.TypeString, Description: what} }
	header := func(name, what string, required bool) *huma.Param {
		return &huma.Param{Name: name, In: "header", Description: what, Required: required, Schema: &huma.Schema{Type: huma.TypeString}}
	}
	description := e.Description
	if e.Category != "run" && e.Category != "agent" {
		description += " Only destinations that name it are sent it."
	}
	return &huma.Operation{
		OperationID: "on" + camelCase(e.Type), Tags: []string{tagWebhooks}, Summary: e.Type, Description: description, Security: anonymous,
		Parameters: []*huma.Param{
			header(webhook.HeaderEvent, "The type of the event; it is not signed", true),
			header(webhook.HeaderSignature, "sha256= and the hexadecimal HMAC-SHA256 of the body, by the destination's secret", true),
			header(webhook.HeaderSignatureNext, "The same by the new secret, while a rotation overlaps", false),
		},
		RequestBody: &huma.RequestBody{Description: "The event", Required: true, Content: map[string]*huma.MediaType{jsonType: {Schema: &huma.Schema{
			Type: huma.TypeObject, Required: []string{"id", "version", "type", "event_category", "timestamp", "data"},
			Properties: map[string]*huma.Schema{
				"id":             text("What the event is known by; every delivery of it has the same"),
				"version":        {Type: huma.TypeString, Enum: []any{webhook.Version}, Description: "The version of this envelope"},
				"type":           {Type: huma.TypeString, Enum: []any{e.Type}},
				"event_category": {Type: huma.TypeString, Enum: []any{e.Category}, Description: "The prefix of the type"},
				"timestamp":      {Type: huma.TypeString, Format: "date-time", Description: "When the event was recorded"},
				"data":           dataSchema(e),
			},
		}}}},
		Responses: map[string]*huma.Response{
			"2XX":     {Description: "The event has arrived"},
			"default": {Description: "The event is sent again later"},
		},
	}
}

// dataSchema is the JSON Schema of the catalog, as the documents have it.
func dataSchema(e webhook.Entry) *huma.Schema {
	var members map[string]any
	if err := json.Unmarshal(e.Schema, &members); err != nil {
		panic("rest: the schema of " + e.Type + " is no JSON")
	}
	delete(members, "$schema") // the documents' own dialect is the same
	members["examples"] = []json.RawMessage{e.Example}
	return &huma.Schema{Extensions: members}
}

// camelCase writes the type of an event as a part of a name: run.completed is RunCompleted.
func camelCase(eventType string) string {
	var b strings.Builder
	for part := range strings.FieldsFuncSeq(eventType, func(r rune) bool { return r == '.' || r == '_' }) {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}
