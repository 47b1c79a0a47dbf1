package pgconn

import (
	"io"
	"net"
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
