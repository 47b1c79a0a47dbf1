package diagram

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"math"
	"net/url"
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
}

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
			r.labels[form], r.replacer = "[secret "+name+"]", nil
		}
	}
}

// learn takes up what an expression has made of secrets.
func (r *redactor) learn(secrets names, made any) {
	if r == nil || len(secrets) == 0 {
		return
	}
	switch v := made.(type) {
	case string:
		if len(v) >= minLearnt && len(v) <= maxLearnt {
			r.add(slices.Min(slices.Collect(maps.Keys(secrets))), v)
		}
	case []any:
		for _, item := range v {
			r.learn(secrets, item)
		}
	case map[string]any:
		for _, item := range v {
			r.learn(secrets, item)
		}
	}
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

func urlForms(s string) []string {
	query := url.QueryEscape(s)
	component := strings.ReplaceAll(query, "+", "%20")
	list := []string{query, component, unescaped.Replace(component), url.PathEscape(s)}
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
