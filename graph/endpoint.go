// Package graph is the GraphQL door: transports, the guard against costly documents, costs,
// persisted queries and the face of errors. What the fields do is in resolvers.
package graph

import (
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"canopy/graph/generated"
	"canopy/internal/access"
	"canopy/internal/hop"
	"canopy/internal/problem"
	"canopy/internal/web"
	"canopy/resolvers"
)

const (
	cachedQueries = 1000
	keepAlive     = 15 * time.Second
	initTimeout   = 10 * time.Second
)

// Options are the settings of the GraphQL door.
type Options struct {
	Introspection bool
	// MaxCost bounds one request, CostPerMinute an API key; 0 is no bound.
	MaxCost, CostPerMinute int
	// Redis shares persisted queries between processes; nil keeps them in this one.
	Redis redis.UniversalClient
	// Origins are those of web front ends beside the platform's own.
	Origins   web.Origins
	PublicURL *url.URL
	// Metrics takes what is measured of requests; nil takes nothing.
	Metrics prometheus.Registerer
	// Cells are asked for what this one lacks; nil: none is.
	Cells *hop.Cells
	Log   *slog.Logger
}

// New gives the handler of /graphql.
func New(r *resolvers.Resolver, o Options) http.Handler {
	schema := generated.NewExecutableSchema(generated.Config{Resolvers: root{r}})
	s := handler.New(schema)
	door := &endpoint{resolver: r, options: o, server: s, persisted: newPersisted(o.Redis, o.Log)}
	for _, t := range []graphql.Transport{webSocket{door, keepAlive, initTimeout}, multipartTransport{}, once{httpTransport{}, door}} {
		s.AddTransport(discreet{t})
	}
	s.SetQueryCache(lru.New[*ast.QueryDocument](cachedQueries))
	if !o.Introspection {
		s.SetDisableSuggestion(true)
		s.SetValidationRulesFn(quietRules)
	}
	s.SetParserTokenLimit(maxTokens)
	s.SetErrorPresenter(door.present)
	s.SetRecoverFunc(door.recovered)
	for _, e := range door.extensions() {
		s.Use(e)
	}
	return door
}

// extensions look at each operation, in this order. None looks at fields: inorder.ResolveField would not ask it.
func (e *endpoint) extensions() []graphql.HandlerExtension {
	o := e.options
	list := []graphql.HandlerExtension{
		extension.AutomaticPersistedQuery{Cache: e.persisted}, newMetrics(o.Metrics), traces{}, newGuard(), e.persisted, singleField{}, newListeners(),
	}
	if o.Introspection {
		list = append(list, extension.Introspection{})
	}
	list = append(list, &costs{max: o.MaxCost, perMinute: o.CostPerMinute, rates: e.resolver.Rates}, newTurns(), reads{}, unmoved{e.resolver})
	if o.Cells != nil {
		list = append(list, hops{o.Cells, e.resolver})
	}
	return list
}

// quietRules are the rules of validation without "Did you mean", which tells of the schema where
// introspection is off. gqlgen's own switch leaves these out.
func quietRules() *rules.Rules {
	set := rules.NewDefaultRules()
	set.ReplaceRule(rules.KnownArgumentNamesRule.Name, rules.KnownArgumentNamesRuleWithoutSuggestions.RuleFunc)
	set.ReplaceRule(rules.KnownTypeNamesRule.Name, rules.KnownTypeNamesRuleWithoutSuggestions.RuleFunc)
	set.ReplaceRule(rules.ScalarLeafsRule.Name, rules.ScalarLeafsRuleWithoutSuggestions.RuleFunc)
	set.ReplaceRule(rules.ValuesOfCorrectTypeRule.Name, rules.ValuesOfCorrectTypeRuleWithoutSuggestions.RuleFunc)
	return set
}

// endpoint admits callers before the request reaches GraphQL.
type endpoint struct {
	resolver  *resolvers.Resolver
	options   Options
	server    *handler.Server
	persisted *persisted
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Add("Vary", "Accept") // the media type, and with it the status
	if crossSite(r) {
		refuse(w, r, http.StatusForbidden, problem.Denied("a cross-site request needs the header GraphQL-Preflight"))
		return
	}
	if web.AsksForSocket(r) && !e.originAllowed(r) {
		refuse(w, r, http.StatusForbidden, problem.Denied("pages of this origin may not open a connection"))
		return
	}
	switch r.Method {
	case http.MethodGet, http.MethodPost, http.MethodHead:
	case http.MethodOptions:
		w.Header().Set("Allow", "GET, POST, OPTIONS")
		w.WriteHeader(http.StatusNoContent)
		return
	default:
		w.Header().Set("Allow", "GET, POST, OPTIONS")
		refuse(w, r, http.StatusMethodNotAllowed, problem.Bad("GraphQL takes GET and POST"))
		return
	}
	ctx, err := e.resolver.Admit(r.Context(), r.Header.Get("Authorization"))
	if err != nil {
		p := problem.From(err)
		e.logInternal(r.Context(), p)
		refuse(w, r, p.Status(), p)
		return
	}
	if p := access.PrincipalOf(ctx); p != nil {
		web.TellCaller(ctx, p.CustomerID, p.UserID, p.ClientID)
	} else {
		ctx = e.resolver.FromNetwork(ctx)
	}
	if e.options.Cells != nil {
		ctx = hop.WithAuthorization(ctx, r.Header.Get("Authorization"))
	}
	e.server.ServeHTTP(w, r.WithContext(ctx))
}

// crossSite tells a request that a page of another site had a browser make without asking first:
// such a one could act with what the browser adds by itself. A header that a page can't set
// without a preflight shows that the browser has asked.
func crossSite(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "same-site", "none":
		return false
	}
	if preflighted(r) || r.Header.Get("Authorization") != "" {
		return false
	}
	// A JSON body has the browser ask first, and a WebSocket's origin is checked on its own.
	return !isJSON(r) && !web.AsksForSocket(r)
}
