package hop

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httputil"

	"canopy/internal/problem"
	"canopy/internal/web"
)

// Pass has a request answered by another cell, whatever that says, and gives the status. failed answers where it says nothing, and there is no status; branch is that of the caller.
func (c *Cells) Pass(w http.ResponseWriter, r *http.Request, to problem.Place, branch int64, failed func(*problem.Error)) (status int) {
	way, err := c.way(to, branch)
	if err != nil {
		failed(Away(to, err))
		return 0
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			way.address(p.Out)
			bound(p.Out)
		},
		Transport: way, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0), // what matters of it is told by failed
		ModifyResponse: func(res *http.Response) error {
			status = res.StatusCode
			own(res.Header)
			for name := range res.Header {
				w.Header().Del(name)
			}
			w.Header().Set(RegionHeader, name(to))
			if r.Method != http.MethodGet && r.Method != http.MethodHead && res.StatusCode < http.StatusBadRequest {
				c.Done(r.Context(), to)
			}
			return nil
		},
		ErrorHandler: func(_ http.ResponseWriter, _ *http.Request, err error) { failed(Away(to, err)) },
	}
	proxy.ServeHTTP(w, r)
	return status
}

// bound has a request's body end with its length. net/http asks for more when all is sent, by when the other cell may have begun its answer: as that is handed on, what the client has sent is closed here,
// and to find it closed would break the answer off.
func bound(r *http.Request) {
	if r.ContentLength > 0 {
		r.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(r.Body, r.ContentLength), r.Body}
	}
}

// own takes out of an answer what the cell that was asked says by itself.
func own(h http.Header) {
	for _, name := range []string{
		"X-Request-Id", "Strict-Transport-Security", "Access-Control-Allow-Origin", "Access-Control-Allow-Credentials", "Access-Control-Expose-Headers", RegionHeader,
	} {
		h.Del(name)
	}
}

// Ask sends a request of the platform's own making to another cell. The request's body is closed in any case.
func (c *Cells) Ask(r *http.Request, to problem.Place, branch int64) (*http.Response, error) {
	way, err := c.way(to, branch)
	if err != nil {
		closeBody(r)
		return nil, Away(to, err)
	}
	way.address(r)
	r.Header.Set("User-Agent", web.UserAgent(r.Context()))
	res, err := way.RoundTrip(r)
	if err != nil {
		return nil, Away(to, err)
	}
	return res, nil
}

type authorizationKey struct{}

// WithAuthorization keeps what a caller has shown, for what is asked of another cell on the caller's behalf.
func WithAuthorization(ctx context.Context, header string) context.Context {
	return context.WithValue(ctx, authorizationKey{}, header)
}

// Authorization is what the caller has shown.
func Authorization(ctx context.Context) string {
	s, _ := ctx.Value(authorizationKey{}).(string)
	return s
}
