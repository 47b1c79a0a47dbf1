package web

import (
	"log/slog"
	"net/http"
	"slices"
	"time"

	"canopy/internal/telemetry"
)

// AccessLog writes one line for each request once it is answered. The line has the route's
// pattern, not the path: neither identifiers nor query strings, where a secret may stand, reach
// the log. What the doors tell of the caller and the operation is added. Requests whose path is one of quiet (health checks) are not logged.
func AccessLog(log *slog.Logger, quiet ...string) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if slices.Contains(quiet, r.URL.Path) {
				next.ServeHTTP(w, r)
				return
			}
			e, w, r := observe(w, r)
			start := time.Now()
			finished := false
			defer func() { logRequest(log, e, r, time.Since(start), finished) }()
			next.ServeHTTP(w, r)
			e.begin()
			finished = true
		})
	}
}

func logRequest(log *slog.Logger, e *exchange, r *http.Request, took time.Duration, finished bool) {
	status := e.noted(r)
	attrs := [14]slog.Attr{
		slog.String("method", methodName(r.Method)),
		slog.String("route", e.route(r)),
		slog.Int("status", status),
		slog.Int64("bytes", e.bytes),
		slog.Duration("duration", took),
		slog.String("requestId", e.id),
	}
	shown := e.told.attrs(attrs[:6])
	if id := telemetry.TraceID(r.Context()); id != "" {
		shown = append(shown, slog.String("traceId", id))
	}
	if !finished {
		shown = append(shown, slog.Bool("aborted", true))
	}
	level := slog.LevelInfo
	if status >= http.StatusInternalServerError {
		level = slog.LevelWarn
	}
	log.LogAttrs(r.Context(), level, "request", shown...)
}

// methodName is a method of the standard (RFC 9110 and RFC 5789), or "other": a caller can send
// any word.
func methodName(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions, http.MethodConnect, http.MethodTrace:
		return m
	}
	return "other"
}
