// Package globalid is the global id of an object, by Relay's specification of global object identification.
package globalid

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"canopy/internal/problem"
)

// ID names an object. As output it is the global, opaque id of a
// node; as input it may also be the plain integer that REST shows, and then Type is empty.
type ID struct {
	Type string
	Int  int64
}

// Global is the opaque form: base64url of "Type:integer", without padding.
func (id ID) Global() string { return string(id.AppendGlobal(nil)) }

// AppendGlobal appends the opaque form.
func (id ID) AppendGlobal(to []byte) []byte {
	var room [64]byte
	bare := append(append(room[:0], id.Type...), ':')
	return base64.RawURLEncoding.AppendEncode(to, strconv.AppendInt(bare, id.Int, 10))
}

// ParseID reads either form of an id.
func ParseID(s string) (ID, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return ID{Int: n}, nil
	}
	bare := strings.TrimRight(s, "=")
	if raw, err := base64.RawURLEncoding.DecodeString(bare); err == nil {
		typ, num, _ := strings.Cut(string(raw), ":")
		n, err := strconv.ParseInt(num, 10, 64)
		// An id has one form: the decoder alone would also take line breaks and spare bits.
		if id := (ID{Type: typ, Int: n}); err == nil && isTypeName(typ) && id.Global() == bare {
			return id, nil
		}
	}
	return ID{}, problem.Bad("an ID is a global id or an integer of at most 64 bits")
}

func isTypeName(s string) bool {
	if s == "" || len(s) > 40 {
		return false
	}
	for _, c := range []byte(s) {
		if (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// Of gives the integer of an id that must be one of the named type; field is what the caller
// called it.
func (id ID) Of(typ, field string) (int64, error) {
	if id.Type != "" && id.Type != typ {
		return 0, problem.Invalid(problem.Fault{
			Location: field,
			Message:  fmt.Sprintf("is the id of a %s, not of a %s", id.Type, typ),
		})
	}
	return id.Int, nil
}
