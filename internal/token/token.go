package token

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// mediaType is the typ of an access token (RFC 9068, section 2.1).
const mediaType = "at+jwt"

// leeway is how far the clock of who has issued a token may be ahead.
const leeway = 5 * time.Second

// maxLength bounds what is looked at as a token at all, in bytes.
const maxLength = 8 << 10

// Claims are what an access token says (RFC 9068, section 2.2, and cid and aid of the platform's own).
type Claims struct {
	Issuer    string
	Audience  []string
	ExpiresAt time.Time
	IssuedAt  time.Time
	ID        string
	Subject   string
	ClientID  string
	// CustomerID is the company that the token acts for.
	CustomerID int64
	// AccountID is the account that it stands on; 0 leaves the claim out.
	AccountID int64
	// SessionID is the session of a person's login; 0 leaves the claim out.
	SessionID int64
	// Scope holds the rights of the role, separated by spaces; "" leaves the claim out.
	Scope string
	// KeyID names the key that has signed them; Sign takes it from the key.
	KeyID string
}

// wire is the JSON of Claims.
type wire struct {
	jwt.RegisteredClaims
	ClientID   string `json:"client_id"`
	CustomerID int64  `json:"cid"`
	AccountID  int64  `json:"aid,omitempty"`
	SessionID  int64  `json:"sid,string,omitempty"`
	Scope      string `json:"scope,omitempty"`
}

// Sign makes the token of the claims.
func Sign(key *Key, c Claims) (string, error) {
	t := jwt.NewWithClaims(jwt.SigningMethodEdDSA, wire{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: c.Issuer, Subject: c.Subject, Audience: c.Audience, ID: c.ID,
			ExpiresAt: jwt.NewNumericDate(c.ExpiresAt), IssuedAt: jwt.NewNumericDate(c.IssuedAt),
		},
		ClientID: c.ClientID, CustomerID: c.CustomerID, AccountID: c.AccountID, SessionID: c.SessionID, Scope: c.Scope,
	})
	t.Header["typ"] = mediaType
	t.Header["kid"] = key.ID
	return t.SignedString(key.private)
}

// KeySource finds published keys.
type KeySource interface {
	Key(id string) (ed25519.PublicKey, bool)
}

// Verifier checks access tokens. A token whose signature was good is remembered until it expires,
// so that a client which sends it with every request pays for the signature once; whether its
// bearer may still do anything is looked up elsewhere, each time.
type Verifier struct {
	issuer string
	keys   KeySource
	parser *jwt.Parser
	// missing is told of a key id that is not in the source, which may be out of date; true has
	// the source asked again. It may be nil.
	missing func(id string) bool

	mu    sync.Mutex
	known map[[32]byte]*Claims
}

// maxKnown bounds the tokens that are remembered.
const maxKnown = 10_000

// NewVerifier makes a verifier of one issuer's tokens. missing, which may be nil, is told of a key
// id that is not among the keys; when it says true, they are asked again.
func NewVerifier(issuer string, keys KeySource, missing func(id string) bool) *Verifier {
	return &Verifier{
		issuer: issuer, keys: keys, missing: missing, known: map[[32]byte]*Claims{},
		parser: jwt.NewParser(
			jwt.WithValidMethods([]string{jwt.SigningMethodEdDSA.Alg()}), jwt.WithIssuer(issuer),
			jwt.WithLeeway(leeway), jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithStrictDecoding()),
	}
}

// ErrExpired is what Verify says of a token that was good in its time.
var ErrExpired = jwt.ErrTokenExpired

// Verify gives the claims of a token that is whole, of this issuer, and not expired. They are
// shared with other callers: they are for reading only.
func (v *Verifier) Verify(raw string) (*Claims, error) {
	if len(raw) > maxLength {
		return nil, errors.New("longer than a token")
	}
	sum := sha256.Sum256([]byte(raw))
	if c := v.remembered(sum); c != nil {
		return c, nil
	}
	var w wire
	t, err := v.parser.ParseWithClaims(raw, &w, v.keyOf)
	if err != nil {
		return nil, err
	}
	if typ, _ := t.Header["typ"].(string); typ != mediaType && typ != "application/"+mediaType {
		return nil, fmt.Errorf("typ %q is not that of an access token", typ)
	}
	if _, there := t.Header["crit"]; there { // RFC 7515, section 4.1.11: no extension is understood here.
		return nil, errors.New("needs an extension that is not understood")
	}
	if !time.Now().Before(w.ExpiresAt.Time) { // the leeway is not for this
		return nil, ErrExpired
	}
	if w.IssuedAt == nil || w.Subject == "" || w.ID == "" || w.ClientID == "" || len(w.Audience) == 0 || w.CustomerID == 0 {
		return nil, errors.New("a required claim is missing")
	}
	c := &Claims{
		Issuer: w.Issuer, Audience: w.Audience, ExpiresAt: w.ExpiresAt.Time, IssuedAt: w.IssuedAt.Time, ID: w.ID,
		Subject: w.Subject, ClientID: w.ClientID, CustomerID: w.CustomerID, AccountID: w.AccountID, SessionID: w.SessionID, Scope: w.Scope,
		KeyID: t.Header["kid"].(string),
	}
	v.remember(sum, c)
	return c, nil
}

func (v *Verifier) keyOf(t *jwt.Token) (any, error) {
	kid, _ := t.Header["kid"].(string)
	key, ok := v.keys.Key(kid)
	if !ok && kid != "" && v.missing != nil && v.missing(kid) {
		key, ok = v.keys.Key(kid)
	}
	if !ok {
		return nil, errors.New("signed with an unknown key")
	}
	return key, nil
}

// Withdrawn tells the verifier that one of its keys is published no more: the keys are asked again.
func (v *Verifier) Withdrawn(kid string) {
	if v.missing != nil {
		v.missing(kid)
	}
}

// remembered gives the claims of a token that was good before, while it and its key still are.
func (v *Verifier) remembered(sum [32]byte) *Claims {
	v.mu.Lock()
	got, ok := v.known[sum]
	v.mu.Unlock()
	if !ok {
		return nil
	}
	_, published := v.keys.Key(got.KeyID)
	if published && time.Now().Before(got.ExpiresAt) {
		return got
	}
	v.mu.Lock()
	delete(v.known, sum)
	v.mu.Unlock()
	return nil
}

func (v *Verifier) remember(sum [32]byte, got *Claims) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.known) >= maxKnown {
		v.forgetSome()
	}
	v.known[sum] = got
}

// forgetSome makes room: what has expired goes, and if that is not enough, any tenth of the rest.
func (v *Verifier) forgetSome() {
	now := time.Now()
	for sum, got := range v.known {
		if now.After(got.ExpiresAt) {
			delete(v.known, sum)
		}
	}
	for sum := range v.known {
		if len(v.known) < maxKnown*9/10 {
			return
		}
		delete(v.known, sum)
	}
}
