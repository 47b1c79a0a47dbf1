package graph

import (
	"context"
	"log/slog"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/redis/go-redis/v9"
)

// errNotPersisted is what a client of persisted queries waits for: it sends the whole query then.
const errNotPersisted = "PersistedQueryNotFound"

const (
	persistedFor     = 24 * time.Hour
	persistedTimeout = 50 * time.Millisecond
)

// persisted keeps queries by their hash: in this process, and in Redis for the others. Without
// Redis a client may have to send a query once to each process.
type persisted struct {
	local graphql.Cache[string]
	redis redis.UniversalClient
	log   *slog.Logger
}

func newPersisted(client redis.UniversalClient, log *slog.Logger) *persisted {
	return &persisted{lru.New[string](cachedQueries), client, log}
}

// Get finds a query.
func (p *persisted) Get(ctx context.Context, hash string) (string, bool) {
	if query, ok := p.local.Get(ctx, hash); ok || p.redis == nil {
		return query, ok
	}
	ctx, cancel := context.WithTimeout(ctx, persistedTimeout)
	defer cancel()
	query, err := p.redis.Get(ctx, persistedKey(hash)).Result()
	if err != nil {
		return "", false
	}
	p.local.Add(ctx, hash, query)
	return query, true
}

// Add keeps a query, whose hash gqlgen has checked.
func (p *persisted) Add(ctx context.Context, hash, query string) {
	p.local.Add(ctx, hash, query)
	if p.redis == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, persistedTimeout)
	defer cancel()
	if err := p.redis.Set(ctx, persistedKey(hash), query, persistedFor).Err(); err != nil {
		p.log.DebugContext(ctx, "a persisted query stays in this process", "error", err)
	}
}

func persistedKey(hash string) string { return "canopy:persisted:" + hash }
