package web

import (
	"net/http"
	"strings"
)

// AsksForSocket tells whether a request asks for a WebSocket. What else a client offers to go over to, as
// many do to HTTP/2 on each plain connection, is left aside (RFC 9110, section 7.8).
func AsksForSocket(r *http.Request) bool {
	for protocol := range strings.SplitSeq(strings.Join(r.Header.Values("Upgrade"), ","), ",") {
		if strings.EqualFold(strings.TrimSpace(protocol), "websocket") {
			return true
		}
	}
	return false
}
