package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"canopy/internal/devstack/devtest"
)

// told gives the next object that a subscription sends; nil at its end.
func told(t *testing.T, lines <-chan string, name string) object {
	t.Helper()
	select {
	case line, open := <-lines:
		if !open || !strings.Contains(line, `"data"`) {
			return nil
		}
		return dataOf(t, line)[name].(object)
	case <-time.After(15 * time.Second):
		t.Fatal("nothing is heard")
		return nil
	}
}

// TestRunsAreWatched follows a run from before a worker takes it up to its end, and the stream's.
func TestRunsAreWatched(t *testing.T) {
	s := newStack(t)
	s.noDemoMails()
	token := s.rootAs("builder")
	key := s.start(token, s.publish(token, countingSteps), object{})
	lines := s.stream(t, `subscription { runUpdated(jobKey: "`+key+`") { status output steps { stepId } } }`, token)
	if first := told(t, lines, "runUpdated"); first["status"] != "running" || len(first["steps"].([]any)) != 0 {
		t.Errorf("at first %v", first)
	}
	s.work(nil)
	var last object
	for run := told(t, lines, "runUpdated"); run != nil; run = told(t, lines, "runUpdated") {
		last = run
	}
	if last["status"] != "finished" || !sameJSON(last["output"], object{"n": 2}) || len(last["steps"].([]any)) != 2 {
		t.Errorf("at last %v", last)
	}
}

// TestDeliveriesAreWatched hears of an attempt that failed, and of the one that did not.
func TestDeliveriesAreWatched(t *testing.T) {
	r := newReceiver(t, func(x received, n int) int {
		if x.typ == "run.failed" && n == 1 {
			return http.StatusServiceUnavailable
		}
		return http.StatusOK
	})
	s := newDeliveringStack(t)
	token := s.rootAs("tenant")
	id, _ := s.subscribe(token, r.URL)
	other, _ := s.subscribe(token, r.URL)
	send := func(to int64, typ string) float64 {
		t.Helper()
		return float64(s.must(202, "POST", hooks+"/destinations/"+decimal(to)+"/test", token, object{"type": typ}).id(t, "deliveryId"))
	}
	lines := s.stream(t, `subscription { webhookDeliveryUpdated(destinationId: `+decimal(id)+`) { databaseId destinationId status attempts httpStatus } }`, token)
	devtest.Eventually(t, "the subscription has begun", func() bool { send(id, "run.started"); return len(lines) > 0 })
	send(other, "run.completed")
	delivery := send(id, "run.failed")
	want := []object{
		{"databaseId": delivery, "destinationId": id, "status": "pending", "attempts": 1, "httpStatus": 503},
		{"databaseId": delivery, "destinationId": id, "status": "delivered", "attempts": 2, "httpStatus": 200},
	}
	for len(want) > 0 {
		d := told(t, lines, "webhookDeliveryUpdated")
		if d["destinationId"] != float64(id) {
			t.Errorf("told of another destination: %v", d)
		}
		if d["databaseId"] != delivery {
			continue
		}
		if !sameJSON(d, want[0]) {
			t.Errorf("told %v, want %v", d, want[0])
		}
		want = want[1:]
	}
}

// TestFailuresAreCounted: the platform disables a destination by what it has counted since the last
// success.
func TestFailuresAreCounted(t *testing.T) {
	r := newReceiver(t, func(x received, _ int) int {
		if x.typ == "run.failed" {
			return http.StatusGone
		}
		return http.StatusOK
	})
	s := newDeliveringStack(t)
	token := s.rootAs("tenant")
	id, _ := s.subscribe(token, r.URL)
	for _, c := range []struct {
		typ  string
		want int64
	}{{"run.failed", 1}, {"run.failed", 2}, {"run.completed", 0}, {"run.failed", 1}} {
		a := s.must(202, "POST", hooks+"/destinations/"+decimal(id)+"/test", token, object{"type": c.typ})
		s.ended(token, a.id(t, "deliveryId"))
		n := s.number(`SELECT failures FROM webhook_destinations WHERE (failing_since IS NOT NULL) = (failures > 0)`)
		if n != c.want {
			t.Errorf("after %s %d failures are counted, want %d", c.typ, n, c.want)
		}
	}
}
