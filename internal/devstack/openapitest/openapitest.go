// Package openapitest holds the answers of a server against its OpenAPI 3.1 document: that their status
// and media type are documented, and that their bodies are of the schema. It judges answers more strictly
// than clients have to: a member that is not documented is a fault.
package openapitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// base is where the document is, for the references in it.
const base = "openapi.json"

// Document is an OpenAPI document that answers are held against. It may be used concurrently.
type Document struct {
	operations *http.ServeMux

	mu       sync.Mutex // guards what follows
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema
}

// operation is a documented operation; path is its template.
type operation struct {
	method, path string
	responses    map[string]response
}

type response struct {
	Content map[string]json.RawMessage `json:"content"`
}

// ServeHTTP makes an operation what a mux can find; nobody calls it.
func (operation) ServeHTTP(http.ResponseWriter, *http.Request) {}

// Load reads a document in JSON.
func Load(document []byte) (*Document, error) {
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]response `json:"responses"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		return nil, err
	}
	d := &Document{operations: http.NewServeMux(), compiler: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{}}
	for path, methods := range doc.Paths {
		for method, o := range methods {
			method = strings.ToUpper(method)
			d.operations.Handle(method+" "+path, operation{method, path, o.Responses})
		}
	}
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return nil, err
	}
	closeObjects(whole)
	d.compiler.AssertFormat()
	return d, d.compiler.AddResource(base, whole)
}

// closeObjects lets no schema of an object take members that it does not list.
func closeObjects(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, lists := v["properties"].(map[string]any); lists && v["type"] != nil {
			v["additionalProperties"] = false
		}
		for _, below := range v {
			closeObjects(below)
		}
	case []any:
		for _, below := range v {
			closeObjects(below)
		}
	}
}

// Check gives the first fault of an answer; nil where it is as documented, or to a request for something
// that is not.
func (d *Document) Check(request *http.Request, status int, header http.Header, body []byte) error {
	handler, _ := d.operations.Handler(request)
	o, known := handler.(operation)
	if !known {
		return nil
	}
	at := fmt.Sprintf("%s %s: %d", o.method, o.path, status)
	documented, ok := o.responses[strconv.Itoa(status)]
	if !ok {
		return fmt.Errorf("%s is not documented", at)
	}
	if len(documented.Content) == 0 {
		if len(body) > 0 {
			return fmt.Errorf("%s has a body, which is not documented", at)
		}
		return nil
	}
	mediaType, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if _, ok := documented.Content[mediaType]; err != nil || !ok {
		return fmt.Errorf("%s is of the type %q, which is not documented", at, header.Get("Content-Type"))
	}
	if request.Method == http.MethodHead || !strings.HasSuffix(mediaType, "json") {
		return nil
	}
	if err := d.checkBody(pointer("paths", o.path, strings.ToLower(o.method), "responses", strconv.Itoa(status), "content", mediaType, "schema"), body); err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	return nil
}

func (d *Document) checkBody(at string, body []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("the body is not JSON: %w", err)
	}
	schema, err := d.schema(at)
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

func (d *Document) schema(at string) (*jsonschema.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	schema, err := d.schemas[at], error(nil)
	if schema == nil {
		if schema, err = d.compiler.Compile(base + "#" + at); err == nil {
			d.schemas[at] = schema
		}
	}
	return schema, err
}

// pointer is a JSON pointer as a fragment (RFC 6901, sections 4 and 6).
func pointer(names ...string) string {
	escape := strings.NewReplacer("~", "~0", "/", "~1", "%", "%25", "{", "%7B", "}", "%7D", "+", "%2B")
	var b strings.Builder
	for _, name := range names {
		b.WriteString("/" + escape.Replace(name))
	}
	return b.String()
}
