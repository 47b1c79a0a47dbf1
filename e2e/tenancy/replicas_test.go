package tenancy

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/config"
	"canopy/internal/devstack/devtest"
)

// TestAnswersOutliveReplicas: wherever the standby is lost while it answers, a list and the archive of an export are whole, and a query is whole or told as failed.
func TestAnswersOutliveReplicas(t *testing.T) {
	t.Parallel()
	primary := platform.OwnPostgres(t)
	standby := devtest.Standby(t, primary)
	way, address := devtest.WayTo(t, standby.URL())
	s := platform.Start(t, func(c *config.Config) { c.DatabaseURL, c.DatabaseReadURL = primary.URL(), address })
	const people = 3000
	s.SQL(`WITH u AS (INSERT INTO users (email) SELECT 'more' || n || '@x.example' FROM generate_series(1, $1::integer) n RETURNING id, email)
		INSERT INTO memberships (customer_id, user_id, email, first_name, last_name) SELECT 1, id, email, '', '' FROM u`, people)
	root := s.Root()
	s.Work(nil)
	used := func() {
		devtest.Eventually(t, "the standby is used", func() bool { return s.App.Store.Replicas()[0].Used })
	}
	all, lost := 0, 0
	for _, bytes := range []int{0, 1_000, 10_000, 30_000, 60_000, 150_000, 250_000, 350_000, 1 << 30} {
		used()
		way.CutAfter(bytes)
		list, whole := usersOf(t, s, root)
		if way.IsCut() {
			lost++
		}
		way.Mend()
		if !whole || len(list) < people || all > 0 && len(list) != all {
			t.Errorf("cut after %d bytes, %d people are listed (%t), not %d", bytes, len(list), whole, max(all, people))
		}
		all = max(all, len(list))
		used()
		way.CutAfter(bytes / 10)
		data, codes := s.GQL(root, `{ customer { users(first: 100) { nodes { email } } } }`, nil)
		way.Mend()
		if len(codes) == 0 && len(platform.Member(t, data, "customer.users.nodes").([]any)) != 100 {
			t.Errorf("cut after %d bytes, a page has %v", bytes/10, data)
		} else if len(codes) > 0 && codes[0] != "UNAVAILABLE" {
			t.Errorf("cut after %d bytes, a query is answered %v", bytes/10, codes)
		}
	}
	if lost < 5 {
		t.Errorf("the standby was lost among %d lists only", lost)
	}
	everybody := s.Number(`SELECT count(*) FROM memberships`)
	for _, bytes := range []int{5_000, 200_000, 600_000} {
		isCut := false
		for try := 0; !isCut && try < 5; try++ { // who is behind for a moment is left out, and has sent less
			used()
			way.CutAfter(bytes)
			_, content := archiveOf(t, s, 1)
			if n := int64(len(content.rows["users"])); n != everybody {
				t.Errorf("cut after %d bytes (%t), an archive has %d people of %d", bytes, way.IsCut(), n, everybody)
			}
			isCut = way.IsCut()
			way.Mend()
		}
		if !isCut {
			t.Errorf("the standby never sent %d bytes of an archive", bytes)
		}
	}
}

// usersOf lists the people of the root company; whole tells that the answer says of itself that it is.
func usersOf(t *testing.T, s *platform.Platform, token string) (list []any, whole bool) {
	t.Helper()
	req := devtest.Must[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/tenant/users", nil))
	req.Header.Set("Authorization", "Bearer "+token)
	resp := devtest.Must[*http.Response](t)(http.DefaultClient.Do(req))
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode == http.StatusServiceUnavailable {
		t.Logf("%d: %v, %.300s", resp.StatusCode, err, body)
		return nil, false
	}
	if err := json.Unmarshal(body, &list); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("%d: %v", resp.StatusCode, err)
	}
	return list, true
}
