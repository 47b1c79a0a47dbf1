package hop

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"canopy/internal/problem"
	"canopy/internal/web"
)

// header is what says that a request was passed on by another cell; in an answer, that it was not believed.
const header = "Canopy-Hop"

// skew is how far the clocks of two cells may be apart.
const skew = time.Minute

// sign says who passes a request on, to whom, when and for which client. It vouches for these, and binds them to the request: its method and address, and what it shows of its caller. The body is
// the caller's own, as the token is: whoever could change it on the way could change that of any request.
func (c *Cells) sign(r *http.Request, to problem.Place, client string, at time.Time) string {
	said := fmt.Sprintf("t=%d,from=%s,to=%s,client=%s,hops=%d", at.Unix(), c.self(), name(to), client, hopsOf(r.Context())+1)
	if to.OfRows {
		said += ",rows=true"
	}
	if web.IsUncounted(r.Context()) {
		said += ",counted=false"
	}
	return said + ",v1=" + mac(c.Keys[0], said, r)
}

func mac(key []byte, said string, r *http.Request) string {
	m := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(m, "canopy-hop-v1\n%s\n%s\n%s\n%x\n%x", said, r.Method, r.URL.RequestURI(), // never fails, by its documentation
		sha256.Sum256([]byte(r.Header.Get("Authorization"))), sha256.Sum256([]byte(strings.Join(r.Header["Cookie"], ";"))))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

// passedOn is what another cell says of a request.
type passedOn struct {
	from, client string
	// hops is how often the request has been passed on.
	hops int
	// ofRows: as in problem.Place.
	ofRows bool
	// uncounted: it was not counted against the caller's limits.
	uncounted bool
}

// check reads what another cell has signed.
func (c *Cells) check(r *http.Request, value string, now time.Time) (p passedOn, err error) {
	said, signature, _ := strings.Cut(value, ",v1=")
	known := false
	for _, key := range c.Keys {
		known = hmac.Equal([]byte(mac(key, said, r)), []byte(signature)) || known
	}
	if !known {
		return p, fmt.Errorf("the signature is not of a key of this cell")
	}
	fields := map[string]string{}
	for part := range strings.SplitSeq(said, ",") {
		k, v, _ := strings.Cut(part, "=")
		fields[k] = v
	}
	at, err := strconv.ParseInt(fields["t"], 10, 64)
	if err != nil {
		return p, err
	}
	if apart := now.Sub(time.Unix(at, 0)); apart > skew || apart < -skew {
		return p, fmt.Errorf("it was signed %s away from now", apart.Round(time.Second))
	}
	if fields["to"] != c.self() {
		return p, fmt.Errorf("it is for %s", fields["to"])
	}
	if _, err := netip.ParseAddr(fields["client"]); err != nil && fields["client"] != "" {
		return p, err
	}
	hops, err := strconv.Atoi(fields["hops"])
	return passedOn{from: fields["from"], client: fields["client"], hops: hops, ofRows: fields["rows"] == "true", uncounted: fields["counted"] == "false"}, err
}

type byKey struct{}

// By is the cell that has passed a request on; "" where a client has sent it.
func By(ctx context.Context) string {
	p, _ := ctx.Value(byKey{}).(passedOn)
	return p.from
}

// Counted tells whether the cell that has passed a request on has counted it against the caller's limits.
func Counted(ctx context.Context) bool {
	p, _ := ctx.Value(byKey{}).(passedOn)
	return p.from != "" && !p.uncounted
}

// OfRows tells whether a cell has passed a request on for what this one has, and nobody else: rows of a list, or what hangs from them.
func OfRows(ctx context.Context) bool {
	p, _ := ctx.Value(byKey{}).(passedOn)
	return p.ofRows
}

func hopsOf(ctx context.Context) int {
	p, _ := ctx.Value(byKey{}).(passedOn)
	return p.hops
}

// Arrive takes what other cells have passed on for what it is. What is not signed as it should be is refused, as whoever signed it is told by the answer's header. refuse writes the refusal.
func (c *Cells) Arrive(refuse http.HandlerFunc) web.Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			value := r.Header.Get(header)
			if value == "" || c == nil {
				next.ServeHTTP(w, r)
				return
			}
			p, err := c.check(r, value, time.Now())
			if err != nil {
				c.Log.WarnContext(r.Context(), "a request that is said to come from another cell was refused", "error", err)
				w.Header().Set(header, "refused")
				refuse(w, r)
				return
			}
			r.Header.Del(header)
			web.ComesFrom(r.Context(), p.client)
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), byKey{}, p)))
		})
	}
}
