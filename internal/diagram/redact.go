package diagram

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"maps"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// The bounds of what a redactor knows. What an expression has made of a secret counts as one, too, unless
// it is so short that it stands elsewhere by chance, or so long that it is no credential.
const (
	minLearnt = 8
	maxLearnt = 16 << 10
	// madeTexts and madeBytes are how many of these a step may have, and how long they may be together: each has as many forms as a secret.
	madeTexts = 1000
	madeBytes = 256 << 10
	// maxSecrets is how long the secrets of a diagram may be together: each step knows some forty forms of all.
	maxSecrets = 64 << 10
	// minCore is the least of a text in base64 that is known when it begins in the middle of three bytes.
	minCore = 8
)

// redactor takes secrets out of texts: as they are, and in the forms that programs write texts in. A nil
// one knows none.
type redactor struct {
	labels   map[string]string // by the form of a secret
	replacer *strings.Replacer // of labels; nil when they have changed
	// texts and bytes count what expressions have made of secrets.
	texts, bytes int
}

// errMade says that the expressions of a step make more of secrets than can be known again.
var errMade = fmt.Errorf("the expressions of this step make more than %d texts, or %d KiB, of secrets", madeTexts, madeBytes>>10)

// What it costs to learn a text, in units of the meter: some forms of it, and as much for each of them as for a few values.
const (
	learnForms = 40
	learnCost  = 64 * learnForms
)

func newRedactor(secrets map[string]string) *redactor {
	r := &redactor{labels: map[string]string{}}
	for _, name := range slices.Sorted(maps.Keys(secrets)) {
		r.add(name, secrets[name])
	}
	return r
}

// add takes up a secret, also without the space around it: many come from files that end in a line break, and who
// sends them back leaves that out.
func (r *redactor) add(name, value string) {
	for _, form := range slices.Concat(forms(value), forms(strings.TrimSpace(value)), numberForms(value)) {
		if _, known := r.labels[form]; !known && form != "" {
			r.labels[form], r.replacer = labelOf(name), nil
		}
	}
}

// learn takes up what an expression has made of secrets, when it is the step's turn.
func (r *redactor) learn(m *meter, secrets names, made any) error {
	if r == nil || len(secrets) == 0 {
		return nil
	}
	return r.learnAll(m, slices.Min(slices.Collect(maps.Keys(secrets))), reflect.ValueOf(made))
}

func (r *redactor) learnAll(m *meter, name string, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Interface:
		return r.learnAll(m, name, v.Elem())
	case reflect.String:
		return r.learnText(m, name, v.String())
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if err := r.learnAll(m, name, v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if err := errors.Join(r.learnAll(m, name, it.Key()), r.learnAll(m, name, it.Value())); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *redactor) learnText(m *meter, name, made string) error {
	if _, known := r.labels[made]; known || len(made) < minLearnt || len(made) > maxLearnt {
		return nil
	}
	r.texts, r.bytes = r.texts+1, r.bytes+len(made)
	if r.texts > madeTexts || r.bytes > madeBytes {
		return errMade
	}
	if err := m.pass(learnCost + len(made)*learnForms); err != nil {
		return err
	}
	r.add(name, made)
	return nil
}

// text is a text without secrets.
func (r *redactor) text(s string) string {
	if r.replacer == nil {
		// The longest first: a form may begin with another.
		list := slices.SortedFunc(maps.Keys(r.labels), func(a, b string) int {
			return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
		})
		pairs := make([]string, 0, 2*len(list))
		for _, form := range list {
			pairs = append(pairs, form, r.labels[form])
		}
		r.replacer = strings.NewReplacer(pairs...)
	}
	return r.replacer.Replace(s)
}

// value is a JSON value without secrets. A number that is one becomes a text.
func (r *redactor) value(v any) any {
	if r == nil || len(r.labels) == 0 {
		return v
	}
	switch v := v.(type) {
	case string:
		return r.text(v)
	case int:
		return r.number(v, strconv.Itoa(v))
	case float64:
		return r.number(v, strconv.FormatFloat(v, 'f', -1, 64))
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = r.value(item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			out[r.text(name)] = r.value(item)
		}
		return out
	}
	return v
}

func (r *redactor) number(v any, digits string) any {
	if label, is := r.labels[digits]; is {
		return label
	}
	return v
}

// failure is an error whose message has no secrets.
func (r *redactor) failure(err error) error {
	if r == nil || err == nil || len(r.labels) == 0 {
		return err
	}
	e := asError(err)
	return &Error{Code: e.Code, Message: r.text(e.Message), Step: e.Step, cause: e.cause}
}

// forms are how a text is written: plain, in capitals or without any, escaped for JSON, Go, HTML and URLs, in hex and in base64.
func forms(s string) []string {
	list := []string{s, strings.ToUpper(s), strings.ToLower(s), html.EscapeString(s), hex.EncodeToString([]byte(s)), strings.ToUpper(hex.EncodeToString([]byte(s)))}
	for _, once := range jsonForms(s) {
		list = append(list, once)
		if once != s {
			list = append(list, jsonForms(once)...) // JSON in a text of JSON
		}
	}
	list = append(list, urlForms(s)...)
	return append(list, base64Forms([]byte(s))...)
}

// numberForms are how a text of digits is written where it was read as a number, which keeps some 17 of them.
func numberForms(s string) []string {
	s = strings.TrimSpace(s)
	if len(s) < minLearnt || strings.Trim(s, "0123456789.-+eE") != "" {
		return nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(f, 0) {
		return nil
	}
	var list []string
	for _, format := range []byte{'f', 'e', 'g'} {
		if form := strconv.FormatFloat(f, format, -1, 64); len(form) >= minLearnt {
			list = append(list, form)
		}
	}
	return list
}

func jsonForms(s string) []string {
	var plain bytes.Buffer
	e := json.NewEncoder(&plain)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	unquoted := strings.Trim(plain.String(), "\n")
	unquoted = unquoted[1 : len(unquoted)-1]
	quoted := strconv.Quote(s)
	escaped, _ := json.Marshal(s) // as above, with <, > and & escaped
	return []string{
		unquoted, string(escaped[1 : len(escaped)-1]), quoted[1 : len(quoted)-1],
		strings.ReplaceAll(unquoted, "/", `\/`), asciiOnly(unquoted),
	}
}

// asciiOnly escapes what is beyond ASCII, as many JSON writers do.
func asciiOnly(s string) string {
	var out strings.Builder
	for _, c := range s {
		if c < 0x80 {
			out.WriteRune(c)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, c) {
			fmt.Fprintf(&out, `\u%04x`, unit)
		}
	}
	return out.String()
}

// unescaped are the characters that JavaScript's encodeURIComponent leaves as they are.
var unescaped = strings.NewReplacer("%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")

// reserved are the further ones that its encodeURI does.
var reserved = strings.NewReplacer("%2F", "/", "%3B", ";", "%2C", ",", "%3F", "?", "%3A", ":", "%40", "@", "%26", "&", "%3D", "=", "%2B", "+", "%24", "$", "%23", "#")

func urlForms(s string) []string {
	query := url.QueryEscape(s)
	component := strings.ReplaceAll(query, "+", "%20")
	path := strings.ReplaceAll(component, "%2F", "/")
	list := []string{query, component, unescaped.Replace(component), url.PathEscape(s), path, unescaped.Replace(reserved.Replace(component))}
	for _, form := range list[:len(list):len(list)] {
		list = append(list, lowerEscapes(form))
	}
	return list
}

// lowerEscapes writes the hex digits of a URL's escapes in lower case.
func lowerEscapes(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:], bytes.ToLower(b[i+1:i+3]))
			i += 2
		}
	}
	return string(b)
}

// base64Forms are a text in base64, with both alphabets, and what is always the same of it where it stands
// within a longer text.
func base64Forms(b []byte) (list []string) {
	for _, alphabet := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		bare := alphabet.WithPadding(base64.NoPadding)
		list = append(list, alphabet.EncodeToString(b), bare.EncodeToString(b))
		for before := range 3 {
			encoded := bare.EncodeToString(slices.Concat(make([]byte, before), b))
			// The digits that bytes before or behind have a part in are left out.
			core := encoded[(before*8+5)/6 : (before+len(b))*8/6]
			if len(core) >= minCore {
				list = append(list, core)
			}
		}
	}
	return list
}
