package token

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

const testIssuer = "https://canopy.example"

func testClaims(now time.Time) Claims {
	now = now.Truncate(time.Second)
	return Claims{
		Issuer: testIssuer, Audience: []string{"tenant"}, ExpiresAt: now.Add(15 * time.Minute), IssuedAt: now,
		ID: "j1", Subject: "7", ClientID: "cnpyid_x", CustomerID: 3, AccountID: 5, Scope: "company.read user.read",
	}
}

func sign(t testing.TB, key *Key, c Claims) string {
	t.Helper()
	raw, err := Sign(key, c)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// parts are the header and the payload of a token, as they are on the wire.
func parts(t testing.TB, raw string) (header, payload map[string]any) {
	t.Helper()
	for i, into := range []*map[string]any{&header, &payload} {
		text, err := base64.RawURLEncoding.DecodeString(strings.Split(raw, ".")[i])
		if err == nil {
			err = json.Unmarshal(text, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return header, payload
}

// forge signs any header and payload with a key.
func forge(t testing.TB, key *Key, header, payload any) string {
	t.Helper()
	var text [2]string
	for i, part := range []any{header, payload} {
		raw, err := json.Marshal(part)
		if err != nil {
			t.Fatal(err)
		}
		text[i] = base64.RawURLEncoding.EncodeToString(raw)
	}
	return seal(key, text[0]+"."+text[1])
}

func seal(key *Key, signed string) string {
	return signed + "." + base64.RawURLEncoding.EncodeToString(ed25519.Sign(key.private, []byte(signed)))
}

func TestSignOnTheWire(t *testing.T) {
	key, now := newTestKey(t), time.Now()
	header, payload := parts(t, sign(t, key, testClaims(now)))
	if want := map[string]any{"alg": "EdDSA", "typ": "at+jwt", "kid": key.ID}; !maps.Equal(header, want) {
		t.Errorf("the header is %v", header)
	}
	want := map[string]any{
		"iss": testIssuer, "aud": []any{"tenant"}, "exp": float64(now.Unix() + 900), "iat": float64(now.Unix()), "jti": "j1",
		"sub": "7", "client_id": "cnpyid_x", "cid": 3.0, "aid": 5.0, "scope": "company.read user.read",
	}
	if !reflect.DeepEqual(payload, want) {
		t.Errorf("the payload is %v", payload)
	}
	t.Run("without account and scope", func(t *testing.T) {
		c := testClaims(now)
		c.AccountID, c.Scope = 0, ""
		_, payload := parts(t, sign(t, key, c))
		for _, name := range []string{"aid", "scope"} {
			if value, there := payload[name]; there {
				t.Errorf("%s is there: %v", name, value)
			}
		}
	})
}

func TestVerifyGivesWhatWasSigned(t *testing.T) {
	key := newTestKey(t)
	v := NewVerifier(testIssuer, ringOf(RingKey{Key: key}), nil)
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-z:/._ -]{1,30}`)
		c := testClaims(time.Now())
		c.Audience = rapid.SliceOfN(word, 1, 3).Draw(t, "aud")
		c.ID, c.Subject, c.ClientID = word.Draw(t, "jti"), word.Draw(t, "sub"), word.Draw(t, "client")
		c.CustomerID = rapid.Int64Range(1, 1<<62).Draw(t, "cid")
		c.AccountID = rapid.Int64Range(0, 1<<62).Draw(t, "aid")
		c.Scope = rapid.String().Draw(t, "scope")
		raw, err := Sign(key, c)
		if err != nil {
			t.Fatal(err)
		}
		c.KeyID = key.ID
		for _, from := range []string{"the token", "memory"} {
			got, err := v.Verify(raw)
			if err != nil || !reflect.DeepEqual(*got, c) {
				t.Fatalf("from %s: %+v, %v; signed was %+v", from, got, err, c)
			}
		}
	})
}

func TestVerifyRefuses(t *testing.T) {
	key, stranger, now := newTestKey(t), newTestKey(t), time.Now()
	v := NewVerifier(testIssuer, ringOf(RingKey{Key: key}), nil)
	good := sign(t, key, testClaims(now))
	if _, err := v.Verify(good); err != nil {
		t.Fatal(err)
	}
	header, payload := parts(t, good)
	with := func(from map[string]any, name string, value any) map[string]any {
		changed := maps.Clone(from)
		if changed[name] = value; value == nil {
			delete(changed, name)
		}
		return changed
	}
	signed, _, _ := strings.Cut(good, ".")
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"at+jwt","kid":"` + key.ID + `"}`))
	middle := strings.Split(good, ".")[1]
	cases := map[string]string{
		"nothing":                "",
		"a word":                 "token",
		"two parts":              signed + "." + middle,
		"four parts":             good + ".x",
		"dots":                   "..",
		"too long":               good + strings.Repeat("A", maxLength),
		"no signature":           signed + "." + middle + ".",
		"alg none":               none + "." + middle + ".",
		"alg none, signed":       seal(key, none+"."+middle),
		"alg HS256":              forge(t, key, with(header, "alg", "HS256"), payload),
		"another's signature":    forge(t, stranger, header, payload),
		"another's key id":       forge(t, key, with(header, "kid", stranger.ID), payload),
		"no key id":              forge(t, key, with(header, "kid", nil), payload),
		"a number for a key id":  forge(t, key, with(header, "kid", 1), payload),
		"no typ":                 forge(t, key, with(header, "typ", nil), payload),
		"an id token":            forge(t, key, with(header, "typ", "JWT"), payload),
		"a critical extension":   forge(t, key, with(header, "crit", []string{"b64"}), payload),
		"another issuer":         forge(t, key, header, with(payload, "iss", testIssuer+"/")),
		"a payload of no object": forge(t, key, header, []int{1}),
		"a string for a number":  forge(t, key, header, with(payload, "cid", "3")),
		"not yet valid":          forge(t, key, header, with(payload, "nbf", now.Add(time.Minute).Unix())),
		"issued later":           forge(t, key, header, with(payload, "iat", now.Add(time.Minute).Unix())),
		"expired":                forge(t, key, header, with(payload, "exp", now.Add(-time.Minute).Unix())),
		"a company of 0":         forge(t, key, header, with(payload, "cid", 0)),
	}
	for _, name := range []string{"iss", "aud", "exp", "iat", "jti", "sub", "client_id", "cid"} {
		cases["without "+name] = forge(t, key, header, with(payload, name, nil))
	}
	for name, raw := range cases {
		t.Run(name, func(t *testing.T) {
			if c, err := v.Verify(raw); err == nil || c != nil {
				t.Errorf("it passes: %+v", c)
			}
		})
	}
	t.Run("any changed sign", func(t *testing.T) {
		for i := range len(good) {
			bad := []byte(good)
			if bad[i] = 'A'; good[i] == 'A' {
				bad[i] = 'B'
			}
			if _, err := v.Verify(string(bad)); err == nil {
				t.Fatalf("the sign %d can be changed", i)
			}
		}
	})
}

func TestVerifyForgetsInTime(t *testing.T) {
	key := newTestKey(t)
	synctest.Test(t, func(t *testing.T) {
		v := NewVerifier(testIssuer, ringOf(RingKey{Key: key}), nil)
		raw := sign(t, key, testClaims(time.Now()))
		for _, step := range []struct {
			after time.Duration
			ok    bool
		}{{0, true}, {15*time.Minute - time.Second, true}, {time.Second, false}} {
			time.Sleep(step.after)
			if _, err := v.Verify(raw); (err == nil) != step.ok {
				t.Errorf("after another %v: %v", step.after, err)
			}
		}
		if len(v.known) != 0 {
			t.Error("the expired token is remembered")
		}
	})
}

// A key that leaves the ring takes its tokens along, remembered or not.
func TestVerifyForgetsWithTheKey(t *testing.T) {
	key := newTestKey(t)
	ring := ringOf(RingKey{Key: key})
	v := NewVerifier(testIssuer, ring, nil)
	raw := sign(t, key, testClaims(time.Now()))
	if _, err := v.Verify(raw); err != nil {
		t.Fatal(err)
	}
	ring.Replace(nil)
	if _, err := v.Verify(raw); err == nil {
		t.Error("the token outlived its key")
	}
}

func TestVerifyAsksForAMissingKey(t *testing.T) {
	key := newTestKey(t)
	raw := sign(t, key, testClaims(time.Now()))
	for name, found := range map[string]bool{"and finds it": true, "in vain": false} {
		t.Run(name, func(t *testing.T) {
			ring := ringOf()
			var asked []string
			v := NewVerifier(testIssuer, ring, func(id string) bool {
				asked = append(asked, id)
				if found {
					ring.Replace([]RingKey{{Key: key}})
				}
				return found
			})
			if _, err := v.Verify(raw); (err == nil) != found {
				t.Errorf("got %v", err)
			}
			if len(asked) != 1 || asked[0] != key.ID {
				t.Errorf("asked for %v", asked)
			}
		})
	}
}

func TestMemoryIsBounded(t *testing.T) {
	v := NewVerifier(testIssuer, ringOf(), nil)
	live := &Claims{ExpiresAt: time.Now().Add(time.Hour)}
	dead := &Claims{ExpiresAt: time.Now().Add(-time.Hour)}
	sum := func(i int) [32]byte { return [32]byte{byte(i), byte(i >> 8), byte(i >> 16)} }
	for i := range 3 * maxKnown {
		v.remember(sum(i), live)
		if len(v.known) > maxKnown {
			t.Fatalf("%d tokens are remembered", len(v.known))
		}
	}
	clear(v.known)
	for i := range maxKnown {
		v.remember(sum(i), []*Claims{live, dead}[i%2])
	}
	v.remember(sum(maxKnown), live)
	if len(v.known) != maxKnown/2+1 {
		t.Errorf("%d tokens are left; the expired ones were to go, and only they", len(v.known))
	}
}
