package tenancy

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"canopy/e2e/platform"
)

// treeChange is something that is done to a company of a tree, and may be refused.
type treeChange struct {
	name string
	do   func(s *platform.Platform, token string, r *rand.Rand, companies []int64) platform.Answer
}

// oneOf picks a company.
func oneOf(r *rand.Rand, companies []int64) int64 { return companies[r.IntN(len(companies))] }

// treeChanges are what TestTreeStaysATree does at the same time.
var treeChanges = []treeChange{
	{"suspend", func(s *platform.Platform, token string, r *rand.Rand, companies []int64) platform.Answer {
		return customerAction(s, token, oneOf(r, companies), "suspend")
	}},
	{"resume", func(s *platform.Platform, token string, r *rand.Rand, companies []int64) platform.Answer {
		return customerAction(s, token, oneOf(r, companies), "resume")
	}},
	{"delete", func(s *platform.Platform, token string, r *rand.Rand, companies []int64) platform.Answer {
		return deleteCustomer(s, token, oneOf(r, companies))
	}},
	{"restore", func(s *platform.Platform, token string, r *rand.Rand, companies []int64) platform.Answer {
		return customerAction(s, token, oneOf(r, companies), "restore")
	}},
	{"create", func(s *platform.Platform, token string, r *rand.Rand, companies []int64) platform.Answer {
		return s.Do("POST", "/tenant/customer", token, map[string]any{
			"parentId": oneOf(r, companies), "name": fmt.Sprint("Grown ", r.Uint32()), "regionId": 1, "email": fmt.Sprintf("grown%d@x.example", r.IntN(20)),
			"canAddCustomers": true, "descendantsCanAdd": true,
		})
	}},
	{"move", func(s *platform.Platform, token string, r *rand.Rand, companies []int64) platform.Answer {
		return s.Do("POST", fmt.Sprintf("/tenant/customer/%d/move", oneOf(r, companies)), token, map[string]any{"parentId": oneOf(r, companies)})
	}},
	{"erase", func(s *platform.Platform, token string, r *rand.Rand, companies []int64) platform.Answer {
		id := oneOf(r, companies)
		answer := deleteCustomer(s, token, id)
		s.SQL(`UPDATE customers SET erase_at = now() WHERE id = $1 AND erase_at IS NOT NULL`, id)
		if err := s.App.Worker(nil).EraseDue(s.T.Context()); err != nil { // what came in between is erased the next time
			s.T.Logf("not erased yet: %v", err)
		}
		return answer
	}},
	{"join", func(s *platform.Platform, token string, r *rand.Rand, companies []int64) platform.Answer {
		var to struct{ Account, Role int64 }
		if err := s.DB.Get(&to, `SELECT a.id AS account, r.id AS role FROM accounts a JOIN app_instances i ON i.id = a.app_instance_id
			JOIN roles r ON r.application_id = i.application_id AND r.customer_id IS NULL AND r.is_owner WHERE a.customer_id = $1 LIMIT 1`, oneOf(r, companies)); err != nil {
			return platform.Answer{Status: http.StatusNotFound} // it is gone
		}
		return s.Do("POST", "/permission", token, map[string]any{"appAccountId": to.Account, "appRoleId": to.Role, "email": fmt.Sprintf("grown%d@x.example", r.IntN(20))})
	}},
	{"oust", func(s *platform.Platform, _ string, r *rand.Rand, companies []int64) platform.Answer {
		return oust(s, r, oneOf(r, companies))
	}},
}

// oust has an owner of a company take an owner out of it, perhaps itself.
func oust(s *platform.Platform, r *rand.Rand, company int64) platform.Answer {
	gone := platform.Answer{Status: http.StatusNotFound}
	var owners []struct {
		ID    int64
		Email string
	}
	if err := s.DB.Select(&owners, `SELECT DISTINCT u.id, u.email FROM permissions p JOIN roles r ON r.id = p.role_id JOIN accounts a ON a.id = p.account_id
		JOIN users u ON u.id = p.user_id WHERE r.is_owner AND NOT p.disabled AND a.customer_id = $1`, company); err != nil || len(owners) == 0 {
		return gone
	}
	who, whom := owners[r.IntN(len(owners))], owners[r.IntN(len(owners))]
	key, secret, err := s.App.Resolver.OperatorCreateKey(s.T.Context(), company, who.Email, "test")
	if err != nil {
		return gone
	}
	exchanged := s.Exchange(s.GrantForm(map[string]string{"client_id": key.ClientID, "client_secret": secret}))
	if exchanged.Status != http.StatusOK {
		return exchanged
	}
	token := platform.Member(s.T, exchanged.JSON(s.T), "access_token").(string)
	return s.Do("DELETE", fmt.Sprintf("/tenant/user/%d?customerId=%d", whom.ID, company), token, nil)
}

// growable are the companies of the tree that changes are done to.
func growable(t *testing.T, s *platform.Platform, top int64) (ids []int64) {
	t.Helper()
	if err := s.DB.Select(&ids, `SELECT id FROM customers WHERE $1 = ANY (lineage)`, top); err != nil {
		t.Fatal(err)
	}
	return ids
}

// TestTreeStaysATree does 50 things at the same time to the companies of one tree, again and again: nothing fails, limits hold, each company keeps an
// owner, and the tree is one afterwards.
func TestTreeStaysATree(t *testing.T) {
	t.Parallel()
	const most = 25
	s := platform.Start(t)
	s.NoDemoMails()
	root, top := s.Root(), s.Customer("Alpine Energy")
	s.Must(http.StatusOK, "PUT", fmt.Sprintf("/tenant/limits/%d", top), root, map[string]any{"limits": map[string]any{"customers": most}})
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	seen := map[string]int{}
	var mu sync.Mutex
	for round := range 4 {
		companies := growable(t, s, top)
		companies = slices.DeleteFunc(companies, func(id int64) bool { return id == top }) // from which it grows
		if round == 1 {                                                                    // so that one can go
			for i, id := range companies {
				treeChanges[7].do(s, root, rand.New(rand.NewPCG(seed, uint64(i))), []int64{id})
			}
			// Those that come at the same time may all be refused, where others are in their way.
			for i := 0; i < len(companies) && seen["oust 204"] == 0; i++ {
				seen[fmt.Sprint("oust ", oust(s, rand.New(rand.NewPCG(seed, uint64(i))), companies[i]).Status)]++
			}
			for i := 0; i < len(companies) && seen["move 200"] == 0; i++ {
				seen[fmt.Sprint("move ", treeChanges[5].do(s, root, rand.New(rand.NewPCG(seed, uint64(i))), companies).Status)]++
			}
		}
		var running sync.WaitGroup
		for n := range 50 {
			r := rand.New(rand.NewPCG(seed, uint64(round*50+n)))
			change := treeChanges[r.IntN(len(treeChanges))]
			if round == 0 || len(companies) < 4 {
				change = treeChanges[4]
			}
			running.Go(func() {
				among := companies
				if change.name == "create" {
					among = append(slices.Clone(companies), top)
				}
				a := change.do(s, root, r, among)
				mu.Lock()
				defer mu.Unlock()
				seen[fmt.Sprint(change.name, " ", a.Status)]++
				again := a.Status == 503 && a.Header.Get("Retry-After") != "" // others were in its way
				if !again && !slices.Contains([]int{200, 201, 202, 204, 400, 401, 403, 404}, a.Status) {
					t.Errorf("%s: %d %s", change.name, a.Status, a.Body)
				}
			})
		}
		running.Wait()
		mustBeATree(t, s)
		if n := len(growable(t, s, top)) - 1; n > most {
			t.Errorf("%d companies are below one that may have %d", n, most)
		}
	}
	t.Logf("%v", seen)
	for _, done := range []string{"create 200", "suspend 200", "move 200", "delete 202", "erase 202", "oust 204"} {
		if seen[done] == 0 {
			t.Errorf("%s never came about: %v", done, seen)
		}
	}
	for line := range strings.Lines(s.Log.String()) {
		if strings.Contains(line, "level=ERROR") {
			t.Errorf("in the log: %s", line)
		}
	}
}

// mustBeATree judges the places of all companies, what is counted of them, and that nothing belongs to one that is gone.
func mustBeATree(t *testing.T, s *platform.Platform) {
	t.Helper()
	for what, query := range map[string]string{
		"companies without their parent's lineage": `SELECT count(*) FROM customers c LEFT JOIN customers p ON p.id = c.parent_id WHERE c.lineage <> COALESCE(p.lineage, '{}') || c.id`,
		"roots but one": `SELECT abs(count(*) - 1) FROM customers WHERE parent_id IS NULL`,
		"wrong states":  `SELECT count(*) FROM customers WHERE (status = 'DELETED') <> (erase_at IS NOT NULL)`,
		"accounts without an owner": `SELECT count(*) FROM accounts a JOIN customers c ON c.id = a.customer_id WHERE c.name LIKE 'Grown %'
			AND NOT EXISTS (SELECT FROM customers x WHERE x.id = ANY (c.lineage) AND x.erase_at IS NOT NULL) AND NOT EXISTS (
			SELECT FROM permissions p JOIN roles r ON r.id = p.role_id WHERE p.account_id = a.id AND r.is_owner AND NOT p.disabled)`,
		"memberships astray": `SELECT count(*) FROM memberships m JOIN customers c ON c.id = m.customer_id WHERE m.lineage <> c.lineage`,
		"names astray":       `SELECT count(*) FROM memberships m LEFT JOIN member_names n USING (customer_id, user_id) WHERE n.limb_id IS DISTINCT FROM limb_of(m.lineage)`,
		"limbs astray":       `SELECT count(*) FROM limbs l JOIN customers c USING (id) WHERE l.lineage <> c.lineage`,
		"accounts astray":    `SELECT count(*) FROM accounts a JOIN customers c ON c.id = a.customer_id WHERE a.limb_id <> limb_of(c.lineage)`,
		"permissions astray": `SELECT count(*) FROM permissions p JOIN accounts a ON a.id = p.account_id WHERE p.limb_id <> a.limb_id`,
		"wrong counts": `SELECT count(*) FROM (SELECT customer_id, sum(n) AS n FROM usage_counts WHERE name = 'customers' GROUP BY 1) k
			FULL JOIN (SELECT a.id AS customer_id, count(*) AS n FROM customers c CROSS JOIN unnest(c.lineage[1:c.level]) a(id) GROUP BY 1) c USING (customer_id) WHERE COALESCE(k.n, 0) <> COALESCE(c.n, 0)`,
		"wrong counts of people": `SELECT count(*) FROM (SELECT customer_id, sum(n) AS n FROM usage_counts WHERE name = 'users' GROUP BY 1) k
			FULL JOIN (SELECT a.id AS customer_id, count(DISTINCT m.user_id) AS n FROM memberships m CROSS JOIN unnest(m.lineage) a(id) GROUP BY 1) c USING (customer_id) WHERE COALESCE(k.n, 0) <> COALESCE(c.n, 0)`,
	} {
		if n := s.Number(query); n != 0 {
			t.Errorf("%d %s", n, what)
		}
	}
}
