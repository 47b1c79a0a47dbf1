package resolvers

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"time"

	"canopy/db"
)

// A link stands for the token of whom it was shown to: it carries, sealed, what it leads to and until when.

// signed gives a link to what has the id, which can be followed for that long.
func (r *Resolver) signed(to *url.URL, kind db.SealedLink, id int64, life time.Duration) *string {
	sealed := kind.Seal(r.Box, fmt.Appendf(nil, "%d %d", id, time.Now().Add(life).Unix()))
	to.RawQuery = url.Values{"token": {base64.RawURLEncoding.EncodeToString(sealed)}}.Encode()
	text := to.String()
	return &text
}

// leads tells whether a link's token leads to what has the id, at this moment.
func (r *Resolver) leads(kind db.SealedLink, id int64, token string) bool {
	sealed, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return false
	}
	plain, err := kind.Open(r.Box, sealed)
	if err != nil {
		return false
	}
	var of, until int64
	_, err = fmt.Sscan(string(plain), &of, &until)
	return err == nil && of == id && time.Now().Unix() < until
}
