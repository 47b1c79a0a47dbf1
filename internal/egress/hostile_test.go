package egress

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// reserved is every block of IANA's IPv4 and IPv6 special-purpose address registries (RFC 6890 and
// its updates), with multicast and the clouds' own addresses, each with one address of it.
var reserved = []struct{ block, addr string }{
	{"0.0.0.0/8 this network", "0.1.2.3"},
	{"0.0.0.0/32 this host", "0.0.0.0"},
	{"10.0.0.0/8 private use", "10.255.255.255"},
	{"100.64.0.0/10 shared address space", "100.127.0.1"},
	{"100.100.100.200 metadata of Alibaba Cloud", "100.100.100.200"},
	{"127.0.0.0/8 loopback", "127.0.0.1"},
	{"127.0.0.0/8 loopback, its end", "127.255.255.254"},
	{"169.254.0.0/16 link local", "169.254.0.1"},
	{"169.254.169.254 metadata of most clouds", "169.254.169.254"},
	{"169.254.170.2 metadata of containers", "169.254.170.2"},
	{"172.16.0.0/12 private use", "172.31.255.255"},
	{"192.0.0.0/24 IETF protocol assignments", "192.0.0.1"},
	{"192.0.0.0/29 service continuity", "192.0.0.6"},
	{"192.0.0.8/32 dummy address", "192.0.0.8"},
	{"192.0.0.9/32 port control anycast", "192.0.0.9"},
	{"192.0.0.10/32 TURN anycast", "192.0.0.10"},
	{"192.0.0.170/32 NAT64 discovery", "192.0.0.170"},
	{"192.0.0.171/32 DNS64 discovery", "192.0.0.171"},
	{"192.0.0.192 metadata of Oracle Cloud", "192.0.0.192"},
	{"192.0.2.0/24 TEST-NET-1", "192.0.2.1"},
	{"192.31.196.0/24 AS112", "192.31.196.1"},
	{"192.52.193.0/24 AMT", "192.52.193.1"},
	{"192.88.99.0/24 6to4 relay", "192.88.99.1"},
	{"192.168.0.0/16 private use", "192.168.1.1"},
	{"192.175.48.0/24 direct AS112", "192.175.48.1"},
	{"198.18.0.0/15 benchmarking", "198.19.255.255"},
	{"198.51.100.0/24 TEST-NET-2", "198.51.100.7"},
	{"203.0.113.0/24 TEST-NET-3", "203.0.113.9"},
	{"224.0.0.0/4 multicast", "224.0.0.1"},
	{"240.0.0.0/4 reserved", "240.0.0.1"},
	{"255.255.255.255/32 limited broadcast", "255.255.255.255"},
	{"168.63.129.16/32 host of Azure", "168.63.129.16"},
	{"::/128 unspecified", "::"},
	{"::1/128 loopback", "::1"},
	{"::/96 IPv4-compatible, deprecated", "::7f00:1"},
	{"64:ff9b::/96 NAT64 of loopback", "64:ff9b::7f00:1"},
	{"64:ff9b::/96 NAT64 of a public address", "64:ff9b::808:808"},
	{"64:ff9b:1::/48 local NAT64", "64:ff9b:1::1"},
	{"100::/64 discard only", "100::1"},
	{"100:0:0:1::/64 dummy prefix", "100:0:0:1::1"},
	{"2001::/23 IETF protocol assignments", "2001:1ff::1"},
	{"2001::/32 Teredo", "2001:0:7f00:1::1"},
	{"2001:1::1/128 port control anycast", "2001:1::1"},
	{"2001:1::2/128 TURN anycast", "2001:1::2"},
	{"2001:1::3/128 SRP anycast", "2001:1::3"},
	{"2001:2::/48 benchmarking", "2001:2::1"},
	{"2001:3::/32 AMT", "2001:3::1"},
	{"2001:4:112::/48 AS112", "2001:4:112::1"},
	{"2001:10::/28 ORCHID", "2001:10::1"},
	{"2001:20::/28 ORCHIDv2", "2001:20::1"},
	{"2001:30::/28 drone remote ID", "2001:30::1"},
	{"2001:db8::/32 documentation", "2001:db8::1"},
	{"2002::/16 6to4 of 10.0.0.1", "2002:a00:1::1"},
	{"2620:4f:8000::/48 direct AS112", "2620:4f:8000::1"},
	{"3fff::/20 documentation", "3fff::1"},
	{"5f00::/16 SRv6", "5f00::1"},
	{"fc00::/7 unique local", "fc00::1"},
	{"fd00:ec2::254 metadata of AWS", "fd00:ec2::254"},
	{"fe80::/10 link local", "fe80::1"},
	{"fec0::/10 site local, deprecated", "fec0::1"},
	{"ff00::/8 multicast", "ff02::1"},
}

// TestReservedAddresses meets each block both ways: written in the URL, and as the answer of DNS.
func TestReservedAddresses(t *testing.T) {
	for _, tc := range reserved {
		t.Run(tc.block, func(t *testing.T) {
			c := New(Options{Resolver: &script{answers: map[string][][]string{"a.example": {{tc.addr}}}}})
			for _, url := range []string{"https://" + bracketed(tc.addr) + "/hook", "https://a.example/hook"} {
				if err := c.CheckURL(t.Context(), url); !errors.Is(err, ErrBlocked) {
					t.Errorf("CheckURL(%s) = %v, want ErrBlocked", url, err)
				}
				if _, err := c.Post(t.Context(), url, nil, nil); !errors.Is(err, ErrBlocked) {
					t.Errorf("Post(%s) = %v, want ErrBlocked", url, err)
				}
			}
		})
	}
}

func bracketed(addr string) string {
	if strings.Contains(addr, ":") {
		return "[" + addr + "]"
	}
	return addr
}

func TestHostileURLs(t *testing.T) {
	dns := map[string][][]string{
		"public.example":   {{"93.184.216.34", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"}},
		"mixed.example":    {{"93.184.216.34", "10.0.0.1"}},
		"mixed6.example":   {{"2606:2800::1", "fd00::1"}},
		"mapped.example":   {{"::ffff:127.0.0.1"}},
		"mappedok.example": {{"::ffff:93.184.216.34"}},
		"zone.example":     {{"fe80::1%eth0"}},
		"intranet":         {{"10.1.1.1"}},
		"0.0.0.0":          {{"93.184.216.34"}}, // must never be asked
		// What libraries make of the names below, if they are asked at all.
		"127.1": {{"93.184.216.34"}}, "0x7f000001": {{"93.184.216.34"}},
		"xn--bcher-kva.example": {{"93.184.216.34"}},
	}
	for _, tc := range []struct {
		name, url string
		want      error // nil: allowed
	}{
		{"plain HTTP", "http://public.example/", ErrBlocked},
		{"no scheme", "public.example/hook", ErrBlocked},
		{"scheme-relative", "//public.example/hook", ErrBlocked},
		{"another scheme", "gopher://public.example/", ErrBlocked},
		{"file", "file:///etc/passwd", ErrBlocked},
		{"opaque", "https:public.example", ErrBlocked},
		{"no host", "https:///hook", ErrBlocked},
		{"only a port", "https://:443/", ErrBlocked},
		{"empty", "", ErrBlocked},
		{"user name", "https://user@public.example/", ErrBlocked},
		{"user name and password", "https://user:pw@public.example/", ErrBlocked},
		{"empty user name", "https://@public.example/", ErrBlocked},
		{"host as user name", "https://public.example@127.0.0.1/", ErrBlocked},
		{"backslash before the host", `https://public.example\@127.0.0.1/`, ErrBlocked},
		{"backslashes for slashes", `https:\\127.0.0.1\`, ErrBlocked},
		{"line break", "https://public.example/\r\nHost: a", ErrBlocked},
		{"tab in the host", "https://127.0.\t0.1/", ErrBlocked},
		{"space before", " https://public.example/", ErrBlocked},
		{"NUL", "https://public.example\x00.a/", ErrBlocked},
		{"port 0", "https://public.example:0/", ErrBlocked},
		{"port too large", "https://public.example:65536/", ErrBlocked},
		{"port not a number", "https://public.example:https/", ErrBlocked},
		{"negative port", "https://public.example:-1/", ErrBlocked},
		{"two ports", "https://127.0.0.1:80:443/", ErrBlocked},
		{"integer", "https://2130706433/", ErrBlocked},
		{"public integer", "https://134744072/", ErrBlocked},
		{"hex", "https://0x7f000001/", ErrBlocked},
		{"hex, upper case", "https://0X7F000001/", ErrBlocked},
		{"hex parts", "https://0x7f.0x0.0x0.0x1/", ErrBlocked},
		{"bare 0x", "https://a.0x/", ErrBlocked},
		{"octal", "https://0177.0.0.1/", ErrBlocked},
		{"octal, padded", "https://00000177.0.0.1/", ErrBlocked},
		{"octal integer", "https://017700000001/", ErrBlocked},
		{"short", "https://127.1/", ErrBlocked},
		{"three parts", "https://127.0.1/", ErrBlocked},
		{"five parts", "https://127.0.0.0.1/", ErrBlocked},
		{"part too large", "https://127.0.0.256/", ErrBlocked},
		{"zero", "https://0/", ErrBlocked},
		{"leading zeros", "https://093.184.216.034/", ErrBlocked},
		{"loopback with the root's dot", "https://127.0.0.1./", ErrBlocked},
		{"integer with the root's dot", "https://2130706433./", ErrBlocked},
		{"full-width digits", "https://１２７.0.0.1/", ErrBlocked},
		{"circled digits", "https://①②⑦.0.0.1/", ErrBlocked},
		{"ideographic full stops", "https://127。0。0。1/", ErrBlocked},
		{"percent-encoded digits", "https://%31%32%37.0.0.1/", ErrBlocked},
		{"percent-encoded full-width digits", "https://%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1/", ErrBlocked},
		{"mapped loopback", "https://[::ffff:127.0.0.1]/", ErrBlocked},
		{"mapped in hex", "https://[::ffff:7f00:1]/", ErrBlocked},
		{"mapped public", "https://[::ffff:8.8.8.8]/", ErrBlocked},
		{"compatible loopback", "https://[::127.0.0.1]/", ErrBlocked},
		{"translated (RFC 2765)", "https://[::ffff:0:127.0.0.1]/", ErrBlocked},
		{"long loopback", "https://[0:0:0:0:0:0:0:1]/", ErrBlocked},
		{"zone id", "https://[fe80::1%25eth0]/", ErrBlocked},
		{"zone id on a public address", "https://[2606:2800::1%25lo]/", ErrBlocked},
		{"IPv4 in brackets", "https://[127.0.0.1]/", ErrBlocked},
		{"IPv6 without brackets", "https://::1/", ErrBlocked},
		{"open bracket", "https://[::1/", ErrBlocked},
		{"localhost", "https://localhost/", ErrBlocked},
		{"localhost, upper case", "https://LOCALHOST:8443/", ErrBlocked},
		{"localhost with the root's dot", "https://localhost./", ErrBlocked},
		{"below localhost", "https://a.localhost/", ErrBlocked},
		{"long s in localhost", "https://localhoſt/", ErrBlocked},
		{"one label", "https://intranet/", ErrBlocked},
		{"mixed answer", "https://mixed.example/", ErrBlocked},
		{"mixed IPv6 answer", "https://mixed6.example/", ErrBlocked},
		{"mapped answer", "https://mapped.example/", ErrBlocked},
		{"answer with a zone", "https://zone.example/", ErrBlocked},
		{"two trailing dots", "https://public.example../", ErrBlocked},
		{"leading dot", "https://.public.example/", ErrBlocked},
		{"empty label", "https://public..example/", ErrBlocked},
		{"label too long", "https://" + strings.Repeat("a", 64) + ".example/", ErrBlocked},
		{"name too long", "https://" + strings.Repeat("a.", 127) + "example/", ErrBlocked},
		{"hyphen at a label's edge", "https://-public.example/", ErrBlocked},
		{"punycode that is none", "https://xn--a.example/", ErrBlocked},
		{"disallowed code point", "https://\u2028.example/", ErrBlocked},
		{"quote in the host", "https://pub'lic.example/", ErrBlocked},
		{"URL too long", "https://public.example/" + strings.Repeat("a", maxURL), ErrBlocked},
		{"no such name", "https://nowhere.example/", ErrDNS},

		{"public name", "https://public.example/hook?x=1#part", nil},
		{"scheme in upper case", "HTTPS://public.example/", nil},
		{"odd port", "https://public.example:8443/", nil},
		{"low port", "https://public.example:22/", nil},
		{"the root's dot", "https://public.example./", nil},
		{"upper case", "https://PUBLIC.Example/", nil},
		{"IDN", "https://Bücher.example/", nil},
		{"IDN in punycode", "https://xn--bcher-kva.example/", nil},
		{"mapped public answer", "https://mappedok.example/", nil},
		{"public IPv4", "https://93.184.216.34/", nil},
		{"public IPv6", "https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]:8443/", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			resolver := &script{answers: dns}
			err := New(Options{Resolver: resolver}).CheckURL(t.Context(), tc.url)
			if tc.want == nil && err != nil || tc.want != nil && !errors.Is(err, tc.want) {
				t.Errorf("CheckURL(%q) = %v, want %v", tc.url, err, tc.want)
			}
			for _, name := range resolver.lookups() {
				if !strings.HasSuffix(name, ".") {
					t.Errorf("lookup of %q would walk the search list", name)
				}
			}
		})
	}
}

// TestMessagesHidePrivateAnswers: the sentence for the destination's owner does not tell what a
// private name resolves to.
func TestMessagesHidePrivateAnswers(t *testing.T) {
	c := New(Options{Resolver: &script{answers: map[string][][]string{"db.corp.example": {{"10.20.30.40"}}}}})
	err := c.CheckURL(t.Context(), "https://db.corp.example/")
	if !errors.Is(err, ErrBlocked) || strings.Contains(err.Error(), "10.20.30.40") {
		t.Errorf("error %q, want one that blocks and does not name the address", err)
	}
}

func TestAllow(t *testing.T) {
	dns := &script{answers: map[string][][]string{"in.example": {{"10.1.2.3"}}, "both.example": {{"10.1.2.3", "10.2.0.1"}}}}
	for _, tc := range []struct {
		name, prefix, url string
		ok                bool
	}{
		{"address inside", "10.1.0.0/16", "https://10.1.2.3/", true},
		{"address outside", "10.1.0.0/16", "https://10.2.0.1/", false},
		{"name inside", "10.1.0.0/16", "https://in.example/", true},
		{"one answer outside", "10.1.0.0/16", "https://both.example/", false},
		{"prefix in mapped form", "::ffff:10.1.0.0/112", "https://10.1.2.3/", true},
		{"IPv6", "fd00::/8", "https://[fd00::1]/", true},
		{"localhost", "127.0.0.0/8", "https://localhost:1/", true},
		{"localhost over IPv6", "::1/128", "https://localhost:1/", true},
		{"still https only", "127.0.0.0/8", "http://127.0.0.1/", false},
		{"still no odd spelling", "127.0.0.0/8", "https://2130706433/", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := New(Options{Resolver: dns, Allow: []netip.Prefix{netip.MustParsePrefix(tc.prefix)}})
			if err := c.CheckURL(t.Context(), tc.url); (err == nil) != tc.ok {
				t.Errorf("CheckURL(%s) = %v, want ok %v", tc.url, err, tc.ok)
			}
		})
	}
}

// TestEveryAddressIsJudgedAlike: whatever the address, its URL and a DNS answer get one verdict.
func TestEveryAddressIsJudgedAlike(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var addr netip.Addr
		if rapid.Bool().Draw(rt, "v4") {
			addr = netip.AddrFrom4([4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(rt, "bytes")))
		} else {
			addr = netip.AddrFrom16([16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(rt, "bytes")))
		}
		if addr.Is4In6() {
			return // refused in a URL as an odd spelling, judged as IPv4 in an answer
		}
		c := New(Options{Resolver: &script{answers: map[string][][]string{"a.example": {{addr.String()}}}}})
		literal := c.CheckURL(t.Context(), "https://"+bracketed(addr.String())+"/")
		named := c.CheckURL(t.Context(), "https://a.example/")
		if errors.Is(literal, ErrBlocked) != errors.Is(named, ErrBlocked) {
			rt.Fatalf("%s: as a literal %v, as an answer %v", addr, literal, named)
		}
		if (addr.IsPrivate() || addr.IsLoopback() || addr.IsLinkLocalUnicast() || addr.IsMulticast()) && literal == nil {
			rt.Fatalf("%s got through", addr)
		}
	})
}

// FuzzParseTarget: what passes is https, has no user information, and reads the same once more.
func FuzzParseTarget(f *testing.F) {
	for _, seed := range []string{
		"https://example.com/", "https://[::1%25a]:1/", "https://１２７.1/", "https://a@b/",
		"HTTPS://Bücher.example.:8443/x?y#z", `https:\\a`, "https://%00/", "https://0x7f.1/",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		first, err := parseTarget(raw)
		if err != nil {
			if !errors.Is(err, ErrBlocked) {
				t.Fatalf("%q: %v is not ErrBlocked", raw, err)
			}
			return
		}
		if first.url.Scheme != "https" || first.url.User != nil || first.url.Hostname() != first.host {
			t.Fatalf("%q gave %q", raw, first.url)
		}
		second, err := parseTarget(first.url.String())
		if len(first.url.String()) > maxURL {
			return // percent-encoding can lengthen it
		}
		if err != nil || second.host != first.host || second.port != first.port || second.addr != first.addr {
			t.Fatalf("%q read again as %q: %+v, %v", raw, first.url, second, err)
		}
	})
}
