package intake

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is how many objects and arrays a body may nest.
const MaxDepth = 64

// maxLocation bounds what is said of where a fault is, in bytes.
const maxLocation = 400

// Fault is the first thing that is wrong with a body, and where: "body.items[3].name".
type Fault struct{ Location, Message string }

// CheckJSON checks a body before it is decoded: one JSON value, in valid UTF-8, not nested too deeply, whose
// objects name no member twice (RFC 8259 with the restrictions of RFC 7493). It gives the first fault; nil
// when there is none.
func CheckJSON(body []byte) *Fault {
	if isFlat(body) && jsontext.Value(body).IsValid() { // as nearly all are: this does not stop at each token
		return nil
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(body))
	for {
		token, err := d.ReadToken()
		switch {
		case err != nil:
			return fault(d, err)
		case d.StackDepth() > MaxDepth:
			return &Fault{location(d.StackPointer()), "is nested too deeply: at most 64 levels are read"}
		case d.StackDepth() == 0 && token.Kind() != 0:
			return end(d)
		}
	}
}

// isFlat tells a body that opens no more objects and arrays than may be nested, wherever they stand in it.
func isFlat(body []byte) bool {
	return bytes.Count(body, []byte("{"))+bytes.Count(body, []byte("[")) <= MaxDepth
}

// end checks that nothing follows the value.
func end(d *jsontext.Decoder) *Fault {
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return &Fault{"body", "has something after the JSON value"}
	}
	return nil
}

func fault(d *jsontext.Decoder, err error) *Fault {
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
		return &Fault{location(at), "is not valid JSON: " + Clip(syntax.Err.Error())}
	}
	return &Fault{location(at), "is not valid JSON"}
}

// OpenMember is where the member was that was being read where a body was cut off.
func OpenMember(cut []byte) string {
	d := jsontext.NewDecoder(bytes.NewBuffer(cut))
	for {
		if _, err := d.ReadToken(); err != nil {
			return location(d.StackPointer())
		}
	}
}

// location writes a JSON pointer (RFC 6901) as the errors' locations are: /items/3/name is
// body.items[3].name.
func location(p jsontext.Pointer) string {
	var b strings.Builder
	b.WriteString("body")
	for token := range p.Tokens() {
		if token != "" && strings.Trim(token, "0123456789") == "" {
			b.WriteString("[" + Clip(token) + "]")
		} else {
			b.WriteString("." + Clip(token))
		}
		if b.Len() > maxLocation {
			b.WriteString("…")
			break
		}
	}
	return b.String()
}

// Clip keeps what a caller sent short where it is quoted.
func Clip(s string) string {
	const limit = 100
	s = strings.ToValidUTF8(s, "\uFFFD")
	if r := []rune(s); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return s
}
