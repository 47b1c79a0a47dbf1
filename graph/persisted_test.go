package graph

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"canopy/resolvers"
)

// persistedRequest is what a client of automatic persisted queries sends: the hash, and the query
// when it was asked for.
func persistedRequest(t *testing.T, hash, query string) *http.Request {
	t.Helper()
	body := map[string]any{"extensions": map[string]any{"persistedQuery": map[string]any{"version": 1, "sha256Hash": hash}}}
	if query != "" {
		body["query"] = query
	}
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return post(t.Context(), strings.NewReader(string(raw)))
}

func hashOf(query string) string {
	sum := sha256.Sum256([]byte(query))
	return hex.EncodeToString(sum[:])
}

func TestPersistedQueries(t *testing.T) {
	const query = `{ __typename }`
	d := newTestDoor(t, nil)
	if a := d.do(t, persistedRequest(t, hashOf(query), "")); a.message() != errNotPersisted {
		t.Errorf("an unknown hash: %s", a.Raw)
	}
	if a := d.do(t, persistedRequest(t, hashOf("other"), query)); a.code() != "BAD_REQUEST" || a.message() == errNotPersisted {
		t.Errorf("a wrong hash: %s", a.Raw)
	}
	if a := d.do(t, persistedRequest(t, hashOf(query), query)); a.code() != "" {
		t.Errorf("hash and query: %s", a.Raw)
	}
	if a := d.do(t, persistedRequest(t, hashOf(query), "")); a.code() != "" {
		t.Errorf("a known hash: %s", a.Raw)
	}
	get := "/graphql?" + url.Values{"extensions": {`{"persistedQuery":{"version":1,"sha256Hash":"` + hashOf(query) + `"}}`}}.Encode()
	if a := d.do(t, httptest.NewRequestWithContext(t.Context(), http.MethodGet, get, nil)); a.code() != "" {
		t.Errorf("a known hash by GET: %s", a.Raw)
	}
}

// A hash is a way around nothing: what the guard refuses stays refused.
func TestPersistedQueriesAreGuarded(t *testing.T) {
	d := newTestDoor(t, nil)
	query := `{ customer { ...f0 } } ` + nested()
	for range 2 {
		if a := d.do(t, persistedRequest(t, hashOf(query), query)); a.code() != "BAD_REQUEST" {
			t.Errorf("sent: %.200s", a.Raw)
		}
		if a := d.do(t, persistedRequest(t, hashOf(query), "")); a.code() != "BAD_REQUEST" {
			t.Errorf("by its hash: %.200s", a.Raw)
		}
	}
}

func TestPersistedQueriesAreShared(t *testing.T) {
	server := miniredis.RunT(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	shared := func(_ *resolvers.Resolver, o *Options) { o.Redis = client }
	const query = `{ __typename }`
	one, two := newTestDoor(t, shared).as(owner(time.Minute)), newTestDoor(t, shared)
	one.do(t, persistedRequest(t, hashOf(query), query))
	if a := two.do(t, persistedRequest(t, hashOf(query), "")); a.code() != "" {
		t.Errorf("in another process: %s", a.Raw)
	}
	if ttl := server.TTL(persistedKey(hashOf(query))); ttl <= 0 || ttl > persistedFor {
		t.Errorf("kept for %v", ttl)
	}
	server.Close()
	if a := two.do(t, persistedRequest(t, hashOf(query), "")); a.code() != "" {
		t.Errorf("without Redis a process has its own: %s", a.Raw)
	}
}

// TestPersistedQueriesFillNoRedis: what strangers send is kept in no other process, and of one branch not more than its share.
func TestPersistedQueriesFillNoRedis(t *testing.T) {
	server := miniredis.RunT(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	d := newTestDoor(t, func(_ *resolvers.Resolver, o *Options) { o.Redis = client })
	send := func(d *testDoor, n int) {
		query := fmt.Sprintf(`{ __typename } #%d`, n) + strings.Repeat("x", 60<<10)
		if a := d.do(t, persistedRequest(t, hashOf(query), query)); a.code() != "" {
			t.Fatalf("%.200s", a.Raw)
		}
	}
	send(d, 0)
	if keys := server.Keys(); len(keys) > 0 {
		t.Errorf("a stranger's query is kept: %v", keys)
	}
	known := d.as(owner(time.Minute))
	for i := range 100 {
		send(known, i+1)
	}
	if n := len(server.Keys()); n < 10 || n*(60<<10) > maxOfBranch+(60<<10) {
		t.Errorf("%d queries of one branch are kept", n)
	}
}

// Nobody needs a token to send a query, so that what is not even valid must not be kept for a day.
func TestPersistedQueriesThatAreNotValidAreNotKept(t *testing.T) {
	d := newTestDoor(t, nil)
	for name, query := range map[string]string{
		"not a document":  `{ {`,
		"an unknown name": `{ nothing }`,
		"too long":        `{ __typename } #` + strings.Repeat("x", 900<<10),
	} {
		d.do(t, persistedRequest(t, hashOf(query), query))
		if a := d.do(t, persistedRequest(t, hashOf(query), "")); a.message() != errNotPersisted {
			t.Errorf("%s is kept: %.200s", name, a.Raw)
		}
	}
}
