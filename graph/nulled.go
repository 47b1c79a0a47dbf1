package graph

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/vektah/gqlparser/v2/ast"
)

// nulled has null at a place of an answer. Where the place is not there, as what is above is null already, nothing is changed.
func nulled(data []byte, path ast.Path) []byte {
	if path == nil {
		return null
	}
	d := jsontext.NewDecoder(bytes.NewReader(data))
	for _, element := range path {
		if !enter(d, element) {
			return data
		}
	}
	value, err := d.ReadValue()
	if err != nil {
		return data
	}
	end := int(d.InputOffset())
	return slices.Concat(data[:end-len(value)], null, data[end:])
}

// enter reads as far as to the value of a member or an element; false where there is none.
func enter(d *jsontext.Decoder, element ast.PathElement) bool {
	token, err := d.ReadToken()
	if err != nil {
		return false
	}
	switch element := element.(type) {
	case ast.PathName:
		for token.Kind() == '{' && d.PeekKind() == '"' {
			name, err := d.ReadToken()
			if err != nil {
				return false
			}
			if name.String() == string(element) {
				return true
			}
			if d.SkipValue() != nil {
				return false
			}
		}
	case ast.PathIndex:
		for i := 0; token.Kind() == '[' && d.PeekKind() != ']'; i++ {
			if i == int(element) {
				return true
			}
			if d.SkipValue() != nil {
				return false
			}
		}
	}
	return false
}
