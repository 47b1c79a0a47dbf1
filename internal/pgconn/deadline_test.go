package pgconn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// TestDeadlines: an answer that takes its time is waited for where no time is given, and otherwise is an error.
func TestDeadlines(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	for wait, answered := range map[time.Duration]bool{0: true, 20 * time.Millisecond: false, time.Minute: true} {
		c, err := deadlineDialer{wait: wait}.Dial("tcp", server.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		other, err := server.Accept()
		if err != nil {
			t.Fatal(err)
		}
		later := time.AfterFunc(200*time.Millisecond, func() {
			if answered {
				_, _ = other.Write([]byte("x"))
			}
		})
		if _, err := io.ReadFull(c, make([]byte, 1)); (err == nil) != answered {
			t.Errorf("with %v: %v", wait, err)
		}
		later.Stop()
		_, _ = other.Close(), c.Close()
	}
}

// TestSilentServers: whoever connects to a server that takes connections and says nothing, as one that is frozen, waits no longer than the context or connect_timeout lets it, and is not kept from the
// next server of several by it.
func TestSilentServers(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	for name, try := range map[string]struct {
		url    string
		within time.Duration
		want   error
	}{
		"the context":           {"postgres://u@%s/d?sslmode=disable", 200 * time.Millisecond, context.DeadlineExceeded},
		"the context, with TLS": {"postgres://u@%s/d?sslmode=require", 200 * time.Millisecond, context.DeadlineExceeded},
		"connect_timeout":       {"postgres://u@%s/d?sslmode=disable&connect_timeout=1", time.Hour, ErrConnect},
		"of several, the next":  {"postgres://u@%s," + closed.Addr().String() + "/d?sslmode=disable&connect_timeout=1", time.Hour, ErrConnect},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := New(fmt.Sprintf(try.url, silent.Addr()))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), try.within)
			defer cancel()
			begun := time.Now()
			if _, err := c.Connect(ctx); !errors.Is(err, try.want) || time.Since(begun) > 10*time.Second {
				t.Errorf("after %v: %v", time.Since(begun), err)
			} else if of := strings.Contains(err.Error(), "refused"); of != strings.Contains(name, "several") {
				t.Errorf("the next one was asked: %t: %v", of, err)
			}
		})
	}
}
