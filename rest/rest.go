// Package rest is the REST door: the documented paths on the resolvers that GraphQL uses too. An
// operation here decodes a request, calls a resolver in process and shapes the documented JSON;
// every rule is the resolver's.
package rest

import (
	"log/slog"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"canopy/internal/hop"
	"canopy/internal/web"
	"canopy/resolvers"
)

// Options are the settings of the REST door.
type Options struct {
	// Version is that of the program, shown in the OpenAPI documents.
	Version string
	// Readable tells whether a path that the door does not have can be read elsewhere, such as a page: then
	// the request has the wrong method, and is not one for nothing. Nil: no path can.
	Readable func(*http.Request) bool
	// Origins are those of web front ends, beside the platform's own.
	Origins web.Origins
	// Cells are asked for what this one lacks; nil: none is.
	Cells *hop.Cells
}

// api is what the operations share.
type api struct {
	r    *resolvers.Resolver
	huma huma.API
	log  *slog.Logger
	// base is the public URL without a slash at its end; empty when it is not known.
	base string
	// own tells requests of the platform's own pages, and of no page; origins those of others that may use the session's cookie.
	own     *http.CrossOriginProtection
	origins web.Origins
}

// New gives the handler of every documented REST path, and the registry of its operations. A
// resolver without a store is enough to produce the OpenAPI documents.
func New(r *resolvers.Resolver, o Options) (http.Handler, huma.API) {
	a, h := open(r, o)
	a.registerTokens()
	a.registerLogins()
	a.registerSessions()
	a.registerPasskeys()
	a.registerSignOns()
	a.registerIdentityProviders()
	a.registerIdentities()
	a.registerCustomers()
	a.registerCustomerStatus()
	a.registerExports()
	a.registerImports()
	a.registerAccounts()
	a.registerRegions()
	a.registerUsers()
	a.registerInvitations()
	a.registerKeys()
	a.registerPermissions()
	a.registerRoles()
	a.registerStates()
	a.registerBulk()
	a.registerFinding()
	a.registerSearch()
	a.registerContexts()
	a.registerAnswers()
	a.registerAgents()
	a.registerRuns()
	a.registerSecrets()
	a.registerLimits()
	a.registerWebhooks()
	a.registerAudit()
	a.registerScimTokens()
	a.serveSCIM(h.mux)
	a.serveRows(h.mux)
	a.serveDocuments(h.mux)
	return h, a.huma
}

// open makes the door with no operations behind it.
func open(r *resolvers.Resolver, o Options) (*api, *handler) {
	a := &api{r: r, log: r.Log}
	if a.log == nil {
		a.log = slog.Default()
	}
	if r.PublicURL != nil {
		a.base = strings.TrimRight(r.PublicURL.String(), "/")
	}
	a.own, a.origins = ownOrigin(a.base), o.Origins
	mux := http.NewServeMux()
	registerPostOnly(mux)
	a.huma = humago.New(mux, config(o.Version, a.base))
	a.huma.UseMiddleware(a.fromHere, a.authenticate, a.once, a.conditions, a.readBody)
	return a, &handler{mux: mux, log: a.log, readable: o.Readable, cells: o.Cells}
}
