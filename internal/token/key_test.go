package token

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"sync"
	"testing"
	"time"
)

func newTestKey(t testing.TB) *Key {
	t.Helper()
	key, err := GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func ringOf(keys ...RingKey) *KeyRing {
	ring := &KeyRing{}
	ring.Replace(keys)
	return ring
}

// The example of RFC 8037, appendix A.3.
func TestThumbprint(t *testing.T) {
	public, err := base64.RawURLEncoding.DecodeString("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")
	if err != nil {
		t.Fatal(err)
	}
	if got := thumbprint(public); got != "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k" {
		t.Errorf("got %s", got)
	}
}

func TestPrivateKeyRoundTrip(t *testing.T) {
	key := newTestKey(t)
	raw, err := key.MarshalPrivate()
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParsePrivate(raw)
	if err != nil || again.ID != key.ID || !again.private.Equal(key.private) || !again.public.Equal(key.public) {
		t.Errorf("it came back as %+v, %v", again, err)
	}
	if newTestKey(t).ID == key.ID {
		t.Error("a key came twice")
	}
}

func TestParsePrivateRefuses(t *testing.T) {
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ec, err := x509.MarshalPKCS8PrivateKey(other)
	if err != nil {
		t.Fatal(err)
	}
	for name, raw := range map[string][]byte{"nothing": nil, "no ASN.1": []byte("key"), "a key of another kind": ec} {
		t.Run(name, func(t *testing.T) {
			if _, err := ParsePrivate(raw); err == nil {
				t.Error("is taken")
			}
		})
	}
}

func TestKeyRing(t *testing.T) {
	now := time.Now()
	old := RingKey{newTestKey(t), now.Add(-2 * time.Hour), now.Add(-time.Hour)}
	retiring := RingKey{newTestKey(t), now.Add(-time.Hour), now.Add(time.Hour)}
	active := RingKey{newTestKey(t), now.Add(-time.Minute), time.Time{}}
	next := RingKey{newTestKey(t), now.Add(time.Minute), time.Time{}}
	for _, c := range []struct {
		name      string
		ring      *KeyRing
		signing   *Key
		published []*Key
	}{
		{"never set", &KeyRing{}, nil, nil},
		{"empty", ringOf(), nil, nil},
		{"the one that became active last", ringOf(next, active, retiring), active.Key, []*Key{retiring.Key, active.Key, next.Key}},
		{"a retiring one alone", ringOf(retiring), retiring.Key, []*Key{retiring.Key}},
		{"a retired one", ringOf(old), nil, nil},
		{"only a next one", ringOf(next), nil, []*Key{next.Key}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, ok := c.ring.Signing(now); got != c.signing || ok != (c.signing != nil) {
				t.Errorf("it signs with %v", got)
			}
			checkJWKS(t, c.ring.JWKS(), c.published)
			for _, k := range c.published {
				if got, ok := c.ring.Key(k.ID); !ok || !got.Equal(k.public) {
					t.Errorf("the key %s is not found", k.ID)
				}
			}
			for _, id := range []string{"", "x", old.ID} {
				if _, ok := c.ring.Key(id); ok {
					t.Errorf("a key %q is found", id)
				}
			}
		})
	}
	t.Run("the next one, when its time has come", func(t *testing.T) {
		if got, _ := ringOf(next, active).Signing(now.Add(time.Hour)); got != next.Key {
			t.Errorf("it signs with %v", got)
		}
	})
}

func checkJWKS(t *testing.T, raw []byte, want []*Key) {
	t.Helper()
	var doc struct{ Keys []map[string]string }
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Keys == nil || len(doc.Keys) != len(want) {
		t.Fatalf("it publishes %s", raw)
	}
	for i, k := range doc.Keys {
		x, err := base64.RawURLEncoding.DecodeString(k["x"])
		if err != nil || !ed25519.PublicKey(x).Equal(want[i].public) {
			t.Errorf("the key %d has x = %q", i, k["x"])
		}
		delete(k, "x")
		rest := map[string]string{"kty": "OKP", "crv": "Ed25519", "kid": want[i].ID, "use": "sig", "alg": "EdDSA"}
		for name, value := range rest {
			if k[name] != value {
				t.Errorf("the key %d has %s = %q", i, name, k[name])
			}
		}
		if len(k) != len(rest) {
			t.Errorf("the key %d has other members: %v", i, k) // a private d above all
		}
	}
}

func TestKeyRingIsReplacedWhileInUse(t *testing.T) {
	a, b := RingKey{Key: newTestKey(t)}, RingKey{Key: newTestKey(t)}
	ring := ringOf(a, b)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 1000 {
				ring.Replace([]RingKey{b, a})
				if _, ok := ring.Signing(time.Now()); !ok {
					t.Error("there is no key to sign with")
				}
				if _, ok := ring.Key(a.ID); !ok {
					t.Error("a key is missing")
				}
			}
		})
	}
	group.Wait()
}

func TestReplaceKeepsItsOwnKeys(t *testing.T) {
	keys := []RingKey{{Key: newTestKey(t)}}
	ring := ringOf(keys...)
	ring.Replace(keys)
	want := keys[0].Key
	keys[0].Key = newTestKey(t)
	if got, _ := ring.Signing(time.Now()); got != want {
		t.Error("the ring changed with its caller's list")
	}
}

func TestMetadata(t *testing.T) {
	var doc map[string]any
	if err := json.Unmarshal(Metadata("https://canopy.example", []string{"company.read"}), &doc); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"issuer":         "https://canopy.example",
		"token_endpoint": "https://canopy.example/connect/token",
		"jwks_uri":       "https://canopy.example/.well-known/jwks.json",
	} {
		if doc[name] != want {
			t.Errorf("%s is %v", name, doc[name])
		}
	}
	// RFC 8414, section 2: required, even where there is none.
	if types, ok := doc["response_types_supported"].([]any); !ok || len(types) != 0 {
		t.Errorf("response_types_supported is %v", doc["response_types_supported"])
	}
}
