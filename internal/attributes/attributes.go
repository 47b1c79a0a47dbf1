// Package attributes knows what is said of a document beside its text: a flat JSON object of texts, numbers and truth
// values, and filters on it.
package attributes

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"canopy/internal/problem"
	"canopy/internal/unseen"
)

// The bounds: how many attributes a document has, and the lengths of names and texts, in characters.
const (
	maxAttributes = 32
	maxName       = 64
	maxText       = 1000
)

// maxNumber is how far numbers go on either side of 0: beyond it doubles do not hold every whole number, and one that stands for something, as an id of
// another system, would be kept as its neighbour.
const maxNumber = 1<<53 - 1

// checker collects faults.
type checker struct {
	faults []problem.Fault
	// stored takes any number, as were taken before there was a bound.
	stored bool
}

func (c *checker) fault(at, format string, args ...any) {
	c.faults = append(c.faults, problem.Fault{Location: at, Message: fmt.Sprintf(format, args...)})
}

// Check gives attributes in the form in which they are kept, or each fault, located below at. Numbers are kept as doubles hold
// them.
func Check(at string, raw []byte) (json.RawMessage, []problem.Fault) {
	return (&checker{}).check(at, raw)
}

// Stored is Check of what was kept once, and has come in an archive.
func Stored(at string, raw []byte) (json.RawMessage, []problem.Fault) {
	return (&checker{stored: true}).check(at, raw)
}

func (c *checker) check(at string, raw []byte) (json.RawMessage, []problem.Fault) {
	var all map[string]any
	if !c.read(at, raw, &all) || all == nil {
		c.fault(at, "must be a JSON object of strings, numbers and booleans")
		return nil, c.faults
	}
	if len(all) > maxAttributes {
		c.fault(at, "has more than %d members", maxAttributes)
		return nil, c.faults
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if c.name(at, name) {
			c.value(at+"."+name, all[name])
		}
	}
	if c.faults != nil {
		return nil, c.faults
	}
	return kept(all), nil
}

// read reads JSON. A number that no double comes near is told with the bound; where it stands, what is read has nothing.
func (c *checker) read(at string, raw []byte, into any) bool {
	err := json.Unmarshal(raw, into)
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && strings.HasPrefix(e.Value, "number ") {
		c.fault(at, "has a %s: %s", e.Value, farNumber)
		return true
	}
	return err == nil
}

// farNumber is told of a number that is too far from 0.
var farNumber = fmt.Sprintf("numbers must be between %d and %d", -maxNumber, maxNumber)

// kept writes JSON as it is stored. What was read as JSON can be written.
func kept(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return bytes.TrimSpace(b.Bytes())
}

// combinators are the names that combine filters, and can't be those of attributes.
var combinators = []string{"and", "or", "not"}

// name checks the name of an attribute.
func (c *checker) name(at, name string) bool {
	switch {
	case strings.TrimSpace(name) == "", utf8.RuneCountInString(name) > maxName:
		c.fault(at, "has a name that is empty, or longer than %d characters", maxName)
	case strings.ContainsFunc(name, unseen.Is):
		c.fault(at, "has a name with control characters, or such as turn the direction of writing")
	case slices.Contains(combinators, name):
		c.fault(at+"."+name, "is no name of an attribute: filters are combined by it")
	default:
		return true
	}
	return false
}

// value checks the value of an attribute.
func (c *checker) value(at string, v any) bool {
	switch v := v.(type) {
	case bool:
		return true
	case float64:
		if math.Abs(v) > maxNumber && !c.stored {
			c.fault(at, "%s", farNumber)
			return false
		}
		return true
	case string:
		switch {
		case utf8.RuneCountInString(v) > maxText:
			c.fault(at, "is longer than %d characters", maxText)
			return false
		case strings.ContainsRune(v, 0):
			c.fault(at, "must not contain NUL characters")
			return false
		}
		return true
	}
	c.fault(at, "must be a string, a number or a boolean")
	return false
}
