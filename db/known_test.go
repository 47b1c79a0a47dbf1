package db_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"

	"canopy/db"
	"canopy/internal/devstack/devtest"
	"canopy/internal/paging"
)

// unknown are the rows of what companies know of users that differ from what the memberships say, or are too many, or missing.
const unknown = `
	WITH pairs AS (SELECT DISTINCT above.id AS customer_id, m.user_id FROM memberships m CROSS JOIN unnest(m.lineage) above(id)),
	said AS (SELECT k.* FROM (SELECT array_agg(customer_id) AS c, array_agg(user_id) AS u FROM pairs) p CROSS JOIN LATERAL known_users(p.c, p.u) k)
	SELECT count(*) FROM ((SELECT * FROM said EXCEPT SELECT customer_id, user_id, email, name, created_at, accepted, has_password FROM subtree_users)
		UNION ALL (SELECT customer_id, user_id, email, name, created_at, accepted, has_password FROM subtree_users EXCEPT SELECT * FROM said)) x`

// unnamed are the memberships whose names are not what the company calls the person, and the names that are too many.
const unnamed = `
	SELECT count(*) FROM memberships m JOIN users o ON o.id = m.user_id FULL JOIN member_names n USING (customer_id, user_id)
	WHERE n.limb_id IS DISTINCT FROM limb_of(m.lineage) OR n.said IS DISTINCT FROM CASE WHEN m.accepted_at IS NULL
		THEN m.first_name || ' ' || m.last_name || ' ' || m.email ELSE o.first_name || ' ' || o.last_name || ' ' || o.email END
		OR (n.named, n.emailed, n.created_at) IS DISTINCT FROM (
			lower(btrim(CASE WHEN m.accepted_at IS NULL THEN m.first_name || ' ' || m.last_name ELSE o.first_name || ' ' || o.last_name END)),
			lower(CASE WHEN m.accepted_at IS NULL THEN m.email ELSE o.email END), CASE WHEN m.accepted_at IS NULL THEN m.created_at ELSE o.created_at END)`

// TestWhatCompaniesKnowIsKept: whatever becomes of memberships and users, and however many change them at the same time, what
// companies know of users is what the first of the memberships below them says.
func TestWhatCompaniesKnowIsKept(t *testing.T) {
	address := devtest.Database(t, db.Fingerprint(), db.Migrate)
	s := devtest.Must[*db.Store](t)(db.Open(t.Context(), address, db.Options{}))
	t.Cleanup(func() { _ = s.Close() })
	root, child, _ := tree(t, s)
	pool := devtest.Must[*sqlx.DB](t)(db.Connect(address, db.Options{MaxConns: 8}))
	t.Cleanup(func() { _ = pool.Close() })
	companies := []int64{root.ID, child.ID}
	for i := range 6 {
		parent := companies[i/2+1]
		companies = append(companies, devtest.Must[*db.Customer](t)(s.InsertCustomer(t.Context(), db.Customer{ParentID: &parent, Name: fmt.Sprint("Below ", i), RegionID: root.RegionID})).ID)
	}
	var users []int64
	for i := range 3 {
		users = append(users, devtest.Must[*db.Person](t)(s.EnsureUser(t.Context(), db.Given{Email: fmt.Sprintf("u%d@x.example", i), FirstName: "Own", LastName: "Name"})).ID)
	}
	changes := []string{
		`INSERT INTO memberships (customer_id, user_id, email, first_name, last_name) VALUES ($1, $2, 'given' || $1::bigint || '@x.example', 'Given', '') ON CONFLICT DO NOTHING`,
		`INSERT INTO memberships (customer_id, user_id, email, first_name, last_name, accepted_at) VALUES ($1, $2, 'given' || $1::bigint || '@x.example', 'Given', 'Too', now()) ON CONFLICT DO NOTHING`,
		`UPDATE memberships SET accepted_at = now() WHERE customer_id = $1 AND user_id = $2 AND accepted_at IS NULL`,
		`UPDATE memberships SET first_name = first_name || 'e' WHERE customer_id = $1 AND user_id = $2`,
		`DELETE FROM memberships WHERE customer_id = $1 AND user_id = $2`,
		`UPDATE users SET last_name = last_name || $1::bigint WHERE id = $2`,
		`UPDATE users SET password_hash = CASE WHEN $1::bigint % 2 = 0 THEN 'x' END WHERE id = $2`,
	}
	for round := range 30 { // what is wrong may be put right by a later change
		var all sync.WaitGroup
		for worker := range 6 {
			all.Go(func() {
				chance := rand.New(rand.NewPCG(uint64(round), uint64(worker)))
				for range 4 {
					change := changes[chance.IntN(len(changes))]
					if _, err := pool.ExecContext(t.Context(), change, companies[chance.IntN(len(companies))], users[chance.IntN(len(users))]); err != nil {
						t.Errorf("%s: %v", change, err)
					}
				}
			})
		}
		all.Wait()
		var wrong, misnamed int
		devtest.Check(t, pool.GetContext(t.Context(), &wrong, unknown))
		if devtest.Check(t, pool.GetContext(t.Context(), &misnamed, unnamed)); misnamed > 0 || wrong > 0 {
			t.Fatalf("after round %d, %d persons are not called as the memberships say, and %d rows are not as these say", round, misnamed, wrong)
		}
	}
	var rows int
	if devtest.Check(t, pool.GetContext(t.Context(), &rows, `SELECT count(*) FROM subtree_users`)); rows == 0 {
		t.Error("nobody is known at the end")
	}
}

// TestNamesAreKeptOfWhoAcceptsMeanwhile: who accepts a company while their name or password changes is called there as it is then, whichever
// comes first, and of two companies that are accepted at once, with a name given by each, neither keeps the other from it.
func TestNamesAreKeptOfWhoAcceptsMeanwhile(t *testing.T) {
	s, pool := openBoth(t)
	root, child, _ := tree(t, s)
	const (
		accept      = `UPDATE memberships SET accepted_at = now() WHERE user_id = $1 AND customer_id = $2`
		rename      = `UPDATE users SET last_name = 'Name of ' || $2::bigint WHERE id = $1`
		setPassword = `UPDATE users SET password_hash = 'of ' || $2::bigint WHERE id = $1`
	)
	for i, each := range []struct{ first, second, last []string }{
		{first: []string{rename}, second: []string{accept}},
		{first: []string{accept}, second: []string{rename}},
		{first: []string{setPassword}, second: []string{accept}},
		{first: []string{accept}, second: []string{setPassword}},
		{first: []string{accept}, second: []string{accept, rename}, last: []string{rename}},
	} {
		made := db.Given{Email: fmt.Sprintf("u%d@x.example", i), FirstName: "Own", LastName: "Name"}
		person := devtest.Must[*db.Person](t)(s.EnsureUser(t.Context(), made))
		for _, in := range []*db.Customer{root, child} {
			devtest.Must[bool](t)(s.AddMember(t.Context(), in.ID, person.ID, db.Given{Email: made.Email, FirstName: "Given"}, 0))
		}
		change := func(tx *sqlx.Tx, in *db.Customer, changes []string) {
			for _, change := range changes {
				if _, err := tx.ExecContext(t.Context(), change, person.ID, in.ID); err != nil {
					t.Errorf("%d, %s: %v", i, change, err)
				}
			}
		}
		first := devtest.Must[*sqlx.Tx](t)(pool.BeginTxx(t.Context(), nil))
		change(first, child, each.first)
		second := devtest.Must[*sqlx.Tx](t)(pool.BeginTxx(t.Context(), nil))
		in := child
		if each.last != nil {
			in = root
		}
		done := make(chan error, 1)
		go func() {
			change(second, in, each.second)
			done <- second.Commit()
		}()
		devtest.Eventually(t, "the second waits for the first, or is done", func() bool {
			waiting := 0
			devtest.Check(t, pool.GetContext(t.Context(), &waiting, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`))
			return waiting > 0 || len(done) > 0
		})
		change(first, child, each.last)
		devtest.Check(t, first.Commit())
		devtest.Check(t, <-done)
		var wrong, misnamed int
		devtest.Check(t, pool.GetContext(t.Context(), &wrong, unknown))
		if devtest.Check(t, pool.GetContext(t.Context(), &misnamed, unnamed)); misnamed > 0 || wrong > 0 {
			t.Errorf("%d: %d persons are not called as the memberships say, and %d rows are not as these say", i, misnamed, wrong)
		}
	}
}

// TestPersonsAreFoundByWhatIsKnown: a person is found in each company by what that calls them: what it has entered until the person has
// accepted, whoever changes what elsewhere.
func TestPersonsAreFoundByWhatIsKnown(t *testing.T) {
	s, pool := openBoth(t)
	root, child, _ := tree(t, s)
	made := db.Given{Email: "grace@x.example", FirstName: "Grace", LastName: "Hopper"}
	var person *db.Person
	devtest.Check(t, s.Tx(t.Context(), func(tx *db.Store) (err error) {
		if person, err = tx.EnsureUser(t.Context(), made); err == nil {
			_, err = tx.AddMember(t.Context(), child.ID, person.ID, made, 0)
		}
		return err
	}))
	finds := func(in *db.Customer, text string, want bool) {
		t.Helper()
		scope := in.Lineage.Subtree()
		ask := db.NewAsk(db.Where{Terms: []db.Term{{Member: "search", Value: text}}}, "", paging.NewPage(10, paging.Cursor{}))
		found := devtest.Must[[]*db.User](t)(s.FindUsers(t.Context(), scope, ask))
		if got := len(found) == 1 && found[0].ID == person.ID; got != want {
			t.Errorf("%s by %q: %d found, want %v", in.Name, text, len(found), want)
		}
	}
	finds(child, "hopper", true)
	devtest.Must[bool](t)(s.AddMember(t.Context(), root.ID, person.ID, db.Given{Email: made.Email, FirstName: "Amazing", LastName: "Brewster"}, 0))
	finds(child, "hopper", true)
	finds(child, "brewster", false)
	devtest.Must[sql.Result](t)(pool.ExecContext(t.Context(), `UPDATE users SET last_name = 'Murray' WHERE id = $1`, person.ID))
	finds(child, "hopper", true)
	finds(child, "murray", false)
	devtest.Must[sql.Result](t)(pool.ExecContext(t.Context(), `UPDATE memberships SET last_name = 'Kitchen' WHERE user_id = $1 AND customer_id = $2`, person.ID, child.ID))
	finds(child, "kitchen", true)
	finds(child, "hopper", false)
}
