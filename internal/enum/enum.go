// Package enum writes the values of enums as each door has them: CREATED_AT in the graph is createdAt in REST and webhooks.
package enum

import "strings"

// UpperCase writes a name in lower camel case as the graph does: createdAt is CREATED_AT. What is no such name becomes none.
func UpperCase(name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case r >= 'A' && r <= 'Z':
			b.WriteByte('_')
			b.WriteRune(r)
		case r >= 'a' && r <= 'z':
			b.WriteRune(r - 'a' + 'A')
		default:
			return ""
		}
	}
	return b.String()
}

// LowerCamel writes a value as REST does: CREATED_AT is createdAt.
func LowerCamel(value string) string {
	first, others, _ := strings.Cut(value, "_")
	name := strings.ToLower(first)
	for part := range strings.FieldsFuncSeq(others, func(r rune) bool { return r == '_' }) {
		name += part[:1] + strings.ToLower(part[1:])
	}
	return name
}
