package db

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"canopy/internal/devstack/devtest"
)

// TestMonthsAreMadeAhead: behind the partition that is filled lies an empty one of the size that a month needs, and one without end, like those before. One that is filled for too long is left.
func TestMonthsAreMadeAhead(t *testing.T) {
	t.Parallel()
	m := newMonthly(t)
	m.later(0) // nothing, as no log has months
	m.partition(Logs()...)
	m.later(0)
	m.later(40) // in the first one is nothing yet
	began := m.suffixes(RunLog)
	if len(began) != 4 || len(m.within(RunLog)) != 1 {
		t.Fatalf("%q", began)
	}
	for range 12 { // there is room for 10
		m.write(0)
	}
	m.later(0)
	m.later(0)
	now := m.suffixes(RunLog)
	if got := m.within(RunLog); len(now) != 5 || !slices.Equal(now[:4], began) || !slices.Equal(got[1:], []string{began[1] + " 10", began[2] + " 2"}) {
		t.Errorf("%q, with %q", now, got)
	}
	// A month of twelve rows in a day would be one of 360.
	if got := devtest.Must[int64](t)(m.expected(t.Context(), RunLog)); got < 300 || got > 400 {
		t.Errorf("%d ids are expected", got)
	}
	m.later(36)
	m.write(0)
	for _, l := range Logs() {
		names := m.suffixes(l)
		if got := m.within(l); len(names) < 5 || got[len(got)-1] != names[3]+" 1" {
			t.Errorf("%s: %q, with %q", l.Name, names, got)
		}
		for _, table := range l.names("") {
			first := withoutSuffix(m.strings(made, table+names[1]), names[1])
			for _, suffix := range names[2:] {
				if next := withoutSuffix(m.strings(made, table+suffix), suffix); len(next) < 5 || !slices.Equal(first, next) {
					t.Errorf("%s%s:\n%s\nthe first one:\n%s", table, suffix, strings.Join(next, "\n"), strings.Join(first, "\n"))
				}
			}
		}
	}
	if got := m.strings(`SELECT array_to_string(reloptions, ' ') FROM pg_class WHERE oid = 'webhook_deliveries` + now[3] + `'::regclass`); !strings.Contains(got[0], "fillfactor=45") {
		t.Errorf("the rows lie as %q", got)
	}
}

// TestNobodyMakesMonths: where nobody makes partitions for long, rows come into the one without end. It gets one by the upkeep, as long as it is small, and otherwise by the command.
func TestNobodyMakesMonths(t *testing.T) {
	t.Parallel()
	m := newMonthly(t)
	m.partition(RunLog)
	for range 15 {
		m.write(0)
	}
	m.later(0)
	names := m.suffixes(RunLog)
	if len(names) != 5 || !slices.Equal(m.within(RunLog)[1:], []string{names[1] + " 10", names[2] + " 5"}) {
		t.Errorf("%q with %q", names, m.within(RunLog))
	}
	open := names[4]
	m.do(fmt.Sprintf(`INSERT INTO runs (id, job_key, agent_id, revision_id, account_id, input) SELECT %s + i, gen_random_uuid(), 4, 4, 4, '{}' FROM generate_series(0, %d) i`, strings.TrimPrefix(open, "_from_"), m.few),
		`SELECT setval('runs_id_seq', max(id)) FROM runs`)
	if err := m.Ahead(t.Context()); err == nil || !strings.Contains(err.Error(), "canopy logs partition runs") {
		t.Errorf("%v", err)
	}
	m.write(0)
	if changed, err := m.Partition(t.Context(), RunLog); changed || err != nil {
		t.Error(changed, err)
	}
	m.write(0)
	if names := m.suffixes(RunLog); len(names) != 7 || !slices.Equal(m.within(RunLog)[3:], []string{open + fmt.Sprint(" ", m.few+2), names[5] + " 1"}) {
		t.Errorf("%q with %q", names, m.within(RunLog))
	}
}

var indexName = regexp.MustCompile(`INDEX \S+ ON`)

// withoutSuffix gives what tables have as if they had one name, and began at one id.
func withoutSuffix(list []string, suffix string) (out []string) {
	for _, x := range list {
		if !strings.Contains(x, "constraint month_begins") {
			out = append(out, indexName.ReplaceAllString(strings.ReplaceAll(x, suffix, ""), "INDEX ON"))
		}
	}
	slices.Sort(out)
	return out
}
