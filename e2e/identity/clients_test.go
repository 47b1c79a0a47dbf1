package identity

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/devstack/npmtest"
	"canopy/internal/token"
	"canopy/internal/web"
)

func TestClientsOfTheTokenEndpoint(t *testing.T) {
	t.Parallel()
	project := npmtest.New(t, os.DirFS("testdata/clients"))
	s := platform.Start(t)
	out := project.Run("node", "tokens.mjs", s.URL, s.Demo.ClientID, s.Demo.ClientSecret)
	if n := strings.Count(out, "ok "); n != 6 {
		t.Fatalf("%d of 6 checks:\n%s", n, out)
	}
}

func TestClientsOfSubscriptions(t *testing.T) {
	t.Parallel()
	project := npmtest.New(t, os.DirFS("testdata/clients"))
	s := platform.Start(t)
	url, restart := restartable(t, s)
	sign := signer(s)
	control := http.NewServeMux()
	key, _, err := s.App.Resolver.OperatorCreateKey(t.Context(), 1, platform.DemoAdmin, "clients")
	if err != nil {
		t.Fatal(err)
	}
	control.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		life, err := time.ParseDuration(r.FormValue("life"))
		if err != nil {
			t.Error(err)
		}
		_, _ = fmt.Fprint(w, sign(key.ClientID, life))
	})
	control.HandleFunc("POST /revoke", func(http.ResponseWriter, *http.Request) {
		old := key.ClientID
		if key, _, err = s.App.Resolver.OperatorCreateKey(t.Context(), 1, platform.DemoAdmin, "clients"); err == nil {
			err = s.App.Resolver.OperatorRevokeKey(t.Context(), old)
		}
		if err != nil {
			t.Error(err)
		}
	})
	control.HandleFunc("POST /restart", func(http.ResponseWriter, *http.Request) { restart() })
	server := httptest.NewServer(control)
	t.Cleanup(server.Close)
	out := project.Run("node", "subscriptions.mjs", url, server.URL, s.Root())
	if n := strings.Count(out, "ok "); n != 5 {
		t.Fatalf("%d of 5 checks:\n%s", n, out)
	}
}

// signer gives what signs tokens of the root's tenant account, with a life of one's own.
func signer(s *platform.Platform) func(clientID string, life time.Duration) string {
	s.T.Helper()
	key, ok := s.App.Resolver.Keys.Signing(time.Now())
	if !ok {
		s.T.Fatal("no key signs")
	}
	claims := token.Claims{
		Issuer: s.URL, Audience: []string{"tenant"}, ID: "short", Subject: fmt.Sprint(s.UserID(platform.DemoAdmin)), CustomerID: 1, AccountID: s.Account(1, "tenant"),
	}
	return func(clientID string, life time.Duration) string {
		c := claims
		c.ClientID, c.IssuedAt, c.ExpiresAt = clientID, time.Now(), time.Now().Add(life)
		signed, err := token.Sign(key, c)
		if err != nil {
			s.T.Error(err)
		}
		return signed
	}
}

// restartable serves the platform as the program does, at another address, and gives what puts another
// one in its place.
func restartable(t *testing.T, s *platform.Platform) (url string, restart func()) {
	t.Helper()
	handler, err := s.App.Handler(true)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	serve := func(listener net.Listener) (stop context.CancelFunc) {
		ctx, stop := context.WithCancel(context.Background())
		go func() {
			ended <- web.Serve(ctx, listener, handler, web.ServeOptions{Log: slog.New(slog.DiscardHandler)})
		}()
		return stop
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	stop := serve(listener)
	end := func() {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(func() { stop(); end() })
	return "http://" + listener.Addr().String(), func() {
		stop()
		again, err := net.Listen("tcp", listener.Addr().String())
		for deadline := time.Now().Add(platform.Patience); err != nil && time.Now().Before(deadline); { // the old one lets go of it
			time.Sleep(time.Millisecond)
			again, err = net.Listen("tcp", listener.Addr().String())
		}
		if err != nil {
			t.Error(err)
			return
		}
		next := serve(again)
		end()
		stop = next
	}
}
