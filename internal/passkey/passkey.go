// Package passkey is the platform as authenticators know it: the relying party of Web Authentication (Level 3). Each passkey that it
// has made can be found by the authenticator without a name, and each use of one verifies the person, by a PIN or a finger: so a
// passkey may stand alone.
package passkey

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
)

// How long a credential's id may be (section 5.8.3), and its public key, of which the longest are those of RSA.
const (
	maxID  = 1023
	maxKey = 4 << 10
)

// The answers that are not taken. ErrNone: there can be none, as browsers know passkeys of names alone, not of addresses.
var (
	ErrRefused = errors.New("the authenticator's answer is not to be believed")
	ErrCounter = errors.New("the passkey has been used elsewhere: its counter went back")
	ErrNone    = errors.New("passkeys need a platform that is reached by a name")
)

// Party is the platform. Passkeys are for its Domain, on pages of the origins that are its Own.
type Party struct {
	Domain string
	Own    func(origin string) bool
	// Life is how long an answer may take.
	Life time.Duration
}

// Credential is what is kept of a passkey.
type Credential struct {
	ID, PublicKey []byte
	Transports    []string
	SignCount     uint32
	// Synced: it can be on several devices; BackedUp: it is.
	Synced, BackedUp bool
}

// Owner is whose passkey it is, by the person's number, and how authenticators name the person.
type Owner struct {
	ID   int64
	Name string
}

// handle is the owner as an authenticator gives it back (section 5.4.3): it tells nothing of the person.
func (o Owner) handle() []byte { return binary.BigEndian.AppendUint64(nil, uint64(o.ID)) }

// person has a credential, or several, as the library asks for them.
type person struct {
	Owner
	credentials []webauthn.Credential
}

func (p person) WebAuthnID() []byte                         { return p.handle() }
func (p person) WebAuthnName() string                       { return p.Name }
func (p person) WebAuthnDisplayName() string                { return p.Name }
func (p person) WebAuthnCredentials() []webauthn.Credential { return p.credentials }

// New is the party of a platform that is reached by a URL; domain is that of its passkeys, "" for the URL's host, and for localhost where that is
// an address of this machine. has tells which other origins its pages have.
func New(at *url.URL, domain string, life time.Duration, has func(origin string) bool) *Party {
	if domain == "" {
		domain = at.Hostname()
		if ip := net.ParseIP(domain); ip != nil && ip.IsLoopback() {
			domain = "localhost"
		}
	}
	home := strings.ToLower(at.Scheme + "://" + at.Host)
	home = strings.TrimSuffix(home, map[string]string{"http": ":80", "https": ":443"}[at.Scheme]) // as browsers do (RFC 6454, section 6.2)
	return &Party{Domain: domain, Life: life, Own: func(origin string) bool { return origin == home || has(origin) }}
}

// at is the library's relying party for pages of an origin.
func (p *Party) at(origin string) (*webauthn.WebAuthn, error) {
	if protocol.ValidateRPID(p.Domain) != nil {
		return nil, ErrNone
	}
	timeout := webauthn.TimeoutConfig{Timeout: p.Life, TimeoutUVD: p.Life}
	return webauthn.New(&webauthn.Config{
		RPID: p.Domain, RPDisplayName: "Canopy", RPOrigins: []string{origin}, AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: protocol.ResidentKeyRequired(), UserVerification: protocol.VerificationRequired,
		},
		Timeouts: webauthn.TimeoutsConfig{Login: timeout, Registration: timeout},
		// Programs that keep passwords tell more than they are asked for.
		ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
	})
}

// from is the relying party for the page that an answer comes from.
func (p *Party) from(origin string) (*webauthn.WebAuthn, error) {
	if !p.Own(origin) {
		return nil, fmt.Errorf("%w: it is from a page of %.200q", ErrRefused, origin)
	}
	return p.at(origin)
}

// anyPage stands for the page that an answer will come from, which is not known while it is asked for.
const anyPage = "*"

// Begun is a challenge, and what a browser is asked with (PublicKeyCredentialCreationOptionsJSON, or PublicKeyCredentialRequestOptionsJSON).
type Begun struct {
	Challenge string
	Options   json.RawMessage
}

// BeginNew asks for a passkey of an owner, on an authenticator that has none of those that there are.
func (p *Party) BeginNew(owner Owner, have [][]byte) (*Begun, error) {
	w, err := p.at(anyPage)
	if err != nil {
		return nil, err
	}
	var known []protocol.CredentialDescriptor
	for _, id := range have {
		known = append(known, protocol.CredentialDescriptor{Type: protocol.PublicKeyCredentialType, CredentialID: id})
	}
	asked, session, err := w.BeginRegistration(person{Owner: owner}, webauthn.WithExclusions(known))
	if err != nil {
		return nil, err
	}
	options, err := json.Marshal(asked.Response)
	return &Begun{session.Challenge, options}, err
}

// FinishNew gives the passkey that an owner has made for a challenge. The error is ErrRefused where the answer is not to be believed.
func (p *Party) FinishNew(owner Owner, challenge string, answer []byte) (*Credential, error) {
	parsed, err := protocol.ParseCredentialCreationResponseBytes(answer)
	if err != nil {
		return nil, refused(err)
	}
	w, err := p.from(parsed.Response.CollectedClientData.Origin)
	if err != nil {
		return nil, err
	}
	made, err := w.CreateCredential(person{Owner: owner}, webauthn.SessionData{
		Challenge: challenge, RelyingPartyID: p.Domain, UserID: owner.handle(), UserVerification: protocol.VerificationRequired,
		CredParams: webauthn.CredentialParametersDefault(),
	}, parsed)
	if err != nil {
		return nil, refused(err)
	}
	if len(made.ID) > maxID || len(made.PublicKey) > maxKey {
		return nil, fmt.Errorf("%w: it is too long", ErrRefused)
	}
	return &Credential{
		ID: made.ID, PublicKey: made.PublicKey, Transports: known(made.Transport), SignCount: made.Authenticator.SignCount,
		Synced: made.Flags.BackupEligible, BackedUp: made.Flags.BackupState,
	}, nil
}

// known leaves out what is none of the ways to an authenticator that there are.
func known(transports []protocol.AuthenticatorTransport) (list []string) {
	for _, t := range transports {
		switch t {
		case protocol.USB, protocol.NFC, protocol.BLE, protocol.SmartCard, protocol.Hybrid, protocol.Internal:
			list = append(list, string(t))
		}
	}
	return list
}

// BeginUse asks for any passkey of the platform's.
func (p *Party) BeginUse() (*Begun, error) {
	w, err := p.at(anyPage)
	if err != nil {
		return nil, err
	}
	asked, session, err := w.BeginDiscoverableLogin()
	if err != nil {
		return nil, err
	}
	options, err := json.Marshal(asked.Response)
	return &Begun{session.Challenge, options}, err
}

// Answer is what an authenticator says, before anybody has looked whether it is true.
type Answer struct {
	// ID is the credential's.
	ID     []byte
	parsed *protocol.ParsedCredentialAssertionData
}

// Parse reads an answer. The error is ErrRefused.
func Parse(answer []byte) (*Answer, error) {
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return nil, refused(err)
	}
	return &Answer{parsed.RawID, parsed}, nil
}

// Use judges an answer to a challenge by the passkey that it names, and gives that as it is from now on. The error is ErrRefused where
// the answer is not to be believed, and ErrCounter where all of it is true, but that the passkey is in one hand.
func (p *Party) Use(owner Owner, c Credential, challenge string, a *Answer) (*Credential, error) {
	if len(a.parsed.Response.UserHandle) == 0 || !bytes.Equal(a.parsed.Response.UserHandle, owner.handle()) {
		return nil, fmt.Errorf("%w: it is of another person", ErrRefused)
	}
	w, err := p.from(a.parsed.Response.CollectedClientData.Origin)
	if err != nil {
		return nil, err
	}
	kept := webauthn.Credential{
		ID: c.ID, PublicKey: c.PublicKey, Flags: webauthn.CredentialFlags{BackupEligible: c.Synced, BackupState: c.BackedUp},
		Authenticator: webauthn.Authenticator{SignCount: c.SignCount},
	}
	now, err := w.ValidateLogin(person{owner, []webauthn.Credential{kept}}, webauthn.SessionData{
		Challenge: challenge, RelyingPartyID: p.Domain, UserID: owner.handle(), UserVerification: protocol.VerificationRequired,
	}, a.parsed)
	if err != nil {
		return nil, refused(err)
	}
	if now.Authenticator.CloneWarning {
		return nil, ErrCounter
	}
	c.SignCount, c.BackedUp = now.Authenticator.SignCount, now.Flags.BackupState
	return &c, nil
}

// refused is ErrRefused with what the library says, which quotes the answer: so it is cut.
func refused(err error) error {
	said := err.Error()
	var e *protocol.Error
	if errors.As(err, &e) {
		said = e.Details + ": " + e.DevInfo
	}
	return fmt.Errorf("%w: %.300s", ErrRefused, said)
}
