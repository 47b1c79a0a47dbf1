package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/secret"
	"canopy/internal/token"
	"canopy/jobs"
)

// bareServer does what an operation cannot do without, and nothing else: the same statements on
// the same store, the same signature, net/http and encoding/json.
type bareServer struct {
	store    *db.Store
	keys     *token.KeyRing
	verifier *token.Verifier
	issuer   string
}

func serveBare(ctx context.Context, address string) error {
	store, err := db.Open(ctx, os.Getenv("DATABASE_URL"), db.Options{})
	if err != nil {
		return err
	}
	raw, err := base64.StdEncoding.DecodeString(os.Getenv("CANOPY_SECRET_KEY"))
	if err != nil {
		return err
	}
	box, err := secret.NewBox(raw)
	if err != nil {
		return err
	}
	b := &bareServer{store: store, keys: &token.KeyRing{}, issuer: os.Getenv("BENCH_ISSUER")}
	if err := jobs.LoadSigningKeys(ctx, store, box, b.keys); err != nil {
		return err
	}
	b.verifier = token.NewVerifier(b.issuer, b.keys, nil)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /connect/token", b.token)
	mux.HandleFunc("GET /tenant/{cid}", b.customer)
	server := &http.Server{Addr: address, Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	_ = server.ListenAndServe()
	return store.Close()
}

func (b *bareServer) token(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	id := r.PostForm.Get("client_id")
	x, err := b.store.FindExchange(r.Context(), id, access.Tenant, 0)
	if err != nil || !secret.Matches(r.PostForm.Get("client_secret"), x.Hashes) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	key, _ := b.keys.Signing(time.Now())
	now := time.Now()
	signed, err := token.Sign(key, token.Claims{
		Issuer: b.issuer, Audience: []string{"tenant"}, IssuedAt: now, ExpiresAt: now.Add(15 * time.Minute), ID: "bare",
		Subject: strconv.FormatInt(x.UserID, 10), ClientID: id, CustomerID: x.CustomerID, AccountID: x.AccountID, Scope: strings.Join(x.Rights().Names(), " "),
	})
	reply(w, map[string]any{"access_token": signed, "token_type": "Bearer", "expires_in": 900}, err)
}

func (b *bareServer) customer(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	claims, err := b.verifier.Verify(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	if err != nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	c, err := b.store.KeyCaller(ctx, claims.ClientID, access.Tenant, claims.AccountID, claims.KeyID)
	if err != nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	id, err := strconv.ParseInt(r.PathValue("cid"), 10, 64)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	row, err := b.store.Customer(ctx, c.Scope(), id)
	if err != nil {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	region, err := row.Region(ctx, b.store)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	above, err := row.Ancestors(ctx, b.store)
	type ref struct {
		ID       int64  `json:"id"`
		Name     string `json:"name"`
		RegionID int64  `json:"regionId"`
		Level    int    `json:"level"`
	}
	refs := []ref{}
	for _, a := range above {
		refs = append(refs, ref{ID: a.ID, Name: a.Name, RegionID: a.RegionID, Level: a.Level})
	}
	reply(w, struct {
		Customer  any   `json:"customer"`
		Region    any   `json:"region"`
		Ancestors []ref `json:"ancestors"`
	}{row, region, refs}, err)
}

func reply(w http.ResponseWriter, v any, err error) {
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
