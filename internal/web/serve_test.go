package web_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"canopy/internal/web"
)

// running is a server that Serve runs, and the way to stop it.
type running struct {
	address string
	stop    context.CancelFunc
	done    chan error
}

func serve(t *testing.T, h http.Handler, o web.ServeOptions) *running {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &running{ln.Addr().String(), stop, make(chan error, 1)}
	go func() {
		o.Log = slog.New(slog.DiscardHandler)
		s.done <- web.Serve(ctx, ln, h, o)
	}()
	t.Cleanup(stop)
	return s
}

// send begins a request on a connection of its own.
func (s *running) send(t *testing.T, headers string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n"+headers+"\r\n")
	return conn
}

func (s *running) refusesSoon(t *testing.T) {
	t.Helper()
	for range 10_000 {
		conn, err := net.Dial("tcp", s.address)
		if err != nil {
			return
		}
		_ = conn.Close()
	}
	t.Error("new connections are still taken")
}

// A client that would take an event stream, too, waits for an answer like any other.
func TestServeFinishesRequests(t *testing.T) {
	defer goleak.VerifyNone(t)
	started, finish := make(chan struct{}), make(chan struct{})
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		started <- struct{}{}
		<-finish
		if r.Context().Err() != nil {
			t.Errorf("the context of a request in flight is done: %v", context.Cause(r.Context()))
		}
		_, _ = io.WriteString(w, "whole")
	}), web.ServeOptions{})
	conn := s.send(t, "Accept: application/json, text/event-stream\r\n")
	<-started
	s.stop()
	s.refusesSoon(t)
	close(finish)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(res.Body); err != nil || string(body) != "whole" {
		t.Errorf("the answer is %q, %v", body, err)
	}
	if err := <-s.done; err != nil {
		t.Error(err)
	}
}

// TestServeDrains: told to stop, a server says so and goes on for a while, on connections that were
// open before and on new ones, each for one answer; streams live until that is over.
func TestServeDrains(t *testing.T) {
	const drain = 5 * time.Second
	streaming, ended := make(chan struct{}), make(chan error, 1)
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept") != "" {
			ctx, cancel := web.Stream(r.Context())
			defer cancel()
			close(streaming)
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return
		}
		_, _ = fmt.Fprint(w, web.Ending(r.Context()))
	}), web.ServeOptions{Drain: drain})
	answer := func(conn net.Conn, want string, last bool) {
		t.Helper()
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(res.Body); err != nil || string(body) != want || res.Close != last {
			t.Errorf("%q, the last: %v, %v", body, res.Close, err)
		}
	}
	idle := s.send(t, "")
	answer(idle, "false", false)
	s.send(t, "Accept: text/event-stream\r\n")
	<-streaming
	begun := time.Now()
	s.stop()
	answer(s.send(t, ""), "true", true)
	_, _ = io.WriteString(idle, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	answer(idle, "true", true)
	select {
	case err := <-ended:
		t.Errorf("the stream was ended at once: %v", err)
	default:
	}
	if cause := <-ended; !errors.Is(cause, web.ErrShutdown) || time.Since(begun) < drain {
		t.Errorf("the stream ended after %v: %v", time.Since(begun), cause)
	}
	if err := <-s.done; err != nil {
		t.Error(err)
	}
	s.refusesSoon(t)
}

func TestServeTellsStreams(t *testing.T) {
	for name, headers := range map[string]string{
		"an event stream": "Accept: text/event-stream\r\n",
		"a WebSocket":     "Connection: upgrade\r\nUpgrade: websocket\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			started := make(chan struct{})
			s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				ctx, cancel := web.Stream(r.Context())
				defer cancel()
				if r.Header.Get("Upgrade") == "" {
					close(started)
					<-ctx.Done()
					_, _ = io.WriteString(w, context.Cause(ctx).Error())
					return
				}
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				close(started)
				<-ctx.Done()
				_, _ = io.WriteString(conn, context.Cause(ctx).Error())
				_ = conn.Close()
			}), web.ServeOptions{})
			conn := s.send(t, headers)
			<-started
			s.stop()
			if err := <-s.done; err != nil {
				t.Error(err)
			}
			// Serve has waited for the handler, also for that of the hijacked connection.
			got, err := io.ReadAll(conn)
			if err != nil || !strings.Contains(string(got), web.ErrShutdown.Error()) {
				t.Errorf("the stream was told %q, %v", got, err)
			}
		})
	}
}

func TestServeCutsOffAtTheDeadline(t *testing.T) {
	for name, headers := range map[string]string{"a request": "", "a WebSocket": "Connection: upgrade\r\nUpgrade: websocket\r\n"} {
		t.Run(name, func(t *testing.T) {
			started, ended := make(chan struct{}), make(chan error, 1)
			release := make(chan struct{})
			s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Upgrade") != "" {
					conn, _, _ := http.NewResponseController(w).Hijack()
					defer func() { _ = conn.Close() }()
				}
				close(started)
				<-release // deaf to its context until then
				<-r.Context().Done()
				ended <- context.Cause(r.Context())
			}), web.ServeOptions{Finish: 50 * time.Millisecond})
			s.send(t, headers)
			<-started
			s.stop()
			if err := <-s.done; !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the error is %v", err)
			}
			close(release)
			if cause := <-ended; !errors.Is(cause, web.ErrShutdown) {
				t.Errorf("the cause is %v", cause)
			}
		})
	}
}

// TestServeLetsAnswerWhatItCutsOff: a client is told to come back, where its request can say so at once.
func TestServeLetsAnswerWhatItCutsOff(t *testing.T) {
	started := make(chan struct{})
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(started)
		<-r.Context().Done()
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
	}), web.ServeOptions{Finish: 50 * time.Millisecond})
	conn := s.send(t, "")
	<-started
	s.stop()
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") != "1" || !res.Close {
		t.Errorf("%d %v", res.StatusCode, res.Header)
	}
	if err := <-s.done; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v", err)
	}
}

func TestServeTellsOfItsListener(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = ln.Close()
	if err := web.Serve(t.Context(), ln, http.NotFoundHandler(), web.ServeOptions{}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the error is %v", err)
	}
}

// Without TLS, HTTP/2 is not spoken, neither by prior knowledge nor by an upgrade.
func TestServeSpeaksNoH2C(t *testing.T) {
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }), web.ServeOptions{})
	tr := &http.Transport{Protocols: new(http.Protocols)}
	tr.Protocols.SetUnencryptedHTTP2(true)
	defer tr.CloseIdleConnections()
	if res, err := (&http.Client{Transport: tr}).Get("http://" + s.address); err == nil {
		t.Errorf("HTTP/2 was answered: %s", res.Proto)
	}
	conn := s.send(t, "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n")
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if body, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusOK || string(body) != "HTTP/1.1" {
		t.Errorf("the answer is %d %q", res.StatusCode, body)
	}
	s.stop()
	if err := <-s.done; err != nil {
		t.Error(err)
	}
}

// What a client does not read is not made: answers end in the kernel's buffers, which are bounded.
func TestServeWaitsForReaders(t *testing.T) {
	const piece, most = 64 << 10, 1 << 20
	written := make(chan int, 1)
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n, control := 0, http.NewResponseController(w)
		for n <= most {
			_ = control.SetWriteDeadline(time.Now().Add(time.Second))
			if _, err := w.Write(make([]byte, piece)); err != nil {
				break
			}
			n += piece
		}
		written <- n
	}), web.ServeOptions{})
	s.send(t, "")
	if n := <-written; n > most {
		t.Errorf("%d bytes were written for a client that reads none", n)
	}
}
