package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// arrivals is what the receiver tells of the deliveries on paths with one prefix: their times from
// the event's timestamp to the arrival, and the gaps between the attempts on one event.
type arrivals struct {
	Count       int
	P50, P99    time.Duration
	First, Last time.Time
	Gaps        [2][]time.Duration
}

// tally collects what arrives under one prefix.
type tally struct {
	latencies   []time.Duration
	first, last time.Time
	attempts    map[string][]time.Time
}

// sink receives deliveries: /ok/… answers at once, /hang/… never, /flaky/… 500 twice, then 200.
type sink struct {
	mu      sync.Mutex
	tallies map[string]*tally
}

// serveSink runs the receiving server on an address until ctx ends, with the key pair in file.
func serveSink(ctx context.Context, address, file string) error {
	cert, err := tls.LoadX509KeyPair(file, file)
	if err != nil {
		return err
	}
	s := &sink{tallies: map[string]*tally{}}
	server := &http.Server{
		Addr: address, Handler: s, ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: 10 * time.Second,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12},
	}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	if err := server.ListenAndServeTLS("", ""); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (s *sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now := time.Now()
	kind, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if r.Method == http.MethodGet {
		s.report(w, strings.TrimPrefix(r.URL.Path, "/report/"))
		return
	}
	var e struct {
		ID        string
		Timestamp time.Time
	}
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &e)
	n := s.count(kind, e.ID, now, now.Sub(e.Timestamp))
	switch {
	case kind == "hang":
		<-r.Context().Done()
	case kind == "flaky" && n < 3:
		w.WriteHeader(http.StatusInternalServerError)
	}
}

func (s *sink) count(kind, id string, now time.Time, latency time.Duration) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tallies[kind]
	if t == nil {
		t = &tally{first: now, attempts: map[string][]time.Time{}}
		s.tallies[kind] = t
	}
	t.last = now
	t.latencies = append(t.latencies, latency)
	if kind == "flaky" {
		t.attempts[id] = append(t.attempts[id], now)
	}
	return len(t.attempts[id])
}

// report tells of a prefix and forgets it.
func (s *sink) report(w http.ResponseWriter, kind string) {
	s.mu.Lock()
	t := s.tallies[kind]
	delete(s.tallies, kind)
	s.mu.Unlock()
	var a arrivals
	if t != nil {
		slices.Sort(t.latencies)
		n := len(t.latencies)
		a = arrivals{Count: n, P50: t.latencies[n/2], P99: t.latencies[n*99/100], First: t.first, Last: t.last}
		for _, times := range t.attempts {
			for i := 0; i < len(a.Gaps) && i+1 < len(times); i++ {
				a.Gaps[i] = append(a.Gaps[i], times[i+1].Sub(times[i]))
			}
		}
	}
	_ = json.NewEncoder(w).Encode(a)
}

// makeCertificate writes a self-signed certificate for the loopback address, with its key, to file.
func makeCertificate(file string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "bench"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	text := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})...)
	return os.WriteFile(file, text, 0o600)
}
