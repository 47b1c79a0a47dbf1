package mail

import "strings"

// Leads tells by what a name leads to a page of the web, "" if by nothing. Mails greet people by their names, which must not lead anywhere.
func Leads(name string) string {
	for _, link := range []string{"://", "www."} {
		if strings.Contains(strings.ToLower(name), link) {
			return link
		}
	}
	return ""
}
