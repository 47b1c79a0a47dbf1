package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"reflect"
	"time"
)

// Change is a field before and after: both where an object was changed, New alone where it was
// created, Old alone where it was removed. A value of null says that there was none.
type Change struct {
	Old json.RawMessage `json:"old,omitempty"`
	New json.RawMessage `json:"new,omitempty"`
}

// Changes are what was changed of an object, by the fields' names in the graph. Where such a field leads to
// another object, the value is that object's databaseId. A value that has no JSON fails when they are
// marshalled.
type Changes struct {
	fields map[string]Change
	err    error
}

// maxValue bounds a value that is kept as it is, in bytes of JSON.
const maxValue = 8 << 10

// digest stands for a longer value: it tells that two values differ, and which text was the one.
type digest struct {
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// changed stands for the values of secrets.
var changed = json.RawMessage(`"changed"`)

// Created tells of a new object.
func Created[T any](row *T) Changes { return Between(nil, row) }

// Removed tells of an object that is gone.
func Removed[T any](row *T) Changes { return Between(row, nil) }

// Between gives the fields in which two states of an object differ; nil stands for no object. Only
// fields with the tag `audit:"name"` are looked at.
func Between[T any](old, now *T) Changes {
	c := Changes{fields: map[string]Change{}}
	before, after := c.values(old), c.values(now)
	for name, value := range before {
		if change := (Change{Old: value, New: after[name]}); !bytes.Equal(value, change.New) && !change.empty() {
			c.fields[name] = change
		}
	}
	for name, value := range after {
		if change := (Change{New: value}); before == nil && !change.empty() {
			c.fields[name] = change
		}
	}
	return c
}

// empty tells of a field that a new object, or one that is gone, has not filled in.
func (c Change) empty() bool {
	value := c.Old
	if value == nil {
		value = c.New
	}
	return (c.Old == nil || c.New == nil) && (string(value) == "null" || string(value) == `""`)
}

// Empty tells that no field has changed.
func (c Changes) Empty() bool { return len(c.fields) == 0 && c.err == nil }

// None tells of an action that changes no field.
func None() Changes { return Changes{fields: map[string]Change{}} }

// With adds a value that stands in no row, as it is from now on.
func (c Changes) With(name string, value any) Changes {
	raw, err := kept(value)
	c.fields[name] = Change{New: raw}
	return c.failed(err)
}

// Value adds a value that stands in no row of the object's; one that is unchanged is left out.
func (c Changes) Value(name string, old, now any) Changes {
	before, err := kept(old)
	after, failed := kept(now)
	if !bytes.Equal(before, after) {
		c.fields[name] = Change{Old: before, New: after}
	}
	return c.failed(errors.Join(err, failed))
}

// Secret adds a secret, of which no more is told than that it was changed. before and now say whether
// there was one, and whether there is one.
func (c Changes) Secret(name string, before, now bool) Changes {
	var s Change
	if before {
		s.Old = changed
	}
	if now {
		s.New = changed
	}
	c.fields[name] = s
	return c
}

// MarshalJSON gives the form of the log: {"field": {"old": …, "new": …}}.
func (c Changes) MarshalJSON() ([]byte, error) {
	if c.err != nil {
		return nil, c.err
	}
	return json.Marshal(c.fields)
}

func (c Changes) failed(err error) Changes {
	if c.err == nil {
		c.err = err
	}
	return c
}

// values are a row's fields that are told; none where there is no row.
func (c *Changes) values(row any) map[string]json.RawMessage {
	v := reflect.ValueOf(row)
	if v.IsNil() {
		return nil
	}
	v = v.Elem()
	list := map[string]json.RawMessage{}
	for f := range v.Type().Fields() {
		name := f.Tag.Get("audit")
		if name == "" {
			continue
		}
		raw, err := kept(v.FieldByIndex(f.Index).Interface())
		*c = c.failed(err)
		list[name] = raw
	}
	return list
}

// kept is a value as the log keeps it: a time in UTC, and the digest of what is long.
func kept(v any) (json.RawMessage, error) {
	switch t := v.(type) {
	case time.Time:
		v = t.UTC()
	case *time.Time:
		if t != nil {
			v = t.UTC()
		}
	}
	raw, err := json.Marshal(v)
	if err != nil || len(raw) <= maxValue {
		return raw, err
	}
	sum := sha256.Sum256(raw)
	return json.Marshal(digest{Bytes: len(raw), SHA256: hex.EncodeToString(sum[:])})
}
