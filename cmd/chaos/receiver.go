package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"

	"canopy/internal/webhook"
)

// hearing is what a destination has heard of one event.
type hearing struct {
	Requests int
	// Good counts the requests that were answered 200.
	Good int
	// Hash is that of the bytes; Changed tells that they were not always the same.
	Hash    string
	Changed bool
	Type    string
	JobKey  string
	// Unsigned counts the requests whose signature is not that of the destination's secret.
	Unsigned int
}

// receivers are three destinations: a answers 200; b fails twice for each event, then answers
// 200; c does as it likes, until it is calmed.
type receivers struct {
	mu    sync.Mutex
	rng   *rand.Rand
	calm  bool
	heard map[string]map[string]*hearing
	// secrets are those of the destinations whose signatures are looked at.
	secrets map[string]string
}

func newReceivers(seed uint64) *receivers {
	return &receivers{rng: rand.New(rand.NewPCG(seed, 1)), heard: map[string]map[string]*hearing{}} // seeded on purpose
}

func (r *receivers) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	switch who := strings.Trim(req.URL.Path, "/"); who {
	case "calm":
		r.mu.Lock()
		r.calm = true
		r.mu.Unlock()
	case "report":
		r.mu.Lock()
		defer r.mu.Unlock()
		_ = json.NewEncoder(w).Encode(r.heard)
	default:
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		r.answer(w, req, r.hear(who, req.Header, body))
	}
}

// The ways to answer.
const (
	good = iota
	fail
	hang
	reset
	refuse
)

// hear notes a request down and decides on its answer.
func (r *receivers) hear(who string, header http.Header, body []byte) int {
	var e struct {
		ID   string
		Type string
		Data struct{ JobKey string }
	}
	_ = json.Unmarshal(body, &e)
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:8])
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.heard[who] == nil {
		r.heard[who] = map[string]*hearing{}
	}
	h := r.heard[who][e.ID]
	if h == nil {
		h = &hearing{Hash: hash, Type: e.Type, JobKey: e.Data.JobKey}
		r.heard[who][e.ID] = h
	}
	h.Requests++
	if secret, known := r.secrets[who]; known && !webhook.VerifyHeader(header, body, secret) {
		h.Unsigned++
	}
	h.Changed = h.Changed || h.Hash != hash
	answer := good
	switch {
	case who == "b" && h.Requests <= 2:
		answer = fail + r.rng.IntN(3)
	case who == "c" && !r.calm:
		answer = r.rng.IntN(refuse + 1)
	}
	if answer == good {
		h.Good++
	}
	return answer
}

func (r *receivers) answer(w http.ResponseWriter, req *http.Request, answer int) {
	switch answer {
	case fail:
		w.WriteHeader(http.StatusInternalServerError)
	case hang:
		<-req.Context().Done()
	case reset:
		panic(http.ErrAbortHandler)
	case refuse:
		w.WriteHeader(http.StatusNotFound)
	}
}
