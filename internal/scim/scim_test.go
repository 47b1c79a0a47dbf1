package scim

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func resource(t testing.TB, text string) (r Resource) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// jensen is the full user of RFC 7643, section 8.2, in parts.
const jensen = `{"schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"], "id": "2819c223", "externalId": "701984", "userName": "bjensen@example.com",
	"name": {"formatted": "Ms. Barbara J Jensen, III", "familyName": "Jensen", "givenName": "Barbara"}, "displayName": "Babs Jensen", "title": "Tour Guide", "userType": "Employee",
	"emails": [{"value": "bjensen@example.com", "type": "work", "primary": true}, {"value": "babs@jensen.org", "type": "home"}], "active": true,
	"meta": {"resourceType": "User", "created": "2010-01-23T04:56:22Z", "lastModified": "2011-05-13T04:42:34Z"}}`

// TestFilters has the examples of RFC 7644, section 3.4.2.2, and what is no filter.
func TestFilters(t *testing.T) {
	for filter, want := range map[string]bool{
		`userName eq "bjensen@example.com"`: true, `userName Eq "BJENSEN@example.com"`: true, `name.familyName co "O'Malley"`: false, `userName sw "J"`: false, `userName sw "bj"`: true,
		`urn:ietf:params:scim:schemas:core:2.0:User:userName sw "bj"`: true, `title pr`: true, `nickName pr`: false, `meta.lastModified gt "2011-05-13T04:42:34Z"`: false,
		`meta.lastModified ge "2011-05-13T04:42:34Z"`: true, `meta.lastModified lt "2012"`: true, `title pr and userType eq "Employee"`: true, `title pr or userType eq "Intern"`: true,
		`userType eq "Employee" and (emails co "example.com" or emails.value co "example.org")`: true, `userType ne "Employee" and not (emails co "example.com" or emails.value co "example.org")`: false,
		`userType eq "Employee" and (emails.type eq "work")`: true, `userType eq "Employee" and emails[type eq "work" and value co "@example.com"]`: true,
		`emails[type eq "work" and value co "@jensen.org"]`: false, `emails[type eq "work" and value co "@example.com"] or ims[type eq "xmpp"]`: true,
		`active eq true`: true, `active eq false`: false, `active eq "true"`: false, `nickName ne "x"`: true, `externalId ew "84"`: true, `title eq null`: false,
		`userType eq "Intern" or title pr and active eq true`: true, `not (title pr)`: false, `nothing.at.all pr`: false,
	} {
		f, err := ParseFilter(filter)
		if err != nil || Fits(f, resource(t, jensen)) != want {
			t.Errorf("%s: want %v, %v", filter, want, err)
		}
	}
	for _, filter := range []string{
		``, ` `, `userName`, `userName eq`, `userName is "x"`, `userName eq x`, `eq "x"`, `userName eq "x" and`, `userName eq "x" "y"`, `(userName pr`, `userName pr)`, `not userName pr`,
		`emails[type eq "work"`, `emails[]`, `userName eq {"a":1}`, `userName eq [1]`, `"a" eq "b"`, strings.Repeat("(", 100) + "title pr" + strings.Repeat(")", 100), strings.Repeat("x", 3000),
		"userName eq \"\xff\"",
	} {
		if f, err := ParseFilter(filter); !errors.Is(err, ErrFilter) {
			t.Errorf("%q is %v", filter, f)
		}
	}
}

// TestPatches has the examples of RFC 7644, section 3.5.2, and what directories send.
func TestPatches(t *testing.T) {
	for name, c := range map[string]struct{ was, patch, want string }{
		"add members":                   {`{"members": [{"value": "1"}]}`, `[{"op": "add", "path": "members", "value": [{"value": "2", "display": "B"}, {"value": "1"}]}]`, `{"members": [{"value": "1"}, {"value": "2", "display": "B"}]}`},
		"add without a path":            {`{"userName": "b"}`, `[{"op": "add", "value": {"displayName": "Babs", "userName": "c"}}]`, `{"displayName": "Babs", "userName": "c"}`},
		"remove a member":               {`{"members": [{"value": "1"}, {"value": "2"}]}`, `[{"op": "remove", "path": "members[value eq \"2\"]"}]`, `{"members": [{"value": "1"}]}`},
		"remove members by their value": {`{"members": [{"value": "1"}, {"value": "2"}]}`, `[{"op": "Remove", "path": "members", "value": [{"value": "2"}]}]`, `{"members": [{"value": "1"}]}`},
		"remove all members":            {`{"members": [{"value": "1"}]}`, `[{"op": "remove", "path": "members"}]`, `{}`},
		"replace members":               {`{"members": [{"value": "1"}]}`, `[{"op": "replace", "path": "members", "value": [{"value": "3"}]}]`, `{"members": [{"value": "3"}]}`},
		"a part of a name":              {`{"name": {"givenName": "A", "familyName": "B"}}`, `[{"op": "replace", "path": "name.familyName", "value": "C"}]`, `{"name": {"givenName": "A", "familyName": "C"}}`},
		"by the name of the schema":     {`{"active": true}`, `[{"op": "replace", "path": "urn:ietf:params:scim:schemas:core:2.0:User:active", "value": false}]`, `{"active": false}`},
		"in other letters":              {`{"active": true}`, `[{"op": "Replace", "path": "Active", "value": "False"}]`, `{"active": "False"}`},
		"one of several":                {`{"emails": [{"type": "work", "value": "a"}, {"type": "home", "value": "b"}]}`, `[{"op": "replace", "path": "emails[type eq \"work\"].value", "value": "c"}]`, `{"emails": [{"type": "work", "value": "c"}, {"type": "home", "value": "b"}]}`},
		"a dotted name as a member":     {`{"name": {"givenName": "A"}}`, `[{"op": "replace", "value": {"name.givenName": "D", "active": false}}]`, `{"name": {"givenName": "D"}, "active": false}`},
		"what is not there yet":         {`{}`, `[{"op": "add", "path": "name.givenName", "value": "E"}]`, `{"name": {"givenName": "E"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			r := resource(t, c.was)
			var patch []Operation
			if err := json.Unmarshal([]byte(c.patch), &patch); err != nil {
				t.Fatal(err)
			}
			if err := Patch(r, patch); err != nil || !reflect.DeepEqual(r, resource(t, c.want)) {
				t.Errorf("%v, %v", r, err)
			}
		})
	}
	for patch, want := range map[string]error{
		`[{"op": "move", "path": "a"}]`: ErrValue, `[{"op": "remove"}]`: ErrTarget, `[{"op": "add", "value": 1}]`: ErrTarget, `[{"op": "add", "path": "a b", "value": 1}]`: ErrPath,
		`[{"op": "add", "path": "a.b.c", "value": 1}]`: ErrPath, `[{"op": "add", "path": "a[b eq", "value": 1}]`: ErrPath,
		`[{"op": "replace", "path": "emails[type eq \"x\"].value", "value": 1}]`: ErrTarget,
	} {
		var operations []Operation
		if err := json.Unmarshal([]byte(patch), &operations); err != nil {
			t.Fatal(err)
		}
		if err := Patch(Resource{"emails": []any{Resource{"type": "work"}}}, operations); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", patch, err, want)
		}
	}
}

// TestGroupPatches: what becomes of members is known without who they are.
func TestGroupPatches(t *testing.T) {
	for patch, want := range map[string]Members{
		`[{"op": "add", "path": "members", "value": [{"value": "1"}, {"value": "2"}]}, {"op": "remove", "path": "members[value eq \"2\"]"}]`: {Add: []string{"1"}, Drop: []string{"2"}},
		`[{"op": "Remove", "path": "members", "value": [{"value": "1"}]}, {"op": "Add", "value": {"members": {"value": "1"}}}]`:              {Add: []string{"1"}},
		`[{"op": "remove", "path": "members"}, {"op": "add", "path": "MEMBERS", "value": [{"value": "3"}]}]`:                                 {Only: true, Add: []string{"3"}},
		`[{"op": "replace", "value": {"displayName": "G", "urn:ietf:params:scim:schemas:core:2.0:Group:members": [{"value": "4"}]}}]`:        {Only: true, Add: []string{"4"}},
		`[{"op": "replace", "path": "displayName", "value": "G"}]`:                                                                           {},
	} {
		var operations []Operation
		if err := json.Unmarshal([]byte(patch), &operations); err != nil {
			t.Fatal(err)
		}
		have, err := PatchGroup(Resource{"displayName": "G"}, operations)
		if have.Only != want.Only || !slices.Equal(have.Add, want.Add) || !slices.Equal(have.Drop, want.Drop) || err != nil {
			t.Errorf("%s: %v, %v", patch, have, err)
		}
	}
	for patch, want := range map[string]error{
		`[{"op": "add", "path": "members"}]`: ErrValue, `[{"op": "replace", "path": "members"}]`: ErrValue, `[{"op": "add", "path": "members", "value": "1"}]`: ErrValue,
		`[{"op": "add", "path": "members", "value": ["1"]}]`: ErrValue, `[{"op": "move", "path": "members", "value": [{"value": "1"}]}]`: ErrValue,
		`[{"op": "remove", "path": "members[value co \"1\"]"}]`: ErrPath, `[{"op": "remove", "path": "members[value eq \"1\"].value"}]`: ErrPath,
		`[{"op": "replace", "path": "members[value eq \"1\"]", "value": {"value": "2"}}]`: ErrValue, `[{"op": "remove", "path": "members.value"}]`: ErrPath,
	} {
		var operations []Operation
		if err := json.Unmarshal([]byte(patch), &operations); err != nil {
			t.Fatal(err)
		}
		if m, err := PatchGroup(Resource{}, operations); !errors.Is(err, want) {
			t.Errorf("%s: %v, %v, want %v", patch, m, err, want)
		}
	}
}

// TestMembersInFilters: only what can be found out for few members is asked for.
func TestMembersInFilters(t *testing.T) {
	for filter, want := range map[string]string{
		`members.value eq "1" or members eq "2" and not (members[value eq "3"])`: "[1 2 3]", `displayName eq "x" and emails[type eq "y" and value pr]`: "[]",
		`members pr`: "", `members.value ne "1"`: "", `members[value eq "1" and type pr]`: "", `members.display eq "x"`: "", `members eq 1`: "", `members[a.b eq "1"]`: "",
	} {
		f, err := ParseFilter(filter)
		if err != nil {
			t.Fatal(filter, err)
		}
		ids, err := MembersIn(f)
		if want == "" && !errors.Is(err, ErrFilter) || want != "" && (err != nil || fmt.Sprint(ids) != want) {
			t.Errorf("%s: %v, %v", filter, ids, err)
		}
	}
}

// TestPatchesAreBound: one attribute has no more than a hundred values.
func TestPatchesAreBound(t *testing.T) {
	list := make([]any, maxValues)
	for i := range list {
		list[i] = fmt.Sprint(i)
	}
	r := Resource{}
	if err := Patch(r, []Operation{{"add", "emails", list}}); err != nil {
		t.Fatal(err)
	}
	if err := Patch(r, []Operation{{"add", "emails", list[:1]}}); !errors.Is(err, ErrValue) {
		t.Errorf("one more: %v", err)
	}
}

func FuzzFilter(f *testing.F) {
	f.Add(`userType eq "Employee" and emails[type eq "work" and value co "@example.com"]`)
	f.Add(`not (a pr) or b.c ne null`)
	r := resource(f, jensen)
	f.Fuzz(func(_ *testing.T, text string) {
		if parsed, err := ParseFilter(text); err == nil {
			Fits(parsed, r)
		}
	})
}
