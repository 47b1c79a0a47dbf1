package platform

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"testing"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
)

// What an authenticator says of a passkey and of its person (Web Authentication Level 3, section 6.1).
const (
	Present  byte = 1 << 0
	Verified byte = 1 << 2
	Synced   byte = 1 << 3
	BackedUp byte = 1 << 4
	attested byte = 1 << 6
)

// Authenticator is a device with one passkey, behind a browser that shows a page. What stands in it can be changed between two answers, as no
// true one would.
type Authenticator struct {
	// Page is the origin of the page; Domain, of the passkey, "" for what it is asked for.
	Page, Domain string
	Flags        byte
	// Count is the counter of uses, which goes on by Step: 0 of an authenticator that keeps none.
	Count, Step uint32
	ID, Handle  []byte
	key         *ecdsa.PrivateKey
	// Crossed has the page be in a frame of another's.
	Crossed bool
}

// NewAuthenticator has no passkey yet.
func NewAuthenticator(t *testing.T, page string) *Authenticator {
	t.Helper()
	a := &Authenticator{Page: page, Flags: Present | Verified | Synced | BackedUp, Step: 1, ID: make([]byte, 32)}
	_, _ = rand.Read(a.ID)
	a.Rekey(t)
	return a
}

// Rekey gives it another key, as of another authenticator that knows the passkey's id.
func (a *Authenticator) Rekey(t *testing.T) {
	t.Helper()
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
}

var inText = base64.RawURLEncoding

// Make makes the passkey that it is asked for.
func (a *Authenticator) Make(t *testing.T, options any) map[string]any {
	t.Helper()
	domain := Member(t, options, "rp.id").(string)
	var err error
	if a.Handle, err = inText.DecodeString(Member(t, options, "user.id").(string)); err != nil {
		t.Fatal(err)
	}
	raw, err := a.key.PublicKey.Bytes() // 4, x, y
	if err != nil {
		t.Fatal(err)
	}
	key, err := webauthncbor.Marshal(webauthncose.EC2PublicKeyData{
		PublicKeyData: webauthncose.PublicKeyData{KeyType: int64(webauthncose.EllipticKey), Algorithm: int64(webauthncose.AlgES256)},
		Curve:         int64(webauthncose.P256), XCoord: raw[1:33], YCoord: raw[33:],
	})
	if err != nil {
		t.Fatal(err)
	}
	data := append(a.data(domain, a.Flags|attested), make([]byte, 16)...)
	data = binary.BigEndian.AppendUint16(data, uint16(len(a.ID)))
	data = append(append(data, a.ID...), key...)
	object, err := webauthncbor.Marshal(map[string]any{"fmt": "none", "attStmt": map[string]any{}, "authData": data})
	if err != nil {
		t.Fatal(err)
	}
	return a.credential(map[string]any{
		"clientDataJSON": inText.EncodeToString(a.client(t, "webauthn.create", options)), "attestationObject": inText.EncodeToString(object),
		"transports": []string{"internal", "hybrid", "pigeon"},
	})
}

// Answer answers with the passkey.
func (a *Authenticator) Answer(t *testing.T, options any) map[string]any {
	t.Helper()
	a.Count += a.Step
	client := a.client(t, "webauthn.get", options)
	data := a.data(Member(t, options, "rpId").(string), a.Flags)
	clientHash := sha256.Sum256(client)
	digest := sha256.Sum256(append(append([]byte{}, data...), clientHash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	response := map[string]any{
		"clientDataJSON": inText.EncodeToString(client), "authenticatorData": inText.EncodeToString(data), "signature": inText.EncodeToString(signature),
	}
	if a.Handle != nil {
		response["userHandle"] = inText.EncodeToString(a.Handle)
	}
	return a.credential(response)
}

func (a *Authenticator) credential(response map[string]any) map[string]any {
	id := inText.EncodeToString(a.ID)
	return map[string]any{"id": id, "rawId": id, "type": "public-key", "response": response, "clientExtensionResults": map[string]any{"credProps": map[string]any{"rk": true}}}
}

// client is what the browser adds.
func (a *Authenticator) client(t *testing.T, what string, options any) []byte {
	t.Helper()
	return MustJSON(t, map[string]any{"type": what, "challenge": Member(t, options, "challenge"), "origin": a.Page, "crossOrigin": a.Crossed})
}

// data is what the authenticator says of itself.
func (a *Authenticator) data(domain string, flags byte) []byte {
	if a.Domain != "" {
		domain = a.Domain
	}
	hash := sha256.Sum256([]byte(domain))
	return binary.BigEndian.AppendUint32(append(hash[:], flags), a.Count)
}

// AddPasskey makes a passkey of a person's.
func (s *Platform) AddPasskey(t *testing.T, token, password string) (a *Authenticator, id int64) {
	t.Helper()
	a = NewAuthenticator(t, s.URL)
	asked := s.Must(200, "POST", "/v1/passkeys/begin", token, object{"password": password}).JSON(t)
	made := s.Must(201, "POST", "/v1/passkeys", token, object{"state": Member(t, asked, "state"), "credential": a.Make(t, Member(t, asked, "options")), "name": "Phone"})
	return a, made.ID(t, "id")
}

// Passkey is the answer of a passkey's to a new question.
func (s *Platform) Passkey(t *testing.T, a *Authenticator) map[string]any {
	t.Helper()
	asked := s.Must(200, "POST", "/auth/passkey", "", nil).JSON(t)
	return object{"state": Member(t, asked, "state"), "credential": a.Answer(t, Member(t, asked, "options"))}
}

// SignInBy signs in by a passkey alone, as a program does.
func (s *Platform) SignInBy(answer map[string]any, more ...any) Answer {
	body := object{"cookie": false}
	for name, value := range answer {
		body[name] = value
	}
	for i := 0; i+1 < len(more); i += 2 {
		body[more[i].(string)] = more[i+1]
	}
	return s.Do("POST", "/auth/session/passkey", "", body)
}
