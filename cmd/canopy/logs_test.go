package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"canopy/db"
	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
)

// TestLogsPartition changes the logs of a platform over while it runs agents and delivers what comes of them: nothing is refused, lost, or there twice.
func TestLogsPartition(t *testing.T) {
	t.Parallel()
	receiver := platform.NewReceiver(t, nil)
	s := platform.StartDelivering(t)
	builder := s.RootAs("builder")
	agent := s.Publish(builder, platform.Greeter)
	s.Subscribe(s.RootAs("tenant"), receiver.URL, "run.completed")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var keys sync.Map
	var wait sync.WaitGroup
	for who := range 4 {
		wait.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				a := s.Do("POST", "/CognitiveDiagram/"+platform.Decimal(agent)+"/ExecuteAsJob", builder, map[string]any{"name": fmt.Sprint(who, " ", n)})
				if a.Status != http.StatusAccepted {
					t.Errorf("%d %s", a.Status, a.Body)
					return
				}
				keys.Store(a.JSON(t).(map[string]any)["jobKey"], true)
				if a := s.Do("GET", "/v1/audit", builder, nil); a.Status >= http.StatusInternalServerError {
					t.Errorf("%d %s", a.Status, a.Body)
				}
			}
		})
	}
	devtest.Eventually(t, "some runs are started", func() bool { return s.Number(`SELECT count(*) FROM runs`) > 20 })
	code, out, told := operate(t, s, nil, "logs", "partition", "deliveries", "audit", "runs")
	if code != exitOK || strings.Count(out, "has months from now on") != 3 || !strings.Contains(told, "run_steps: what there is is read") {
		t.Errorf("%d %s %s", code, out, told)
	}
	before := s.Number(`SELECT count(*) FROM runs`)
	devtest.Eventually(t, "some more are started", func() bool { return s.Number(`SELECT count(*) FROM runs`) > before+20 })
	stop()
	wait.Wait()
	started := 0
	keys.Range(func(key, _ any) bool {
		started++
		if a := s.Poll(builder, key.(string)); a.Status != http.StatusOK {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		return true
	})
	got := receiver.Wait(t, started)
	events := map[string]bool{}
	for _, x := range got {
		events[x.ID] = true
	}
	if len(events) != started || len(got) != started {
		t.Errorf("%d deliveries of %d events came of %d runs", len(got), len(events), started)
	}
	if runs, open := s.Number(`SELECT count(*) FROM runs`), s.Number(`SELECT count(*) FROM run_steps`); runs != int64(started) || open != int64(started) {
		t.Errorf("%d runs with %d steps, of %d", runs, open, started)
	}
	if again := operated[[]partitioned](t, s, "logs", "partition", "runs"); len(again) != 1 || again[0].Changed {
		t.Errorf("%v", again)
	}
}

// TestLogsStatus: the status tells of each log how it lies, also where a change was interrupted, and a log that there is not is refused.
func TestLogsStatus(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	if code, _, fault := operate(t, s, nil, "logs", "partition", "mails"); code != exitUsage || !strings.Contains(fault, "deliveries, audit, runs") {
		t.Errorf("%d %s", code, fault)
	}
	code, out, told := operate(t, s, nil, "logs", "status")
	if code != exitOK || strings.Count(out, "rows are deleted one by one, as long as no table of it has 20000000") != 3 || told != "" {
		t.Errorf("%d %s %s", code, out, told)
	}
	m := s.App.Store.Months()
	m.At = func(step string) error {
		if strings.Contains(step, "is read") {
			return context.Canceled
		}
		return nil
	}
	if _, err := m.Partition(t.Context(), db.AuditLog); err == nil {
		t.Error("nothing interrupts it")
	}
	if _, _, told := operate(t, s, nil, "logs", "status"); !strings.Contains(told, "canopy logs partition audit goes on") {
		t.Error(told)
	}
	operated[[]partitioned](t, s, "logs", "partition", "audit")
	states := operated[[]db.LogState](t, s, "logs", "status")
	parts := states[1].Parts
	if from := states[0].MonthsFrom; from == nil || *from != 20_000_000 || states[1].MonthsFrom != nil {
		t.Errorf("months from %v rows on, and %v", from, states[1].MonthsFrom)
	}
	if len(states) != 3 || !states[1].Months || states[0].Months || len(parts) != 3 || parts[0].Goes == nil || parts[0].Goes.Sub(*parts[0].Last) != 400*24*time.Hour || !parts[1].Filled || !parts[2].Ahead || parts[0].Bytes == 0 {
		t.Errorf("%+v", states)
	}
	if _, out, _ := operate(t, s, nil, "logs", "status"); !strings.Contains(out, "is filled") || !strings.Contains(out, "made ahead") || !strings.Contains(out, "dropped from ") {
		t.Error(out)
	}
}
