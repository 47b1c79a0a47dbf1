package resolvers

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"canopy/db"
	"canopy/internal/chunk"
	"canopy/search"
)

// The bounds of a context's settings. Lengths are in characters, but for tools in bytes.
const (
	maxInstructions = 100_000
	maxPrompts      = 50
	maxPrompt       = 500
	maxToolsJSON    = 256 << 10
	maxTools        = 128
	maxChunkSize    = 8192
)

// starterPrompts checks conversation starters.
func (v *check) starterPrompts(field string, list []string) {
	if len(list) > maxPrompts {
		v.fault(field, "has more than %d entries", maxPrompts)
		return
	}
	for i, s := range list {
		at := fmt.Sprintf("%s[%d]", field, i)
		if strings.TrimSpace(s) == "" {
			v.fault(at, "must not be empty")
			continue
		}
		v.text(at, s, maxPrompt)
	}
}

// settings checks the settings of a context's search.
func (v *check) settings(in UpdateContextInput) {
	if n := or(in.TopN, 1); n < 1 || n > search.MaxTopN {
		v.fault("topN", "must be 1 to %d", search.MaxTopN)
	}
	v.fraction("scoreThreshold", in.ScoreThreshold)
	if n := or(in.ChunkSize, chunk.MinSize); n < chunk.MinSize || n > maxChunkSize {
		v.fault("chunkSize", "must be %d to %d tokens", chunk.MinSize, maxChunkSize)
	}
	v.fraction("overlap", in.Overlap)
}

// fraction checks a number between 0 and 1.
func (v *check) fraction(field string, f *float64) {
	if f != nil && (math.IsNaN(*f) || *f < 0 || *f > 1) {
		v.fault(field, "must be 0 to 1")
	}
}

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

// isEmoji tells whether a text is one emoji: a single grapheme cluster (UAX #29) that begins with a
// pictograph, a flag of two regional indicators, or a keycap (UTS #51).
func isEmoji(s string) bool {
	cluster, rest, _, _ := uniseg.FirstGraphemeClusterInString(s, -1)
	if rest != "" || cluster == "" {
		return false
	}
	runes := []rune(cluster)
	switch first := runes[0]; {
	case first >= 0x1F1E6 && first <= 0x1F1FF:
		return len(runes) == 2
	case strings.ContainsRune("0123456789#*", first):
		return len(runes) > 1 && runes[len(runes)-1] == 0x20E3
	default:
		return unicode.Is(pictographs, first)
	}
}

// pictographs are the characters that are an emoji by themselves or before a variation selector
// (Emoji and Extended_Pictographic of emoji-data.txt, Unicode 16).
var pictographs = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0xA9, 0xA9, 1},
		{0xAE, 0xAE, 1},
		{0x203C, 0x203C, 1},
		{0x2049, 0x2049, 1},
		{0x2122, 0x2122, 1},
		{0x2139, 0x2139, 1},
		{0x2194, 0x2199, 1},
		{0x21A9, 0x21AA, 1},
		{0x231A, 0x231B, 1},
		{0x2328, 0x2328, 1},
		{0x23CF, 0x23CF, 1},
		{0x23E9, 0x23F3, 1},
		{0x23F8, 0x23FA, 1},
		{0x24C2, 0x24C2, 1},
		{0x25AA, 0x25AB, 1},
		{0x25B6, 0x25B6, 1},
		{0x25C0, 0x25C0, 1},
		{0x25FB, 0x25FE, 1},
		{0x2600, 0x2604, 1},
		{0x260E, 0x260E, 1},
		{0x2611, 0x2611, 1},
		{0x2614, 0x2615, 1},
		{0x2618, 0x2618, 1},
		{0x261D, 0x261D, 1},
		{0x2620, 0x2620, 1},
		{0x2622, 0x2623, 1},
		{0x2626, 0x2626, 1},
		{0x262A, 0x262A, 1},
		{0x262E, 0x262F, 1},
		{0x2638, 0x263A, 1},
		{0x2640, 0x2640, 1},
		{0x2642, 0x2642, 1},
		{0x2648, 0x2653, 1},
		{0x265F, 0x2660, 1},
		{0x2663, 0x2663, 1},
		{0x2665, 0x2666, 1},
		{0x2668, 0x2668, 1},
		{0x267B, 0x267B, 1},
		{0x267E, 0x267F, 1},
		{0x2692, 0x2697, 1},
		{0x2699, 0x2699, 1},
		{0x269B, 0x269C, 1},
		{0x26A0, 0x26A1, 1},
		{0x26A7, 0x26A7, 1},
		{0x26AA, 0x26AB, 1},
		{0x26B0, 0x26B1, 1},
		{0x26BD, 0x26BE, 1},
		{0x26C4, 0x26C5, 1},
		{0x26C8, 0x26C8, 1},
		{0x26CE, 0x26CF, 1},
		{0x26D1, 0x26D1, 1},
		{0x26D3, 0x26D4, 1},
		{0x26E9, 0x26EA, 1},
		{0x26F0, 0x26F5, 1},
		{0x26F7, 0x26FA, 1},
		{0x26FD, 0x26FD, 1},
		{0x2702, 0x2702, 1},
		{0x2705, 0x2705, 1},
		{0x2708, 0x270D, 1},
		{0x270F, 0x270F, 1},
		{0x2712, 0x2712, 1},
		{0x2714, 0x2714, 1},
		{0x2716, 0x2716, 1},
		{0x271D, 0x271D, 1},
		{0x2721, 0x2721, 1},
		{0x2728, 0x2728, 1},
		{0x2733, 0x2734, 1},
		{0x2744, 0x2744, 1},
		{0x2747, 0x2747, 1},
		{0x274C, 0x274C, 1},
		{0x274E, 0x274E, 1},
		{0x2753, 0x2755, 1},
		{0x2757, 0x2757, 1},
		{0x2763, 0x2764, 1},
		{0x2795, 0x2797, 1},
		{0x27A1, 0x27A1, 1},
		{0x27B0, 0x27B0, 1},
		{0x27BF, 0x27BF, 1},
		{0x2934, 0x2935, 1},
		{0x2B05, 0x2B07, 1},
		{0x2B1B, 0x2B1C, 1},
		{0x2B50, 0x2B50, 1},
		{0x2B55, 0x2B55, 1},
		{0x3030, 0x3030, 1},
		{0x303D, 0x303D, 1},
		{0x3297, 0x3297, 1},
		{0x3299, 0x3299, 1},
	},
	R32: []unicode.Range32{
		{0x1F004, 0x1F004, 1},
		{0x1F0CF, 0x1F0CF, 1},
		{0x1F170, 0x1F171, 1},
		{0x1F17E, 0x1F17F, 1},
		{0x1F18E, 0x1F18E, 1},
		{0x1F191, 0x1F19A, 1},
		{0x1F201, 0x1F202, 1},
		{0x1F21A, 0x1F21A, 1},
		{0x1F22F, 0x1F22F, 1},
		{0x1F232, 0x1F23A, 1},
		{0x1F250, 0x1F251, 1},
		{0x1F300, 0x1F321, 1},
		{0x1F324, 0x1F393, 1},
		{0x1F396, 0x1F397, 1},
		{0x1F399, 0x1F39B, 1},
		{0x1F39E, 0x1F3F0, 1},
		{0x1F3F3, 0x1F3F5, 1},
		{0x1F3F7, 0x1F4FD, 1},
		{0x1F4FF, 0x1F53D, 1},
		{0x1F549, 0x1F54E, 1},
		{0x1F550, 0x1F567, 1},
		{0x1F56F, 0x1F570, 1},
		{0x1F573, 0x1F57A, 1},
		{0x1F587, 0x1F587, 1},
		{0x1F58A, 0x1F58D, 1},
		{0x1F590, 0x1F590, 1},
		{0x1F595, 0x1F596, 1},
		{0x1F5A4, 0x1F5A5, 1},
		{0x1F5A8, 0x1F5A8, 1},
		{0x1F5B1, 0x1F5B2, 1},
		{0x1F5BC, 0x1F5BC, 1},
		{0x1F5C2, 0x1F5C4, 1},
		{0x1F5D1, 0x1F5D3, 1},
		{0x1F5DC, 0x1F5DE, 1},
		{0x1F5E1, 0x1F5E1, 1},
		{0x1F5E3, 0x1F5E3, 1},
		{0x1F5E8, 0x1F5E8, 1},
		{0x1F5EF, 0x1F5EF, 1},
		{0x1F5F3, 0x1F5F3, 1},
		{0x1F5FA, 0x1F64F, 1},
		{0x1F680, 0x1F6C5, 1},
		{0x1F6CB, 0x1F6D2, 1},
		{0x1F6D5, 0x1F6D7, 1},
		{0x1F6DC, 0x1F6E5, 1},
		{0x1F6E9, 0x1F6E9, 1},
		{0x1F6EB, 0x1F6EC, 1},
		{0x1F6F0, 0x1F6F0, 1},
		{0x1F6F3, 0x1F6FC, 1},
		{0x1F7E0, 0x1F7EB, 1},
		{0x1F7F0, 0x1F7F0, 1},
		{0x1F90C, 0x1F93A, 1},
		{0x1F93C, 0x1F945, 1},
		{0x1F947, 0x1F9FF, 1},
		{0x1FA70, 0x1FA7C, 1},
		{0x1FA80, 0x1FA89, 1},
		{0x1FA8F, 0x1FAC6, 1},
		{0x1FACE, 0x1FADC, 1},
		{0x1FADF, 0x1FAE9, 1},
		{0x1FAF0, 0x1FAF8, 1},
	},
	LatinOffset: 2,
}
