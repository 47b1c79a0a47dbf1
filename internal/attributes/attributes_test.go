package attributes_test

import (
	"fmt"
	"strings"
	"testing"

	"canopy/internal/attributes"
)

func TestCheck(t *testing.T) {
	many := make([]string, 33)
	for i := range many {
		many[i] = fmt.Sprintf("%q: 1", fmt.Sprint("a", i))
	}
	for raw, want := range map[string]string{
		`{}`: `{}`,
		`{"year": 2024, "lang": "de", "draft": false, "share": 0.25}`: `{"draft":false,"lang":"de","share":0.25,"year":2024}`,
		`{"<a> & b": "\u00fc"}`: `{"<a> & b":"ü"}`,
		`[]`:                    `at: must be a JSON object`,
		`null`:                  `at: must be a JSON object`,
		`{"a": 1e999}`:          `at: has a number 1e999: numbers must be between -9007199254740991 and 9007199254740991`,
		`{"a": 9007199254740991, "b": -9007199254740991, "c": 0.1}`: `{"a":9007199254740991,"b":-9007199254740991,"c":0.1}`,
		`{"a": 1, "b": 9007199254740993}`:                           `at.b: numbers must be between -9007199254740991 and 9007199254740991`,
		`{"a": -9007199254740993}`:                                  `at.a: numbers must be`,
		`{"a": 123456789012345678901234567890}`:                     `at.a: numbers must be`,
		`{"a": null}`:                                               `at.a: must be a string`,
		`{"a": {"b": 1}}`:                                           `at.a: must be a string`,
		`{"a": "\u0000"}`:                                           `at.a: must not contain NUL`,
		`{"a": "` + strings.Repeat("x", 1001) + `"}`:                `at.a: is longer than 1000`,
		`{"` + strings.Repeat("x", 65) + `": 1}`:                    `at: has a name that is empty, or longer`,
		`{" ": 1}`:                                                  `at: has a name that is empty`,
		`{"a\nb": 1}`:                                               `at: has a name with control characters`,
		`{"not": 1}`:                                                `at.not: is no name`,
		`{` + strings.Join(many, ",") + `}`:                         `at: has more than 32`,
	} {
		kept, faults := attributes.Check("at", []byte(raw))
		got := string(kept)
		if len(faults) > 0 {
			got = faults[0].Location + ": " + faults[0].Message
		}
		if len(faults) > 0 && !strings.HasPrefix(got, want) || len(faults) == 0 && got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
}

func TestFaultyFilters(t *testing.T) {
	deep := strings.Repeat(`{"not": `, 9) + `{}` + strings.Repeat(`}`, 9)
	for raw, want := range map[string]string{
		`[]`:                               "at: must be an object",
		`{"lang": "de"}`:                   "at.lang: must be an object with eq",
		`{"lang": {}}`:                     "at.lang: must be an object with eq",
		`{"lang": {"like": "d%"}}`:         "at.lang.like: is no condition",
		`{"lang": {"eq": null}}`:           "at.lang.eq: must be a string",
		`{"lang": {"eq": ["de"]}}`:         "at.lang.eq: must be a string",
		`{"draft": {"gt": true}}`:          "at.draft.gt: must be a string or a number",
		`{"lang": {"in": "de"}}`:           "at.lang.in: must be a list",
		`{"lang": {"exists": "y"}}`:        "at.lang.exists: must be true or false",
		`{"and": {}}`:                      "at.and: must be a list",
		`{"or": []}`:                       "at.or: must be a list",
		`{"or": [{"a": 1}]}`:               "at.or.a: must be an object",
		`{"not": []}`:                      "at.not: must be an object",
		`{"id": {"eq": 9007199254740993}}`: "at.id.eq: numbers must be between",
		`{"id": {"lte": -1e300}}`:          "at.id.lte: numbers must be between",
		`{"or": [{"id": {"in": [1, 12345678901234567890]}}]}`: "at.or.id.in: numbers must be between",
		`{"id": {"eq": 1e999}}`:                               "at: has a number 1e999: numbers must be between",
		deep:                                                  "at.not.not.not.not.not.not.not.not: lies deeper",
		`{"or": [` + strings.Repeat(`{"a":{"eq":1}},`, 100) + `{"b":{"eq":1}}]}`:                        "at: has more than 100",
		`{"and": [` + strings.Repeat(`{"a":{"gte":1,"lt":9}},`, 50) + `{"not":{"b":{"exists":true}}}]}`: "at: has more than 100",
		`{"or": [` + strings.Repeat(`{},`, 100) + `{}]}`:                                                "at: has more than 100",
		`{"a": {"in": [` + strings.Repeat("1,", 200) + `1]}}`:                                           "at.a.in: must be a list of at most 200",
		`{"a": {"eq": "` + strings.Repeat("x", 64<<10) + `"}}`:                                          "at: is longer than 64 KiB",
		`{"a": {"eq": 1}, "b": {"gt": false}, "c": {"in": [1, {}]}}`:                                    "at.b.gt: must be a string or a number",
	} {
		_, faults := attributes.Filter("at", []byte(raw))
		if len(faults) == 0 {
			t.Errorf("%.80s is taken", raw)
		} else if got := faults[0].Location + ": " + faults[0].Message; !strings.HasPrefix(got, want) {
			t.Errorf("%.80s: %s, want %s", raw, got, want)
		}
	}
}

// TestConditionsAlone: what combines conditions is none of them.
func TestConditionsAlone(t *testing.T) {
	one := `{"a":{"eq":1}}`
	for _, raw := range []string{
		`{"or": [` + strings.Repeat(one+`,`, 99) + one + `]}`,
		`{"or": [` + strings.Repeat(`{"and": [`+one+`, {"not": `+one+`}]},`, 49) + `{"b": {"gt": 1, "lt": 2}}]}`,
		`{"and": [` + strings.Repeat(`{},`, 99) + `{}]}`,
	} {
		if predicate, faults := attributes.Filter("at", []byte(raw)); len(faults) > 0 || predicate == "" {
			t.Errorf("%.80s: %v", raw, faults)
		}
	}
}

// TestStored: what was kept before numbers had a bound is taken from an archive.
func TestStored(t *testing.T) {
	if kept, faults := attributes.Stored("at", []byte(`{"a": 9007199254740992}`)); string(kept) != `{"a":9007199254740992}` || faults != nil {
		t.Errorf("%s %v", kept, faults)
	}
	if _, faults := attributes.Stored("at", []byte(`{"not": 1}`)); len(faults) != 1 {
		t.Errorf("%v", faults)
	}
}
