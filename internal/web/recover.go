package web

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
)

// Recover turns a panic into a log line with its stack, and an answer that fail writes with
// status 500. Where the answer had begun, the connection is cut instead, so that the client does
// not take half of it for the whole. http.ErrAbortHandler passes, as it does in net/http.
func Recover(log *slog.Logger, fail func(http.ResponseWriter, *http.Request)) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			e, w, r := observe(w, r)
			defer func() {
				v := recover()
				if v == nil {
					return
				}
				if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
					panic(v)
				}
				log.ErrorContext(r.Context(), "panic in a handler", "panic", fmt.Sprint(v), "method", methodName(r.Method),
					"route", e.route(r), "requestId", e.id, "stack", string(debug.Stack()))
				if e.hijacked {
					return
				}
				if e.status != 0 {
					panic(http.ErrAbortHandler)
				}
				fail(w, r)
			}()
			next.ServeHTTP(w, r)
		})
	}
}
