package contexts

import (
	"fmt"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
)

// queriesOf is what was asked of a context, the newest first, once there is so much of it.
func queriesOf(t *testing.T, s *platform.Platform, token string, id int64, query string, want int) (list []any) {
	t.Helper()
	devtest.Eventually(t, "what was asked is kept", func() bool {
		list = s.Must(200, "GET", fmt.Sprintf("/v1/contexts/%d/queries%s", id, query), token, nil).JSON(t).([]any)
		return len(list) == want
	})
	return list
}

// TestQueriesAreKept: a context keeps what is asked of it where it is told to, with what was found, and nothing of it when it is told to stop.
func TestQueriesAreKept(t *testing.T) {
	t.Parallel()
	s, token, id := larder(t, nil)
	settings := fmt.Sprintf("/v1/contexts/%d/settings", id)
	if got := s.Must(200, "GET", settings, token, nil).JSON(t).(map[string]any); got["logsQueries"] != false {
		t.Errorf("a new context keeps what is asked of it: %v", got)
	}
	s.Search(token, id, "unseen")
	s.Must(200, "PUT", settings, token, object{"logsQueries": true})
	askREST(s, token, id, object{"prompt": honeyQuestion})
	queriesOf(t, s, token, id, "", 1)
	s.Must(200, "POST", fmt.Sprintf("/context/relevant-docs/%d", id), token, object{"prompt": " xylophone quartz", "mode": "LEXICAL"})
	list := queriesOf(t, s, token, id, "", 2)
	missed, answered := list[0].(map[string]any), list[1].(map[string]any)
	if missed["text"] != "xylophone quartz" || missed["hits"] != 0.0 || missed["relevance"] != 0.0 || missed["mode"] != "LEXICAL" || missed["userId"] != float64(s.UserID(s.Demo.AdminEmail)) {
		t.Errorf("what found nothing: %v", missed)
	}
	if answered["text"] != honeyQuestion || answered["hits"].(float64) < 1 || answered["relevance"].(float64) <= 0 || answered["relevance"].(float64) > 1 || answered["mode"] != "SEMANTIC" {
		t.Errorf("what was answered: %v", answered)
	}
	if got := queriesOf(t, s, token, id, "?maxRelevance=0", 1); got[0].(map[string]any)["id"] != missed["id"] {
		t.Errorf("without hits: %v", got)
	}
	s.Must(400, "GET", fmt.Sprintf("/v1/contexts/%d/queries?maxRelevance=1.5", id), token, nil)
	s.Must(404, "GET", fmt.Sprintf("/v1/contexts/%d/queries", platform.AbsentID), token, nil)

	// The bound holds whatever is asked at the same time: the oldest go.
	s.SQL(`INSERT INTO context_queries (context_id, text, mode, hits, relevance) SELECT $1, 'again', 'LEXICAL', 1, 1 FROM generate_series(1, 10005)`, id)
	s.Search(token, id, "honey")
	devtest.Eventually(t, "the newest are kept", func() bool {
		return s.Number(`SELECT count(*) FROM context_queries WHERE context_id = $1`, id) == 10000
	})
	if n := s.Number(`SELECT count(*) FROM context_queries WHERE context_id = $1 AND text = 'honey'`, id); n != 1 {
		t.Errorf("%d of the last one", n)
	}

	s.Must(200, "PUT", settings, token, object{"logsQueries": false})
	if n := s.Number(`SELECT count(*) FROM context_queries`); n != 0 {
		t.Errorf("%d are left of what was asked", n)
	}
	s.Search(token, id, "honey")
	told := s.Number(`SELECT count(*) FROM audit_events WHERE action = 'context.updated' AND object_id = $1
		AND details -> 'logsQueries' IN ('{"old": false, "new": true}', '{"old": true, "new": false}')`, id)
	if told != 2 {
		t.Errorf("the log tells of %d changes of the setting", told)
	}
}

// TestOldQueriesAreForgotten: what was asked is kept for thirty days.
func TestOldQueriesAreForgotten(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	id := s.NewContext(s.Assistant(), "Larder")
	s.SQL(`INSERT INTO context_queries (context_id, text, mode, hits, relevance, created_at)
		SELECT $1, d::text, 'LEXICAL', 0, 0, now() - d * interval '1 day' FROM unnest(ARRAY[40, 31, 29, 0]) WITH ORDINALITY u(d, n) ORDER BY n`, id)
	s.Work(nil)
	devtest.Eventually(t, "the upkeep forgets", func() bool { return s.Number(`SELECT count(*) FROM context_queries`) == 2 })
}
