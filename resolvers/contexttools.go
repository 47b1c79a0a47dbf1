package resolvers

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"canopy/db"
)

// The bounds of a context's tool definitions, in bytes and in tools.
const (
	maxToolsJSON = 256 << 10
	maxTools     = 128
)

// Tool is a tool that a context's model may call.
type Tool struct {
	ID          int64
	Name        string
	Description string
	Action      string
	AgentID     int64
	Parameters  []*ToolParameter

	context *db.Context
}

// ToolParameter is an input of a tool.
type ToolParameter struct {
	ParamName   string
	Type        string
	Required    bool
	Description string
}

var toolName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// tools checks the tool definitions in their JSON form (spec, section 2.9), naming every fault.
func (v *check) tools(field, text string) {
	var list []json.RawMessage
	switch {
	case len(text) > maxToolsJSON:
		v.fault(field, "is longer than %d bytes", maxToolsJSON)
		return
	case !utf8.ValidString(text):
		v.fault(field, "is not valid UTF-8")
		return
	case !json.Valid([]byte(text)):
		v.fault(field, "is not JSON; without tools it is []")
		return
	case json.Unmarshal([]byte(text), &list) != nil || list == nil:
		v.fault(field, "must be a JSON array; without tools it is []")
		return
	case strings.Contains(text, `\u0000`), strings.ContainsRune(text, 0):
		v.fault(field, "must not contain NUL bytes")
		return
	case len(list) > maxTools:
		v.fault(field, "has more than %d tools", maxTools)
		return
	}
	ids, names := map[int64]bool{}, map[string]bool{}
	for i, raw := range list {
		at := fmt.Sprintf("%s[%d]", field, i)
		m, ok := v.members(at, raw)
		if !ok {
			continue
		}
		id, known := member[int64](v, m, at, "id", "an integer")
		if known && ids[id] {
			v.fault(at+".id", "is the id of another tool")
		}
		ids[id] = true
		v.toolName(m, at, names)
		member[string](v, m, at, "description", "a string")
		if action, ok := member[string](v, m, at, "action", "a string"); ok && action != toolAction {
			v.fault(at+".action", "must be %q", toolAction)
		}
		member[int64](v, m, at, "agentId", "an integer")
		v.parameters(m, at)
	}
}

// toolAction is the only action of tools.
const toolAction = "Run Agent"

func (v *check) toolName(m map[string]json.RawMessage, at string, names map[string]bool) {
	name, ok := member[string](v, m, at, "name", "a string")
	switch {
	case !ok:
	case !toolName.MatchString(name):
		v.fault(at+".name", "must be made of letters, digits and underscores, and not begin with a digit")
	case names[name]:
		v.fault(at+".name", "is the name of another tool")
	}
	names[name] = true
}

func (v *check) parameters(m map[string]json.RawMessage, at string) {
	raw, given := m["parameters"]
	if !given || string(raw) == "null" {
		return
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		v.fault(at+".parameters", "must be an array")
		return
	}
	names := map[string]bool{}
	for i, raw := range list {
		at := fmt.Sprintf("%s.parameters[%d]", at, i)
		p, ok := v.members(at, raw)
		if !ok {
			continue
		}
		name, ok := member[string](v, p, at, "paramName", "a string")
		switch {
		case ok && strings.TrimSpace(name) == "":
			v.fault(at+".paramName", "must not be empty")
		case ok && names[name]:
			v.fault(at+".paramName", "is the name of another parameter")
		}
		names[name] = true
		if typ, ok := member[string](v, p, at, "type", "a string"); ok && typ != "string" && typ != "integer" && typ != "boolean" {
			v.fault(at+".type", `must be "string", "integer" or "boolean"`)
		}
		member[bool](v, p, at, "required", "true or false")
		member[string](v, p, at, "description", "a string")
	}
}

func (v *check) members(at string, raw json.RawMessage) (map[string]json.RawMessage, bool) {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil || m == nil {
		v.fault(at, "must be an object")
		return nil, false
	}
	return m, true
}

// member reads a required member of an object.
func member[T any](v *check, m map[string]json.RawMessage, at, name, kind string) (value T, ok bool) {
	raw, given := m[name]
	switch {
	case !given || string(raw) == "null":
		v.fault(at+"."+name, "is required")
	case json.Unmarshal(raw, &value) != nil:
		v.fault(at+"."+name, "must be %s", kind)
	default:
		return value, true
	}
	return value, false
}

// parseTools reads the tool definitions of a context.
func parseTools(row *db.Context) ([]*Tool, error) {
	list := []*Tool{}
	err := json.Unmarshal([]byte(row.ToolsJSON), &list)
	if err != nil {
		return nil, errors.Join(errors.New("stored tool definitions"), err)
	}
	for _, t := range list {
		t.context = row
		if t.Parameters == nil {
			t.Parameters = []*ToolParameter{}
		}
	}
	return list, nil
}
