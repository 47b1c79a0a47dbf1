package operations

import (
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
)

const overview = `{ operations { version queues { name waiting waitingSince } workers { host pid version queues startedAt seenAt }
	lateMails { kind reason attempts createdAt nextAttemptAt givenUpAt user { email } branch { name } }
	failingDestinations { url failingSince customer { name } }
	busiest { name usage { name used } } stored: busiest(by: USERS, first: 1) { name }
	nearLimits { name reached used limit day customer { name } } defaultLimits { name limit } } }`

// trouble makes so many mails that did not go out, destinations that fail, and limits that were come near.
func trouble(s *platform.Platform, n int) {
	s.SQL(`INSERT INTO mail_outbox (branch_id, user_id, kind, message, attempts, last_error, next_attempt_at)
		SELECT c.id, (SELECT min(user_id) FROM memberships m WHERE m.customer_id = c.id), 'invitation', '', 3, 'the server is away', now() + interval '1 hour'
		FROM customers c, generate_series(1, $1) WHERE c.level = 1`, n)
	s.SQL(`INSERT INTO webhook_destinations (customer_id, url, secret, failing_since, failures)
		SELECT id, 'https://example.com/' || n, '', now() - interval '1 hour', 3 FROM customers, generate_series(1, $1) n WHERE level = 1`, n)
	s.SQL(`INSERT INTO limit_notices (customer_id, name, level, day, used, most, told_at)
		SELECT id, x.name, 80, (now() AT TIME ZONE 'UTC')::date, 8, 10, now()
		FROM customers, unnest((ARRAY['users', 'contexts', 'documents', 'agents'])[1:$1]) x(name) WHERE level = 1 ON CONFLICT DO NOTHING`, n)
}

func TestOperationsTellWhatNeedsALook(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.NoDemoMails()
	root := s.Root()
	alpine := s.Customer("Alpine Energy")
	s.SQL(`INSERT INTO mail_outbox (branch_id, kind, message, attempts, last_error, failed_at) VALUES ($1, 'reset', '', 9, 'mailbox unavailable', now())`, alpine)
	s.SQL(`INSERT INTO mail_outbox (branch_id, kind, message) VALUES ($1, 'invitation', '')`, alpine)
	s.SQL(`INSERT INTO mail_outbox (branch_id, kind, message, sent_at) VALUES ($1, 'reset', '', now())`, alpine)
	s.SQL(`INSERT INTO usage_counts (customer_id, name, n, day) VALUES ($1, 'runsPerDay', 7, (now() AT TIME ZONE 'UTC')::date)`, alpine)
	s.SQL(`INSERT INTO usage_counts (customer_id, name, n, day) VALUES ($1, 'runsPerDay', 70, (now() AT TIME ZONE 'UTC')::date - 1)`, s.Customer("Brightwater Labs"))
	s.SQL(`INSERT INTO customer_exports (customer_id, asked_by, rights) VALUES ($1, 'somebody', '{}')`, alpine)
	data := s.MustGQL(root, overview, nil)
	for path, want := range map[string]any{
		"operations.lateMails.0.reason": "mailbox unavailable", "operations.lateMails.0.branch.name": "Alpine Energy", "operations.lateMails.0.user": nil,
		"operations.lateMails.0.nextAttemptAt": nil, "operations.queues.0.name": "mail", "operations.queues.0.waiting": 1.0,
		"operations.queues.4.name": "exports", "operations.queues.4.waiting": 1.0, "operations.queues.5.name": "imports", "operations.queues.5.waiting": 0.0,
		"operations.busiest.0.name": "Alpine Energy",
	} {
		if got := platform.Member(t, data, path); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	for path, want := range map[string]int{"operations.lateMails": 1, "operations.busiest": 1, "operations.stored": 1, "operations.failingDestinations": 0, "operations.nearLimits": 0, "operations.workers": 0} {
		if got := platform.Member(t, data, path).([]any); len(got) != want {
			t.Errorf("%s has %d, want %d: %v", path, len(got), want, got)
		}
	}
	if _, err := time.Parse(time.RFC3339, platform.Member(t, data, "operations.queues.0.waitingSince").(string)); err != nil {
		t.Error(err)
	}
	trouble(s, 1)
	few := s.Statements(func() { data = s.MustGQL(root, overview, nil) })
	if d := platform.Member(t, data, "operations.failingDestinations").([]any); len(d) == 0 || platform.Member(t, d[0], "failingSince") == nil {
		t.Errorf("%v", d)
	}
	if n := platform.Member(t, data, "operations.nearLimits.0"); platform.Member(t, n, "reached") != false || platform.Member(t, n, "limit") != 10.0 || platform.Member(t, n, "customer.name") == "" {
		t.Errorf("%v", n)
	}
	trouble(s, 4)
	if many := s.Statements(func() { s.MustGQL(root, overview, nil) }); many != few {
		t.Errorf("%d statements for few rows, %d for many", few, many)
	}
	for _, by := range []string{"(by: COST_PER_MINUTE)", "(first: 0)", "(first: 101)"} {
		s.Refused(t, "BAD_REQUEST", root, `{ operations { busiest`+by+` { name } } }`, nil)
	}
	s.Refused(t, "FORBIDDEN", s.As("Alpine Energy", "greta@alpine.example"), `{ operations { version } }`, nil)
}

func TestOperationsKnowTheWorkers(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root := s.Root()
	stop := s.Work(&platform.Letterbox{})
	var workers []any
	devtest.Eventually(t, "the worker is not told", func() bool {
		workers = platform.Member(t, s.MustGQL(root, overview, nil), "operations.workers").([]any)
		return len(workers) == 1
	})
	queues := platform.Member(t, workers[0], "queues").([]any)
	if len(queues) != 7 || platform.Member(t, workers[0], "version") == "" {
		t.Errorf("%v", workers)
	}
	stop()
	if left := platform.Member(t, s.MustGQL(root, overview, nil), "operations.workers").([]any); len(left) != 0 {
		t.Errorf("a worker that has ended is told: %v", left)
	}
}
