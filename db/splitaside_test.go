package db

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"canopy/internal/devstack/devtest"
)

// TestSplitLetsOthersBy: work of all companies that is done together is done for the others while those of a region move, and while what they had is erased: at once, and not behind them.
func TestSplitLetsOthersBy(t *testing.T) {
	t.Parallel()
	s := splitRegion(t)
	ctx := t.Context()
	claimed := devtest.Must[[]*Claimed](t)(s.store.ClaimDeliveries(ctx, []Wanted{{10, 5}, {11, 5}}, time.Hour))
	var came []Outcome
	for _, c := range claimed {
		if c.ID == 10 || c.ID == 11 {
			came = append(came, Outcome{ID: c.ID, DestinationID: c.DestinationID, LeasedUntil: c.LeasedUntil, Status: "delivered", HTTPStatus: 200, Log: []byte(`[]`)})
		}
	}
	if len(came) != 2 {
		t.Fatalf("%d deliveries are under way", len(came))
	}
	s.do(s.home, `UPDATE runs SET status = 'running', finished_at = NULL, due_at = 'infinity' WHERE id IN (20, 21)`,
		`UPDATE removed_secrets SET erase_at = now()`, `UPDATE customer_exports SET expires_at = now()`,
		`UPDATE idempotency_keys SET created_at = now() - interval '30 days', leased_until = now() - interval '1 day'`,
		`UPDATE webhook_destinations SET deleted_at = now() - interval '1 year', secret = 'x' WHERE id IN (20, 21)`,
		`UPDATE webhook_destinations SET failing_since = now() - interval '1 year', failures = 100, enabled = true, deleted_at = NULL WHERE id IN (10, 11, 30, 31)`,
		`UPDATE contexts SET logs_queries = true WHERE id IN (4, 8, 9)`, `DELETE FROM context_deferrals WHERE context_id = 8`, `DELETE FROM context_reprocessings WHERE context_id = 8`, `UPDATE contexts SET removed_at = now() - interval '1 year', erase_at = now() - interval '1 year' WHERE id = 6`,
		`UPDATE contexts SET removed_at = now() - interval '1 year', erase_at = now() - interval '1 month' WHERE id = 7`)
	upkeep := func(t *testing.T, when string) {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		for what, do := range map[string]func() (int64, error){
			"answers": func() (int64, error) { return s.store.ForgetKept(ctx, 1000) }, "exports": func() (int64, error) { return s.store.ForgetExports(ctx, 1000) },
			"removed secrets": func() (int64, error) { return s.store.EraseSecrets(ctx, 1000) }, "secrets of destinations": func() (int64, error) { return s.store.ForgetDestinationSecrets(ctx, 1000) },
			"runs that go on": func() (int64, error) { return 0, s.store.SortRuns(ctx) },
			"a context":       func() (int64, error) { return 0, s.eraseContexts(ctx) },
			"failing destinations": func() (int64, error) {
				return 0, s.store.Tx(ctx, func(tx *Store) error {
					rows, err := tx.FailingDestinations(ctx, time.Hour, 20)
					for _, d := range rows {
						err = errors.Join(err, tx.AutoDisable(ctx, d.ID))
					}
					return err
				})
			},
		} {
			if _, err := do(); err != nil {
				t.Errorf("%s, %s: %v", when, what, err)
			}
		}
	}
	split := s.begin(nil)
	devtest.Check(t, split.Copy(ctx, nothing))
	devtest.Check(t, split.Switch(ctx, func(context.Context) error {
		began := time.Now()
		written, err := s.store.RecordOutcomes(ctx, came)
		if err != nil || !maps.Equal(written, map[int64]bool{10: false, 11: true}) || time.Since(began) > 10*time.Second {
			t.Errorf("what came of deliveries: %v, %v after %s", written, err, time.Since(began))
		}
		asked := []ContextQuery{{ContextID: 4, Text: "whose", Mode: "LEXICAL"}, {ContextID: 8, Text: "whose", Mode: "LEXICAL"}, {ContextID: 9, Text: "whose", Mode: "LEXICAL"}}
		if err := s.store.KeepQueries(ctx, asked); err == nil || s.number(s.home, `SELECT count(*) FROM context_queries WHERE text = 'whose'`) != 1 {
			t.Errorf("what was asked of others is not kept: %v", err)
		}
		upkeep(t, "while they move")
		if n := s.number(s.home, `SELECT count(*) FROM runs WHERE id = 21 AND due_at < 'infinity'`); n != 1 {
			t.Error("a run does not go on")
		}
		return nil
	}))
	for range 2 {
		upkeep(t, "once they have moved")
	}
	for what, text := range map[string]string{
		"a context":     `SELECT count(*) FROM contexts WHERE id = 7`,
		"secrets":       `SELECT count(*) FROM removed_secrets WHERE customer_id % 2 = 1`,
		"a destination": `SELECT count(*) FROM webhook_destinations WHERE id = 31 AND enabled`,
		"answers":       `SELECT count(*) FROM idempotency_keys WHERE customer_id % 2 = 1`,
	} {
		if n := s.number(s.home, text); n != 0 {
			t.Errorf("%s of others: %d", what, n)
		}
	}
	devtest.Check(t, split.Erase(ctx))
}

// eraseContexts erases all contexts whose time is over.
func (s *splitting) eraseContexts(ctx context.Context) error {
	for {
		if done, err := s.store.EraseContexts(ctx); done || err != nil {
			return err
		}
	}
}

// TestSplitIsGuarded: no row is written behind the back of a split: where what noted the region ended before it had made all triggers they are made, while it compares nobody takes away what holds
// writers off, and another region that is done at that moment does not either.
func TestSplitIsGuarded(t *testing.T) {
	t.Parallel()
	s := splitRegion(t)
	ctx := t.Context()
	s.do(s.home, `DROP TRIGGER refused_in_split ON secrets`)
	split := s.begin(nil)
	devtest.Check(t, split.Copy(ctx, nothing))
	ended := errors.New("ended")
	if err := split.Switch(ctx, func(context.Context) error {
		if _, err := s.store.InsertSecret(ctx, 4, "LATE"); err == nil {
			t.Error("what moves is changed")
		}
		if err := s.migrator(s.homeURL).AbortSplit(ctx, "eu-7"); err == nil {
			t.Error("it is taken back while it compares")
		}
		for _, text := range []string{`DROP TRIGGER refused_in_split ON secrets`, `DELETE FROM splits WHERE region_id = 7`} {
			conn := devtest.Must[*sqlx.Conn](t)(s.home.Connx(ctx))
			_, err := conn.ExecContext(ctx, `SET lock_timeout = 300; `+text)
			if err == nil || !strings.Contains(err.Error(), "lock timeout") {
				t.Errorf("%s: %v", text, err)
			}
			_, err = conn.ExecContext(ctx, `RESET lock_timeout`)
			devtest.Check(t, errors.Join(err, conn.Close()))
		}
		return ended
	}); !errors.Is(err, ended) {
		t.Fatal(err)
	}

	m := s.migrator(s.homeURL)
	s.do(s.home, `DELETE FROM splits WHERE region_id = 7`)
	tx := devtest.Must[*sqlx.Tx](t)(s.home.BeginTxx(ctx, nil))
	_, err := tx.ExecContext(ctx, `INSERT INTO splits (region_id, address) VALUES (7, '')`)
	devtest.Check(t, err)
	gone := make(chan error, 1)
	go func() { gone <- m.unguardSplit(ctx) }()
	time.Sleep(time.Second)
	devtest.Check(t, errors.Join(tx.Commit(), <-gone))
	if n := s.number(s.home, `SELECT count(*) FROM pg_trigger WHERE tgname = 'refused_in_split'`); n != int64(len(splitTables())) {
		t.Errorf("%d triggers are there", n)
	}
	s.do(s.home, `DROP TRIGGER refused_in_split ON secrets`)
	if err := split.wait(ctx); err == nil || !strings.Contains(err.Error(), "no longer to move") {
		t.Errorf("it goes on where writers do not wait: %v", err)
	}
}
