package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestHostileAnswers: what a receiver answers is a stranger's text. It is logged as far as it can be,
// and never keeps the outcomes of others from being written down.
func TestHostileAnswers(t *testing.T) {
	healthy := newReceiver(t, nil)
	hostile := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("ok\x00nul \xff\xfe " + strings.Repeat("\x00", 5000)))
	}))
	t.Cleanup(hostile.Close)
	s := newDeliveringStack(t)
	token := s.rootAs("tenant")
	good, _ := s.subscribe(token, healthy.URL)
	bad, _ := s.subscribe(token, hostile.URL)
	send := func(to int64) int64 {
		t.Helper()
		return int64(s.must(202, "POST", hooks+"/destinations/"+decimal(to)+"/test", token, object{"type": "run.failed"}).json(t).(map[string]any)["deliveryId"].(float64))
	}
	var others []int64
	first := send(bad)
	for range 3 {
		others = append(others, send(good))
	}
	for _, id := range append(others, first) {
		d := s.ended(token, id)
		log := d["attemptLog"].([]any)
		if d["status"] != "delivered" || len(log) != 1 {
			t.Errorf("%v", d)
		}
		if text, _ := member(t, log[0], "response").(string); id == first && !strings.HasPrefix(text, "ok\uFFFDnul \uFFFD") {
			t.Errorf("logged is %.40q", text)
		}
	}
	if n := len(healthy.all()); n != 3 {
		t.Errorf("%d requests for 3 events", n)
	}
}
