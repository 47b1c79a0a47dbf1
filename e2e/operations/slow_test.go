package operations

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/devstack"
	"canopy/internal/devstack/devtest"
)

// ended is how long a connection may be held by a client that sends next to nothing.
const ended = time.Minute

// process gives a platform that is served by a process of its own.
func process(t *testing.T) *platform.Platform {
	t.Helper()
	s := platform.Start(t)
	address, err := devstack.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	server(t, s, address)
	s.URL = "http://" + address
	devtest.Eventually(t, "the process serves", func() bool {
		resp, err := http.Get(s.URL + "/healthz")
		return err == nil && resp.Body.Close() == nil
	})
	return s
}

// connect opens a connection that the test gives up when it should have ended.
func connect(t *testing.T, s *platform.Platform) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(ended))
	return conn
}

// drip sends a byte a second for as long as the connection takes it.
func drip(t *testing.T, conn io.Writer, one string) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-t.Context().Done():
			return
		case <-tick.C:
			if _, err := io.WriteString(conn, one); err != nil {
				return
			}
		}
	}
}

// TestSlowConnectionsEnd sends requests that come byte by byte, or stop: on every kind of route, with a
// token and without one, the connection ends.
func TestSlowConnectionsEnd(t *testing.T) {
	t.Parallel()
	s := process(t)
	tenant, assistant := s.Root(), s.Assistant()
	contextID := s.NewContext(assistant, "Slow")
	head := func(request, token, more string) string {
		if token != "" {
			more += "Authorization: Bearer " + token + "\r\n"
		}
		return request + " HTTP/1.1\r\nHost: x\r\n" + more
	}
	const (
		body   = "Content-Length: 1000\r\n\r\n"
		pieces = "Transfer-Encoding: chunked\r\n\r\n"
		typed  = "Content-Type: application/json\r\n"
		form   = "Content-Type: multipart/form-data; boundary=x\r\nGraphQL-Preflight: 1\r\n"
		file   = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n"
	)
	open := map[string]net.Conn{}
	for name, sent := range map[string]string{
		"nothing":                                "",
		"half a head":                            "GET /healthz HTTP/1.1\r\nX-A: ",
		"a health check":                         head("GET /healthz", "", body),
		"a health check in pieces":               head("GET /healthz", "", pieces),
		"a page":                                 head("GET /docs", "", body),
		"metrics":                                head("GET /metrics", "", body),
		"the dashboard":                          head("POST /monitoring/api/queues/mail:pause", "", body),
		"a path that is not there":               head("POST /nowhere", "", body),
		"a token exchange":                       head("POST /connect/token", "", "Content-Type: application/x-www-form-urlencoded\r\n"+body),
		"a login":                                head("POST /auth/token", "", typed+body),
		"REST without a token":                   head("POST /tenant/customer", "", typed+body),
		"REST":                                   head("POST /tenant/customer", tenant, typed) + body,
		"a REST operation that takes no body":    head("DELETE /tenant/user/1", tenant, typed) + body,
		"a list":                                 head("GET /tenant/customers", tenant, "") + body,
		"an upload without a token":              head(fmt.Sprintf("POST /context/upload/%d", contextID), "", form+body),
		"an upload":                              head(fmt.Sprintf("POST /context/upload/%d", contextID), assistant, form) + "Content-Length: 1000000\r\n\r\n" + file,
		"an upload in pieces":                    head(fmt.Sprintf("POST /context/upload/%d", contextID), assistant, form) + pieces + fmt.Sprintf("%x\r\n%s\r\n", len(file), file),
		"GraphQL without a token":                head("POST /graphql", "", typed+body),
		"GraphQL":                                head("POST /graphql", tenant, typed) + body,
		"GraphQL with a file, without a token":   head("POST /graphql", "", form+body),
		"GraphQL with a file":                    head("POST /graphql", assistant, form) + body,
		"a WebSocket without connection_init":    head("GET /graphql", "", "Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n"),
		"a request that waits for 100 Continue":  head("POST /tenant/customer", tenant, typed+"Expect: 100-continue\r\n") + body,
		"a token that is not one, with a body":   head("POST /graphql", "x.y.z", typed) + body,
		"a long body for what takes none of any": head("PUT /healthz", "", "Content-Length: 200000\r\n\r\n"),
	} {
		for way, one := range map[string]string{"silent": "", "byte by byte": "x"} {
			conn := connect(t, s)
			if _, err := io.WriteString(conn, sent); err != nil {
				t.Fatal(err)
			}
			open[name+", "+way] = conn
			if one != "" {
				go drip(t, conn, one)
			}
		}
	}
	var all sync.WaitGroup
	for name, conn := range open {
		all.Go(func() {
			if _, err := io.Copy(io.Discard, conn); err != nil && isTimeout(err) {
				t.Errorf("%s: the connection was held for %v", name, ended)
			}
		})
	}
	all.Wait()
}

func isTimeout(err error) bool {
	netErr, ok := err.(net.Error) //nolint:errorlint // from the connection itself
	return ok && netErr.Timeout()
}

// TestUnreadBodyIsAnswered: who sends all before it listens hears the answer, and its connection
// serves the next request.
func TestUnreadBodyIsAnswered(t *testing.T) {
	t.Parallel()
	s := process(t)
	conn := connect(t, s)
	answers := bufio.NewReader(conn)
	body := strings.Repeat("x", 100_000)
	for range 2 {
		if _, err := fmt.Fprintf(conn, "DELETE /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(answers, nil)
		if err != nil || resp.StatusCode != http.StatusNotFound || resp.Close {
			t.Fatalf("%v %v", resp, err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
	}
}

// TestWhatMovesLives: an upload that makes progress, however slowly, a stream of events and a WebSocket
// live longer than any client may keep the platform waiting.
func TestWhatMovesLives(t *testing.T) {
	t.Parallel()
	const long = 40 * time.Second // more than any deadline for a piece
	s := process(t)
	tenant, assistant := s.Root(), s.Assistant()
	contextID := s.NewContext(assistant, "Slow")
	change := func(n int) {
		s.Must(204, "POST", "/tenant/billing", tenant, object{"city": fmt.Sprint(n)})
	}
	events := map[string]<-chan platform.Heard{
		"server-sent events": s.OverSSE(t, tenant),
		"a WebSocket":        s.OverSocket(t, object{"authorization": "Bearer " + tenant}, nil),
	}
	in, out := io.Pipe()
	form, contentType := platform.Form(t, platform.Part{Field: "file", Name: "a.txt", Content: []byte("HERE")})
	go func() {
		before, after, _ := strings.Cut(string(form), "HERE")
		_, _ = io.WriteString(out, before)
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for begun := time.Now(); time.Since(begun) < long; <-tick.C {
			_, _ = io.WriteString(out, strings.Repeat("a line of text\n", 64))
		}
		_, _ = io.WriteString(out, after)
		_ = out.Close()
	}()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, fmt.Sprintf("%s/context/upload/%d", s.URL, contextID), in)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+assistant)
	req.Header.Set("Content-Type", contentType)
	if a := s.Send(req); a.Status != http.StatusOK {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	for _, stream := range events {
		s.Until(t, stream, change)
	}
}
