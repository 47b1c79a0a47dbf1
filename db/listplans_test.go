package db

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lib/pq"

	"canopy/internal/access"
	"canopy/internal/devstack/devtest"
	"canopy/internal/paging"
)

// listExample is a list as it is asked for somewhere, for the test of plans: with each member of its filter, in each of its orders.
type listExample struct {
	name string
	list *List
	ways ways
	args []any
	// hung lists hang from the rows of the argument that this is the place of.
	hung string
	of   hung
	// named lists are only those of what a filter names or searches for.
	named bool
	// more are orders of several fields that one statement reads.
	more []string
	// most is how many rows may be read for a page.
	most float64
}

// A page is read by an index, or from among few; and of each of few companies a page.
const (
	aPage     = 3_000
	fromFew   = 2*handful + aPage
	ofEachOwn = 90_000
)

var memberValues = map[string]string{
	"ids": "{5,299,300}", "regionId": "1", "level": "9", "parentId": "5", "below": "5", "createdSince": "2020-01-01", "createdUntil": "2100-01-01",
	"email": "user299@x.example", "hasPassword": "false", "customerId": "5", "lastAccessSince": "2020-01-01",
	"userId": "7", "accountId": "5", "roleId": "2", "applicationId": "1", "disabled": "true", "maxRelevance": "0.2", "shareState": "1", "contextId": "5",
	"status": "failed", "format": "txt", "enabled": "true", "runnable": "true", "agentId": "5", "destinationId": "5", "eventId": "e299", "type": "run.finished",
	"attributes": `exists($."lang" ? (@ == "de"))`, "search": "company 29", "near": "0 compny 299", "begins": "company 29",
	"active": "true", "expiresUntil": "2100-01-01", "failing": "false", "page": "1", "positionFrom": "20", "positionUntil": "9000",
	"action": "run.started", "objectType": "Run", "objectId": "5", "actorId": "5", "actorKind": "USER",
}

// otherValues are what no row has, also where PostgreSQL knows one value alone, which all have; and a level that very many companies have, which all
// stand at one end of each order.
var otherValues = map[string][]string{"regionId": {"2"}, "level": {"60", "4"}, "createdSince": {"2100-01-01"}, "createdUntil": {"2000-01-01"}, "actorKind": {"API_KEY"}}

// ofHung are the members that lists which hang from rows are tried with: what hangs from rows is found by these alone. Below a company with more than 2,000 of them
// all companies are walked for the others.
var ofHung = []string{"ids", searched, "status", "createdUntil", "userId"}

// perSharer is how many rows may be read for one whose name has the words that are looked for: those are put in order, however many they are.
// One in 90 companies has them here.
const perSharer = 4. / 90

// listExamples are all lists, each wherever it is asked for: the whole tree, a branch, and deeper. What is asked for in two places in the same words is planned once.
func listExamples() [][]listExample {
	within := make([][]listExample, 8)
	for _, scope := range []access.Scope{access.Lineage{1}.Subtree(), access.Lineage{1, 2}.Subtree(), access.Lineage{1, 15, 301}.Subtree()} {
		args := []any{scope.From(), scope.To()}
		for i, l := range []listExample{
			{name: "companies", list: Customers, ways: customersWithin(scope), args: args, most: fromFew},
			{name: "users", list: Users, ways: usersWithin(scope), args: args, more: []string{"LAST_ACCESS,EMAIL"}, most: fromFew},
			{name: "permissions", list: Permissions, ways: permissionsWithin(scope), args: args, most: ofEachOwn},
			{name: "runs", list: Runs, ways: runsWithin(scope), args: args, most: ofEachOwn},
			{name: "deliveries", list: Deliveries, ways: deliveriesWithin(scope), args: args, most: ofEachOwn},
			{name: "audit events", list: AuditEvents, ways: eventsWithin(scope), args: args, most: ofEachOwn},
			{name: "agents", list: Agents, ways: agentsWithin(scope), args: args, most: fromFew, named: true},
			{name: "destinations", list: Destinations, ways: destinationsWithin(scope), args: args, most: fromFew, named: true},
		} {
			within[i] = append(within[i], l)
		}
	}
	desk, ids := Desk{AccountID: 5}.args(), pq.Int64Array{299, 5}
	all := append(within,
		[]listExample{{name: "contexts", list: Contexts, ways: contextsOnDesk, args: desk, most: 2 * fromFew}},
		[]listExample{{name: "documents", list: Documents, ways: documentsOnDesk, args: desk, most: 2 * fromFew}},
	)
	for name, h := range map[string]hung{
		"children": children, "descendants": descendants, "subtree": subtree, "members": members, "companies of a user": customersOfUser,
		"permissions of a user": permissionsOfUser, "permissions on an account": permissionsOfAccount, "agents of an account": agentsOfAccount,
		"agents of a company": agentsOfCustomer, "runs of an agent": runsOfAgent, "documents of a context": documentsOfContext, "queries of a context": queriesOfContext,
		"deliveries to a destination": deliveriesOfDestination, "accounts": accountsOfCustomer, "keys": keysOfCustomer,
		"destinations": destinationsOfCustomer, "revisions": revisionsOfAgent, "chunks": chunksOfDocument,
	} {
		e := listExample{name: name, list: h.list, ways: h.ways, args: []any{ids}, hung: "$1", of: h, most: fromFew}
		if h.list == Customers {
			e.most *= 2 // below each of two companies
		}
		if h.scoped {
			e.args, e.hung = []any{scopeFrom, scopeTo, ids}, "$3"
		}
		all = append(all, []listExample{e})
	}
	return all
}

// TestListsAreTried: each list that hangs from rows is among the examples.
func TestListsAreTried(t *testing.T) {
	examples := string(devtest.Must[[]byte](t)(os.ReadFile("listplans_test.go")))
	for _, path := range devtest.Must[[]string](t)(filepath.Glob("*.go")) {
		text := devtest.Must[[]byte](t)(os.ReadFile(path))
		for _, list := range regexp.MustCompile(`= edgeBy\(.+ pagesOf\[\w+\]\((\w+)\)`).FindAllSubmatch(text, -1) {
			if !strings.Contains(examples, ": "+string(list[1])+",") {
				t.Errorf("listExamples lacks %s, of %s", list[1], path)
			}
		}
	}
}

// tryList runs a list's statements: without a filter, and with each member of one; in each order; from the beginning, from the middle, and
// backward; and counted; each of them wherever the list is asked for.
func tryList(t *testing.T, conn *planner, companies int, places []listExample) {
	t.Helper()
	l, wheres := places[0], []Where{{}}
	run := func(a Ask, counting bool) {
		t.Helper()
		for _, l := range places {
			l.run(t, conn, companies, a, counting)
		}
	}
	if l.named {
		wheres = nil
	}
	for member := range l.list.members {
		if l.named && !slices.Contains([]string{"ids", searched, nearBy}, member) {
			continue
		}
		if l.hung != "" && !slices.Contains(ofHung, member) || member == hasUsed { // which is asked for by an order
			continue
		}
		if memberValues[member] == "" {
			t.Errorf("the member %s of %s has no value here", member, l.name)
		}
		wheres = append(wheres, Where{Terms: []Term{{member, memberValues[member]}}})
		for _, other := range otherValues[member] {
			wheres = append(wheres, Where{Terms: []Term{{member, other}}})
		}
	}
	for _, w := range wheres {
		_, begins := value(w.Terms, "begins") // which only the search box asks for, and does not count
		for _, field := range append(l.list.Fields(), l.more...) {
			if begins && field != "NAME" {
				continue
			}
			run(NewAsk(w, field, paging.NewPage(20, paging.Cursor{})), false)
			run(NewAsk(w, "-"+field, paging.NewPage(20, l.middle("-"+field, companies))), false)
		}
		if !begins {
			run(NewAsk(w, "", paging.Page{}).counted(), true)
		}
	}
}

// middle is the place of a row in the middle of an order.
func (l listExample) middle(order string, companies int) paging.Cursor {
	var place []string
	for _, k := range l.list.keys(order) {
		switch {
		case len(k.values) > 0:
			place = append(place, k.values[len(k.values)-1])
		case k.kind.sql == moments.sql && strings.Contains(k.by, "last_access"): // these lie in the last 100,003 minutes
			place = append(place, strconv.FormatInt(time.Now().Add(-50_000*time.Minute).UnixMicro(), 10))
		case k.kind.sql == moments.sql:
			place = append(place, strconv.FormatInt(plansBegun.Add(time.Duration(companies/2)*time.Second).UnixMicro(), 10))
		default:
			place = append(place, map[string]string{integers.sql: strconv.Itoa(companies / 2), texts.sql: "company 15", lineages.sql: "{1,5}"}[k.kind.sql])
		}
	}
	return l.list.At(order, place)
}

func (l listExample) run(t *testing.T, conn *planner, companies int, a Ask, counting bool) {
	t.Helper()
	st := newStatement(l.list, a, counting, slices.Clone(l.args)...)
	text, most, from := "", l.most, "unnest("+l.hung+"::bigint[]) k(id)"
	switch {
	case counting:
		text, most = "SELECT "+st.counted(a, l.ways), 16*l.most
		if l.hung != "" {
			text += " FROM " + from
		}
	case l.hung != "":
		st.carries = l.of.carries
		text = st.pagesOf(from, a, l.of)
	default:
		text = st.shown("", st.pageOf(st.alternatives(a, l.ways)), "")
	}
	if st.fields > 1 {
		devtest.Must[any](t)(conn.ExecContext(t.Context(), `SET enable_incremental_sort = on`))
		defer func() { devtest.Must[any](t)(conn.ExecContext(t.Context(), `SET enable_incremental_sort = off`)) }()
	}
	text, args := st.finished(text)
	text = "/* " + strings.TrimSpace(l.name) + " */ " + text
	plan := planned(t, conn, "listed", text, args)
	tried := sha256.Sum256([]byte(fmt.Sprint(text, literals(args), plan)))
	if conn.read[tried] {
		return
	}
	conn.read[tried] = true
	e := example{most: most}
	if _, given := value(a.Where().Terms, searched); given {
		e.perCompany = perSharer
	}
	tryPlan(t, conn, companies, "listed", text, e, args)
}
