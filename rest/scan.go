package rest

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth is how many objects and arrays a body may nest.
const maxDepth = 64

// scan checks that a body is one JSON value of at most maxDepth levels, in valid UTF-8, whose
// objects name no member twice (RFC 8259 with the restrictions of RFC 7493). It gives the first
// fault; nil when there is none.
func scan(body []byte) *Fault {
	d := jsontext.NewDecoder(bytes.NewBuffer(body))
	for {
		token, err := d.ReadToken()
		switch {
		case err != nil:
			return scanFault(d, err)
		case d.StackDepth() > maxDepth:
			return &Fault{location(d.StackPointer()), "is nested too deeply: at most 64 levels are read"}
		case d.StackDepth() == 0 && token.Kind() != 0:
			return scanEnd(d)
		}
	}
}

// scanEnd checks that nothing follows the value.
func scanEnd(d *jsontext.Decoder) *Fault {
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return &Fault{"body", "has something after the JSON value"}
	}
	return nil
}

func scanFault(d *jsontext.Decoder, err error) *Fault {
	at := d.StackPointer()
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		at = syntax.JSONPointer
	}
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return &Fault{location(at), "is there more than once"}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &Fault{location(at), "ends too early: this is not valid JSON"}
	case syntax != nil:
		return &Fault{location(at), "is not valid JSON: " + clip(syntax.Err.Error())}
	}
	return &Fault{location(at), "is not valid JSON"}
}

// openMember is the member that was being read where a body was cut off.
func openMember(cut []byte) string {
	d := jsontext.NewDecoder(bytes.NewBuffer(cut))
	for {
		if _, err := d.ReadToken(); err != nil {
			return location(d.StackPointer())
		}
	}
}

// location is a JSON pointer (RFC 6901) in the form of the errors' locations: /items/3/name is
// body.items[3].name.
func location(p jsontext.Pointer) string {
	var b strings.Builder
	b.WriteString("body")
	for token := range p.Tokens() {
		if isIndex(token) {
			b.WriteString("[" + clip(token) + "]")
		} else {
			b.WriteString("." + clip(token))
		}
		if b.Len() > 400 {
			b.WriteString("…")
			break
		}
	}
	return b.String()
}

func isIndex(token string) bool {
	return token != "" && strings.Trim(token, "0123456789") == ""
}
