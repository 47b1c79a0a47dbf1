package web

import (
	"net/http"
	"slices"

	"canopy/internal/telemetry"
)

// Trace begins a span for each request, below that of the caller where it names one (W3C Trace Context). Requests whose path is one of
// quiet are left out. It tells the route, not the path, and nothing of who asks but ids. It stands around all others that note something of a
// request, so that this is copied once for all of them.
func Trace(t *telemetry.Telemetry, quiet ...string) Middleware {
	return func(next http.Handler) http.Handler {
		if !t.Traces() {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if slices.Contains(quiet, r.URL.Path) {
				next.ServeHTTP(w, r)
				return
			}
			method := methodName(r.Method)
			ctx, span := t.Root(r.Context(), r.Header.Get(telemetry.HeaderTraceparent), method, telemetry.Server, telemetry.Text("http.request.method", method))
			e, w, r := observeIn(ctx, w, r)
			defer func() { tellSpan(span, e, r, method) }()
			next.ServeHTTP(w, r)
			e.begin()
		})
	}
}

func tellSpan(span telemetry.Span, e *exchange, r *http.Request, method string) {
	if !span.Tells() {
		return
	}
	if route := e.route(r); route != "" {
		span.Name(method + " " + route)
		span.Set(telemetry.Text("http.route", route))
	}
	status := e.noted(r)
	span.Set(telemetry.Number("http.response.status_code", int64(status)), telemetry.Text("canopy.request", e.id))
	if e.told.customer != 0 {
		span.Set(telemetry.Number("canopy.customer", e.told.customer), telemetry.Text("canopy.client", e.told.client))
	}
	if status == 0 || status >= http.StatusInternalServerError {
		span.Failed("")
	}
	span.End(nil)
}
