package identity

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/config"
	"canopy/internal/devstack/devtest"
)

// proxied is a platform behind a proxy that it trusts, so that requests come from any address.
type proxied struct{ *platform.Platform }

func behindProxy(t *testing.T) proxied {
	return proxied{platform.Start(t, func(c *config.Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })}
}

// post posts JSON from an address.
func (s proxied) post(from, path, token string, body any) platform.Answer {
	s.T.Helper()
	return s.PostWith(path, token, "application/json", platform.MustJSON(s.T, body), http.Header{"X-Forwarded-For": {from}})
}

func (s proxied) login(from, email, password string) platform.Answer {
	s.T.Helper()
	return s.post(from, "/auth/token", "", map[string]any{"email": email, "password": password})
}

// wants judges the status of an answer.
func wants(t *testing.T, name string, got platform.Answer, status int) {
	t.Helper()
	if got.Status != status {
		t.Errorf("%s: %d %.200s, want %d", name, got.Status, got.Body, status)
	}
}

// TestStrangersLockNobodyOut: failures from elsewhere slow down who comes from elsewhere, and not the person
// where it has logged in before.
func TestStrangersLockNobodyOut(t *testing.T) {
	t.Parallel()
	s := behindProxy(t)
	good := func(from string) platform.Answer { return s.login(from, platform.DemoAdmin, s.Demo.AdminPassword) }
	const home, elsewhere = "203.0.113.9", "192.0.2.1"
	wants(t, "at home", good(home), 200)
	wants(t, "on the way", good("2001:db8:1:2::7"), 200)
	counts := map[int]int{}
	for i := range 200 {
		counts[s.login(fmt.Sprintf("198.%d.%d.1", 18+i%2, i), platform.DemoAdmin, "a wrong password").Status]++
	}
	if counts[401] < 30 || counts[401] > 40 || counts[401]+counts[429] != 200 {
		t.Errorf("the strangers' answers are %v", counts)
	}
	for range 20 { // those of hours: the next try is minutes away
		s.App.Resolver.Crowds.Fail(t.Context(), "account:"+platform.DemoAdmin)
	}
	wants(t, "at home", good(home), 200)
	wants(t, "next door", good("203.0.113.200"), 200)
	wants(t, "on the way", good("2001:db8:1:2:ffff::1"), 200)
	wants(t, "from another network of IPv6", good("2001:db8:1:3::7"), 429)
	wants(t, "elsewhere", good(elsewhere), 429)
	wants(t, "for another person, elsewhere", s.login(elsewhere, "greta@alpine.example", "a wrong password"), 401)
	t.Run("at home one's own failures count", func(t *testing.T) {
		for range 5 {
			wants(t, "wrong", s.login(home, platform.DemoAdmin, "a wrong password"), 401)
		}
		waitLong(s.Platform, "account:"+platform.DemoAdmin, "203.0.113.0/24")
		wantsLongWait(t, good(home))
		wants(t, "on the way", good("2001:db8:1:2::7"), 200)
	})
	t.Run("who redeems a link is at home", func(t *testing.T) {
		wants(t, "the request", s.post(elsewhere, "/auth/reset", "", map[string]any{"email": platform.DemoAdmin}), 204)
		wants(t, "the link", s.post(elsewhere, "/auth/setup", "", map[string]any{"token": s.Link(platform.DemoAdmin), "password": platform.NewPassword}), 204)
		wants(t, "elsewhere", s.login(elsewhere, platform.DemoAdmin, platform.NewPassword), 200)
	})
	t.Run("for thirty days", func(t *testing.T) {
		s.SQL(`UPDATE login_networks SET seen_at = now() - interval '29 days'`)
		wants(t, "elsewhere", s.login(elsewhere, platform.DemoAdmin, platform.NewPassword), 200)
		s.SQL(`UPDATE login_networks SET seen_at = now() - interval '31 days'`)
		wants(t, "elsewhere", s.login(elsewhere, platform.DemoAdmin, platform.NewPassword), 429)
		s.Work(&platform.Letterbox{})
		devtest.Eventually(t, "they are forgotten", func() bool { return s.Number(`SELECT count(*) FROM login_networks`) == 0 })
	})
}

// TestACrowdOfNetworksKeepsNobodyOut: bogus logins from more networks than can wait for a hash are refused, and the person
// logs in beside them from where it has logged in before. No other test runs meanwhile: the crowd has all places for strangers'
// hashes of this process, and would keep theirs out.
func TestACrowdOfNetworksKeepsNobodyOut(t *testing.T) {
	s := behindProxy(t)
	const home = "203.0.113.9"
	wants(t, "before", s.login(home, platform.DemoAdmin, s.Demo.AdminPassword), 200)
	crowd, disperse := context.WithCancel(t.Context())
	refused := make(chan struct{})
	var group sync.WaitGroup
	defer group.Wait()
	defer disperse()
	for i := range 100 {
		group.Go(func() {
			for n := 0; crowd.Err() == nil; n++ {
				if s.login(fmt.Sprintf("198.18.%d.%d", i, n), fmt.Sprintf("nobody%d.%d@nowhere.example", i, n), "a wrong password").Status == 429 {
					select {
					case refused <- struct{}{}:
					case <-crowd.Done():
					}
				}
			}
		})
	}
	for range 10 {
		<-refused
		wants(t, "at home", s.login(home, platform.DemoAdmin, s.Demo.AdminPassword), 200)
	}
}

// TestStrangersEndNoSecondFactor: wrong codes from elsewhere, too, leave the person its own tries.
func TestStrangersEndNoSecondFactor(t *testing.T) {
	t.Parallel()
	s := behindProxy(t)
	const home = "203.0.113.9"
	first := s.login(home, platform.DemoAdmin, s.Demo.AdminPassword)
	wants(t, "at home", first, 200)
	token := platform.Member(t, first.JSON(t), "token").(string)
	made := s.MustGQL(token, `mutation($p: String) { enableTotp(input: {password: $p}) { secret } }`, map[string]any{"p": s.Demo.AdminPassword})
	plain := platform.Member(t, made, "enableTotp.secret").(string)
	confirm := func(from, code string) platform.Answer {
		return s.post(from, "/graphql", token, map[string]any{
			"query": `mutation($c: String!) { confirmTotp(input: {code: $c}) { recoveryCodes } }`, "variables": map[string]any{"c": code},
		})
	}
	// How many are looked at is up to the time that they take: the thirty-first has to wait a second, each one after it twice as long.
	few := func(what string, looked, refused int) {
		t.Helper()
		if looked < 30 || looked > 40 || looked+refused != 50 {
			t.Errorf("of fifty wrong %s %d are looked at and %d refused", what, looked, refused)
		}
	}
	answers := map[any]int{}
	for i := range 50 {
		answers[codeOf(t, confirm(fmt.Sprintf("198.18.%d.1", i), "000000"))]++
	}
	few("confirmations", answers["BAD_REQUEST"], answers["RATE_LIMITED"])
	codes, is := platform.Member(t, confirm(home, code(t, plain, 0)).JSON(t), "data.confirmTotp.recoveryCodes").([]any)
	if !is {
		t.Fatal("the right code is refused at home")
	}
	login := func(from string, otp any) platform.Answer {
		return s.post(from, "/auth/token", "", map[string]any{"email": platform.DemoAdmin, "password": s.Demo.AdminPassword, "otp": otp})
	}
	clear(answers)
	for i := range 50 {
		answers[login(fmt.Sprintf("198.19.%d.1", i), "000000").Status]++
	}
	few("logins", answers[401], answers[429])
	wants(t, "at home", login(home, codes[0]), 200)
}

// TestStrangersAskForFewResets: the mails that many networks can send to a person are few, and take none of
// its own.
func TestStrangersAskForFewResets(t *testing.T) {
	t.Parallel()
	s := behindProxy(t)
	const home = "203.0.113.9"
	wants(t, "at home", s.login(home, platform.DemoAdmin, s.Demo.AdminPassword), 200)
	ask := func(from string) {
		t.Helper()
		wants(t, from, s.post(from, "/auth/reset", "", map[string]any{"email": platform.DemoAdmin}), 204)
	}
	for i := range 8 {
		ask(fmt.Sprintf("198.18.%d.1", i))
	}
	if n := len(s.Mails(platform.DemoAdmin)); n != 5 {
		t.Errorf("%d mails, want 5", n)
	}
	ask(home)
	if n := len(s.Mails(platform.DemoAdmin)); n != 6 {
		t.Errorf("%d mails, want 6", n)
	}
}
