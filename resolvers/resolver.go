// Package resolvers is the product: every operation of the platform, once, for both doors. Each
// operation first says who may (application, right, reach), then validates, and makes its change,
// the change's event and its outbox rows in one transaction.
package resolvers

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"time"

	"canopy/db"
	"canopy/internal/blob"
	"canopy/internal/bus"
	"canopy/internal/egress"
	"canopy/internal/globalid"
	"canopy/internal/hop"
	"canopy/internal/limit"
	"canopy/internal/models/chat"
	"canopy/internal/passkey"
	"canopy/internal/problem"
	"canopy/internal/roster"
	"canopy/internal/secret"
	"canopy/internal/sso"
	"canopy/internal/token"
	"canopy/search"
)

// Resolver holds what the operations need. The graph's objects are views of it: Query, Mutation
// and one type for each object whose edges are resolved here.
type Resolver struct {
	Store *db.Store
	// Box seals what must not lie open in the database.
	Box *secret.Box
	// Egress judges the addresses of webhook destinations.
	Egress *egress.Client
	// Providers is the platform at identity providers; DNS tells who has which domain.
	Providers *sso.Client
	DNS       *sso.DNS
	// Passkeys is the platform as authenticators know it.
	Passkeys *passkey.Party
	// Keys are the signing keys of access tokens, kept up to date by RefreshKeys.
	Keys *token.KeyRing
	// Verifier checks access tokens against Keys.
	Verifier *token.Verifier
	// Bus tells other processes of changes as they happen. It may lose messages.
	Bus *bus.Bus
	// Limiter counts requests by API key; the others slow the guessing of passwords down: Throttle by
	// account and network, and, more patiently, Crowds by account and Addresses by network.
	Rates     *Rates
	Throttle  *limit.Throttle
	Crowds    *limit.Throttle
	Addresses *limit.Throttle
	// ClientAddress tells where the request of a context comes from; "" where that is not known.
	ClientAddress func(context.Context) string
	// UserAgent tells which program that is, by its own word.
	UserAgent func(context.Context) string
	// RequestsPerMinute is the rate limit of one API key, 0 for none.
	RequestsPerMinute int
	// Roster tells which workers run.
	Roster *roster.Roster
	// Version is the program's.
	Version string
	// EraseAfter is how long a deleted company can be restored.
	EraseAfter time.Duration
	// MaxImport is how large an archive may be that is uploaded to be read in, in bytes.
	MaxImport int64
	// PublicURL is where the platform is reached: the issuer of tokens, the base of links.
	PublicURL *url.URL
	// Blobs keeps the originals of documents; nil where no store is configured.
	Blobs blob.Store
	// Chat is the chat model; nil where there is none.
	Chat *chat.Client
	// Late tells why a cell lets no caller in at the moment; nil at the home, which always knows who may.
	Late func() error
	// Lacks tells whether a cell may not know yet what was made at the home at a moment; nil at the home.
	Lacks func(made time.Time) bool
	// Cells are asked for their rows of lists that span several; nil: none is.
	Cells *hop.Cells
	// Search finds chunks.
	Search *search.Engine
	Log    *slog.Logger
	// Together makes and reads at once what is asked for at the same time; nil does each by itself.
	Together *Together
}

// Query, Mutation and Subscription are the roots of the graph.
type (
	Query        struct{ *Resolver }
	Mutation     struct{ *Resolver }
	Subscription struct{ *Resolver }
)

// missing turns the store's "no such row" into a 404, for objects whose existence is nobody's
// business beyond their reach. id is what the caller named it by.
func missing(err error, what string, id any) error {
	if errors.Is(err, db.ErrNoRows) {
		return known(problem.Missing("there is no %s %v", what, id), err)
	}
	return err
}

// known has a refusal tell, to Moved alone, that its scope was looked at already.
func known(p *problem.Error, err error) error {
	if errors.Is(err, db.ErrNotThere) {
		return p.Because(db.ErrNotThere)
	}
	return p
}

// customer gives the company of an optional argument, the caller's own when it is left out.
func (r *Resolver) customer(ctx context.Context, c *caller, id *globalid.ID, field string) (*db.Customer, error) {
	return customerIn(ctx, r.Store, c, id, field)
}

// customerIn is customer in a store that may be a transaction.
func customerIn(ctx context.Context, s *db.Store, c *caller, id *globalid.ID, field string) (*db.Customer, error) {
	n, err := customerID(c, id, field)
	if err != nil {
		return nil, err
	}
	row, err := s.Customer(ctx, c.Scope(), n)
	return row, c.unreached(err, "company", n)
}

// customerID is the company that an optional argument names, the caller's own when it is left out.
func customerID(c *caller, id *globalid.ID, field string) (int64, error) {
	if id == nil {
		return c.CustomerID, nil
	}
	return id.Of("Customer", field)
}
