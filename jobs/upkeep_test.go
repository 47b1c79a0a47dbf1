package jobs

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"canopy/db"
	"canopy/internal/devstack/devtest"
)

// TestLogsAreChangedOver: a worker changes large logs over to months once it has worked for an hour, says so, and does not where that is off.
func TestLogsAreChangedOver(t *testing.T) {
	r := newRoom(t)
	const step = "change large logs over to months"
	var told bytes.Buffer
	w := &Worker{Store: r.store, Log: slog.New(slog.NewTextHandler(&told, nil)), MonthsFrom: 100, Retention: Retention{db.AuditLog: 30 * 24 * time.Hour}}
	if w.steps(settled - 1)[step] != nil || (&Worker{Store: r.store}).steps(settled)[step] != nil {
		t.Error("logs are changed over before it has worked for long, or where that is off")
	}
	months := func() int64 {
		return r.number(t, `SELECT count(*) FROM pg_class WHERE relkind = 'p' AND relname IN ('webhook_deliveries', 'audit_events', 'runs', 'run_steps')`)
	}
	devtest.Check(t, w.steps(settled)[step](t.Context()))
	if n := months(); n != 0 {
		t.Errorf("%d tables of logs without rows have months", n)
	}
	r.sql(t, `INSERT INTO regions (id, code, name) VALUES (1, 'eu', 'Europe')`)
	r.sql(t, `INSERT INTO customers (id, name, region_id) VALUES (1, 'C', 1)`)
	r.sql(t, `INSERT INTO audit_events (customer_id, action, object_type, object_id) SELECT 1, 'run.started', 'Run', 1 FROM generate_series(1, 100)`)
	r.sql(t, `ANALYZE audit_events`)
	for _, days := range []time.Duration{0, 29, 401} { // all would be kept for ever, rows for twice as long, or too many months
		w.Retention[db.AuditLog] = days * 24 * time.Hour
		devtest.Check(t, w.steps(settled)[step](t.Context()))
		if n := months(); n != 0 {
			t.Errorf("%d tables of a log that is kept for %d days have months", n, days)
		}
	}
	w.Retention[db.AuditLog] = 30 * 24 * time.Hour
	devtest.Check(t, w.steps(settled)[step](t.Context()))
	if n := months(); n != 1 || !strings.Contains(told.String(), "log=audit") {
		t.Errorf("%d tables have months: %s", n, told.String())
	}
}
