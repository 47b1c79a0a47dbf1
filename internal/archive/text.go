package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// checkText refuses what PostgreSQL stores in no text: what is not UTF-8, and escapes that stand for NUL or for half a character.
func (a *reader) checkText(line []byte) error {
	if !utf8.Valid(line) {
		return a.at.Faultf("is not valid UTF-8")
	}
	for i := bytes.IndexByte(line, '\\'); i >= 0 && i+1 < len(line); {
		skip := 2
		if line[i+1] == 'u' {
			switch r := escaped(line[i:]); {
			case r == 0:
				return a.at.Faultf("must not contain NUL bytes")
			case utf16.IsSurrogate(r):
				if utf16.DecodeRune(r, escaped(line[min(len(line), i+6):])) == utf8.RuneError {
					return a.at.Faultf("has half a character: %s", line[i:min(len(line), i+6)])
				}
				skip = 12
			}
		}
		next := bytes.IndexByte(line[min(len(line), i+skip):], '\\')
		if next < 0 {
			break
		}
		i += skip + next
	}
	return nil
}

// escaped is the unit of UTF-16 that an escape stands for; utf8.RuneError where there is none.
func escaped(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return utf8.RuneError
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}

// Decode reads JSON into a struct that has each of its members.
func Decode(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return errors.New("is more than one JSON object")
		}
		return nil
	}
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &kind):
		return fmt.Errorf("%s: is not to be %s", kind.Field, kind.Value)
	case errors.As(err, &syntax), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Errorf("is not valid JSON: %w", err)
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}
