package db

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"

	"canopy/internal/access"
	"canopy/internal/devstack/devtest"
	"canopy/internal/quota"
)

// counting are a home and two cells, which tell each other what they count: the company 2 is at the home, 22 below it in the cell 7, 23 in the cell 8.
type counting struct {
	*replicated
	home, seven, eight *Store
	way                map[*Store]*Home
	pools              map[*Store]*sqlx.DB
	made               map[*Store]int
}

func countInCells(t *testing.T) *counting {
	t.Helper()
	r := replicate(t)
	c := &counting{replicated: r, way: map[*Store]*Home{}, pools: map[*Store]*sqlx.DB{}, made: map[*Store]int{}}
	r.do(r.home, `INSERT INTO regions (id, code, name) VALUES (8, 'eu-8', 'Eight')`)
	devtest.Check(t, r.migrator(r.homeURL).OpenCell(t.Context(), "eu-8", "https://eu-8.example", "eu 7"))
	r.do(r.home, `UPDATE customers SET region_id = 7 WHERE id = 22`, `UPDATE customers SET region_id = 8 WHERE id = 23`)
	eight, url := startReplicating(t)
	devtest.Check(t, r.migrator(url).JoinHome(t.Context(), "eu-8", r.asCell(), func(int, int) {}))
	open := func(url string, pool *sqlx.DB) *Store {
		s := devtest.Must[*Store](t)(Open(t.Context(), url, Options{MaxConns: 4}))
		t.Cleanup(func() { _ = s.Close() })
		c.pools[s] = pool
		if s.cell != nil {
			c.way[s] = devtest.Must[*Home](t)(s.OpenHome(r.asCell()))
			t.Cleanup(func() { _ = c.way[s].Close() })
		}
		return s
	}
	c.home, c.seven, c.eight = open(r.homeURL, r.home), open(r.cellURL, r.cell), open(url, eight)
	return c
}

// everywhere waits until both cells have what the home has committed.
func (c *counting) everywhere() {
	c.t.Helper()
	c.arrived()
	var at string
	devtest.Check(c.t, c.replicated.home.GetContext(c.t.Context(), &at, `SELECT pg_current_wal_insert_lsn()`))
	devtest.Eventually(c.t, "the cell 8 has the directory", func() bool {
		return c.number(c.replicated.home, `SELECT count(*) FROM pg_replication_slots WHERE slot_name = 'canopy_cell_8' AND confirmed_flush_lsn >= '`+at+`'`) == 1
	})
}

// tell has a cell and the home tell each other what they count.
func (c *counting) tell(cells ...*Store) {
	c.t.Helper()
	for _, s := range cells {
		devtest.Must[int64](c.t)(s.ExchangeCounts(c.t.Context(), c.way[s], 0))
	}
}

// add makes secrets of a company one by one, until there are so many more or it is refused, and tells how many were made.
func (c *counting) add(s *Store, customer int64, most int) (made int, refused *LimitReached) {
	for range most {
		c.made[s]++
		_, err := s.InsertSecret(c.t.Context(), customer, fmt.Sprintf("S%d", c.made[s]))
		if errors.As(err, &refused) {
			return made, refused
		}
		if err != nil {
			c.t.Fatal(err)
		}
		made++
	}
	return made, nil
}

func (c *counting) used(s *Store, customer int64, name quota.Name) *Usage {
	c.t.Helper()
	row := devtest.Must[*Customer](c.t)(s.Customer(c.t.Context(), access.Lineage{1}.Subtree(), customer))
	for _, u := range devtest.Must[[]*Usage](c.t)(row.Usage(c.t.Context(), s)) {
		if u.Name == name {
			return u
		}
	}
	return nil
}

// TestLimitsOverCells: a limit holds for what all cells have together. Of what was told nothing is passed over; of what was not told yet, each cell may have what it can't know.
func TestLimitsOverCells(t *testing.T) {
	t.Parallel()
	c := countInCells(t)
	ctx := t.Context()
	limit := func(customer, most int64) {
		t.Helper()
		devtest.Check(t, c.home.SetLimit(ctx, customer, quota.Secrets, &most))
		c.everywhere()
	}
	limit(2, 100)
	full := func(s *Store, customer int64, used int64) {
		t.Helper()
		n, r := c.add(s, customer, 1)
		if n != 0 || r == nil || r.CustomerID != 2 || r.Used != used {
			t.Errorf("company %d adds %d and hears %+v, where %d are used", customer, n, r, used)
		}
	}

	// One after the other: exactly.
	if n, r := c.add(c.seven, 22, 40); n != 40 || r != nil {
		t.Fatalf("%d were made: %v", n, r)
	}
	c.tell(c.seven, c.eight)
	if n, _ := c.add(c.eight, 23, 1000); n != 60 {
		t.Errorf("beside 40 of 100 another cell has %d", n)
	}
	full(c.eight, 23, 100)
	c.tell(c.eight, c.seven)
	full(c.seven, 22, 100)
	full(c.home, 24, 100)
	for _, s := range []*Store{c.home, c.seven, c.eight} {
		if u := c.used(s, 2, quota.Secrets); u.Used != 100 || u.AsOf == nil || *u.Limit != 100 {
			t.Errorf("the company has %+v", u)
		}
	}
	if u := c.used(c.seven, 22, quota.Secrets); u.Used != 40 || u.AsOf != nil || u.By != 2 {
		t.Errorf("the company of the cell alone has %+v", u)
	}
	// What only the home counts is known in the cell of the company.
	if here, there := c.used(c.seven, 22, quota.Users), c.used(c.home, 22, quota.Users); here.Used != there.Used || here.Used == 0 || here.AsOf == nil {
		t.Errorf("of people the cell counts %d, the home %d", here.Used, there.Used)
	}
	// It is told once, where the company has what it has.
	if n := c.number(c.replicated.home, `SELECT count(*) FROM limit_notices WHERE customer_id = 2 AND name = 'secrets' AND level = 100`); n != 1 {
		t.Errorf("the home tells of the limit %d times", n)
	}
	for _, s := range []*Store{c.seven, c.eight} {
		if n := c.number(c.pools[s], `SELECT count(*) FROM limit_notices`); n != 0 {
			t.Errorf("a cell tells of the limit of the home's company, %d times", n)
		}
	}

	// Raised, and all three write at once, each telling after each row: what is let through between two of these is all that may be too much.
	limit(2, 400)
	var writers sync.WaitGroup
	var counted sync.Mutex
	total := 100
	for s, customer := range map[*Store]int64{c.seven: 22, c.eight: 23, c.home: 24} {
		made := &counting{replicated: c.replicated, made: map[*Store]int{s: 1000}}
		writers.Go(func() {
			for {
				n, refused := made.add(s, customer, 1)
				if way := c.way[s]; way != nil {
					if _, err := s.ExchangeCounts(ctx, way, 0); err != nil {
						t.Error(err)
						return
					}
				}
				counted.Lock()
				total += n
				counted.Unlock()
				if refused != nil {
					return
				}
			}
		})
	}
	writers.Wait()
	if total < 400 || total > 404 {
		t.Errorf("of 400 there are %d", total)
	}
	c.tell(c.seven, c.eight, c.seven)
	for _, s := range []*Store{c.home, c.seven, c.eight} {
		if u := c.used(s, 2, quota.Secrets); u.Used != int64(total) {
			t.Errorf("of %d the company has %d", total, u.Used)
		}
	}

	// Lowered: what there is stays, and nothing is added.
	limit(2, 50)
	for s, customer := range map[*Store]int64{c.seven: 22, c.eight: 23, c.home: 24} {
		full(s, customer, int64(total))
	}
	limit(2, 1000)
	for s, customer := range map[*Store]int64{c.seven: 22, c.eight: 23, c.home: 24} {
		if n, r := c.add(s, customer, 1); n != 1 {
			t.Errorf("with room it is refused: %v", r)
		}
	}

	// What is done in a day counts for that day.
	c.do(c.cell, `SELECT count_from('mailsPerDay', (now() AT TIME ZONE 'UTC')::date, '{22}', '{5}')`, `SELECT count_from('runsPerDay', (now() AT TIME ZONE 'UTC')::date - 1, '{22}', '{5}')`)
	c.tell(c.seven, c.eight)
	if mails, runs := c.used(c.eight, 2, quota.MailsPerDay), c.used(c.eight, 2, quota.RunsPerDay); mails.Used != 5 || runs.Used != 0 {
		t.Errorf("of today the other cell counts %d, of yesterday %d", mails.Used, runs.Used)
	}
	c.do(c.pools[c.eight], `UPDATE counts_elsewhere SET day = day - 1 WHERE name = 'mailsPerDay'`)
	if u := c.used(c.eight, 2, quota.MailsPerDay); u.Used != 0 {
		t.Errorf("of yesterday %d count today", u.Used)
	}
}

// TestCountsElsewhereMove: what cells have counted moves with a company at the home at once, is held against the limits above its new place, and goes with the company.
func TestCountsElsewhereMove(t *testing.T) {
	t.Parallel()
	c := countInCells(t)
	ctx := t.Context()
	c.everywhere()
	c.add(c.seven, 22, 30)
	c.add(c.eight, 23, 20)
	c.tell(c.seven, c.eight, c.seven)
	few := int64(29)
	devtest.Check(t, c.home.SetLimit(ctx, 3, quota.Secrets, &few))
	move := func(to int64) error {
		_, err := c.replicated.home.ExecContext(ctx, `SELECT FROM (SELECT move_customer(22, $1)) moved`, to)
		return translate(ctx, err)
	}
	var over *LimitReached
	if err := move(3); !errors.As(err, &over) || over.CustomerID != 3 || over.Used != 0 || over.Max != 29 {
		t.Errorf("30 move below a limit of 29: %v", err)
	}
	few = 30
	devtest.Check(t, c.home.SetLimit(ctx, 3, quota.Secrets, &few))
	devtest.Check(t, move(3))
	has := func(s *Store, customer, want int64) {
		t.Helper()
		if u := c.used(s, customer, quota.Secrets); u.Used != want {
			t.Errorf("company %d has %d, not %d", customer, u.Used, want)
		}
	}
	has(c.home, 2, 20)
	has(c.home, 3, 30)
	c.everywhere()
	c.tell(c.seven, c.eight, c.seven)
	for _, s := range []*Store{c.home, c.seven, c.eight} {
		has(s, 1, 50)
		has(s, 2, 20)
		has(s, 3, 30)
	}
	if n, r := c.add(c.seven, 22, 1); n != 0 || r.CustomerID != 3 {
		t.Errorf("above the new place there is room for %d", n)
	}
	if n := c.number(c.replicated.home, `SELECT count(*) FROM spanning_customers WHERE customer_id IN (1, 2, 3)`); n != 3 {
		t.Errorf("%d companies are known to span cells", n)
	}

	// A company that is erased.
	const gone = `customer_id = 23`
	if n := c.number(c.cell, `SELECT count(*) FROM counts_elsewhere WHERE `+gone); n != 0 {
		t.Errorf("the cell 7 knows %d counts of a company of the cell 8", n)
	}
	if n := c.number(c.pools[c.eight], `SELECT count(*) FROM counts_elsewhere WHERE `+gone); n == 0 {
		t.Error("the cell knows nothing of what the home counts of its company")
	}
	devtest.Check(t, c.eight.EraseInCell(ctx, 23))
	c.tell(c.eight, c.seven)
	for _, s := range []*Store{c.home, c.seven, c.eight} {
		has(s, 2, 0)
	}
	c.do(c.replicated.home, `SET session_replication_role = replica`, `DELETE FROM customers WHERE id = 23`, `RESET session_replication_role`)
	c.everywhere()
	if n := c.number(c.pools[c.eight], `SELECT count(*) FROM counts_elsewhere WHERE `+gone); n != 0 {
		t.Error("a cell keeps what was counted of a company that the home has erased")
	}

	// A cell that there is no more tells nothing, and what it has told is forgotten.
	devtest.Check(t, c.migrator(c.homeURL).dropCell(ctx, 7))
	if _, err := c.seven.ExchangeCounts(ctx, c.way[c.seven], 0); err == nil {
		t.Error("a cell that was closed tells what it counts")
	}
	has(c.home, 3, 0)
}

// TestExchangeMinutes: each place hears what all others have counted of the minute at hand, and never of a minute that is long over.
func TestExchangeMinutes(t *testing.T) {
	c := countInCells(t)
	exchange := func(s *Store, own Minutes) string {
		t.Helper()
		others, err := s.ExchangeMinutes(t.Context(), c.way[s], own)
		devtest.Check(t, err)
		return fmt.Sprint(others.Keys, others.N)
	}
	exchange(c.seven, Minutes{[]string{"a", "b"}, []int64{5, 7}})
	exchange(c.seven, Minutes{[]string{"a"}, []int64{4}}) // a count that was read before one that was told
	for _, step := range []struct {
		who  *Store
		own  Minutes
		want string
	}{
		{c.home, Minutes{[]string{"a"}, []int64{20}}, "[b a] [7 5]"},
		{c.eight, Minutes{[]string{"b"}, []int64{1}}, "[a b] [25 7]"},
		{c.seven, Minutes{}, "[a b] [20 1]"},
	} {
		if got := exchange(step.who, step.own); got != step.want {
			t.Errorf("heard %s, want %s", got, step.want)
		}
	}
	c.do(c.replicated.home, `UPDATE minutes_told SET told_at = told_at - interval '3 minutes' WHERE cell = 7`)
	if got := exchange(c.home, Minutes{}); got != "[b] [1]" {
		t.Errorf("heard %s after what was told long ago", got)
	}
	if n := c.number(c.replicated.home, `SELECT count(*) FROM minutes_told`); n != 2 {
		t.Errorf("%d counts are kept, 2 were told lately", n)
	}
	if !c.home.Shares() || !c.seven.Shares() {
		t.Error("the home and its cells count together")
	}
}
