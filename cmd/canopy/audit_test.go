package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"canopy/e2e/platform"
)

// TestAuditExport writes more events than fit a piece, and compares them with what REST tells.
func TestAuditExport(t *testing.T) {
	s := platform.Start(t)
	alpine, hydro := s.Customer("Alpine Energy"), s.Customer("Alpine Hydro")
	root := s.Root()
	s.SQL(`DELETE FROM audit_events`)
	// Events of the same moment are told apart by their ids; every third one is that of another company.
	s.SQL(`INSERT INTO audit_events (customer_id, action, object_type, object_id, created_at)
		SELECT CASE WHEN i % 3 = 0 THEN $1::bigint ELSE $2::bigint END, 'customer.updated', 'Customer', i, '2026-01-01T00:00:00Z'::timestamptz + i / 700 * interval '1 day'
		FROM generate_series(1, 2100) i`, hydro, s.Customer("Coral Logistics"))
	s.Must(204, "PUT", "/tenant", root, map[string]any{"customerId": hydro, "name": "Alpine <Hydro> & Söhne"})
	export := func(args ...string) []string {
		t.Helper()
		code, out, fault := operate(t, s, nil, append([]string{"audit", "export"}, args...)...)
		if code != exitOK || fault != "" || out != "" && !strings.HasSuffix(out, "\n") {
			t.Fatalf("%v: %d %s", args, code, fault)
		}
		return strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	}

	all := export("--format", "jsonl")
	if len(all) != 2101 {
		t.Fatalf("%d events", len(all))
	}
	for i, line := range all[:2100] {
		if !strings.Contains(line, fmt.Sprintf(`"objectId":%d,`, i+1)) {
			t.Fatalf("%d is %s", i, line)
		}
	}
	last := s.Must(200, "GET", "/v1/audit?limit=1", root, nil).JSON(t).([]any)[0]
	var told any
	if err := json.Unmarshal([]byte(all[2100]), &told); err != nil || !platform.SameJSON(told, last) || !strings.Contains(all[2100], "Alpine <Hydro> & Söhne") {
		t.Errorf("%s, by REST %v", all[2100], last)
	}
	for _, c := range []struct {
		args string
		want int
	}{
		{"--since 2026-01-03", 702},
		{"--since 2026-01-01 --until 2026-01-02", 699},
		{"--until 2026-01-02T00:00:00Z", 699},
		{"--since 2026-01-02T01:00:00+01:00 --until 2026-01-02T00:00:01Z", 700},
		{fmt.Sprintf("--customer %d", hydro), 701},
		{fmt.Sprintf("--customer %d --since 2026-01-03", alpine), 235},
	} {
		if got := export(strings.Fields(c.args)...); len(got) != c.want {
			t.Errorf("%s: %d events, want %d", c.args, len(got), c.want)
		}
	}
	if code, out, fault := operate(t, s, nil, "audit", "export", "--until", "2025-01-01"); code != exitOK || out != "" {
		t.Errorf("none: %d %q %s", code, out, fault)
	}
	for args, want := range map[string]string{
		"--format csv":                          `--format must be jsonl or table, not "csv"`,
		"--format table --json":                 "--json and --format table",
		"--since yesterday":                     "--since must be a day such as",
		"--until 2026-13-01":                    "--until must be a day such as",
		"--since 2026-01-02 --until 2026-01-02": "--since must be before --until",
		"--since 2026-01-02T00:00:00":           "--since must be a day such as",
		"--customer 999999 --since 2026-01-01":  "there is no company 999999",
		"now":                                   "no arguments are taken",
	} {
		code, out, fault := operate(t, s, nil, append([]string{"audit", "export"}, strings.Fields(args)...)...)
		if code == exitOK || out != "" || !strings.Contains(fault, want) || strings.Count(fault, "\n") != 1 {
			t.Errorf("%s: %d %q %q", args, code, out, fault)
		}
	}
}

// full is a writer that calls back when something arrives.
type full struct {
	bytes.Buffer
	when func()
}

func (w *full) Write(p []byte) (int, error) {
	w.when()
	return w.Buffer.Write(p)
}

// TestAuditExportIsInterrupted: what was written until then are whole lines.
func TestAuditExportIsInterrupted(t *testing.T) {
	s := platform.Start(t)
	s.SQL(`INSERT INTO audit_events (customer_id, action, object_type, object_id) SELECT 1, 'customer.updated', 'Customer', i FROM generate_series(1, 5000) i`)
	env := map[string]string{"DATABASE_URL": s.App.Config.DatabaseURL}
	env["CANOPY_SECRET_KEY"] = strings.TrimPrefix(platform.SecretKeys(s.App.Config.SecretKeys...), "CANOPY_SECRET_KEY=")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, stderr := &full{when: cancel}, &bytes.Buffer{}
	m := &Main{Stdout: out, Stderr: stderr, Getenv: func(name string) string { return env[name] }}
	if code := m.Run(ctx, []string{"audit", "export"}); code != exitFault || !strings.Contains(stderr.String(), "interrupted after ") {
		t.Errorf("%d %s", code, stderr)
	}
	lines := strings.Split(out.String(), "\n")
	if n := len(lines) - 1; n < 1 || n >= 5000 || lines[n] != "" {
		t.Fatalf("%d lines, and %q", n, lines[n])
	}
	for _, line := range lines[:len(lines)-1] {
		if !json.Valid([]byte(line)) {
			t.Errorf("a line is not whole: %s", line)
		}
	}
}

// TestAuditExportOfAPlatform: from anywhere it is what the database tells of the caller's company and of all below it.
func TestAuditExportOfAPlatform(t *testing.T) {
	t.Parallel()
	p := platform.Start(t)
	alpine := p.Customer("Alpine Energy")
	p.SQL(`INSERT INTO audit_events (customer_id, action, object_type, object_id, created_at)
		SELECT CASE WHEN i % 3 = 0 THEN $1::bigint ELSE $2::bigint END, 'customer.updated', 'Customer', i, '2026-01-01T00:00:00Z'::timestamptz + i / 700 * interval '1 day'
		FROM generate_series(1, 900) i`, p.Customer("Alpine Hydro"), p.Customer("Coral Logistics"))
	p.Must(204, "PUT", "/tenant", p.Root(), map[string]any{"customerId": alpine, "name": "Alpine <Energy> & Söhne"})
	s := newShell(t)
	s.must(p.Demo.ClientSecret+"\n", "login", "--url", p.URL, "--client-id", p.Demo.ClientID)
	for _, bounds := range [][]string{nil, {"--since", "2026-01-02"}, {"--until", "2026-01-02"}} {
		_, direct, _ := operate(t, p, nil, append([]string{"audit", "export"}, bounds...)...)
		if told := s.must("", append([]string{"audit", "export"}, bounds...)...); told != direct || strings.Count(told, "\n") < 2 {
			t.Errorf("%q: %d bytes, of the database %d", bounds, len(told), len(direct))
		}
	}
	// Of a company that is named it tells with all below it, as the database does.
	ofAlpine := []string{"audit", "export", "--customer", platform.Decimal(alpine), "--since", "2026-01-02", "--until", "2026-01-03"}
	_, direct, _ := operate(t, p, nil, ofAlpine...)
	if told := s.must("", ofAlpine...); told != direct || strings.Count(told, "\n") < 2 {
		t.Errorf("%.300s, of the database %.300s", told, direct)
	}
	if told := s.must("", append(ofAlpine, "--json")...); told != direct {
		t.Errorf("--json: %.300s", told)
	}
	table := strings.Split(s.must("", append(ofAlpine, "--format", "table")...), "\n")
	if len(table) != strings.Count(direct, "\n")+2 || !slices.Equal(strings.Fields(table[0]), []string{"TIME", "COMPANY", "BY", "ACTION", "OBJECT"}) ||
		!strings.HasPrefix(table[1], "2026-01-02T00:00:00Z") || !strings.Contains(table[1], "   customer.updated ") {
		t.Errorf("as a table: %.300q", table)
	}

	// A key of a company tells of that and of what lies below, and one without the right of nothing.
	made := operated[madeKey](t, p, "key", "create", "--company", platform.Decimal(alpine), "--email", "greta@alpine.example")
	below := newShell(t)
	below.env["CANOPY_URL"], below.env["CANOPY_CLIENT_ID"], below.env["CANOPY_CLIENT_SECRET"] = p.URL, made.ClientID, made.ClientSecret
	if code, out, fault := below.run("", "audit", "export", "--customer", platform.Decimal(p.Customer("Coral Logistics"))); code != exitFault || out != "" || !strings.Contains(fault, "not within reach") {
		t.Errorf("another company: %d %q %s", code, out, fault)
	}
	told := below.must("", "audit", "export", "--since", "2026-01-02", "--until", "2026-01-03")
	if told != direct || strings.Count(told, "\n") == 0 || strings.Contains(told, fmt.Sprintf(`"customerId":%d,`, p.Customer("Coral Logistics"))) {
		t.Errorf("%.300s, of the database %.300s", told, direct)
	}
	p.SQL(`UPDATE permissions SET disabled = true WHERE user_id = $1`, p.UserID("greta@alpine.example"))
	if code, out, fault := below.run("", "audit", "export"); code != exitFault || out != "" || strings.Count(fault, "\n") != 1 {
		t.Errorf("without the right: %d %q %s", code, out, fault)
	}
}

// operated runs the program on a platform's settings, and decodes what it said as JSON.
func operated[T any](t *testing.T, s *platform.Platform, args ...string) (v T) {
	t.Helper()
	code, out, fault := operate(t, s, nil, append(args, "--json")...)
	if err := json.Unmarshal([]byte(out), &v); code != exitOK || err != nil {
		t.Fatalf("%q: %d %s %v", args, code, fault, err)
	}
	return v
}
