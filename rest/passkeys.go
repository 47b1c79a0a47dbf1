package rest

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"canopy/db"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/rule"
	"canopy/resolvers"
)

// Passkey is what a person signs in with in place of the password and a code.
type Passkey struct {
	ID         int64      `json:"id"`
	Name       string     `json:"name" doc:"The name that the person has given it"`
	Synced     bool       `json:"synced" doc:"It can be on several devices of the person's"`
	BackedUp   bool       `json:"backedUp" doc:"It is kept elsewhere, too, so that it outlives the device; as of its last use"`
	CreatedAt  time.Time  `json:"createdAt"`
	LastUsedAt *time.Time `json:"lastUsedAt" doc:"When somebody last signed in with it; null before the first time"`
}

func passkeyOf(p *db.Passkey) Passkey {
	return Passkey{ID: p.ID, Name: p.Name, Synced: p.Synced, BackedUp: p.BackedUp, CreatedAt: p.CreatedAt.UTC(), LastUsedAt: utc(p.LastUsedAt)}
}

// PasskeyPath names a passkey in the path.
type PasskeyPath struct {
	ID int64 `path:"id" doc:"The passkey's id"`
}

func (p *PasskeyPath) id() globalid.ID { return globalid.ID{Int: p.ID} }

// PasskeyAnswer is an authenticator's answer.
type PasskeyAnswer struct {
	State      string          `json:"state" doc:"What the question came with"`
	Credential json.RawMessage `json:"credential" doc:"The authenticator's answer, as PublicKeyCredential.toJSON() gives it"`
}

func (p *PasskeyAnswer) input() *resolvers.PasskeyAnswerInput {
	if p == nil {
		return nil
	}
	return &resolvers.PasskeyAnswerInput{State: p.State, Credential: p.Credential}
}

// AskedPasskey is what an authenticator is asked with.
type AskedPasskey struct {
	State   string          `json:"state" doc:"What to give back with the authenticator's answer, within five minutes and once"`
	Options json.RawMessage `json:"options" doc:"What PublicKeyCredential.parseCreationOptionsFromJSON(), of a new passkey, or parseRequestOptionsFromJSON() takes"`
}

func askedPasskey(asked *resolvers.AskedPasskey, err error) (*one[AskedPasskey], error) {
	if err != nil {
		return nil, err
	}
	return &one[AskedPasskey]{AskedPasskey{asked.State, asked.Options}}, nil
}

// MadePasskey is a new passkey.
type MadePasskey struct {
	Passkey
	RecoveryCodes []string `json:"recoveryCodes,omitempty" doc:"Codes that each let the person in once in place of a passkey, beside the password, shown this once; only where the passkey is the first second factor"`
}

type beginPasskeyInput struct {
	Body struct {
		Password string `json:"password" doc:"The caller's password"`
	} `nameHint:"BeginPasskeyRequest"`
}

type createPasskeyInput struct {
	Body struct {
		PasskeyAnswer
		Name *string `json:"name,omitempty" doc:"How to call it; Passkey by default"`
	} `nameHint:"CreatePasskeyRequest"`
}

type updatePasskeyInput struct {
	PasskeyPath
	Body struct {
		Name *string `json:"name,omitempty" doc:"How to call it"`
	} `nameHint:"UpdatePasskeyRequest"`
}

type deletePasskeyInput struct {
	PasskeyPath
	Body struct {
		Password string `json:"password" doc:"The caller's password"`
	} `nameHint:"DeletePasskeyRequest"`
}

type openPasskeySessionInput struct {
	Body struct {
		PasskeyAnswer
		CustomerID *int64 `json:"customerId,omitempty" doc:"The company to log in to; without it, the one that the user has belonged to longest"`
		Cookie     *bool  `json:"cookie,omitempty" default:"true" doc:"Whether the refresh token goes into the cookie canopy_session, for pages, or else into the answer, for programs"`
	} `nameHint:"OpenPasskeySessionRequest"`
}

func (a *api) registerPasskeys() {
	const path = "/v1/passkeys"
	add(a, operation{
		id: "askForPasskey", method: http.MethodPost, path: "/auth/passkey", tag: tagLogin, public: true,
		summary: "Ask for a passkey", description: "Gives what a browser asks for any passkey of the platform's with. The answer goes to POST /auth/session/passkey, or beside the password to POST /auth/session. It tells nothing of who has one.",
	}, func(ctx context.Context, _ *struct{}) (*one[AskedPasskey], error) {
		return askedPasskey(a.r.BeginPasskeyUse(ctx))
	})
	add(a, operation{
		id: "openPasskeySession", method: http.MethodPost, path: sessionPath + "/passkey", tag: tagLogin, public: true, own: true,
		errors:  []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests},
		summary: "Begin a session with a passkey", description: "As POST /auth/session, with a passkey in place of the address, the password and the code: it says who the person is. 401 passkey_refused where it is unknown, or its answer is not to be believed; 400 passkey_state where that took too long, or was used.",
	}, a.openPasskeySession)
	addList(a, operation{
		id: "listPasskeys", rule: rule.MePasskeys, path: path, tag: tagLogin,
		summary: "List the caller's passkeys", description: "The passkeys of the person who has logged in, by id; none for an API key.",
	}, 1, func(ctx context.Context, _ *Paging, q query, each emit[Passkey]) error {
		return a.queries().ListPasskeys(ctx, q.after, q.limit, func(p *db.Passkey) error {
			return each(passkeyOf(p), paging.IDs(p.ID))
		})
	})
	add(a, operation{
		id: "beginPasskey", rule: rule.BeginPasskey, method: http.MethodPost, path: path + "/begin", tag: tagLogin, status: http.StatusOK, errors: []int{http.StatusTooManyRequests},
		summary: "Ask for a new passkey", description: "Gives what the browser makes a passkey of the caller's with, after the password. For a token of a person's login.",
	}, func(ctx context.Context, in *beginPasskeyInput) (*one[AskedPasskey], error) {
		return askedPasskey(a.mutations().BeginPasskey(ctx, resolvers.BeginPasskeyInput{Password: in.Body.Password}))
	})
	add(a, operation{
		id: "createPasskey", rule: rule.CreatePasskey, method: http.MethodPost, path: path, tag: tagLogin, status: http.StatusCreated,
		summary: "Make a passkey", description: "Makes the passkey that was asked for, in the same session. It lets the person in without the password; with the password it, or another second factor, is needed from then on. For a token of a person's login.",
	}, func(ctx context.Context, in *createPasskeyInput) (*tagged[MadePasskey], error) {
		out, err := a.mutations().CreatePasskey(ctx, resolvers.CreatePasskeyInput{State: in.Body.State, Credential: in.Body.Credential, Name: in.Body.Name})
		if err != nil {
			return nil, err
		}
		return tag(ctx, out.Passkey.Version, MadePasskey{passkeyOf(out.Passkey), out.RecoveryCodes})
	})
	a.registerPasskey(path + "/{id}")
}

// registerPasskey registers what is done with one passkey.
func (a *api) registerPasskey(path string) {
	notFound := []int{http.StatusNotFound}
	add(a, operation{
		id: "getPasskey", conditions: byNoneMatch, rule: rule.MePasskeys, method: http.MethodGet, path: path, tag: tagLogin, errors: notFound,
		summary: "Get a passkey", description: "A passkey of the caller's own.",
	}, func(ctx context.Context, in *PasskeyPath) (*tagged[Passkey], error) {
		p, err := a.queries().GetPasskey(ctx, in.id())
		if err != nil {
			return nil, err
		}
		return tag(ctx, p.Version, passkeyOf(p))
	})
	add(a, operation{
		id: "updatePasskey", conditions: byMatch, rule: rule.UpdatePasskey, method: http.MethodPut, path: path, tag: tagLogin, status: http.StatusOK, errors: notFound,
		summary: "Rename a passkey", description: "Changes what is given, of a passkey of the caller's own. For a token of a person's login.",
	}, func(ctx context.Context, in *updatePasskeyInput) (*tagged[Passkey], error) {
		out, err := a.mutations().UpdatePasskey(ctx, resolvers.UpdatePasskeyInput{ID: in.id(), Name: in.Body.Name, IfVersion: ifMatch(ctx)})
		if err != nil {
			return nil, err
		}
		return tag(ctx, out.Passkey.Version, passkeyOf(out.Passkey))
	})
	add(a, operation{
		id: "deletePasskey", conditions: byMatch, rule: rule.DeletePasskey, method: http.MethodDelete, path: path, tag: tagLogin, errors: []int{http.StatusNotFound, http.StatusTooManyRequests},
		summary: "Remove a passkey", description: "Removes a passkey of the caller's own, after the password: nobody is let in by it any more. For a token of a person's login.",
	}, func(ctx context.Context, in *deletePasskeyInput) (*struct{}, error) {
		_, err := a.mutations().DeletePasskey(ctx, resolvers.DeletePasskeyInput{ID: in.id(), Password: in.Body.Password, IfVersion: ifMatch(ctx)})
		return nil, err
	})
}

func (a *api) openPasskeySession(ctx context.Context, in *openPasskeySessionInput) (*openedSession, error) {
	b := in.Body
	got, err := a.r.OpenPasskeySession(ctx, resolvers.PasskeySignInInput{PasskeyAnswerInput: *b.input(), CustomerID: optionalID(b.CustomerID)})
	return a.opened(got, b.Cookie == nil || *b.Cookie, err)
}
