// Command verify is a webhook receiver: it verifies the signature over the raw body before it reads
// the body, drops duplicates, and answers at once. It needs the standard library only.
//
//	WEBHOOK_SECRET=whsec_… PORT=8443 TLS_CERT=cert.pem TLS_KEY=key.pem go run verify.go
//
// WEBHOOK_SECRET may hold two secrets, separated by a comma, while a rotation is under way. Without
// TLS_CERT it serves plain HTTP, for use behind a proxy that terminates TLS.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// verify tells whether one of the headers holds the signature of body by one of the secrets.
func verify(header http.Header, body []byte, secrets []string) bool {
	for _, name := range []string{"x-service-signature", "x-service-signature-next"} {
		given, err := hex.DecodeString(strings.TrimPrefix(header.Get(name), "sha256="))
		if err != nil {
			continue
		}
		for _, secret := range secrets {
			mac := hmac.New(sha256.New, []byte(secret))
			mac.Write(body)
			if hmac.Equal(given, mac.Sum(nil)) { // constant time
				return true
			}
		}
	}
	return false
}

// event is the envelope of every delivery.
type event struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	Timestamp time.Time       `json:"timestamp"`
	Data      json.RawMessage `json:"data"`
}

func main() {
	secrets := strings.Split(os.Getenv("WEBHOOK_SECRET"), ",")
	if secrets[0] == "" {
		log.Fatal("WEBHOOK_SECRET is not set")
	}
	var seen sync.Map // in production: a unique index of your database, so that it outlives restarts

	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			http.Error(w, "body", http.StatusBadRequest)
			return
		}
		if !verify(r.Header, body, secrets) {
			http.Error(w, "bad signature", http.StatusUnauthorized)
			return
		}
		var e event
		if err := json.Unmarshal(body, &e); err != nil || e.ID == "" {
			http.Error(w, "malformed", http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusNoContent)
		if _, again := seen.LoadOrStore(e.ID, true); again {
			fmt.Println("duplicate", e.ID)
			return
		}
		fmt.Println("event", e.Type, e.ID, string(e.Data)) // in production: put it on a queue
	})

	l, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		log.Fatal(err)
	}
	srv := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	if cert := os.Getenv("TLS_CERT"); cert != "" {
		fmt.Println("listening on https://" + l.Addr().String() + "/")
		log.Fatal(srv.ServeTLS(l, cert, os.Getenv("TLS_KEY")))
	}
	fmt.Println("listening on http://" + l.Addr().String() + "/")
	log.Fatal(srv.Serve(l))
}
