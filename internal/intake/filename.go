package intake

import (
	"mime"
	"mime/multipart"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// latin1Name is the beginning of a file name with its encoding (RFC 5987, section 3.2) where that is
// ISO-8859-1; the mime package takes UTF-8 only.
var latin1Name = regexp.MustCompile(`(?i)(filename\*\s*=\s*"?)iso-8859-1'`)

// fileName gives the name of the file that a part carries, as its sender means it; empty where the part
// carries none. Clients write names in several ways: as UTF-8, with an encoding (filename*=UTF-8”na%C3%AFve.txt,
// RFC 8187), percent-encoded (RFC 7578, section 4.2), or in the code page of old programs.
func fileName(part *multipart.Part) string {
	disposition := latin1Name.ReplaceAllString(part.Header.Get("Content-Disposition"), "${1}utf-8'")
	_, params, err := mime.ParseMediaType(disposition)
	if err != nil {
		return ""
	}
	return percentDecoded(fromLatin1(params["filename"]))
}

// fromLatin1 reads what is no UTF-8 as windows-1252, which is what "Latin-1" stands for in practice
// (https://encoding.spec.whatwg.org/#names-and-labels).
func fromLatin1(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	decoded, err := charmap.Windows1252.NewDecoder().String(name)
	if err != nil {
		return name
	}
	return decoded
}

// percentDecoded decodes a name that was encoded as in a URL. Only characters beyond ASCII tell that it was:
// a name that just has a percent sign is left alone.
func percentDecoded(name string) string {
	if !strings.Contains(name, "%") {
		return name
	}
	decoded, err := url.PathUnescape(name)
	if err != nil || !utf8.ValidString(decoded) || wide(decoded) == wide(name) {
		return name
	}
	return decoded
}

// wide counts the characters beyond ASCII.
func wide(s string) (n int) {
	for _, r := range s {
		if r >= utf8.RuneSelf {
			n++
		}
	}
	return n
}
