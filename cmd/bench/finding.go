package main

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"canopy/internal/access"
)

// usersOfEach is how many users each company has that has any, in the figures of finding: there are as many users as companies.
const usersOfEach = 500

// depth are companies that lie about as deep as each other.
type depth struct {
	name string
	at   func(n int) int64
}

// depths are the root, the branch of all companies, those right below its top, and the last of all. Of ten companies below each, the last are the
// deepest.
func (b *bencher) depths(top int64) []depth {
	below := int64(min(10, b.o.customers))
	return []depth{
		{"of the root", func(int) int64 { return 1 }},
		{"of the branch", func(int) int64 { return top }},
		{"of the third level", func(n int) int64 { return top + 1 + int64(n)%below }},
		{"of the deepest", func(n int) int64 { return top + int64(b.o.customers) - int64(n*997%max(1, b.o.customers/4)) }},
	}
}

// list is what is asked of a long list by REST, with a token for an app: each of its filters in each of its orders, from its beginning or its end. A path without a company is asked for once.
type list struct {
	name, path string
	atEnd      bool
	app        access.App
	filters    []string
	orders     []string
}

// lists are the long lists of a platform with companies below top.
func lists(top int64) []list {
	const old, late = "2020-01-01T00:00:00Z", "2100-01-01T00:00:00Z"
	times := []string{"createdSince=" + old, "createdSince=" + late, "createdUntil=" + old, "createdUntil=" + late}
	companies := []string{"", "name", "-name", "createdAt", "-createdAt", "id", "-id", "status"}
	users := []string{"id", "-id", "name", "-name", "email", "-email", "createdAt", "-createdAt", "lastAccess", "-lastAccess"}
	ofCompanies := append(times, "level=5", "level=9", "regionId=1", "regionId=2", "status=active", "status=suspended",
		fmt.Sprintf("parentId=%d", top+1), fmt.Sprintf("ids=%d,%d", top+1, top+100))
	return []list{
		{name: "companies in each order", path: "/tenant/customers/{cid}?", filters: []string{""}, orders: append(companies, "-status")},
		{name: "companies by each filter in each order", path: "/tenant/customers/{cid}?", orders: companies, filters: ofCompanies},
		{name: "companies by each filter from the end of each order", path: "/tenant/customers/{cid}?", atEnd: true, orders: companies, filters: ofCompanies},
		{
			name: "companies by a search in each order", path: "/tenant/customers/{cid}?", orders: companies,
			filters: []string{"search=Company+0000123", "search=0000123", "search=Company", "search=00001", "search=Compny+0000123", "search=Granite"},
		},
		{name: "users in each order", path: "/tenant/users/{cid}?subtree=true&", filters: []string{""}, orders: users},
		{
			name: "users by each filter in each order", path: "/tenant/users/{cid}?subtree=true&", orders: users,
			filters: append(times, "hasPassword=true", "hasPassword=false", fmt.Sprintf("email=user7.company%d@seed.example", top+5),
				fmt.Sprintf("customerId=%d", top+5), "lastAccessSince="+old, "lastAccessSince="+late, "ids=5,900"),
		},
		{
			name: "users by a search in each order", path: "/tenant/users/{cid}?subtree=true&", orders: users,
			filters: []string{
				fmt.Sprintf("search=user7.company%d", top+5), "search=User+12", "search=seed.example", fmt.Sprintf("search=Usre+7+Company+%d", top+5), "search=Lovelace", "search=user1", "search=User+12+Comp",
			},
		},
		{
			name: "permissions by each filter in each order", path: "/v1/permissions?customerId={cid}&",
			filters: []string{"", "disabled=true", "disabled=false", "roleId=1", "roleId=3", "applicationId=2", "userId=900", "roleId=3&applicationId=3"},
			orders:  []string{"id", "-id", "createdAt", "-createdAt", "lastAccess", "-lastAccess"},
		},
		{
			name: "members by a search in each order", path: "/tenant/users/{cid}?", orders: users,
			filters: []string{"", "search=user1", "search=User+12", "search=Usre+7"},
		},
		{
			name: "deliveries by each filter in each order", path: "/v1/outbound-webhooks/deliveries?subtree=true&customerId={cid}&",
			filters: append(times, "", "status=delivered", "status=failed", "type=agent.published", "type=agent.deleted", "type=agent.disabled"),
			orders:  []string{"createdAt", "-createdAt", "status", "-status"},
		},
		{
			name: "runs by each filter in each order", path: "/v1/runs?customerId={cid}&", app: access.Builder,
			filters: append(times, "", "status=running", "status=finished", "status=failed", fmt.Sprintf("agentId=%d", agentOfRuns), "ids=5,900"),
			orders:  []string{"createdAt", "-createdAt", "status", "-status"},
		},
		{
			name: "agents by each filter in each order", path: "/v1/agents?", app: access.Builder,
			filters: []string{"", "enabled=true", "enabled=false", "runnable=true", "runnable=false", "search=report", "search=writer", "search=writer+100", "search=wirter", "search=19"},
			orders:  []string{"id", "-id", "name", "-name", "createdAt", "-createdAt", "updatedAt", "-updatedAt"},
		},
		{
			name: "contexts by each filter in each order", path: "/context?", app: access.Assistant,
			filters: []string{"", "shareState=0", "shareState=1", "search=report", "search=paper", "search=paper+100", "search=papr", "search=19"},
			orders:  []string{"id", "-id", "name", "-name", "createdAt", "-createdAt"},
		},
		{
			name: "destinations by each filter in each order", path: "/v1/outbound-webhooks/destinations?",
			filters: append(times, "", "enabled=true", "enabled=false", "failing=true", "failing=false", "search=report", "search=paper", "search=paper+100", "search=papr", "search=found.example"),
			orders:  []string{"id", "-id", "name", "-name", "createdAt", "-createdAt"},
		},
		{
			name: "keys by each filter in each order", path: fmt.Sprintf("/v1/keys?customerId=%d&", top),
			filters: append(times, "", "active=true", "active=false", "userId=1", "expiresUntil="+late, "search=report", "search=paper", "search=paper+100", "search=papr"),
			orders:  []string{"id", "-id", "name", "-name", "createdAt", "-createdAt", "expiresAt", "-lastUsedAt"},
		},
		{
			name: "events by each filter in each order", path: "/v1/audit?subtree=true&customerId={cid}&",
			filters: append(times, "", "action=user.created", "action=role.deleted", "objectType=User", "objectType=Context", "actorId=1", "objectId=77"),
			orders:  []string{"createdAt", "-createdAt"},
		},
		{
			name: "documents by each filter in each order", path: "/v1/documents?", app: access.Assistant,
			filters: append(times, "", "status=failed", "format=pdf", "search=paper", "search=report", "search=report+100", "search=papr", "search=19", "format=pdf&search=report"),
			orders:  []string{"id", "-id", "name", "-name", "createdAt", "-createdAt", "size", "-size", "status", "-status"},
		},
		{
			name: "companies in orders of several fields", path: "/tenant/customers/{cid}?", filters: []string{"", "status=active", "level=5", times[0], times[1]},
			orders: []string{"name,-createdAt", "-name,id", "createdAt,-name", "-createdAt,name", "status,-name", "-status,createdAt,-name"},
		},
		{
			name: "users in orders of several fields", path: "/tenant/users/{cid}?subtree=true&", filters: []string{"", "hasPassword=false", times[0], times[1]},
			orders: []string{"name,-email", "-email,name", "createdAt,-name", "lastAccess,email", "-lastAccess,-name", "name,-createdAt,email"},
		},
		{
			name: "permissions in orders of several fields", path: "/v1/permissions?customerId={cid}&", filters: []string{"", "disabled=false", "roleId=3"},
			orders: []string{"lastAccess,-createdAt", "-lastAccess,-id", "createdAt,-lastAccess"},
		},
		{
			name: "runs in orders of several fields", path: "/v1/runs?customerId={cid}&", app: access.Builder, filters: []string{"", "status=failed", times[0]},
			orders: []string{"status,-createdAt", "-status,createdAt", "createdAt,-status"},
		},
		{
			name: "deliveries in orders of several fields", path: "/v1/outbound-webhooks/deliveries?subtree=true&customerId={cid}&", filters: []string{"", "status=failed", "type=agent.published"},
			orders: []string{"status,-createdAt", "-status,createdAt", "createdAt,-status"},
		},
		{
			name: "documents in orders of several fields", path: "/v1/documents?", app: access.Assistant, filters: []string{"", "format=pdf", "search=report"},
			orders: []string{"size,-name", "-size,name", "status,-size,name", "-createdAt,name", "name,-size"},
		},
		{
			name: "agents in orders of several fields", path: "/v1/agents?", app: access.Builder, filters: []string{"", "enabled=true", "search=report"},
			orders: []string{"name,-createdAt", "-updatedAt,name", "createdAt,-name"},
		},
		{
			name: "contexts in orders of several fields", path: "/context?", app: access.Assistant, filters: []string{"", "shareState=1", "search=report"},
			orders: []string{"name,-createdAt", "createdAt,-name"},
		},
	}
}

// found measures what is asked of long lists by REST, each question by itself at each depth: a row tells of the slowest of its questions, and
// of the slowest first call, for which a connection has the statement planned. Then it measures the box.
func (b *bencher) found(size string, top int64) (rows []row, err error) {
	filled := false
	for _, l := range lists(top) {
		depths := b.depths(top)
		if !strings.Contains(l.path, "{cid}") {
			depths = depths[:1]
		}
		for _, d := range depths {
			name := size + l.name + ", " + d.name
			if !strings.Contains(name, b.o.only) {
				continue
			}
			if !filled {
				if err := b.fillLists(top); err != nil {
					return rows, err
				}
				filled = true
			}
			if err := b.newTokenFor(l.app); err != nil {
				return rows, err
			}
			rows = append(rows, b.slowest(name, l, d))
		}
	}
	if err := b.newToken(); err != nil {
		return rows, err
	}
	return append(rows, b.box(size, top)...), nil
}

// callsOfEach is how often each question is asked, at most for as long as a figure is measured.
const callsOfEach = 100

// slowest asks all questions of a list at a depth.
func (b *bencher) slowest(name string, l list, d depth) row {
	var worst result
	var first time.Duration
	var question string
	page := "limit=50&"
	if l.atEnd {
		page = "last=50&"
	}
	for _, filter := range l.filters {
		for _, order := range l.orders {
			asked := strings.Trim(filter+"&"+strings.TrimSuffix("orderBy="+order, "orderBy="), "&")
			r, begun := b.each(call{method: "GET", vary: func(n int) (string, string) {
				return strings.Replace(l.path, "{cid}", fmt.Sprint(d.at(n)), 1) + page + asked, ""
			}})
			if first = max(first, begun); r.p99 > worst.p99 {
				worst, question = r, asked
			}
		}
	}
	return row{
		name: name, figure: fmt.Sprintf("p50 %s, p99 %s at most", ms(worst.p50), ms(worst.p99)), wanted: "p99 < 20 ms",
		statements: fmt.Sprintf("%.1f", worst.statements), allocations: fmt.Sprintf("%.0f", worst.allocations),
		reference: fmt.Sprintf("%s, of %d questions; a first call %s", cmp.Or(question, "all"), len(l.filters)*len(l.orders), ms(first)),
	}
}

// each makes a call some times on one connection, after a first time.
func (b *bencher) each(what call) (r result, first time.Duration) {
	var begun, all samples
	begun.one(b.ctx, http.DefaultClient, b.lab.platform.url, b.token, what, 0)
	s0, a0 := b.lab.platform.counters()
	start := time.Now()
	for n := 0; n < callsOfEach && time.Since(start) < b.o.load; n++ {
		all.one(b.ctx, http.DefaultClient, b.lab.platform.url, b.token, what, n)
	}
	took := time.Since(start)
	s1, a1 := b.lab.platform.counters()
	if all.failures > 0 && b.failed == nil {
		b.failed = fmt.Errorf("%d requests failed, the first: %s", all.failures, all.first)
	}
	return all.result(took, s1-s0, a1-a0), slices.Max(append(begun.times, 0))
}

// box measures the one box for everything.
func (b *bencher) box(size string, top int64) []row {
	name := size + "search for names, addresses, ids"
	if !strings.Contains(name, b.o.only) {
		return nil
	}
	texts := []func(n int) string{
		func(n int) string { return fmt.Sprintf("Company %07d", n) },
		func(n int) string { return fmt.Sprintf("user%d.company%d@seed.example", 1+n%usersOfEach, top+5) },
		func(n int) string { return fmt.Sprintf("Compnay %07d", n) },
		func(n int) string { return fmt.Sprintf("%07d", n) },
		func(n int) string { return fmt.Sprintf("User %d Comp", 1+n%usersOfEach) },
		func(n int) string { return "Company "[:1+n%8] },
		func(n int) string { return fmt.Sprintf("company 0%02d", n%100) },
		func(int) string { return "Granite Harbour" },
		func(int) string { return "Compny" },
		func(int) string { return "writer 1" },
		func(n int) string { return fmt.Sprint(top + int64(n)) },
		func(int) string { return "0191d6a8-4f60-7c3e-9d0a-1f2e3d4c5b6a" },
	}
	r := b.measure(b.lab.platform, 1, call{method: "GET", vary: func(n int) (string, string) {
		return "/tenant/search?text=" + url.QueryEscape(texts[n%len(texts)](n*7919%b.o.customers)), ""
	}})
	return []row{{
		name: name, figure: fmt.Sprintf("p50 %s, p99 %s", ms(r.p50), ms(r.p99)), wanted: "p99 < 30 ms",
		statements: fmt.Sprintf("%.1f", r.statements), allocations: fmt.Sprintf("%.0f", r.allocations),
	}}
}
