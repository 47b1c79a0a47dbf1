package platform

import (
	"net"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"canopy/internal/config"
)

// DNS is a name server on the loopback address that knows TXT records alone.
type DNS struct {
	Address string
	mu      sync.Mutex
	records map[string][]string
	deaf    bool
}

// NewDNS starts a name server that knows nothing yet.
func NewDNS(t testing.TB) *DNS {
	t.Helper()
	var lc net.ListenConfig
	conn, err := lc.ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	d := &DNS{Address: conn.LocalAddr().String(), records: map[string][]string{}}
	go d.serve(conn)
	return d
}

// Set has a name have TXT records; none: it does not exist.
func (d *DNS) Set(name string, values ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.records[strings.ToLower(name)+"."] = values
}

// Deafen has the server say that it can't tell.
func (d *DNS) Deafen(deaf bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.deaf = deaf
}

// Asked has a platform ask the server.
func (d *DNS) Asked(c *config.Config) { c.DNS = d.Address }

func (d *DNS) serve(conn net.PacketConn) {
	buf := make([]byte, 1500)
	for {
		n, from, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		var asked dnsmessage.Message
		if asked.Unpack(buf[:n]) != nil || len(asked.Questions) != 1 {
			continue
		}
		if packed, err := d.answer(asked).Pack(); err == nil {
			_, _ = conn.WriteTo(packed, from)
		}
	}
}

func (d *DNS) answer(asked dnsmessage.Message) *dnsmessage.Message {
	d.mu.Lock()
	defer d.mu.Unlock()
	q := asked.Questions[0]
	out := &dnsmessage.Message{Header: dnsmessage.Header{ID: asked.ID, Response: true, Authoritative: true, RecursionAvailable: true}, Questions: asked.Questions}
	values := d.records[strings.ToLower(q.Name.String())]
	switch {
	case d.deaf:
		out.RCode = dnsmessage.RCodeServerFailure
	case len(values) == 0:
		out.RCode = dnsmessage.RCodeNameError
	}
	if out.RCode != dnsmessage.RCodeSuccess || q.Type != dnsmessage.TypeTXT {
		return out
	}
	for _, v := range values {
		out.Answers = append(out.Answers, dnsmessage.Resource{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}, Body: &dnsmessage.TXTResource{TXT: []string{v}},
		})
	}
	return out
}
