package main

import (
	"encoding/json"
	"log"
	"net"
	"net/http"
	"strings"
	"testing"
)

// told is a standard error that gives each line.
type told chan string

func (t told) Write(p []byte) (int, error) {
	t <- string(p)
	return len(p), nil
}

// TestLibrariesWriteJSON has a receiver send more than its answer, of which net/http tells by itself, in the receiver's words.
func TestLibrariesWriteJSON(t *testing.T) {
	flags, before := log.Flags(), log.Writer()
	t.Cleanup(func() { log.SetFlags(flags); log.SetOutput(before) })
	lines := make(told, 10)
	logLibraries((&Main{Stderr: lines}).logger())
	receiver, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = receiver.Close() }()
	go func() {
		if conn, err := receiver.Accept(); err == nil {
			_, _ = conn.Read(make([]byte, 4096))
			_, _ = conn.Write([]byte("HTTP/1.1 204 No Content\r\n\r\nhi\n{\"level\":\"ERROR\"}"))
		}
	}()
	client := &http.Client{Transport: &http.Transport{}}
	resp, err := client.Get("http://" + receiver.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	line := <-lines
	var said struct{ Level, Msg string }
	if err := json.Unmarshal([]byte(line), &said); err != nil || said.Level != "WARN" || !strings.HasPrefix(said.Msg, "Unsolicited response") || strings.Count(line, "\n") != 1 {
		t.Errorf("%v: %s", err, line)
	}
}
