package resolvers

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"canopy/db"
	"canopy/internal/intake"
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

// toolsJSON checks tool definitions and gives the text that is kept of them: the same, byte for byte, and
// without tools always "[]".
func (v *check) toolsJSON(field, text string) string {
	if tools := v.tools(field, text); len(tools) == 0 {
		return "[]"
	}
	return text
}

// tools reads the tool definitions from their JSON form, a stringified array, naming every fault.
// Members are known by their exact names: one that differs from such a name in letter case only is a fault,
// and others are left alone.
func (v *check) tools(field, text string) []*Tool {
	var list []json.RawMessage
	switch {
	case len(text) > maxToolsJSON:
		v.fault(field, "is longer than %d bytes", maxToolsJSON)
		return nil
	case !utf8.ValidString(text):
		v.fault(field, "is not valid UTF-8")
		return nil
	case !json.Valid([]byte(text)):
		v.fault(field, "is not JSON; without tools it is []")
		return nil
	case json.Unmarshal([]byte(text), &list) != nil || list == nil:
		v.fault(field, "must be a JSON array; without tools it is []")
		return nil
	case strings.Contains(text, `\u0000`), strings.ContainsRune(text, 0):
		v.fault(field, "must not contain NUL bytes")
		return nil
	case len(list) > maxTools:
		v.fault(field, "has more than %d tools", maxTools)
		return nil
	}
	if f := intake.CheckJSON([]byte(text)); f != nil {
		v.fault(field+strings.TrimPrefix(f.Location, "body"), "%s", f.Message)
		return nil
	}
	tools := make([]*Tool, 0, len(list))
	ids, names := map[int64]bool{}, map[string]bool{}
	for at, m := range v.objects(field, list, "id", "name", "description", "action", "agentId", "parameters") {
		t := &Tool{}
		var known bool
		if t.ID, known = member[int64](v, m, at, "id", "an integer"); known && ids[t.ID] {
			v.fault(at+".id", "is the id of another tool")
		}
		ids[t.ID] = true
		t.Name = v.toolName(m, at, names)
		t.Description, _ = member[string](v, m, at, "description", "a string")
		if t.Action, known = member[string](v, m, at, "action", "a string"); known && t.Action != toolAction {
			v.fault(at+".action", "must be %q", toolAction)
		}
		t.AgentID, _ = member[int64](v, m, at, "agentId", "an integer")
		t.Parameters = v.parameters(m, at)
		tools = append(tools, t)
	}
	return tools
}

// toolAction is the only action of tools.
const toolAction = "Run Agent"

func (v *check) toolName(m map[string]json.RawMessage, at string, names map[string]bool) string {
	name, ok := member[string](v, m, at, "name", "a string")
	switch {
	case !ok:
	case !toolName.MatchString(name):
		v.fault(at+".name", "must be made of letters, digits and underscores, and not begin with a digit")
	case names[name]:
		v.fault(at+".name", "is the name of another tool")
	}
	names[name] = true
	return name
}

func (v *check) parameters(m map[string]json.RawMessage, at string) []*ToolParameter {
	raw, given := m["parameters"]
	if !given || string(raw) == "null" {
		return []*ToolParameter{}
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		v.fault(at+".parameters", "must be an array")
		return nil
	}
	parameters := make([]*ToolParameter, 0, len(list))
	names := map[string]bool{}
	for at, m := range v.objects(at+".parameters", list, "paramName", "type", "required", "description") {
		p := &ToolParameter{}
		var ok bool
		p.ParamName, ok = member[string](v, m, at, "paramName", "a string")
		switch {
		case ok && strings.TrimSpace(p.ParamName) == "":
			v.fault(at+".paramName", "must not be empty")
		case ok && names[p.ParamName]:
			v.fault(at+".paramName", "is the name of another parameter")
		}
		names[p.ParamName] = true
		if p.Type, ok = member[string](v, m, at, "type", "a string"); ok && p.Type != "string" && p.Type != "integer" && p.Type != "boolean" {
			v.fault(at+".type", `must be "string", "integer" or "boolean"`)
		}
		p.Required, _ = member[bool](v, m, at, "required", "true or false")
		p.Description, _ = member[string](v, m, at, "description", "a string")
		parameters = append(parameters, p)
	}
	return parameters
}

// objects gives the members of each object of a list, with its place. What is no object is a fault, as is
// a member that is like a known one.
func (v *check) objects(field string, list []json.RawMessage, known ...string) iter.Seq2[string, map[string]json.RawMessage] {
	return func(yield func(string, map[string]json.RawMessage) bool) {
		for i, raw := range list {
			at := fmt.Sprintf("%s[%d]", field, i)
			var m map[string]json.RawMessage
			if json.Unmarshal(raw, &m) != nil || m == nil {
				v.fault(at, "must be an object")
				continue
			}
			for _, name := range slices.Sorted(maps.Keys(m)) {
				if like := intake.LikeName(name, slices.Values(known)); like != "" {
					v.fault(at+"."+name, intake.Miscased, like)
				}
			}
			if !yield(at, m) {
				return
			}
		}
	}
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

// storedTools gives the tool definitions of a context, which were checked when they were written.
func storedTools(row *db.Context) []*Tool {
	tools := (&check{}).tools("toolsJson", row.ToolsJSON)
	if tools == nil {
		return []*Tool{}
	}
	for _, t := range tools {
		t.context = row
	}
	return tools
}
