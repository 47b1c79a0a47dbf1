package platform

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Loopback has the certificate of every TLS server of these tests, for the loopback address.
var Loopback = sync.OnceValue(func() *httptest.Server {
	s := httptest.NewTLSServer(nil)
	s.Close()
	return s
})

// CertificateFile writes that certificate down, for those who are to trust it.
func CertificateFile(t testing.TB) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := writeCertificate(file); err != nil {
		t.Fatal(err)
	}
	return file
}

func writeCertificate(file string) error {
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: Loopback().Certificate().Raw}), 0o600)
}
