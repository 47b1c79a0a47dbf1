// Package web holds what an HTTP server needs around its handlers and that knows no product:
// request ids and client addresses, the access log, metrics, recovery from panics, CORS, headers
// for pages, what caches may keep, a guard for operators' pages, and a server that shuts down gracefully.
//
// The middlewares work in any order; the usual one is Identify, Metrics, AccessLog, Recover, CORS,
// NoStore from the outside in. Each of them also works alone.
package web

import "net/http"

// Middleware wraps a handler.
type Middleware func(http.Handler) http.Handler

// Chain wraps a handler in middlewares; the first one is the outermost.
func Chain(h http.Handler, list ...Middleware) http.Handler {
	for i := len(list) - 1; i >= 0; i-- {
		h = list[i](h)
	}
	return h
}
