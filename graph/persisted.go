package graph

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/redis/go-redis/v9"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"canopy/internal/access"
)

// errNotPersisted is what a client of persisted queries waits for: it sends the whole query then.
const errNotPersisted = "PersistedQueryNotFound"

const (
	persistedFor     = 24 * time.Hour
	persistedTimeout = 50 * time.Millisecond
	// maxPersisted is how long a query is at most, in bytes, and maxOfBranch how much a branch keeps in Redis in a day.
	maxPersisted = 64 << 10
	maxOfBranch  = 4 << 20
)

// persisted keeps queries by their hash: in this process, and those of known callers in Redis for the others. Without
// Redis a client may have to send a query once to each process.
type persisted struct {
	local graphql.Cache[string]
	redis redis.UniversalClient
	log   *slog.Logger
}

func newPersisted(client redis.UniversalClient, log *slog.Logger) *persisted {
	return &persisted{lru.New[string](cachedQueries), client, log}
}

var (
	_ graphql.HandlerExtension        = (*persisted)(nil)
	_ graphql.OperationContextMutator = (*persisted)(nil)
)

// ExtensionName and Validate make it an extension of gqlgen's server.
func (*persisted) ExtensionName() string                   { return "KeepPersistedQueries" }
func (*persisted) Validate(graphql.ExecutableSchema) error { return nil }

// MutateOperationContext keeps a query once it has proved valid. Its hash has been checked.
func (p *persisted) MutateOperationContext(ctx context.Context, oc *graphql.OperationContext) *gqlerror.Error {
	given, _ := oc.Extensions["persistedQuery"].(map[string]any)
	hash, ok := given["sha256Hash"].(string)
	if !ok || len(oc.RawQuery) > maxPersisted {
		return nil
	}
	if _, known := p.local.Get(ctx, hash); !known {
		p.keep(ctx, hash, oc.RawQuery)
	}
	return nil
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

// Add is where gqlgen would keep a query before it is known to be valid. Since that takes no
// token, anyone could fill the memory with what is none.
func (p *persisted) Add(context.Context, string, string) {}

func (p *persisted) keep(ctx context.Context, hash, query string) {
	p.local.Add(ctx, hash, query)
	caller := access.PrincipalOf(ctx)
	if p.redis == nil || caller == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, persistedTimeout)
	defer cancel()
	if err := p.share(ctx, caller.Lineage.Branch(), hash, query); err != nil {
		p.log.DebugContext(ctx, "a persisted query stays in this process", "error", err)
	}
}

var errMuchPersisted = errors.New("the branch keeps as much as it may")

// share keeps a query in Redis, as long as its branch has not kept too much.
func (p *persisted) share(ctx context.Context, branch int64, hash, query string) error {
	counter := persistedKey("of:" + strconv.FormatInt(branch, 10))
	pipe := p.redis.Pipeline()
	pipe.SetNX(ctx, counter, 0, persistedFor)
	kept := pipe.IncrBy(ctx, counter, int64(len(query)))
	if _, err := pipe.Exec(ctx); err != nil {
		return err
	}
	if kept.Val() > maxOfBranch {
		return errMuchPersisted
	}
	return p.redis.Set(ctx, persistedKey(hash), query, persistedFor).Err()
}

func persistedKey(hash string) string { return "canopy:persisted:" + hash }
