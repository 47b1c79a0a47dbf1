package rest

import (
	"net/http"

	"canopy/internal/problem"
	"canopy/internal/scim"
)

func (r *scimRequest) types() []scim.Resource {
	of := func(name, endpoint, schema string) scim.Resource {
		return scim.Resource{
			"schemas": []string{schemaType}, "id": name, "name": name, "endpoint": endpoint, "schema": schema,
			"meta": map[string]any{"resourceType": "ResourceType", "location": r.at("ResourceTypes", name)},
		}
	}
	return []scim.Resource{of("User", "/Users", schemaUser), of("Group", "/Groups", schemaGroup)}
}

func scimTypes(r *scimRequest) (*scimAnswer, error) { //nolint:unparam // of one form with the other handlers
	return r.list(r.types(), 0, 2), nil
}

func scimOneType(r *scimRequest) (*scimAnswer, error) { return scimNamed(r, r.types()) }

func scimSchemas(r *scimRequest) (*scimAnswer, error) { //nolint:unparam // of one form with the other handlers
	return r.list(r.schemas(), 0, 2), nil
}

func scimOneSchema(r *scimRequest) (*scimAnswer, error) { return scimNamed(r, r.schemas()) }

// scimNamed gives the resource of the path's id.
func scimNamed(r *scimRequest, list []scim.Resource) (*scimAnswer, error) {
	for _, each := range list {
		if each["id"] == r.PathValue("id") {
			return &scimAnswer{status: http.StatusOK, body: each}, nil
		}
	}
	return nil, problem.Missing("there is no %s", clip(r.PathValue("id")))
}

// scimAttribute describes an attribute (RFC 7643, section 7).
func scimAttribute(name, kind, mutability string, more scim.Resource) scim.Resource {
	a := scim.Resource{
		"name": name, "type": kind, "multiValued": false, "required": false, "caseExact": false, "mutability": mutability, "returned": "default", "uniqueness": "none",
	}
	for key, value := range more {
		a[key] = value
	}
	return a
}

func (r *scimRequest) schemas() []scim.Resource {
	const free, fixed = "readWrite", "immutable"
	text := func(name, mutability string) scim.Resource { return scimAttribute(name, "string", mutability, nil) }
	several := func(name string, parts ...scim.Resource) scim.Resource {
		return scimAttribute(name, "complex", free, scim.Resource{"multiValued": true, "subAttributes": parts})
	}
	of := func(id, name string, attributes ...scim.Resource) scim.Resource {
		return scim.Resource{
			"schemas": []string{schemaSchema}, "id": id, "name": name, "attributes": attributes,
			"meta": map[string]any{"resourceType": "Schema", "location": r.at("Schemas", id)},
		}
	}
	return []scim.Resource{
		of(schemaUser, "User",
			scimAttribute("userName", "string", fixed, scim.Resource{"required": true, "uniqueness": "server", "description": "The e-mail address"}),
			scimAttribute("externalId", "string", free, scim.Resource{"caseExact": true}),
			scimAttribute("name", "complex", free, scim.Resource{"subAttributes": []scim.Resource{text("givenName", free), text("familyName", free), text("formatted", "readOnly")}}),
			text("displayName", "readOnly"),
			several("emails", text("value", "readOnly"), text("type", "readOnly"), scimAttribute("primary", "boolean", "readOnly", nil)),
			scimAttribute("active", "boolean", free, nil)),
		of(schemaGroup, "Group",
			scimAttribute("displayName", "string", "readOnly", scim.Resource{"required": true}),
			several("members", text("value", fixed), text("type", fixed), scimAttribute("$ref", "reference", "readOnly", scim.Resource{"referenceTypes": []string{"User"}}))),
	}
}
