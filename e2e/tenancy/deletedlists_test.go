package tenancy

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"canopy/e2e/platform"
)

// view is what a token shows over everything within the reach of a company: lists by REST and by GraphQL, and the search box.
type view struct {
	token string
	at    int64
	paths []string
	lists string
}

var lastAccess = regexp.MustCompile(`"lastAccess":("[^"]*"|null),`)

// all gives the lists of the part of the tree below a company, and what the search box finds, by the door and the name.
func (v view) all(s *platform.Platform, at int64) map[string]string {
	s.T.Helper()
	shown := map[string]string{"box": string(s.Must(http.StatusOK, "GET", "/tenant/search?text=quill", v.token, nil).Body)}
	for _, path := range v.paths {
		body := string(s.Must(http.StatusOK, "GET", strings.Replace(path, "{cid}", fmt.Sprint(at), 1), v.token, nil).Body)
		shown[path] = lastAccess.ReplaceAllString(body, "") // looking itself is noted, once a minute
	}
	for name, list := range s.MustGQL(v.token, `query($top: ID) {`+v.lists+`}`, map[string]any{"top": at}) {
		shown[name] = fmt.Sprint(list)
		if n, all := platform.Member(s.T, list, "totalCount"), platform.Member(s.T, list, "nodes").([]any); n != float64(len(all)) {
			s.T.Errorf("%s counts %v, and has %d", name, n, len(all))
		}
	}
	return shown
}

// TestDeletedCompaniesAreInNoList: what belongs to a company that is deleted, or lies below one, is in no list over everything within reach, at
// neither door, and the search box does not find it. Asked for there, it is listed still, and everywhere once the company is restored.
func TestDeletedCompaniesAreInNoList(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.SetUp("greta@alpine.example")
	alpine := s.Customer("Alpine Energy")
	top := estate(t, s)
	people := view{
		paths: []string{
			"/tenant/users/{cid}?subtree=true&limit=200", "/tenant/users/{cid}?subtree=true&search=quill&orderBy=-name", "/v1/permissions?limit=200&customerId={cid}",
			"/v1/outbound-webhooks/deliveries?limit=200&subtree=true&customerId={cid}",
		},
		lists: `users(customerId: $top, first: 200) { totalCount nodes { email } }
			named: users(customerId: $top, filter: {search: "quill"}) { totalCount nodes { email } }
			permissions(customerId: $top, first: 200) { totalCount nodes { account { name } user { email } } }
			inOrder: permissions(customerId: $top, filter: {disabled: false}, orderBy: [{field: CREATED_AT, direction: DESC}], first: 200) { totalCount nodes { account { name } user { email } } }
			webhookDeliveries(customerId: $top, subtree: true, first: 200) { totalCount nodes { databaseId: id eventId } }`,
	}
	work := view{paths: []string{"/v1/runs?limit=200&customerId={cid}"}, lists: `runs(customerId: $top, first: 200) { totalCount nodes { jobKey } }`}
	var views []view
	for _, v := range []view{people, work} {
		app := map[bool]string{true: "tenant", false: "builder"}[len(v.paths) > 1]
		v.token, v.at = s.RootAs(app), 1
		views = append(views, v)
		v.token, v.at = s.TokenOf(alpine, "greta@alpine.example", app), alpine
		views = append(views, v)
	}
	before := make([]map[string]string, len(views))
	for i, v := range views {
		before[i] = v.all(s, v.at)
	}
	s.Must(http.StatusAccepted, "DELETE", fmt.Sprintf("/tenant/customer/%d", top), s.Root(), nil)
	for i, v := range views {
		for name, now := range v.all(s, v.at) {
			if now == before[i][name] && name != "box" || strings.Contains(now, "quill.example") || strings.Contains(now, "Quill") {
				t.Errorf("%s at %d has what is deleted: %.400s", name, v.at, now)
			}
		}
		within := v.all(s, top)
		for name, now := range within {
			if name != "box" && len(now) < len("map[nodes:[] totalCount:0]")+10 {
				t.Errorf("%s of the company itself is empty: %s", name, now)
			}
		}
	}
	s.Must(http.StatusOK, "POST", fmt.Sprintf("/tenant/customer/%d/restore", top), s.Root(), nil)
	for i, v := range views {
		for name, now := range v.all(s, v.at) {
			if now != before[i][name] {
				t.Errorf("%s at %d is %.400s, and was %.400s", name, v.at, now, before[i][name])
			}
		}
	}
}
