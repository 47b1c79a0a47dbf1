package db

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"canopy/internal/access"
	"canopy/internal/devstack/devtest"
	"canopy/internal/problem"
	"canopy/internal/secret"
)

// TestErasureInCells: a company of a cell's region stays at the home until the cell has told that it has nothing left of it; what a cell has of an erased person goes, too.
func TestErasureInCells(t *testing.T) {
	t.Parallel()
	r := replicate(t)
	ctx := t.Context()
	cell := devtest.Must[*Store](t)(Open(ctx, r.cellURL, Options{MaxConns: 4}))
	defer func() { _ = cell.Close() }()
	home := devtest.Must[*Store](t)(Open(ctx, r.homeURL, Options{MaxConns: 4}))
	defer func() { _ = home.Close() }()
	way := devtest.Must[*Home](t)(cell.OpenHome(r.asCell()))
	defer func() { _ = way.Close() }()
	const gone = 24
	if n := r.number(r.home, `SELECT count(*) FROM customers WHERE parent_id = 24`); n > 0 {
		t.Fatalf("the company has %d below it", n)
	}
	r.do(r.home, `UPDATE customers SET region_id = 7 WHERE id = 24`)
	r.arrived()
	r.holdAll()
	r.do(r.cell, `INSERT INTO secrets (customer_id, name, value) VALUES (24, 'KEY', ''), (9, 'KEY', '')`,
		`INSERT INTO webhook_destinations (customer_id, url, secret) SELECT id, 'https://x.example', '' FROM customers WHERE id IN (9, 24)`,
		`INSERT INTO contexts (account_id, user_id, name, description, caption, embedding_model) SELECT id, 8, 'Context', '', '', '' FROM accounts WHERE customer_id IN (9, 24)`,
		`INSERT INTO customer_exports (customer_id, asked_by, rights, status) VALUES (24, 8, '{}', 'READY')`,
		`INSERT INTO audit_events (customer_id, action, object_type, object_id) VALUES (24, 'context.created', 'Context', 1)`)
	holds := func() (tables []string) {
		for table, text := range map[string]string{
			"secrets": `customer_id = 24`, "webhook_destinations": `customer_id = 24`, "contexts": `account_id IN (SELECT id FROM accounts WHERE customer_id = 24)`,
			"audit_events": `customer_id = 24`, "usage_counts": `customer_id = 24`, "customer_exports": `customer_id = 24`,
		} {
			if r.number(r.cell, fmt.Sprintf(`SELECT count(*) FROM %s WHERE %s`, table, text)) > 0 {
				tables = append(tables, table)
			}
		}
		return tables
	}
	if n := len(holds()); n != 6 {
		t.Fatalf("the cell has rows in %d tables", n)
	}

	// Its time is over at the home, and not yet by what the cell knows of the home's clock.
	r.do(r.home, `UPDATE pulse SET n = n + 1, counted_at = now()`, `UPDATE customers SET erase_at = now() WHERE id = 24`)
	r.arrived()
	if due := devtest.Must[[]int64](t)(cell.DueInCell(ctx)); slices.Contains(due, gone) {
		t.Error("the cell erases what may still be restored")
	}
	if due := devtest.Must[[]int64](t)(home.DueErasures(ctx)); slices.Contains(due, gone) {
		t.Error("the home erases what the cell has")
	}
	r.do(r.home, `UPDATE customers SET erase_at = now() - interval '2 minutes' WHERE id = 24`)
	r.arrived()
	if due := devtest.Must[[]int64](t)(cell.DueInCell(ctx)); !slices.Equal(due, []int64{gone}) {
		t.Fatalf("due in the cell: %v", due)
	}
	for range 2 {
		devtest.Check(t, cell.EraseInCell(ctx, gone))
	}
	if tables := holds(); len(tables) > 0 {
		t.Errorf("the cell has rows of the company in %v", tables)
	}
	if n := r.number(r.cell, `SELECT count(*) FROM blob_deletions WHERE key LIKE '%exports/%'`); n != 1 {
		t.Errorf("%d archives of the company are to go", n)
	}
	if n := r.number(r.cell, `SELECT count(*) FROM secrets WHERE customer_id = 9`); n != 1 {
		t.Error("the cell has erased what another company has")
	}
	if due := devtest.Must[[]int64](t)(home.DueErasures(ctx)); slices.Contains(due, gone) {
		t.Error("the home erases what no cell has told of")
	}
	devtest.Check(t, way.Erased(ctx, 9)) // is not deleted
	if n := r.number(r.home, `SELECT count(*) FROM cell_erasures`); n != 0 {
		t.Error("the home takes it that a company is erased that is not deleted")
	}
	for range 2 {
		devtest.Check(t, way.Erased(ctx, gone))
	}
	if due := devtest.Must[[]int64](t)(home.DueErasures(ctx)); !slices.Contains(due, gone) {
		t.Errorf("due at the home: %v", due)
	}
	for done := false; !done; {
		e, err := home.EraseSome(ctx, gone, func(*Store, Erasure) error { return nil })
		devtest.Check(t, err)
		done = e.Done
	}
	r.arrived()
	if n := r.number(r.cell, `SELECT count(*) FROM customers WHERE id = 24`); n != 0 {
		t.Error("the cell has the company")
	}

	r.do(r.cell, `INSERT INTO audit_events (customer_id, actor_user_id, action, object_type, object_id, details) VALUES (9, 30, 'user.added', 'User', 30, '{"email": "thirty@x.example"}')`)
	devtest.Must[int](t)(cell.EraseTraces(ctx, 10)) // of those who belonged to the company alone
	if n := devtest.Must[int](t)(cell.EraseTraces(ctx, 10)); n != 0 {
		t.Errorf("%d people are erased already", n)
	}
	r.do(r.home, `UPDATE users SET erased_at = now(), email = 'erased:30', first_name = '' WHERE id = 30`)
	r.arrived()
	if n := devtest.Must[int](t)(cell.EraseTraces(ctx, 10)); n != 1 {
		t.Errorf("%d people are erased", n)
	}
	if n := r.number(r.cell, `SELECT count(*) FROM audit_events WHERE details::text LIKE '%thirty@%'`); n != 0 {
		t.Error("the cell knows the address of somebody who was erased")
	}
	if n := devtest.Must[int](t)(cell.EraseTraces(ctx, 10)); n != 0 {
		t.Errorf("%d people are erased again", n)
	}
}

// TestOpenCellRefuses: a region whose companies have something at the home gets no cell, and nothing is left of the try.
func TestOpenCellRefuses(t *testing.T) {
	t.Parallel()
	r := replicate(t)
	r.do(r.home, `INSERT INTO regions (id, code, name) VALUES (8, 'eu-8', 'Eight'), (9, 'eu-9', 'Nine')`, `UPDATE customers SET region_id = 8 WHERE id = 24`,
		`INSERT INTO secrets (customer_id, name, value) VALUES (24, 'OTHER', '')`)
	home := r.migrator(r.homeURL)
	if err := home.OpenCell(t.Context(), "eu-8", "https://eu-8.example", ""); err == nil {
		t.Error("the region has a cell, and its secrets are at the home")
	}
	if n := r.number(r.home, `SELECT count(*) FROM cells WHERE region_id = 8`); n != 0 {
		t.Error("it is opened all the same")
	}
	if err := home.OpenCell(t.Context(), "eu-0", "", ""); err == nil {
		t.Error("a region that there is not has a cell")
	}
	if err := r.migrator(r.cellURL).OpenCell(t.Context(), "eu-9", "", ""); err == nil {
		t.Error("a cell opens another")
	}
	if err := r.migrator(r.cellURL).JoinHome(t.Context(), "eu-9", r.asCell(), func(int, int) {}); err == nil {
		t.Error("a cell joins that nobody has opened")
	}
	if err := home.OpenCell(t.Context(), "eu-9", "", "nobody"); err == nil {
		t.Error("a role that there is not has rights")
	}
	if n := r.number(r.home, `SELECT count(*) FROM cells WHERE region_id = 9`); n != 0 {
		t.Error("it is opened all the same")
	}
	devtest.Check(t, home.OpenCell(t.Context(), "eu-7", "https://moved.example", "eu 7"))
	devtest.Check(t, r.migrator(r.cellURL).JoinHome(t.Context(), "eu-7", r.asCell(), func(int, int) {}))
	_, cells, err := home.Cells(t.Context())
	devtest.Check(t, err)
	if n := r.number(r.cell, `SELECT count(*) FROM pg_subscription WHERE subsynccommit = 'on'`); n != 1 {
		t.Error("the home hears that something is in the cell before a synchronous standby of the cell has it")
	}
	if len(cells) != 1 || cells[0].Address != "https://moved.example" || cells[0].Region != "eu-7" || !cells[0].Follows {
		t.Errorf("the home knows %v", cells)
	}
	own, _, err := r.migrator(r.cellURL).Cells(t.Context())
	devtest.Check(t, err)
	if own.Region != "eu-7" || own.Ready != own.Tables || own.Tables != len(tablesIn(directory)) || own.Errors != 0 {
		t.Errorf("the cell knows %v", own)
	}
}

// TestOpenCellHoldsOff: from the opening on the home's database takes nothing of the region's companies, whoever writes it, until it is closed; a cell that has joined is not closed.
func TestOpenCellHoldsOff(t *testing.T) {
	t.Parallel()
	r := replicate(t)
	ctx := t.Context()
	home := r.migrator(r.homeURL)
	r.do(r.home, `INSERT INTO regions (id, code, name) VALUES (9, 'eu-9', 'Nine')`, `INSERT INTO customers (id, parent_id, name, region_id) VALUES (1000, 1, 'New', 9)`,
		`INSERT INTO accounts (id, customer_id, app_instance_id, name) SELECT 1000, 1000, min(id), 'New' FROM app_instances`)
	writes := map[string]string{
		"secrets":              `INSERT INTO secrets (customer_id, name, value) VALUES (%d, 'NEW', '')`,
		"webhook_destinations": `INSERT INTO webhook_destinations (customer_id, url, secret) VALUES (%d, 'https://x.example', '')`,
		"contexts":             `INSERT INTO contexts (account_id, user_id, name, description, caption, embedding_model) SELECT min(id), 8, 'Context', '', '', '' FROM accounts WHERE customer_id = %d`,
	}
	try := func(when string, company int64, allowed bool) {
		t.Helper()
		for table, text := range writes {
			_, err := r.home.ExecContext(ctx, `BEGIN; `+fmt.Sprintf(text, company)+`; ROLLBACK`)
			if err != nil {
				r.do(r.home, `ROLLBACK`)
			}
			var p *problem.Error
			switch refused := errors.As(translate(ctx, err), &p) && p.Status() == 421 && p.Region == "eu-9" && strings.Contains(p.Detail, "https://nine.example"); {
			case allowed && err != nil:
				t.Errorf("%s, %s: %v", when, table, err)
			case !allowed && !refused:
				t.Errorf("%s, %s: %v", when, table, err)
			}
		}
	}
	try("before", 1000, true)
	devtest.Check(t, home.OpenCell(ctx, "eu-9", "https://nine.example", ""))
	try("open", 1000, false)
	try("of another region", 24, true)
	devtest.Check(t, home.CloseCell(ctx, "eu-9"))
	try("closed", 1000, true)
	for name, close := range map[string]func() error{
		"what is not open":    func() error { return home.CloseCell(ctx, "eu-9") },
		"a cell that follows": func() error { return home.CloseCell(ctx, "eu-7") },
		"in a cell":           func() error { return r.migrator(r.cellURL).CloseCell(ctx, "eu-7") },
		"no region":           func() error { return home.CloseCell(ctx, "eu-0") },
	} {
		if close() == nil {
			t.Errorf("it closes %s", name)
		}
	}
}

// TestPeopleInCells: a cell shows people as the home does, finds the owners who are written to, and seals its own secrets anew, and no others.
func TestPeopleInCells(t *testing.T) {
	t.Parallel()
	r := replicate(t)
	ctx := t.Context()
	r.do(r.home, `UPDATE memberships SET accepted_at = now() WHERE user_id % 3 = 0`)
	r.arrived()
	cell := devtest.Must[*Store](t)(Open(ctx, r.cellURL, Options{MaxConns: 4}))
	defer func() { _ = cell.Close() }()
	home := devtest.Must[*Store](t)(Open(ctx, r.homeURL, Options{MaxConns: 4}))
	defer func() { _ = home.Close() }()
	scope := access.Lineage{1}.Subtree()
	with, without, factors := 0, 0, 0
	for id := range int64(50) {
		want, err := home.User(ctx, scope, id)
		if errors.Is(err, ErrNoRows) {
			continue
		}
		devtest.Check(t, err)
		got := devtest.Must[*User](t)(cell.User(ctx, scope, id))
		if got.Email != want.Email || got.FirstName != want.FirstName || got.HasPassword != want.HasPassword || got.OTPMethod != want.OTPMethod {
			t.Errorf("the cell shows %v, and the home %v", got, want)
		}
		if want.HasPassword {
			with++
		} else {
			without++
		}
		if want.OTPMethod != "none" {
			factors++
		}
	}
	if with == 0 || without == 0 || factors == 0 {
		t.Errorf("%d with a password, %d without, %d with a second factor", with, without, factors)
	}
	owners := 0
	for id := range int64(50) {
		list := devtest.Must[[]Owner](t)(cell.OwnersOf(ctx, id))
		owners += len(list)
		known := devtest.Must[[]Owner](t)(home.OwnersOf(ctx, id))
		for _, o := range list {
			if !slices.Contains(known, o) {
				t.Errorf("the cell writes to %v, and the home to %v", o, known)
			}
		}
	}
	if owners == 0 {
		t.Error("nobody is written to")
	}
	box := devtest.Must[*secret.Box](t)(secret.NewBox(make([]byte, 32)))
	for _, column := range devtest.Must[[]Renewal](t)(cell.RenewSealed(ctx, box, func(Renewal) {})) {
		if table, _, _ := strings.Cut(column.Column, "."); places[table].kind != data && places[table].kind != local {
			t.Errorf("the cell seals %s anew", column.Column)
		}
	}
}
