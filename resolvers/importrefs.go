package resolvers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"

	"canopy/db"
)

// Diagrams name contexts, and tools name agents, by their ids in a JSON text. Where an archive is read in these become the ids that
// were given here; all else of the text stays as it is, byte for byte.

// nowhere is an id that nothing has, and that may stand where one is asked for.
const nowhere = 1 << 53

// idsIn gives the ids, and where each stands, of the members of a name in the objects of a list: the list named so in an object, or,
// where that is "", the text itself.
func idsIn(text []byte, list, member string) (found []idAt, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var path []level
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		switch t := token.(type) {
		case json.Delim:
			if t == '{' || t == '[' {
				path = append(path, level{object: t == '{'})
				continue
			}
			path = path[:len(path)-1]
		case string:
			if at := len(path) - 1; at >= 0 && path[at].object && !path[at].named {
				path[at].name, path[at].named = t, true
				continue
			}
		case json.Number:
			if id, ok := whole(t); ok && isAt(path, list, member) {
				end := int(d.InputOffset())
				found = append(found, idAt{id, end - len(t), end})
			}
		}
		if at := len(path) - 1; at >= 0 {
			path[at].named = false // that was the value
		}
	}
}

// idAt is an id, and where it stands in its text.
type idAt struct {
	id       int64
	from, to int
}

// level is an object or an array that is being read, and the member at hand.
type level struct {
	object, named bool
	name          string
}

func isAt(path []level, list, member string) bool {
	if list != "" {
		if len(path) == 0 || !path[0].object || path[0].name != list {
			return false
		}
		path = path[1:]
	}
	return len(path) == 2 && !path[0].object && path[1].object && path[1].name == member
}

// whole reads an integer, which JSON may write as 7, 7.0 or 7e0.
func whole(n json.Number) (int64, bool) {
	if id, err := n.Int64(); err == nil {
		return id, true
	}
	f, err := n.Float64()
	return int64(f), err == nil && f == float64(int64(f)) && f > -nowhere && f < nowhere
}

// renumbered puts the new ids in the place of the old ones; those that have none become nowhere, and are counted.
func renumbered(text []byte, found []idAt, given map[int64]int64) (out []byte, lost int64) {
	last := 0
	for _, f := range found {
		id, ok := given[f.id]
		if !ok {
			id = nowhere
			lost++
		}
		out = strconv.AppendInt(append(out, text[last:f.from]...), id, 10)
		last = f.to
	}
	return append(out, text[last:]...), lost
}

// renumber gives a text with the ids that rows of a kind were given, and counts those that are not in the archive.
func renumber(ctx context.Context, g *db.Staging, text []byte, list, member, kind string) ([]byte, int64, error) {
	found, err := idsIn(text, list, member)
	if err != nil || len(found) == 0 {
		return text, 0, err
	}
	ids := make([]int64, len(found))
	for i, f := range found {
		ids[i] = f.id
	}
	given, err := g.NewIDs(ctx, kind, ids)
	if err != nil {
		return nil, 0, err
	}
	out, lost := renumbered(text, found, given)
	return out, lost, nil
}

// renumberAll does so for all diagrams and tools of an archive. It gives how many steps name a context, and how many tools an agent, that
// the archive does not have.
func renumberAll(ctx context.Context, g *db.Staging) (steps, tools int64, err error) {
	for _, kind := range []string{"agents", "agentRevisions"} {
		lost, err := renumberRows(ctx, g, kind, func(row map[string]json.RawMessage) (int64, error) {
			text, lost, err := renumber(ctx, g, row["diagram"], "steps", "contextId", "contexts")
			row["diagram"] = text
			return lost, err
		})
		if steps += lost; err != nil {
			return 0, 0, err
		}
	}
	tools, err = renumberRows(ctx, g, "contexts", func(row map[string]json.RawMessage) (int64, error) {
		var kept string
		if err := json.Unmarshal(row["toolsJson"], &kept); err != nil {
			return 0, err
		}
		text, lost, err := renumber(ctx, g, []byte(kept), "", "agentId", "agents")
		if err != nil {
			return 0, err
		}
		row["toolsJson"], err = plainJSON(string(text))
		return lost, err
	})
	return steps, tools, err
}

// renumberRows changes each row of a kind, and adds up what is lost.
func renumberRows(ctx context.Context, g *db.Staging, kind string, change func(row map[string]json.RawMessage) (int64, error)) (lost int64, err error) {
	err = g.Each(ctx, kind, func(id, _ int64, row json.RawMessage) error {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(row, &members); err != nil {
			return err
		}
		n, err := change(members)
		if err != nil {
			return err
		}
		lost += n
		changed, err := plainJSON(members)
		if err != nil || bytes.Equal(changed, row) {
			return err
		}
		return g.Replace(ctx, kind, id, changed)
	})
	return lost, err
}

// plainJSON is JSON in which only what has to be escaped is.
func plainJSON(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), err
}
