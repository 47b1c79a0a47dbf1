package platform

import (
	"context"

	"canopy/internal/app"
	"canopy/resolvers"
)

// Assistant is a token of the root company's owner for the assistant.
func (s *Platform) Assistant() string {
	s.T.Helper()
	return s.RootAs("assistant")
}

// DemoAdmin is the address of the root company's owner.
const DemoAdmin = app.DemoAdmin

// Token exchanges an API key for an access token.
func (s *Platform) Token(clientID, clientSecret, app string) string {
	s.T.Helper()
	issued, err := s.App.Resolver.ExchangeToken(context.Background(), resolvers.TokenRequest{
		GrantType: "client_credentials", ClientID: clientID, ClientSecret: clientSecret, TargetApp: app,
	})
	if err != nil {
		s.T.Fatal(err)
	}
	return issued.AccessToken
}

// Root is a token of the root company's owner.
func (s *Platform) Root() string {
	s.T.Helper()
	return s.RootAs("tenant")
}

// RootAs gives the root owner's token for another application.
func (s *Platform) RootAs(app string) string {
	s.T.Helper()
	return s.Token(s.Demo.ClientID, s.Demo.ClientSecret, app)
}

// TokenOf makes an API key for a user of a company and gives a token of it.
func (s *Platform) TokenOf(customerID int64, email, app string) string {
	s.T.Helper()
	key, plain, err := s.App.Resolver.OperatorCreateKey(context.Background(), customerID, email, "test")
	if err != nil {
		s.T.Fatal(err)
	}
	return s.Token(key.ClientID, plain, app)
}

// Customer gives the id of a company of the demo tree.
func (s *Platform) Customer(name string) int64 {
	s.T.Helper()
	for _, row := range s.Do("GET", "/tenant/customers?self=true", s.Root(), nil).JSON(s.T).([]any) {
		if c := row.(map[string]any); c["name"] == name {
			return int64(c["id"].(float64))
		}
	}
	s.T.Fatalf("no company %q", name)
	return 0
}

// As gives a tenant token of a person of the demo tree.
func (s *Platform) As(customer, email string) string {
	s.T.Helper()
	return s.TokenOf(s.Customer(customer), email, "tenant")
}

// NewPassword is the password that people set.
const NewPassword = "correct horse battery"

// SetUp redeems the invitation of a user.
func (s *Platform) SetUp(email string) {
	s.T.Helper()
	s.Must(204, "POST", "/auth/setup", "", map[string]any{"token": s.Link(email), "password": NewPassword})
}

// Login logs a person in.
func (s *Platform) Login(email, password string) string {
	s.T.Helper()
	a := s.Must(200, "POST", "/auth/token", "", map[string]any{"email": email, "password": password})
	return Member(s.T, a.JSON(s.T), "token").(string)
}
