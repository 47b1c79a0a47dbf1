// Package token signs and checks access tokens: RFC 9068 JWTs with EdDSA (RFC 8037), whose keys
// are published as a JWKS (RFC 7517).
package token

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"sync/atomic"
	"time"
)

// Key is an Ed25519 key with its id, the thumbprint of RFC 7638.
type Key struct {
	ID      string
	private ed25519.PrivateKey
	public  ed25519.PublicKey
}

// GenerateKey makes a new key.
func GenerateKey() (*Key, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	return newKey(private), nil
}

func newKey(private ed25519.PrivateKey) *Key {
	public := private.Public().(ed25519.PublicKey)
	return &Key{ID: thumbprint(public), private: private, public: public}
}

// MarshalPrivate gives the private key as PKCS #8, for the caller to seal.
func (k *Key) MarshalPrivate() ([]byte, error) { return x509.MarshalPKCS8PrivateKey(k.private) }

// ParsePrivate reads what MarshalPrivate wrote.
func ParsePrivate(raw []byte) (*Key, error) {
	parsed, err := x509.ParsePKCS8PrivateKey(raw)
	if err != nil {
		return nil, err
	}
	private, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, errors.New("not an Ed25519 key")
	}
	return newKey(private), nil
}

// thumbprint is the hash of the key's required members in their lexical order (RFC 7638, section 3).
func thumbprint(public ed25519.PublicKey) string {
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + base64.RawURLEncoding.EncodeToString(public) + `"}`))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// RingKey is a key of a ring: it signs from ActivatesAt on, and is published until RetiresAt; the
// zero RetiresAt stands for no end.
type RingKey struct {
	*Key
	ActivatesAt time.Time
	RetiresAt   time.Time
}

// KeyRing is the set of published keys. It is safe for use by many at once.
type KeyRing struct{ keys atomic.Pointer[[]RingKey] }

// Replace sets the ring's keys.
func (r *KeyRing) Replace(keys []RingKey) {
	keys = slices.Clone(keys)
	slices.SortFunc(keys, func(a, b RingKey) int { return a.ActivatesAt.Compare(b.ActivatesAt) })
	r.keys.Store(&keys)
}

func (r *KeyRing) all() []RingKey {
	if p := r.keys.Load(); p != nil {
		return *p
	}
	return nil
}

// Signing is the key to sign with: the one that became active last.
func (r *KeyRing) Signing(now time.Time) (*Key, bool) {
	for _, k := range slices.Backward(r.all()) {
		if !k.ActivatesAt.After(now) && (k.RetiresAt.IsZero() || k.RetiresAt.After(now)) {
			return k.Key, true
		}
	}
	return nil, false
}

// Key is the public key of an id, as long as it is published.
func (r *KeyRing) Key(id string) (ed25519.PublicKey, bool) {
	for _, k := range r.all() {
		if k.ID == id && (k.RetiresAt.IsZero() || k.RetiresAt.After(time.Now())) {
			return k.public, true
		}
	}
	return nil, false
}

// JWKS is the document of the published keys (RFC 7517, section 5).
func (r *KeyRing) JWKS() []byte {
	type jwk struct {
		KTY string `json:"kty"`
		Crv string `json:"crv"`
		X   string `json:"x"`
		KID string `json:"kid"`
		Use string `json:"use"`
		Alg string `json:"alg"`
	}
	keys := []jwk{}
	for _, k := range r.all() {
		if k.RetiresAt.IsZero() || k.RetiresAt.After(time.Now()) {
			keys = append(keys, jwk{
				KTY: "OKP",
				Crv: "Ed25519",
				X:   base64.RawURLEncoding.EncodeToString(k.public),
				KID: k.ID,
				Use: "sig",
				Alg: "EdDSA",
			})
		}
	}
	doc, _ := json.Marshal(map[string]any{"keys": keys}) // strings and lists always marshal
	return doc
}
