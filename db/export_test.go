package db

import (
	"regexp"
	"strings"

	"canopy/internal/access"
)

// AuditPage is the statement of a page of audit events, for tests of its plan.
func AuditPage(scope access.Scope, a Ask) (text string, args []any) {
	return pageText(AuditEvents, a, eventsWithin(scope), scopedArgs(scope)...)
}

// pageText is the statement of a page of a list.
func pageText(l *List, a Ask, w ways, args ...any) (string, []any) {
	st := newStatement(l, a, false, args...)
	return st.finished(st.shown("", st.pageOf(st.alternatives(a, w)), ""))
}

func scopedArgs(scope access.Scope) []any { return []any{scope.From(), scope.To()} }

// SealedColumns names all that is sealed.
func SealedColumns() (list []string) {
	for _, c := range sealedColumns {
		list = append(list, c.Name())
	}
	return list
}

// UsersInScope is the statement of users by their ids, for tests of its plan.
var UsersInScope = statements[qUsersByID]

// Statements are the texts of all that is prepared.
var Statements = statements

// ExportTexts are the statements of all that is exported.
func ExportTexts() (list []string) {
	var walk func([]ExportKind)
	walk = func(kinds []ExportKind) {
		for _, k := range kinds {
			list = append(list, statements[k.query])
			walk(k.Below)
		}
	}
	walk(ExportKinds)
	return list
}

// ExportedMembers are the members of the rows of each kind of an export, in their order, as the statements name them.
func ExportedMembers() map[string][]string {
	all := map[string][]string{}
	var walk func([]ExportKind)
	walk = func(kinds []ExportKind) {
		for _, k := range kinds {
			all[k.Name] = membersBuilt(statements[k.query])
			walk(k.Below)
		}
	}
	walk(ExportKinds)
	return all
}

// memberName is the name of a member, before its value.
var memberName = regexp.MustCompile(`^[(,]\s*'(\w+)',`)

// membersBuilt are the members of the object that a statement builds first, without those of objects within it.
func membersBuilt(text string) (names []string) {
	_, text, _ = strings.Cut(text, "json_build_object")
	for deep := 0; text != "" && (deep > 0 || names == nil); text = text[1:] {
		switch text[0] {
		case '(':
			deep++
		case ')':
			deep--
		}
		if m := memberName.FindStringSubmatch(text); m != nil && deep == 1 {
			names = append(names, m[1])
		}
	}
	return names
}
