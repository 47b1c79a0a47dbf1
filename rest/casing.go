package rest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"

	"canopy/internal/intake"
)

// Members of bodies are known by their exact names, by the check against the schema as well as by what
// decodes. This is the library's documented switch, and holds for the whole process.
func init() { huma.ValidateStrictCasing = true }

// miscased names the members of a JSON body that differ from documented ones in letter case only.
func (a *api) miscased(schema *huma.Schema, body []byte) []Fault {
	var value any
	if json.Unmarshal(body, &value) != nil {
		return nil // the library says what is wrong with it
	}
	return a.miscasedIn(schema, value, "body")
}

func (a *api) miscasedIn(schema *huma.Schema, value any, at string) (faults []Fault) {
	for schema != nil && schema.Ref != "" {
		schema = a.huma.OpenAPI().Components.Schemas.SchemaFromRef(schema.Ref)
	}
	if schema == nil {
		return nil
	}
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if known := schema.Properties[name]; known != nil {
				faults = append(faults, a.miscasedIn(known, value[name], at+"."+name)...)
			} else if known := intake.LikeName(name, maps.Keys(schema.Properties)); known != "" {
				faults = append(faults, Fault{at + "." + name, fmt.Sprintf(intake.Miscased, known)})
			}
		}
	case []any:
		for i, entry := range value {
			faults = append(faults, a.miscasedIn(schema.Items, entry, fmt.Sprintf("%s[%d]", at, i))...)
		}
	}
	return faults
}
