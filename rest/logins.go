package rest

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"canopy/db"
	"canopy/internal/globalid"
	"canopy/resolvers"
)

type loginInput struct {
	Body struct {
		Email      string         `json:"email" doc:"The user's e-mail address"`
		Password   string         `json:"password" doc:"The user's password"`
		CustomerID *int64         `json:"customerId,omitempty" doc:"The company to log in to; without it, the one that the user has belonged to longest"`
		OTP        *string        `json:"otp,omitempty" example:"123456" doc:"The current code of the user's authenticator, or a recovery code, where two-factor is on"`
		Passkey    *PasskeyAnswer `json:"passkey,omitempty" doc:"A passkey in place of the code, as POST /auth/passkey asks for it"`
	} `nameHint:"LoginRequest"`
}

// customerOption is a company that the user can log in to.
type customerOption struct {
	CustomerID  int64  `json:"customerId" doc:"The company's id"`
	DisplayName string `json:"displayName" doc:"The company's name"`
	RoleName    string `json:"roleName" doc:"The user's role there"`
	IsOwner     bool   `json:"isOwner" doc:"Whether that role is an owner's"`
}

// LoginAnswer is an access token for a person.
type LoginAnswer struct {
	Token           string           `json:"token" doc:"The bearer token"`
	ExpiresIn       int              `json:"expiresIn" example:"900" doc:"How long the token is good, in seconds"`
	CustomerOptions []customerOption `json:"customerOptions" doc:"The companies that the user can log in to"`
}

type setupInput struct {
	Body struct {
		Token      string `json:"token" doc:"The token of an invitation or a reset link"`
		Password   string `json:"password" doc:"The new password, at least 10 characters; not one of those that are used most, nor made of the user's own names"`
		RevokeKeys *bool  `json:"revokeKeys,omitempty" doc:"With the link of a reset: whether the user's API keys end, too; true by default"`
	} `nameHint:"SetupRequest"`
}

type showLinkInput struct {
	Body struct {
		Token string `json:"token" doc:"The token of an invitation or a reset link"`
	} `nameHint:"ShowLinkRequest"`
}

// shownLink is what a link that sets a password is for.
type shownLink struct {
	Email        string  `json:"email" doc:"The address whose password it sets"`
	CustomerID   *int64  `json:"customerId" doc:"The company that has invited; null for a reset"`
	CustomerName *string `json:"customerName" doc:"The company's name; null for a reset"`
}

func shownLinkOf(l *db.ShownLink) shownLink {
	if l.CustomerID == 0 {
		return shownLink{Email: l.Email}
	}
	return shownLink{l.Email, &l.CustomerID, &l.CustomerName}
}

type resetInput struct {
	Body struct {
		Email string `json:"email" doc:"The address to send a reset link to"`
	} `nameHint:"ResetRequest"`
}

// settledEmail is an answer whose status tells whether the other address has to confirm, too.
type settledEmail struct{ Status int }

type settleEmailInput struct {
	Body struct {
		Token string `json:"token" doc:"A token that one of the two addresses was sent"`
	} `nameHint:"SettleEmailRequest"`
}

func (a *api) registerLogins() {
	add(a, operation{
		id: "logIn", method: http.MethodPost, path: "/auth/token", tag: tagLogin, public: true,
		errors: []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests}, summary: "Log in with a password",
		description: "Gives an access token for a person, who accepts the company by it; by default one that was accepted before. A user with two-factor gets 401 with the code otp_required, or passkey_required of who has passkeys alone, until the request carries otp or passkey; where one of the person's passkeys would do beside the code, errors names passkey.",
	}, a.logIn)
	add(a, operation{
		id: "setPassword", method: http.MethodPost, path: "/auth/setup", tag: tagLogin, public: true, errors: []int{http.StatusTooManyRequests},
		summary: "Set a password", description: "Redeems the link of an invitation or of a password reset. A link works once. Earlier logins end, and with a reset the user's API keys, unless revokeKeys is false.",
	}, func(ctx context.Context, in *setupInput) (*struct{}, error) {
		return nil, a.r.SetUp(ctx, in.Body.Token, in.Body.Password, in.Body.RevokeKeys != nil && !*in.Body.RevokeKeys)
	})
	add(a, operation{
		id: "showLink", method: http.MethodPost, path: "/auth/setup/link", tag: tagLogin, public: true,
		summary: "Look at a link that sets a password", description: "Tells whoever has the link of an invitation or of a password reset whose password it sets, and which company has invited. It does not use the link up.",
	}, func(ctx context.Context, in *showLinkInput) (*one[shownLink], error) {
		l, err := a.r.ShowLink(ctx, in.Body.Token)
		if err != nil {
			return nil, err
		}
		return &one[shownLink]{shownLinkOf(l)}, nil
	})
	add(a, operation{
		id: "settleEmail", method: http.MethodPost, path: "/auth/email", tag: tagLogin, public: true,
		summary: "Confirm or stop a change of an address", description: "Both addresses are sent a token that confirms the change, and the old one another that stops it: 202 while the other address has to confirm it, too, 204 once it is changed or stopped. Changes are begun by the mutation requestEmailChange.",
		status: http.StatusNoContent, responses: map[string]*huma.Response{"202": {Description: "Confirmed; the other address has to confirm it, too"}},
	}, func(ctx context.Context, in *settleEmailInput) (*settledEmail, error) {
		settled, err := a.r.SettleEmail(ctx, in.Body.Token)
		if settled {
			return &settledEmail{http.StatusNoContent}, err
		}
		return &settledEmail{http.StatusAccepted}, err
	})
	add(a, operation{
		id: "requestReset", method: http.MethodPost, path: "/auth/reset", tag: tagLogin, public: true, errors: []int{http.StatusTooManyRequests},
		summary: "Ask for a password reset", description: "Sends a reset link where the address is a user's. The answer is the same where it is not.",
	}, func(ctx context.Context, in *resetInput) (*struct{}, error) {
		return nil, a.r.RequestReset(ctx, in.Body.Email)
	})
}

func (a *api) logIn(ctx context.Context, in *loginInput) (*one[LoginAnswer], error) {
	b := in.Body
	got, err := a.r.Login(ctx, resolvers.LoginInput{
		Email: b.Email, Password: b.Password, CustomerID: optionalID(b.CustomerID), SecondFactor: resolvers.SecondFactor{OTP: b.OTP, Passkey: b.Passkey.input()},
	})
	if err != nil {
		return nil, err
	}
	return &one[LoginAnswer]{loginAnswerOf(got)}, nil
}

func loginAnswerOf(got *resolvers.LoginPayload) LoginAnswer {
	return LoginAnswer{Token: got.Token, ExpiresIn: got.ExpiresIn, CustomerOptions: mapped(got.CustomerOptions, customerOptionOf)}
}

func customerOptionOf(o db.CustomerOption) customerOption {
	return customerOption{CustomerID: o.CustomerID, DisplayName: o.Name, RoleName: o.RoleName, IsOwner: o.IsOwner}
}

// optionalID is an integer that may be left out, as the resolvers take it.
func optionalID(id *int64) *globalid.ID {
	if id == nil {
		return nil
	}
	return &globalid.ID{Int: *id}
}

// idOf is the id of a parameter, which 0 stands for where it was left out.
func idOf(n int64) *globalid.ID {
	if n == 0 {
		return nil
	}
	return &globalid.ID{Int: n}
}

// mapped applies a shape to each entry of a list.
func mapped[S, T any](list []S, shape func(S) T) []T {
	out := make([]T, len(list))
	for i, s := range list {
		out[i] = shape(s)
	}
	return out
}
