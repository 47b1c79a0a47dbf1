package token

import (
	"crypto/ed25519"
	"encoding/base64"
	"testing"
	"time"
)

// fixedKey is the same in every process of a fuzzing run.
func fixedKey() *Key { return newKey(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))) }

// FuzzVerify looks for a text that makes the verifier panic, or passes although it isn't the one
// token that was signed.
func FuzzVerify(f *testing.F) {
	key := fixedKey()
	v := NewVerifier(testIssuer, ringOf(RingKey{Key: key}), nil)
	c := testClaims(time.Unix(1_700_000_000, 0))
	c.ExpiresAt = time.Unix(4_000_000_000, 0)
	good := sign(f, key, c)
	for _, seed := range []string{good, "", "..", "e30.e30.", good[:len(good)-1], good + "=", "." + good} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if c, err := v.Verify(raw); (err == nil) != (raw == good) {
			t.Errorf("%q: %+v, %v", raw, c, err)
		}
	})
}

// FuzzClaims has any header and payload well signed: whatever passes has all that is required.
func FuzzClaims(f *testing.F) {
	key := fixedKey()
	v := NewVerifier(testIssuer, ringOf(RingKey{Key: key}), nil)
	header := `{"alg":"EdDSA","typ":"at+jwt","kid":"` + key.ID + `"}`
	f.Add(header, `{"iss":"https://canopy.example","aud":"tenant","exp":9e9,"iat":1,"jti":"j","sub":"7","client_id":"c","cid":3}`)
	f.Add(header, `{"iss":"https://canopy.example","exp":1e300,"iat":-1e300}`)
	f.Add(`{"alg":"EdDSA","kid":[]}`, `null`)
	f.Fuzz(func(t *testing.T, header, payload string) {
		encode := base64.RawURLEncoding.EncodeToString
		c, err := v.Verify(seal(key, encode([]byte(header))+"."+encode([]byte(payload))))
		if err != nil {
			return
		}
		if c.Issuer != testIssuer || len(c.Audience) == 0 || c.ID == "" || c.Subject == "" || c.ClientID == "" ||
			c.CustomerID == 0 || time.Since(c.ExpiresAt) > leeway+time.Second || c.IssuedAt.IsZero() {
			t.Errorf("%s passes as %+v", payload, c)
		}
	})
}

func BenchmarkSign(b *testing.B) {
	key, c := newTestKey(b), testClaims(time.Now())
	for b.Loop() {
		sign(b, key, c)
	}
}

func BenchmarkVerify(b *testing.B) {
	key := newTestKey(b)
	v := NewVerifier(testIssuer, ringOf(RingKey{Key: key}), nil)
	raw := sign(b, key, testClaims(time.Now()))
	verify := func(b *testing.B) {
		if _, err := v.Verify(raw); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			clear(v.known)
			verify(b)
		}
	})
	b.Run("remembered", func(b *testing.B) {
		for b.Loop() {
			verify(b)
		}
	})
	b.Run("remembered, in parallel", func(b *testing.B) {
		b.RunParallel(func(p *testing.PB) {
			for p.Next() {
				verify(b)
			}
		})
	})
}
