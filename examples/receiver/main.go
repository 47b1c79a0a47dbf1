// Command receiver hears of runs and agents by webhook. It verifies the signature over the raw body,
// keeps the event on disk, answers, and only then does its work: it asks the platform for the result of a
// run that has ended. An event that comes again, or after a restart, is not worked on twice. It needs
// the standard library only.
//
//	WEBHOOK_SECRET=whsec_… PORT=8443 TLS_CERT=cert.pem TLS_KEY=key.pem go run ./examples/receiver
//
// WEBHOOK_SECRET may hold two secrets, separated by a comma, while a rotation is under way. Without
// TLS_CERT it serves plain HTTP, for use behind a proxy that terminates TLS. INBOX is the folder that
// events are kept in. CANOPY_URL, CANOPY_CLIENT_ID and CANOPY_CLIENT_SECRET let it ask for results.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

// maxBody is far more than an event has.
const maxBody = 1 << 20

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
	events, err := openInbox(cmp.Or(os.Getenv("INBOX"), "inbox"))
	if err != nil {
		log.Fatal(err)
	}
	platform := &api{url: os.Getenv("CANOPY_URL"), id: os.Getenv("CANOPY_CLIENT_ID"), secret: os.Getenv("CANOPY_CLIENT_SECRET")}
	go events.work(context.Background(), platform.result)
	l, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		log.Fatal(err)
	}
	srv := &http.Server{Handler: receive(events, secrets), ReadHeaderTimeout: 10 * time.Second}
	if cert := os.Getenv("TLS_CERT"); cert != "" {
		fmt.Println("listening on https://" + l.Addr().String() + "/")
		log.Fatal(srv.ServeTLS(l, cert, os.Getenv("TLS_KEY")))
	}
	fmt.Println("listening on http://" + l.Addr().String() + "/")
	log.Fatal(srv.Serve(l))
}

// receive answers deliveries. The order is what matters: verify, keep, answer; the work comes later.
func receive(events *inbox, secrets []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
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
		fresh, err := events.keep(e.ID, body)
		switch {
		case err != nil: // the platform comes again after a 5xx
			log.Println(err)
			http.Error(w, "can't be kept", http.StatusInternalServerError)
			return
		case fresh:
			fmt.Println("event", e.Type, e.ID, string(e.Data))
		default:
			fmt.Println("duplicate", e.ID)
		}
		w.WriteHeader(http.StatusNoContent)
	})
}
