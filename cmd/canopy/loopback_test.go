package main

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// loopback has the certificate of every TLS server of these tests, for the loopback address.
var loopback = sync.OnceValue(func() *httptest.Server {
	s := httptest.NewTLSServer(nil)
	s.Close()
	return s
})

// certificateFile writes that certificate down, for those who are to trust it.
func certificateFile(t testing.TB) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ca.pem")
	raw := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: loopback().Certificate().Raw})
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
